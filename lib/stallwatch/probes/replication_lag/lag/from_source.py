"""The lag by what the source itself writes or shows.

By its heartbeats (rule E1), the best there is, as long as their writer lives; and by the transactions that it
shows as missing: since when, by earlier looks at it.
"""

from __future__ import annotations

from itertools import pairwise

from stallwatch.probes.replication_lag import gtid
from stallwatch.probes.replication_lag.lag.contact import heartbeats
from stallwatch.probes.replication_lag.lag.model import (
    ASKED_SOURCE,
    COMMIT_TIME,
    HEARTBEAT_TABLE,
    LATE,
    SOURCE_HISTORY,
    Figure,
    at_most,
)
from stallwatch.probes.replication_lag.model import Beat
from stallwatch.startup import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from stallwatch.probes.replication_lag.lag.model import View
    from stallwatch.probes.replication_lag.model import Before, ChannelSnapshot, Heartbeat

    Look = tuple[float, float]  # seconds ago, the source's sequence

_INTERVAL = 1.0  # s: how often heartbeats are written, pt-heartbeat's default
_IN_THE_FUTURE = -2.0  # seconds of age: clocks, not lag
_OLD = 10.0  # seconds: no writer is judged before
_STEADY = 2.0  # times the usual pace of a source: more is a burst
_USUAL = 3  # intervals between looks that show what is usual


def by_heartbeat(view: View) -> Figure | None:
    """E1: the age of the row is the lag, if its writer is alive and the clocks allow it.

    It is the most that there can be where other transactions of its writer have come since.
    """
    if (age := _age(view)) is None or age < _IN_THE_FUTURE or writer_is_dead(view):
        return None
    seconds, kept = max(0.0, age), beat(view.snapshot)
    outlived = kept is not None and kept.outlived_since is not None
    return Figure(seconds, 0.0 if outlived else max(0.0, seconds - _INTERVAL), seconds, HEARTBEAT_TABLE)


def _age(view: View) -> float | None:
    row = view.snapshot.heartbeat
    return None if row is None else row.age + view.ahead


def writer_is_dead(view: View) -> bool:
    """Whether the row is old because nobody writes it: it is so on the source, or younger work is applied.

    A stopped writer that looked like lag has caused outages.
    """
    row, age = view.snapshot.heartbeat, _age(view)
    if row is None or age is None or age < _OLD:
        return False
    if row.source_age is not None:
        return row.source_age > _OLD
    if _is_of_source(view.snapshot, row):
        if view.snapshot.source and view.snapshot.source.missing is not None:
            return view.snapshot.source.missing == 0
        younger = at_most(view.applied_age, _complete(view))
    else:
        younger = _applied_from_above(view)
    if younger is not None and younger < age - _OLD:
        return True
    kept = beat(view.snapshot)
    return kept is not None and kept.outlived_for > _OLD and _is_current(view.snapshot)


def _is_of_source(snapshot: ChannelSnapshot, row: Heartbeat) -> bool:
    """Whether the direct source writes it, not a server above that."""
    return row.server_id == snapshot.channel.source_id


def _is_current(snapshot: ChannelSnapshot) -> bool:
    """Whether all that came is applied, by an applier that runs."""
    channel = snapshot.channel
    return channel.applier.runs and channel.seconds_behind == 0 and not snapshot.has_backlog


def _applied_from_above(view: View) -> float | None:
    """Give the age of the last transaction if it was applied, and was not written by the direct source."""
    commits, channel = view.snapshot.commits, view.channel
    if commits is None or commits.queued_commit is None or not _is_current(view.snapshot):
        return None
    if not channel.source_uuid or commits.queued.startswith(channel.source_uuid):
        return None
    return view.age(commits.queued_commit)


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


def beat(snapshot: ChannelSnapshot) -> Beat | None:
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


