"""How far the clocks of source and replica differ (rule E8): commit times and heartbeats are the source's.

An offset is learnt from both clocks (--source), from what cannot be (arrivals before the commit, a lag that
grows faster than time, a clock of the replica that was set between two looks), and on MySQL from
Seconds_Behind: it is corrected for the clocks as the receiver finds them when it connects, and counts while
something received is not applied, which parallel workers let last for up to 300 ms after each transaction.
Looks each 50 ms, MySQL 9.7.2, 4 workers and 1:

                                                        Seconds_Behind is
                                     0 or 1    the commit time's    nothing in hand
    clocks 120 s apart, 2 commits/s     192                    0                128
                        10/s            320                    0                  0
                        1 in 5 s         15                    0                305
    link of 36 or 20 kB/s for 45          0                  640                  0
            5 kB/s                        0                  199                121
    link that delays by 8 or 20 s, 2/s    0                  376                264
                        10/s              0                  640                  0
                        1 in 5 s          0                   57                583

A source's connect_timeout of 10 s lets no receiver connect over a link that is later than that, so what
delays it when it connects is no more. What proves neither clocks nor a lag is doubtful: the figure is what it
is if the clocks differ, with the other one as its bound. A late stream shows as soon as something is in hand,
and in a delay that changes; clocks that differ would alarm for ever.
"""

from __future__ import annotations

from stallwatch.probes.replication_lag.lag.model import (
    COMMIT_TIME,
    HEARTBEAT_TABLE,
    NEWEST_RECEIVED,
    at_most,
)
from stallwatch.startup import TYPE_CHECKING

if TYPE_CHECKING:
    from stallwatch.probes.replication_lag.lag.model import Figure, View
    from stallwatch.probes.replication_lag.model import Before, Channel, ChannelSnapshot, Commits

WORTH_TELLING = 2.0  # seconds
ENOUGH = 3  # looks with something in hand that settle Seconds_Behind
_LOOKS = 5  # so many in a row with the same offset are no accident
_SPREAD = 1.5  # seconds; a heartbeat's own age varies by its interval, 1 s
_CURRENT = 1.0  # s: Seconds_Behind of a channel that has no lag, as it is cut to whole seconds
_WORTH_DOUBTING = 5.0  # seconds
_SLACK = 2.0  # seconds by which a lag may seem to grow faster than time
_BY_ITS_CLOCK = (COMMIT_TIME, HEARTBEAT_TABLE, NEWEST_RECEIVED)  # of the source


def learn(snapshot: ChannelSnapshot) -> float | None:
    """Give the seconds by which the replica's clock is ahead of the source's: they look like lag.

    Proven now, or at an earlier look if what is seen now allows that: nothing arrives before it was sent, so
    each delay is the offset at most. None: no difference is proven.
    """
    if snapshot.clock_ahead is not None:
        return -snapshot.clock_ahead
    before, delay = snapshot.before, apparent_delay(snapshot)
    offset = (before.clocks or 0.0) if before else 0.0
    if before and (before.clocks, before.delay) != (None, None):  # else nobody knows what it was
        offset += before.clock_set
    if delay is not None:
        offset = _leapt(snapshot, delay, offset) or _by_seconds_behind(snapshot, delay, offset) or offset
        offset = min(offset, delay)
    return offset if abs(offset) > WORTH_TELLING else None


def _by_seconds_behind(snapshot: ChannelSnapshot, delay: float, then: float) -> float | None:
    """Return which offset Seconds_Behind proves; None: none, or the one that is known already.

    The last transaction that was received has not been on its way for longer than the oldest that is not
    applied is old.
    """
    told = snapshot.said_in_hand
    if len(told) < ENOUGH or snapshot.commits is None or delay - max(told) - 1 <= then + WORTH_TELLING:
        return None
    at = snapshot.commits.oldest_in_hand
    oldest = delay if at is None else max(delay, snapshot.commits.now - at)
    return oldest - max(told)


def _leapt(snapshot: ChannelSnapshot, delay: float, then: float) -> float | None:
    """Return the offset after a delay that grew faster than time: of what was committed later, none does."""
    before = snapshot.before
    if before is None or before.delay is None or before.delay_age is None:
        return None
    grown = delay - before.delay - before.clock_set
    if grown <= before.seconds_ago + before.delay_age + _SLACK or not _goes_on(snapshot, before):
        return None
    return then + grown


def _goes_on(snapshot: ChannelSnapshot, before: Before) -> bool:
    """Whether the receiver is further than it was: a new start may fetch old transactions again."""
    return snapshot.channel.received > before.contact.received


def suspected(view: View, found: Figure) -> float:
    """Give the seconds of a lag that may be nothing but clocks that differ; 0.0: none, or it is proven."""
    return _usual_offset(view.snapshot) or _unexplained(view, found)


