"""How far a channel is behind: the figure that the evidence supports, with bounds (rules E1 to E10)."""

from __future__ import annotations

from stallwatch.probes.replication.lag import (
    clocks,
    commit_times,
    delay,
    heartbeat,
    missing,
    remarks,
    seconds_behind,
)
from stallwatch.probes.replication.lag.figure import SECONDS_BEHIND, WHOLE, Figure
from stallwatch.probes.replication.lag.view import View, view
from stallwatch.startup import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from stallwatch.probes.replication.evidence import Evidence


class Lag(NamedTuple):
    """A channel's lag in seconds: its best figure, what it is at least and at most, and where it is from."""

    seconds: float | None  # without an intended delay; None: nothing supports a figure
    low: float = 0.0
    high: float | None = None  # None: no upper bound is known
    by: str = ""  # "commit time", "heartbeat table", "Seconds_Behind", "source's history", "last contact", …
    transport: float | None = None  # of it: between the source's commit and our relay log
    apply: float | None = None  # of it: between the relay log and the replica's tables
    upstream: float | None = None  # of it: before our direct source
    contact_age: float | None = None  # since the source was last heard of
    silent: bool = False  # heard of too long ago: the link or the source is dead
    delayed: float = 0.0  # the intended delay that was taken off
    remarks: tuple[str, ...] = ()  # "Seconds_Behind 0 is wrong: relay log empty", "clocks differ by 120 s"
    cannot_tell: str = ""  # what this figure is blind to, and what would help
    offset: float | None = None  # seconds that look like lag where there is none, for the next looks
    heard_within: float | None = None  # contact_age at most, for the next looks; None: not known
    is_behind: bool = False  # whether anything is missing here, though seconds may be None
    doubtful: bool = False  # it may be nothing but clocks that differ

    @property
    def at_least(self) -> bool:
        """Whether only a lower bound is known."""
        return self.high is None


def _never_connected(seen: View) -> Figure | None:
    """Tell that nothing is known of a source that was not reached yet, as after a change of source.

    MySQL 9.7.2 says 0 seconds behind, and the times of the threads count from their own start.
    """
    commits = seen.evidence.commits
    known = (commits and commits.queued_at) or seen.evidence.before or seen.works
    return None if seen.channel.receiver.runs or known else _UNKNOWN


_UNKNOWN = Figure(None, 0.0, None, "")
# The first rule that finds a figure has its say: what is closest to the truth comes first.
_RULES = (
    heartbeat.figure,
    _never_connected,
    missing.nothing,
    delay.waiting,
    commit_times.figure,
    seconds_behind.figure,
)
_NEAR, _FAR = 5.0, 60.0  # seconds beyond an intended delay


def judge(evidence: Evidence) -> Lag:
    """Find the lag of one channel."""
    seen = view(evidence)
    found = next((figure for rule in _RULES if (figure := rule(seen))), _UNKNOWN)
    return _lag(seen, _guarded(seen, found))


def _guarded(seen: View, found: Figure) -> Figure:
    """Take the larger figure where a rule finds no lag, and Seconds_Behind of an event in hand much.

    Only proof makes up for that: the commit time of the transaction itself, or a heartbeat's row. A rule
    that proves less than it claims then costs a statement's duration, not the lag.
    """
    intended = seen.channel.delay
    if found.seconds is None or found.proven or found.by == heartbeat.BY:
        return found
    if not (seen.channel.receiver.runs and seen.works and seen.said - intended > _FAR):
        return found
    if found.seconds - intended >= _NEAR:
        return found
    return Figure(seen.said, found.low, seen.said + WHOLE, SECONDS_BEHIND)


def _lag(seen: View, found: Figure) -> Lag:
    """Take the intended delay off (E10), and say what there is to say of the figure."""
    intended = seen.channel.delay
    seconds, high = found.seconds, found.high
    effective = None if seconds is None else max(0.0, seconds - intended)
    transport, apply, upstream = _split(found, effective)
    return Lag(
        seconds=effective,
        low=max(0.0, found.low - intended),
        high=None if high is None else max(0.0, high - intended),
        by=found.by,
        transport=transport,
        apply=apply,
        upstream=upstream,
        contact_age=seen.hearing.known_age,
        silent=seen.hearing.silent,
        delayed=min(intended, seconds or 0.0),
        remarks=tuple(remarks.remarks(seen, found)),
        cannot_tell=remarks.cannot_tell(seen, found),
        offset=clocks.offset(seen),
        heard_within=seen.hearing.longest,
        is_behind=bool(effective) or seen.has_backlog or seen.lacks or not seen.channel.receiver.runs,
        doubtful=clocks.is_doubtful(seen, found),
    )


def _split(found: Figure, seconds: float | None) -> tuple[float | None, float | None, float | None]:
    """Share a lag out: on the way to us, in our applier, and before our direct source."""
    if seconds is None or found.transport is None:
        return None, None, None
    upstream = None if found.upstream is None else min(found.upstream, seconds)
    transport = min(found.transport, seconds - (upstream or 0.0))
    return transport, seconds - transport - (upstream or 0.0), upstream
