"""What is wrong with a channel: threads that do not run, a silent source, a lag, and where that is going."""

from __future__ import annotations

from itertools import pairwise

from stallwatch.findings import State
from stallwatch.probes.replication_lag import lag
from stallwatch.probes.replication_lag.model import Trend
from stallwatch.probes.shared import theil_sen
from stallwatch.startup import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from stallwatch.probes.replication_lag.causes.case import Cause
    from stallwatch.probes.replication_lag.history import History, Sample
    from stallwatch.probes.replication_lag.lag.model import Lag
    from stallwatch.probes.replication_lag.model import Channel, ChannelSnapshot

CONNECTING = frozenset({"Connecting", "Preparing"})  # the receiver's; "Preparing" on MariaDB
WORTH_EXPLAINING = 5.0  # seconds of lag

# Of a trend.
_FEWEST, _MOST = 5, 15  # samples
_INTERVALS = 3  # of the check, which the samples have to span: a run by hand is no trend
_FASTEST = 1.2  # lag grows by 1 s in a second at most; more is a clock that jumped, or another measure
_JITTER = 5.0  # seconds
_STEADY, _STEADY_SHARE = 3.0, 0.1  # seconds, and share of the lag, by which an older sample may be off
_BEND, _BEND_SLOPE = 1.0, 0.1  # seconds, and seconds of lag per second, by which a step leaves the line
_ANEW = 3  # steps that all leave it to one side: the applier has stopped since, or got going
_NO_LAG = 1.0  # seconds


class Criteria(NamedTuple):
    """How channels are judged; times are in seconds."""

    connecting_grace: float  # for so long a receiver that is connecting is no more than a WARNING
    backup_grace: float  # the same, of an applier that a running backup has stopped
    horizon: float  # a lag that will be critical within this time is a WARNING; 0: it is not
    seconds_until: Callable[[str, str, float, float], float | None]  # see ``Run.seconds_until``


class Diagnosis(NamedTuple):
    """One channel, its lag, where that goes, and why."""

    snapshot: ChannelSnapshot
    lag: Lag
    connecting: float = 0.0  # seconds for which its receiver has been connecting
    stopped: float = 0.0  # seconds for which a thread has not even tried to run
    trend: Trend | None = None
    causes: Sequence[Cause] = ()
    backup: float | None = None  # age in seconds of the running one that has stopped the applier

    @property
    def channel(self) -> Channel:
        """What its server says of it."""
        return self.snapshot.channel

    @property
    def runs(self) -> bool:
        """Whether both threads do their work."""
        return self.channel.receiver.runs and self.channel.applier.runs

    @property
    def is_worth_explaining(self) -> bool:
        """Whether there is anything to find a cause for."""
        behind = self.lag.seconds is None or max(self.lag.seconds, self.lag.low) >= WORTH_EXPLAINING
        return behind or self.lag.silent or not self.runs

    @property
    def gravity(self) -> tuple[bool, bool, float]:
        """Rank among channels: what is down before what is silent before what lags."""
        return not self.runs, self.lag.silent, self.lag.seconds or self.lag.low

    def state(self, criteria: Criteria) -> State:
        """Judge the channel by its threads alone.

        A running backup may explain why the applier is stopped: mariabackup --safe-slave-backup stops it
        without an error, for as long as it runs (10.11.19).
        """
        explained = self.backup is not None and not self.channel.applier.errno
        excused = explained and max(self.stopped, self.backup or 0.0) <= criteria.backup_grace
        applier = State.WARNING if excused else State.CRITICAL
        young = is_connecting(self.channel) and self.connecting <= criteria.connecting_grace
        receiver = State.WARNING if young else State.CRITICAL
        states = (
            State.OK if self.channel.receiver.runs else receiver,
            State.OK if self.channel.applier.runs else applier,
        )
        return max(states, key=lambda state: state.gravity)


def diagnose(snapshot: ChannelSnapshot, history: History) -> Diagnosis:
    """Judge one channel; ``history`` knows for how long it has been so."""
    channel = snapshot.channel
    connecting = history.since("connecting", holds=is_connecting(channel))
    stopped = history.since("stopped", holds=is_stopped(channel))
    return Diagnosis(snapshot, lag.judge(snapshot), connecting, stopped)


