"""What is wrong with a channel: threads that do not run, a silent source, a lag."""

from __future__ import annotations

from stallwatch.findings import State
from stallwatch.probes.replication_lag import lag
from stallwatch.startup import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from stallwatch.probes.replication_lag.causes.case import Cause
    from stallwatch.probes.replication_lag.history import History
    from stallwatch.probes.replication_lag.lag.result import Lag
    from stallwatch.probes.replication_lag.model import Channel, ChannelSnapshot, Thread
    from stallwatch.probes.replication_lag.reconnects import Reconnects
    from stallwatch.probes.replication_lag.trend import Trend

CONNECTING = frozenset({"Connecting", "Preparing"})  # the receiver's; "Preparing" on MariaDB
WORTH_EXPLAINING = 5.0  # seconds of lag
# User, password or host are refused: a further attempt does not mend that. (2061 is mended by any log-in that
# fills the source's cache of caching_sha2_password, 1040 and 1226 when others leave.)
_REFUSED = frozenset({1045, 1129, 1130, 1698, 1862, 2059, 3118, 4151})


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
    refused: float = 0.0  # seconds for which its source has refused user, password or host
    trend: Trend | None = None
    causes: Sequence[Cause] = ()
    reconnects: Reconnects | None = None  # of a receiver that comes and goes
    dropped: float | None = None  # seconds for which its filters have dropped all that came
    backup: float | None = None  # age in seconds of the running one that has stopped the applier

    @property
    def channel(self) -> Channel:
        """Its status on the server."""
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
        young = young and not self.refused  # at its first look somebody may just be changing the password
        receiver = State.WARNING if young else State.CRITICAL
        states = (
            State.OK if self.channel.receiver.runs else receiver,
            State.OK if self.channel.applier.runs else applier,
        )
        return max(states, key=lambda state: state.gravity)


def diagnose(snapshot: ChannelSnapshot, history: History) -> Diagnosis:
    """Judge one channel; ``history`` has how long it has been so."""
    channel, before = snapshot.channel, snapshot.before
    if before and before.contact.received != channel.received:  # it was connected meanwhile
        history.since("connecting", holds=False)
    connecting = history.since("connecting", holds=is_connecting(channel))
    stopped = history.since("stopped", holds=is_stopped(channel))
    refused = history.since("refused", holds=is_refused(channel.receiver))
    return Diagnosis(snapshot, lag.judge(snapshot), connecting, stopped, refused)


def is_in_doubt(snapshot: ChannelSnapshot) -> bool:
    """Whether more looks at Seconds_Behind can distinguish lag from differing clocks: MySQL's."""
    return bool(snapshot.channel.source_uuid) and lag.judge(snapshot).doubtful


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


def is_refused(receiver: Thread) -> bool:
    """Whether the source does not let the receiver in, and will not by itself."""
    return not receiver.runs and (receiver.errno in _REFUSED or "Access denied" in receiver.error)
