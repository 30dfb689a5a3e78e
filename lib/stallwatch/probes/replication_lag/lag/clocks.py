"""How far the clocks of source and replica differ (rule E8): commit times and heartbeats are the source's."""

from __future__ import annotations

from stallwatch.startup import TYPE_CHECKING

if TYPE_CHECKING:
    from stallwatch.probes.replication_lag.lag.model import Figure, View
    from stallwatch.probes.replication_lag.model import ChannelSnapshot, Commits

WORTH_TELLING = 2.0  # seconds
_LOOKS = 5  # so many in a row with the same offset are no accident
_SPREAD = 1.5  # seconds; a heartbeat's own age varies by its interval, 1 s
_CURRENT = 1.0  # s: Seconds_Behind of a channel that has no lag, as it is cut to whole seconds
_WORTH_DOUBTING = 5.0  # seconds


def ahead(snapshot: ChannelSnapshot) -> float:
    """Give the seconds by which the source's clock is ahead of the replica's, 0.0 if nothing tells.

    Asked of both servers; or else from what cannot be: transactions that arrive before they were
    committed; or a lag that stays the same while nothing is behind (measured on MariaDB 10.11 with a clock
    120 s off: Seconds_Behind 0, heartbeat 119 to 121 s).
    """
    if snapshot.clock_ahead is not None:
        return snapshot.clock_ahead
    if (early := _arrived_early(snapshot)) > WORTH_TELLING:
        return early
    return -usual_offset(snapshot)


def usual_offset(snapshot: ChannelSnapshot) -> float:
    """Give the seconds that looked like lag at each of the last looks, if this one allows it; else 0.0.

    Nothing arrives before it was sent, so whatever comes with less than that shows that it was a lag.
    """
    if snapshot.clock_ahead is not None:
        return 0.0
    offsets = snapshot.before.offsets[-_LOOKS:] if snapshot.before else ()
    if len(offsets) < _LOOKS or max(offsets) - min(offsets) > _SPREAD:
        return 0.0
    offset = sorted(offsets)[_LOOKS // 2]
    if abs(offset) <= WORTH_TELLING or _disproves(snapshot, offset):
        return 0.0
    return offset


def _disproves(snapshot: ChannelSnapshot, offset: float) -> bool:
    """Whether what is seen now cannot be if the clocks differ by ``offset``."""
    seen = _apparent_delay(snapshot)
    return (seen is not None and seen < offset - _SPREAD) or _agree(snapshot)


def _agree(snapshot: ChannelSnapshot) -> bool:
    """Whether Seconds_Behind, which allows for clocks that differ, is what the commit time says as well."""
    said, commits = snapshot.channel.seconds_behind, snapshot.commits
    if commits is None or not said or commits.oldest_applying is None:
        return False
    return abs(commits.now - commits.oldest_applying - said) <= _SPREAD


def _arrived_early(snapshot: ChannelSnapshot) -> float:
    """Tell how long before its commit the last transaction is said to have come."""
    late = None if snapshot.commits is None else _on_its_way(snapshot.commits)
    return 0.0 if late is None else -late


def _on_its_way(commits: Commits) -> float | None:
    """Give the seconds between the commit and the arrival of the last transaction, by two clocks."""
    if commits.queued_sent is None or commits.queued_at is None:
        return None
    return commits.queued_at - commits.queued_sent


def _apparent_delay(snapshot: ChannelSnapshot) -> float | None:
    """Give what is a delay or a difference of the clocks: of the heartbeat's row, or the last transaction."""
    row = snapshot.heartbeat
    if row is not None:
        return None if row.remark else row.age  # a zone that is taken for another one is no clock
    return None if snapshot.commits is None else _on_its_way(snapshot.commits)


def offset(view: View) -> float | None:
    """Give what looks like lag although nothing else says so, to be compared with the next looks'.

    Each transaction counts once: the last one of a source that is idle since may have been late. 0.0 ends
    the series: what had looked like clocks was a lag.
    """
    snapshot = view.snapshot
    if _agree(snapshot):
        return 0.0
    delay, known = _apparent_delay(snapshot), snapshot.before.offsets if snapshot.before else ()
    if delay is None or not _is_new(snapshot) or view.hearing.silent:
        return None
    if known and delay < min(known) - _SPREAD:
        return delay
    return delay if _is_current(view) else None


def _is_new(snapshot: ChannelSnapshot) -> bool:
    """Whether a transaction has come since the last look; heartbeat rows are told apart by their age."""
    commits, before = snapshot.commits, snapshot.before
    if snapshot.heartbeat is not None or before is None:
        return True
    return bool(commits and commits.queued_at and commits.now - commits.queued_at < before.seconds_ago)


def _is_current(view: View) -> bool:
    """Whether nothing but the clocks speaks for a lag.

    Seconds_Behind is corrected for clocks, so a busy channel may tell as well where transactions have a
    time of arrival: what its applier leaves lying does not count in that.
    """
    said = view.channel.seconds_behind
    if said is None or said > _CURRENT or view.missing:
        return False
    return view.snapshot.heartbeat is None or (said == 0 and view.idle and not view.lacks)


def is_doubtful(view: View, found: Figure) -> bool:
    """Whether a lag may be nothing but clocks that differ: all of it on the way, Seconds_Behind 0.

    Not if the clocks were compared, if nothing arrives, or if Seconds_Behind said as much before: between
    two transactions of a late stream it is 0.
    """
    before = view.snapshot.before
    if before and (before.seconds_behind or 0.0) > _WORTH_DOUBTING:
        return False
    said, seconds = view.channel.seconds_behind, found.seconds
    compared = view.snapshot.clock_ahead is not None
    if compared or said is None or said > _CURRENT or not view.channel.receiver.runs or view.hearing.silent:
        return False
    if seconds is None or seconds <= _WORTH_DOUBTING or found.transport is None:
        return False
    return view.snapshot.commits is not None and found.transport >= seconds - WORTH_TELLING