def is_resting(channel: Channel) -> bool:
    """Whether it is a channel of Group Replication's recovery, stopped because that is over.

    It stays among the channels after a member has joined (MySQL Reference Manual, "Distributed Recovery").
    """
    stopped = not (channel.receiver.runs or channel.applier.runs or is_connecting(channel))
    failed = channel.receiver.errno or channel.applier.errno
    return channel.name == "group_replication_recovery" and stopped and not failed


def is_connecting(channel: Channel) -> bool:
    """Whether the receiver tries to reach its source."""
    return channel.receiver.running in CONNECTING


def is_stopped(channel: Channel) -> bool:
    """Whether the receiver or the applier does not even try."""
    return not channel.applier.runs or not (channel.receiver.runs or is_connecting(channel))


def trend(samples: Sequence[Sample]) -> Trend | None:
    """Give the slope of the last samples (oldest first), by Theil and Sen: a bad sample does not bend it.

    Over 5 samples and those before them that lie on the same line, 15 at most; over 4, once the lag has
    taken another way. None: too few that are more than a lower bound, or too near to each other, or the lag
    has just taken another way.
    """
    known = _comparable(samples)
    count = _enough(known)
    if count is None:
        return None
    slope = _slope(known[-count:])
    if bent := _bent(known[-count:], slope):
        count = bent + 1
        if bent < _ANEW or not _spans(known, count):
            return None
        slope = _slope(known[-count:])
    while count < min(_MOST, len(known)) and _fits(known[-count - 1], known[-1], slope):
        count += 1
        slope = _slope(known[-count:])
    if known[-1].lag < _NO_LAG:
        slope = min(slope, 0.0)  # nothing is left that could grow
    if slope > 0 and known[-1].lag < known[-2].lag / 2:
        return None  # what grew is over
    return Trend(slope, known[-1].at - known[-count].at, count)


def _comparable(samples: Sequence[Sample]) -> list[Sample]:
    """Give the last samples that tell of one and the same lag: no lower bound, no jump of a clock.

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


def _enough(samples: Sequence[Sample]) -> int | None:
    """Count the last samples that are enough: several, over several intervals of the check."""
    if len(samples) < _FEWEST:
        return None
    return next((count for count in range(_FEWEST, len(samples) + 1) if _spans(samples, count)), None)


def _spans(samples: Sequence[Sample], count: int) -> bool:
    """Whether the last samples, so many, span enough intervals of the check."""
    steps = sorted(later.at - earlier.at for earlier, later in pairwise(samples))
    return samples[-1].at - samples[-count].at >= _INTERVALS * steps[len(steps) // 2]


def _bent(samples: Sequence[Sample], slope: float) -> int:
    """Count the last steps that all leave the line to the same side; 0: it is one line.

    Two that do may be noise, unless the two before them leave it to the other side.
    """
    sides = [_side(earlier, later, slope) for earlier, later in pairwise(samples)]
    last = sides[-1]
    count = next((count for count, side in enumerate(reversed(sides)) if side != last), len(sides))
    if not last or count == len(sides):
        return 0
    turns = count == _ANEW - 1 and all(side == -last for side in sides[-2 * count : -count])
    return count if count >= _ANEW or turns else 0


def _side(earlier: Sample, later: Sample, slope: float) -> int:
    """Tell to which side of a line a step leads: 1 more, -1 less, 0 along it."""
    passed = later.at - earlier.at
    off = later.lag - earlier.lag - slope * passed
    return 0 if abs(off) < max(_BEND, _BEND_SLOPE * passed) else 1 if off > 0 else -1


def _slope(samples: Sequence[Sample]) -> float:
    return theil_sen([(sample.at, sample.lag) for sample in samples])


def _fits(sample: Sample, last: Sample, slope: float) -> bool:
    expected = last.lag - slope * (last.at - sample.at)
    return abs(sample.lag - expected) <= max(_STEADY, _STEADY_SHARE * last.lag)
