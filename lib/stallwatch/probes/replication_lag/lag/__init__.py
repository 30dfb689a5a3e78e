"""How far a channel is behind: the figure that the evidence supports, with bounds (rules E1 to E10)."""

from __future__ import annotations

from stallwatch.probes.replication_lag.lag import (
    chain,
    clocks,
    commit_times,
    contact,
    from_source,
    remarks,
    seconds_behind,
)
from stallwatch.probes.replication_lag.lag.model import (
    COMMIT_TIME,
    HEARTBEAT_TABLE,
    MARGIN,
    SECONDS_BEHIND,
    SOURCE_HISTORY,
    WHOLE,
    Figure,
    View,
)
from stallwatch.probes.replication_lag.lag.result import Lag
from stallwatch.startup import TYPE_CHECKING

if TYPE_CHECKING:
    from stallwatch.probes.replication_lag.model import ChannelSnapshot


def _never_connected(seen: View) -> Figure | None:
    """Report that nothing is known of a source that was not reached yet, as after a change of source.

    MySQL 9.7.2 shows 0 s behind, and the times of the threads count from their own start.
    """
    commits = seen.snapshot.commits
    known = (commits and commits.queued_at) or seen.snapshot.before or seen.works
    return None if seen.channel.receiver.runs or known else _UNKNOWN


def _waiting_on_purpose(view: View) -> Figure | None:
    """E10: the age of the event that waits for an intended delay (SOURCE_DELAY, MASTER_DELAY).

    That is the part of the delay that is over. Workers are idle meanwhile, so commit times alone would show
    that nothing is to be done. But a worker may hang in what it got before, while the next event waits
    for its time (MariaDB 10.11.19 with slave_parallel_threads=4 and a row lock: for as long as the queue of
    that worker has room).
    """
    channel = view.channel
    if channel.remaining_delay is None or not channel.applier.runs:
        return None
    age = max(0.0, channel.delay - channel.remaining_delay)
    held = _given_to_a_worker(view)
    if held is not None and held.seconds is not None and held.seconds > age:
        return held
    return Figure(age, age, age, "intended delay", proven=_workers_tell(view))


def _workers_tell(view: View) -> bool:
    commits = view.snapshot.commits
    return commits is not None and bool(commits.workers) and commits.is_complete


def _given_to_a_worker(view: View) -> Figure | None:
    """Return how old the oldest transaction is that a worker has in hand; None: none is late."""
    commits = view.snapshot.commits
    if commits is not None and _workers_tell(view):
        age = view.age(commits.oldest_applying)
        if age is None:
            return None
        age = max(0.0, age)
        return Figure(age, age, age, COMMIT_TIME, proven=not view.guessed)
    if not view.works or view.said <= view.channel.delay + MARGIN:
        return None
    return Figure(view.said, 0.0, view.said + WHOLE, SECONDS_BEHIND)


_UNKNOWN = Figure(None, 0.0, None, "")
# The first rule that finds a figure wins: what is closest to the truth comes first.
_RULES = (
    from_source.by_heartbeat,
    _never_connected,
    from_source.nothing_missing,
    _waiting_on_purpose,
    commit_times.figure,
    seconds_behind.figure,
)
_ROUGH, _ROUGH_SHARE = 5.0, 0.25  # seconds, or part of a figure: error from which it is shown
_NEAR, _FAR = 5.0, 60.0  # seconds beyond an intended delay


def judge(snapshot: ChannelSnapshot) -> Lag:
    """Find the lag of one channel."""
    learnt = clocks.learn(snapshot)
    seen = View(snapshot, contact.hear(snapshot), -(learnt or 0.0), clock_offset=learnt)
    found = _figure(seen)
    if maybe := clocks.suspected(seen, found):
        most, seen = found.high, seen._replace(ahead=seen.ahead - maybe, guessed=True)
        found = _figure(seen)._replace(low=0.0, high=most)
    return _lag(seen, chain.of_chain(seen, _guarded(seen, found)))


def _figure(seen: View) -> Figure:
    return next((figure for rule in _RULES if (figure := rule(seen))), _UNKNOWN)


def _guarded(seen: View, found: Figure) -> Figure:
    """Take the larger figure where a rule finds no lag, and Seconds_Behind of an event in hand much.

    Only proof makes up for that: the commit time of the transaction itself, or a heartbeat's row. A rule
    that proves less than it claims then costs a statement's duration, not the lag.
    """
    intended = seen.channel.delay
    if found.seconds is None or found.proven or found.by == HEARTBEAT_TABLE:
        return found
    if not (seen.channel.receiver.runs and seen.works and seen.said - intended > _FAR):
        return found
    if found.seconds - intended >= _NEAR:
        return found
    return Figure(seen.said, found.low, seen.said + WHOLE, SECONDS_BEHIND)


def _lag(seen: View, found: Figure) -> Lag:
    """Subtract the intended delay (E10), and add the remarks on the figure."""
    intended = seen.channel.delay
    seconds, high = found.seconds, found.high
    effective = None if seconds is None else max(0.0, seconds - intended)
    transport, apply, above = _split(found, effective)
    return Lag(
        seconds=effective,
        low=max(0.0, found.low - intended),
        high=None if high is None else max(0.0, high - intended),
        by=found.by,
        transport=transport,
        apply=apply,
        upstream=above,
        contact_age=seen.hearing.known_age,
        silent=seen.hearing.silent,
        delayed=min(intended, seconds or 0.0),
        remarks=tuple(remarks.remarks(seen, found)),
        cannot_tell=remarks.cannot_tell(seen, found),
        offset=clocks.offset(seen),
        heard_within=seen.hearing.longest,
        is_behind=bool(effective)
        or seen.snapshot.has_backlog
        or seen.lacks
        or not seen.channel.receiver.runs,
        is_rough=_is_rough(found),
        doubtful=seen.guessed or chain.is_doubtful(seen, found),
        clock_offset=seen.clock_offset,
        delay=clocks.apparent_delay(seen.snapshot),
        delay_age=clocks.delay_age(seen.snapshot),
        writer_stopped=seen.snapshot.heartbeat.age
        if seen.snapshot.heartbeat and from_source.writer_is_dead(seen)
        else None,
    )


def _is_rough(found: Figure) -> bool:
    """Whether the two looks at the source, between which it lies, are too far from each other."""
    if found.by != SOURCE_HISTORY or found.seconds is None or found.high is None:
        return False
    off = max(found.seconds - found.low, found.high - found.seconds)
    return off > max(_ROUGH, _ROUGH_SHARE * found.seconds)


def _split(found: Figure, seconds: float | None) -> tuple[float | None, float | None, float | None]:
    """Share a lag out: on the way to us, in our applier, and before our direct source."""
    if seconds is None or found.transport is None:
        return None, None, None
    upstream = None if found.upstream is None else min(found.upstream, seconds)
    transport = min(found.transport, seconds - (upstream or 0.0))
    return transport, seconds - transport - (upstream or 0.0), upstream