def _usual_offset(snapshot: ChannelSnapshot) -> float:
    """Give the seconds that looked like lag at each of the last looks, if this one allows it; else 0.0."""
    before = snapshot.before
    if snapshot.clock_ahead is not None or before is None or before.clocks:
        return 0.0
    offsets = before.offsets[-_LOOKS:]
    if len(offsets) < _LOOKS or max(offsets) - min(offsets) > _SPREAD:
        return 0.0
    offset = sorted(offsets)[_LOOKS // 2]
    if abs(offset) <= WORTH_TELLING or _disproves(snapshot, offset):
        return 0.0
    return offset


def _disproves(snapshot: ChannelSnapshot, offset: float) -> bool:
    """Whether what is seen now cannot be if the clocks differ by ``offset``."""
    seen = apparent_delay(snapshot)
    return (seen is not None and seen < offset - _SPREAD) or _agree(snapshot)


def _agree(snapshot: ChannelSnapshot) -> bool:
    """Whether Seconds_Behind, which allows for clocks that differ, agrees with the commit time."""
    said, commits = snapshot.channel.seconds_behind, snapshot.commits
    if commits is None or not said or commits.oldest_applying is None:
        return False
    return abs(commits.now - commits.oldest_applying - said) <= _SPREAD


def _unexplained(view: View, found: Figure) -> float:
    """Give the seconds on the way that nothing else confirms or explains."""
    snapshot, delay = view.snapshot, apparent_delay(view.snapshot)
    if delay is None or found.by not in _BY_ITS_CLOCK or view.channel.seconds_behind is None:
        return 0.0
    late = delay + view.ahead
    compared, receives = snapshot.clock_ahead is not None, view.channel.receiver.runs
    if snapshot.heartbeat is not None and not (_is_current(view) and _is_renewed(snapshot)):
        return 0.0
    # A late stream that nothing proves is not to be one for the next looks.
    doubted = WORTH_TELLING if found.by == NEWEST_RECEIVED else _WORTH_DOUBTING
    if compared or not receives or view.hearing.silent or min(late, found.seconds or 0.0) <= doubted:
        return 0.0
    return 0.0 if _is_confirmed(view, late) else late


def _is_renewed(snapshot: ChannelSnapshot) -> bool:
    """Whether the heartbeat's row is another one than at the last look, or there was no such look."""
    row, then = snapshot.heartbeat, snapshot.before.heartbeat if snapshot.before else None
    return row is None or then is None or then.written != row.written


def _is_confirmed(view: View, late: float) -> bool:
    """Whether Seconds_Behind is as much, now or before, or the delay is not what it was: no clocks do that.

    Between two transactions of a late stream Seconds_Behind is 0, and MariaDB's is so even while it lasts:
    there `stream` looks for a transaction in hand. The age of MariaDB's newest event may change with each
    statement, as it is dated by when that began.
    """
    snapshot = view.snapshot
    told, before = (view.said, *snapshot.said_in_hand), snapshot.before
    if max(told) >= late - _WORTH_DOUBTING:
        return True
    if before is None:
        return False
    if (before.seconds_behind or 0.0) > max(_WORTH_DOUBTING, late / 2):
        return True
    if view.mariadb and snapshot.heartbeat is None:
        return False
    settled = view.mariadb or snapshot.looked_again is not None
    last = () if before.delay is None else (before.delay + before.clock_set,)
    return settled and any(late - view.ahead - one > _SPREAD for one in (*before.offsets[-_LOOKS:], *last))


def apparent_delay(snapshot: ChannelSnapshot) -> float | None:
    """Give what is a delay or a difference of the clocks: of the heartbeat's row, or the last transaction.

    The smaller one: clocks that differ show in both. MariaDB 11.6 and later date the newest event.
    """
    row = snapshot.heartbeat
    on_its_way = _of_newest(snapshot) if snapshot.commits is None else _on_its_way(snapshot.commits)
    if row is None:
        return on_its_way
    return None if row.remark else at_most(row.age, on_its_way)  # another time zone is no clock


def _of_newest(snapshot: ChannelSnapshot) -> float | None:
    """Give the seconds from when the newest event was written to its arrival: the applier is idle since."""
    written = newest_received(snapshot.channel)
    return None if written is None or snapshot.idle is None else snapshot.now - written - snapshot.idle


def newest_received(channel: Channel) -> float | None:
    """Read when MariaDB's newest event was written, which the status has in the session's zone, UTC."""
    if not channel.newest_received:
        return None
    from datetime import UTC, datetime

    try:
        return datetime.fromisoformat(channel.newest_received).replace(tzinfo=UTC).timestamp()
    except ValueError:
        return None


def delay_age(snapshot: ChannelSnapshot) -> float | None:
    """Return how many seconds ago that delay was seen; None: there is none."""
    if snapshot.heartbeat is not None:
        return 0.0
    at = snapshot.commits.queued_at if snapshot.commits else None
    return None if at is None or snapshot.commits is None else max(0.0, snapshot.commits.now - at)


def _on_its_way(commits: Commits) -> float | None:
    """Give the seconds between the commit and the arrival of the last transaction, by two clocks."""
    if commits.queued_sent is None or commits.queued_at is None:
        return None
    return commits.queued_at - commits.queued_sent


def offset(view: View) -> float | None:
    """Find what looks like lag with no other proof, to be compared with the next looks'.

    Each transaction counts once: the last one of a source that is idle since may have been late. 0.0 ends
    the series: what had looked like clocks was a lag.
    """
    snapshot = view.snapshot
    if _agree(snapshot):
        return 0.0
    delay, known = apparent_delay(snapshot), snapshot.before.offsets if snapshot.before else ()
    if delay is None or not _is_new(snapshot) or view.hearing.silent:
        return None
    if known and delay < min(known) - _SPREAD:
        return delay
    return delay if _is_current(view) else None


def _is_new(snapshot: ChannelSnapshot) -> bool:
    """Whether a transaction has come since the last look; heartbeat rows differ by their age."""
    commits, before = snapshot.commits, snapshot.before
    if snapshot.heartbeat is not None or before is None:
        return True
    return bool(commits and commits.queued_at and commits.now - commits.queued_at < before.seconds_ago)


def _is_current(view: View) -> bool:
    """Whether nothing but the clocks suggests a lag.

    Seconds_Behind is corrected for clocks, so a busy channel may show it too where transactions have a
    time of arrival: what its applier leaves lying does not count in that.
    """
    said = view.channel.seconds_behind
    if said is None or said > _CURRENT or view.missing:
        return False
    return view.snapshot.heartbeat is None or (said == 0 and view.idle and not view.lacks)
