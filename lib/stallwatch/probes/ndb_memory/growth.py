"""Where what is used is going: how fast it grows, and when it will be full."""

from __future__ import annotations

from stallwatch.probes.slope import theil_sen
from stallwatch.startup import TYPE_CHECKING, NamedTuple
from stallwatch.units import is_number

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from stallwatch.probes.ndb_memory.uses import Use

    Sample = tuple[float, float]  # seconds since the epoch, used

FEWEST = 5  # samples of a trend, the present one among them
_KEPT = "samples"
_MOST = 12  # samples of each that are kept: 14 kB for 48 data nodes
_APART = 300.0  # seconds between samples that are kept, or more:
_BASE = 0.5  # of the horizon, that they are to span: what a batch adds in an hour does not go on for a day
_EARLY = 10.0  # seconds by which a run may come early
_OLDEST = 7 * 86400.0  # seconds, or the horizon
_LAST = 3  # samples that tell whether it still grows
_CLEAR = 0.01  # of the whole, by which it has to have grown
_LARGEST = 1e18  # bytes: more is none of ours


class Growth(NamedTuple):
    """How something grows."""

    pace: float  # per second

    def time_to(self, end: float, use: Use) -> float:
        """Seconds until ``end`` per cent are used at this pace, never negative."""
        return max(0.0, end / 100 * use.total - use.used) / self.pace


class History:
    """What was used at earlier looks; ``now`` is seconds since the epoch, ``horizon`` seconds to look ahead.

    What ``memory`` has that makes no sense is forgotten.
    """

    def __init__(self, memory: dict[str, Any], now: float, horizon: float = 0.0) -> None:
        kept = memory.get(_KEPT)
        self._now = int(now)
        self.apart = max(_APART, _BASE * horizon / _MOST)  # seconds between samples
        self.shortest = _MOST  # samples, of what has fewest
        oldest = now - max(_OLDEST, horizon)
        self._kept = {
            name: samples
            for name, listed in (kept if isinstance(kept, dict) else {}).items()
            if (samples := [one for one in _samples(listed) if oldest < one[0] < self._now])
        }
        memory[_KEPT] = self._kept

    def growth(self, name: str, use: Use, since: float | None = None) -> Growth | None:
        """Tell how it grows, and keep this look; None: that is not clear, or it does not.

        ``since``: seconds for which it has been the same thing, if not for ever. A data node that has started
        anew has its memory filled and packed anew.
        """
        kept = self._kept.get(name, [])
        if since is not None:
            kept = [one for one in kept if self._now - one[0] < since]
        present = (self._now, round(use.used))
        points = [one for one in kept if self._now - one[0] >= self.apart / 2] + [present]
        if not kept or self._now - kept[-1][0] >= self.apart - _EARLY:
            kept = [*kept, present][-_MOST:]
        self._kept[name] = kept
        self.shortest = min(self.shortest, len(points))
        return _growth(points, use.total)


def _growth(points: Sequence[Sample], total: float) -> Growth | None:
    """Give the pace if it is more than noise, and goes on: what a load has filled is no trend any more."""
    if len(points) < FEWEST:
        return None
    pace, span = theil_sen(points), points[-1][0] - points[0][0]
    if pace * span < _CLEAR * total or theil_sen(points[-_LAST:]) < pace / 2:
        return None
    return Growth(pace)


def _samples(listed: object) -> list[Sample]:
    """Read what was kept; [] if it is none of ours."""
    try:
        samples = sorted(dict(listed).items())  # type: ignore[call-overload]
    except (TypeError, ValueError):
        return []
    of_ours = all(is_number(number) and 0 <= number <= _LARGEST for sample in samples for number in sample)
    return samples if of_ours else []