def _goes_on(snapshot: ChannelSnapshot, before: Before, row: Heartbeat) -> bool:
    """Whether transactions of the row's writer have come since the last look."""
    received, then = snapshot.channel.received_gtids, before.contact.received_gtids
    if gtid.is_mariadb(received) and gtid.is_mariadb(then):
        new = gtid.position(received).items() - gtid.position(then).items()
        return any(server == row.server_id for _, (server, _) in new)
    return _is_of_source(snapshot, row) and snapshot.channel.received != before.contact.received


def nothing_missing(view: View) -> Figure | None:
    """Find no lag on this hop where the source has nothing that the replica has not applied.

    How late the source has it itself still shows in the last transaction. An old event in hand disproves it.
    """
    source, commits = view.snapshot.source, view.snapshot.commits
    if source is None or source.missing != 0 or (view.works and view.said > LATE):
        return None
    told = source.distant or source.upstream is not None  # how late the source has it
    if not told and commits and commits.queued_commit is not None and commits.queued_sent is not None:
        arrived = max(0.0, commits.now - (commits.queued_at or 0.0))
        upstream = commits.queued_sent - commits.queued_commit
        if upstream > LATE and view.is_fresh(arrived):
            return Figure(upstream, 0.0, upstream + arrived, COMMIT_TIME, 0.0, upstream)
    return Figure(0.0, 0.0, 0.0, ASKED_SOURCE, 0.0, 0.0)


def by_history(view: View) -> Figure | None:
    """Return when the source was where the replica is now, between two looks at it.

    A lag older than the oldest look is at least that old. None: nothing is missing, or no look shows it.
    The looks are its bounds. Between them a source is assumed to write as fast as afterwards, if not
    faster: it may have been idle or down (a receiver gave up 84 s before, the look before that was 168 s
    ago: an even spread said 168).
    """
    source, before = view.snapshot.source, view.snapshot.before
    if source is None or source.sequence is None or source.replica_sequence is None or before is None:
        return None
    here = source.replica_sequence
    looks = [look for look in before.source_history if look[1] <= source.sequence]
    if not view.lacks or not looks:
        return None
    looks.append((0.0, source.sequence))
    no_backlog = not view.snapshot.has_backlog
    all_on_its_way = no_backlog if source.missing is None else source.missing == source.not_received

    def figure(seconds: float, low: float, high: float | None) -> Figure:
        on_its_way = all_on_its_way and not source.distant
        return Figure(seconds, low, high, SOURCE_HISTORY, seconds if on_its_way else None)

    if here < looks[0][1]:
        return figure(looks[0][0], looks[0][0], None)
    for place, ((earlier, below), (later, above)) in enumerate(pairwise(looks)):
        if below <= here < above:
            after = _rate(*looks[place + 1 : place + 3]) if later else source.pace or 0.0
            rate = max(after, (above + 1 - below) / (earlier - later))
            seconds = later + (above - here) / rate
            if not later and not source.pace and _may_be_a_burst(view, looks):
                seconds = 0.0  # one that has ended is all new
            return figure(seconds, later, max(later, at_most(earlier, view.most()) or 0.0))
    return figure(0.0, 0.0, looks[-2][0])


def _may_be_a_burst(view: View, looks: Sequence[Look]) -> bool:
    """Whether what is missing may be much younger than the last look, on a link that works.

    Other rules limit its age where an event is in hand, or commit times are known.
    """
    commits = view.snapshot.commits
    if view.works or (commits and commits.queued_sent is not None):
        return False
    if view.hearing.silent or not view.channel.receiver.runs:
        return False
    usual = _rate(looks[-2 - _USUAL :][0], looks[-2])
    return _rate(*looks[-2:]) > _STEADY * usual


def _rate(then: Look, now: Look) -> float:
    """Give how much the source wrote in a second between two looks; 0.0: these are one."""
    seconds = then[0] - now[0]
    return (now[1] - then[1]) / seconds if seconds > 0 else 0.0
