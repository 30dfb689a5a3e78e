"""The lag by a heartbeat table (rule E1): the best there is, as long as its writer lives."""

from __future__ import annotations

from stallwatch.probes.replication_lag import gtid
from stallwatch.probes.replication_lag.lag.contact import heartbeats
from stallwatch.probes.replication_lag.lag.model import Figure, at_most
from stallwatch.probes.replication_lag.model import Beat
from stallwatch.startup import TYPE_CHECKING

if TYPE_CHECKING:
    from stallwatch.probes.replication_lag.lag.model import View
    from stallwatch.probes.replication_lag.model import Before, Heartbeat, Snapshot

BY = "heartbeat table"
_INTERVAL = 1.0  # s: how often heartbeats are written, pt-heartbeat's default
_IN_THE_FUTURE = -2.0  # seconds of age: clocks, not lag
_OLD = 10.0  # seconds: nothing is said of a writer before


def figure(view: View) -> Figure | None:
    """E1: the age of the row is the lag, if its writer is alive and the clocks allow it."""
    if (age := _age(view)) is None or age < _IN_THE_FUTURE or writer_is_dead(view):
        return None
    seconds = max(0.0, age)
    return Figure(seconds, max(0.0, seconds - _INTERVAL), seconds, BY)


def _age(view: View) -> float | None:
    row = view.snapshot.heartbeat
    return None if row is None else row.age + view.ahead


def writer_is_dead(view: View) -> bool:
    """Whether the row is old because nobody writes it: it is so on the source, or younger work is applied.

    A stopped writer has taken whole services out of order as "lag". What the source says of a row that is
    not its own is the lag of a chain.
    """
    row, age = view.snapshot.heartbeat, _age(view)
    if row is None or age is None or age < _OLD:
        return False
    if _is_of_source(view.snapshot, row):
        if row.source_age is not None:
            return row.source_age > _OLD
        if view.snapshot.source and view.snapshot.source.missing is not None:
            return view.snapshot.source.missing == 0
        younger = at_most(_applied(view), _complete(view))
    else:
        younger = _applied_from_above(view)
    if younger is not None and younger < age - _OLD:
        return True
    kept = beat(view.snapshot)
    return kept is not None and kept.outlived_for > _OLD and _is_current(view.snapshot)


def _is_of_source(snapshot: Snapshot, row: Heartbeat) -> bool:
    """Whether the direct source writes it, not a server above that."""
    return row.server_id == snapshot.channel.source_id


def _is_current(snapshot: Snapshot) -> bool:
    """Whether all that came is applied, by an applier that runs."""
    channel = snapshot.channel
    all_applied = channel.received == channel.applied if snapshot.backlog is None else not snapshot.backlog
    return channel.applier.runs and channel.seconds_behind == 0 and all_applied


def _applied(view: View) -> float | None:
    """Give the age of the newest transaction that was applied; None: no commit time tells."""
    commits = view.snapshot.commits
    if commits is None or commits.applied_commit is None:
        return None
    return commits.now - commits.applied_commit + view.ahead


def _applied_from_above(view: View) -> float | None:
    """Give the age of the last transaction if it was applied, and was not written by the direct source."""
    commits, channel = view.snapshot.commits, view.channel
    if commits is None or commits.queued_commit is None or not _is_current(view.snapshot):
        return None
    if not channel.source_uuid or commits.queued.startswith(channel.source_uuid):
        return None
    return commits.now - commits.queued_commit + view.ahead


def _complete(view: View) -> float | None:
    """Give the seconds ago at which the source had nothing to send, for as long as a link heartbeat's period.

    Only then is one sent, so no row can have been on its way.
    """
    if not _is_current(view.snapshot):
        return None
    commits, before = view.snapshot.commits, view.snapshot.before
    if commits and commits.last_heartbeat is not None:
        return max(0.0, commits.now - commits.last_heartbeat) + view.hearing.period
    count, then = heartbeats(view.snapshot), before.contact.heartbeats if before else None
    if before is None or count is None or then is None or count <= then:
        return None
    return before.seconds_ago + view.hearing.period


def beat(snapshot: Snapshot) -> Beat | None:
    """Give what the next look is to know of the row: whether transactions of its writer outlive it.

    A slow link would bring them with newer rows between them.
    """
    row, before = snapshot.heartbeat, snapshot.before
    if row is None:
        return None
    then = before.heartbeat if before else None
    if before is None or then is None or (then.server_id, then.written) != (row.server_id, row.written):
        return Beat(row.server_id, row.written)
    since = None if then.outlived_since is None else then.outlived_since + before.seconds_ago
    if not _goes_on(snapshot, before, row) or not _is_current(snapshot):
        return then._replace(outlived_since=since)
    return Beat(row.server_id, row.written, since or 0.0, since or 0.0)


def _goes_on(snapshot: Snapshot, before: Before, row: Heartbeat) -> bool:
    """Whether transactions of the row's writer have come since the last look."""
    received, then = snapshot.channel.received_gtids, before.contact.received_gtids
    if gtid.is_mariadb(received) and gtid.is_mariadb(then):
        new = gtid.position(received).items() - gtid.position(then).items()
        return any(server == row.server_id for _, (server, _) in new)
    return _is_of_source(snapshot, row) and snapshot.channel.received != before.contact.received
