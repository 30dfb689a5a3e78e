"""Where a channel's lag is going: growing, shrinking, and how fast."""

from __future__ import annotations

from itertools import pairwise

from stallwatch.probes.shared import theil_sen
from stallwatch.startup import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Sequence

    from stallwatch.probes.replication_lag.history import Sample

CLEAR_SLOPE = 0.02  # seconds of lag per second
_FEWEST, _USUAL, _MOST = 3, 5, 15  # samples
_INTERVALS, _LONG_ENOUGH = 1.8, 20.0  # of the check, or seconds, that they span: runs by hand are no trend
_FASTEST = 1.2  # lag grows by 1 s in a second at most; more is a clock that jumped, or another measure
_JITTER = 5.0  # seconds
_STEADY, _STEADY_SHARE = 3.0, 0.1  # seconds, and share of the lag, by which an older sample may be off
_BEND, _BEND_SLOPE = 1.0, 0.1  # seconds, and seconds of lag per second, by which a step leaves the line
_ANEW = 3  # steps that all leave it to one side: the applier has stopped since, or got going
_NO_LAG = 1.0  # seconds
_CLEAR_CHANGE = 3.0  # seconds, twice that of fewer than _USUAL samples: figures may be whole seconds
_NOISE = 4.0  # times the scatter: 3 of 100 looks at mere jitter show a trend (simulated)


class Trend(NamedTuple):
    """The slope of a channel's lag over the kept samples."""

    slope: float  # seconds of lag per second
    span: float  # seconds that it was measured over
    samples: int
    scatter: float = 0.0  # seconds by which three of four samples are off the line at most

    @property
    def apply_speed(self) -> float:
        """Seconds of the source's time that are applied in a second: 1: keeps up, 0: stopped."""
        return 1 - self.slope

    @property
    def is_clear(self) -> bool:
        """Whether it is more than noise."""
        change = abs(self.slope) * self.span
        least = _CLEAR_CHANGE if self.samples >= _USUAL else 2 * _CLEAR_CHANGE
        return abs(self.slope) > CLEAR_SLOPE and change >= max(least, _NOISE * self.scatter)


def trend(samples: Sequence[Sample]) -> Trend | None:
    """Find the slope of the lag's last samples (oldest first), by Theil and Sen: a bad one does not bend it.

    They are of one episode: what was before the lag was last 0 is of another. There are 3 at
    least, which lie on a line if there are no 5, and 15 at most. None: too few that are more than a lower
    bound, or too near to each other, or the slope has just changed.
    """
    known = _of_one_episode(_comparable(samples))
    count = _enough(known, samples)
    if count is None:
        return None
    slope = _slope(known[-count:])
    if count < _USUAL and any(_sides(known[-count:], slope)):
        return None
    if bent := _bent(known[-count:], slope):
        count = bent + 1
        slope = _slope(known[-count:])
    while not bent and count < min(_MOST, len(known)) and _fits(known[-count - 1], known[-1], slope):
        wider = known[-count - 1 :]
        if _side(wider[0], wider[1], slope) or _bent(wider, _slope(wider)):
            break
        count += 1
        slope = _slope(wider)
    if known[-1].lag < _NO_LAG:
        slope = min(slope, 0.0)  # nothing is left that could grow
    last = _side(known[-2], known[-1], 0.0)
    if last and abs(slope) > CLEAR_SLOPE and slope * last < 0:
        return None
    return Trend(slope, known[-1].at - known[-count].at, count, _scatter(known[-count:], slope))


def _of_one_episode(known: list[Sample]) -> list[Sample]:
    """Keep those after the last that had no lag; all of them if there is none now."""
    none = [place for place, one in enumerate(known) if one.lag < _NO_LAG]
    return known if not none or none[-1] == len(known) - 1 else known[none[-1] + 1 :]


def _comparable(samples: Sequence[Sample]) -> list[Sample]:
    """Keep the last samples of one and the same lag: no lower bound, no jump of a clock.

    A single one that dips, as Seconds_Behind does to 0, is left out.
    """
    known: list[Sample] = []
    dips = False
    for sample in reversed(samples):
        if not sample.at_least and (not known or _follows(sample, known[0])):
            known.insert(0, sample)
            dips = False
        elif sample.at_least or dips:
            break
        else:
            dips = True
    return known


def _follows(earlier: Sample, later: Sample) -> bool:
    passed = later.at - earlier.at
    return passed > 0 and later.lag - earlier.lag <= _FASTEST * passed + _JITTER


def _enough(known: Sequence[Sample], samples: Sequence[Sample]) -> int | None:
    """Count the last known samples that are enough: several, over several intervals of the check."""
    if len(known) < _FEWEST:
        return None
    steps = sorted(later.at - earlier.at for earlier, later in pairwise(samples))
    span = min(_INTERVALS * steps[len(steps) // 2], _LONG_ENOUGH)
    counts = range(min(_USUAL, len(known)), len(known) + 1)
    return next((count for count in counts if known[-1].at - known[-count].at >= span), None)


def _bent(samples: Sequence[Sample], slope: float) -> int:
    """Count the last steps that all leave the line to the same side; 0: it is one line.

    Two that do may be noise, unless the two before them leave it to the other side, or they lie on a line of
    their own and those before them on theirs.
    """
    sides = _sides(samples, slope)
    last = sides[-1]
    count = next((count for count, side in enumerate(reversed(sides)) if side != last), len(sides))
    if len(samples) < _USUAL or not last or count == len(sides):
        return 0
    turns = count == _ANEW - 1 and all(side == -last for side in sides[-4:-2])
    return count if count >= _ANEW or turns else _new_line(samples)


def _new_line(samples: Sequence[Sample]) -> int:
    """Report that the last two steps are another line than those before: 2, or 0 if they are not."""
    before, after = samples[:-2], samples[-3:]
    old = _slope(before)
    clean = not any(_sides(before, old)) and not any(_sides(after, _slope(after)))
    return 2 if clean and all(_sides(after, old)) else 0


def _sides(samples: Sequence[Sample], slope: float) -> list[int]:
    return [_side(earlier, later, slope) for earlier, later in pairwise(samples)]


def _side(earlier: Sample, later: Sample, slope: float) -> int:
    """Return to which side of a line a step leads: 1 more, -1 less, 0 along it."""
    passed = later.at - earlier.at
    off = later.lag - earlier.lag - slope * passed
    return 0 if abs(off) < max(_BEND, _BEND_SLOPE * passed) else 1 if off > 0 else -1


def _slope(samples: Sequence[Sample]) -> float:
    return theil_sen([(sample.at, sample.lag) for sample in samples])


def _fits(sample: Sample, last: Sample, slope: float) -> bool:
    expected = last.lag - slope * (last.at - sample.at)
    return abs(sample.lag - expected) <= max(_STEADY, _STEADY_SHARE * last.lag)


def _scatter(samples: Sequence[Sample], slope: float) -> float:
    """Find the seconds by which three of four samples are off the line at most."""
    levels = sorted(sample.lag - slope * sample.at for sample in samples)
    off = sorted(abs(level - levels[len(levels) // 2]) for level in levels)
    return off[min(len(off) - 1, 3 * len(off) // 4)]
