"""The lag where no commit times are: Seconds_Behind with repairs (rules E7 and E9).

MariaDB, MySQL 5.7, sources older than MySQL 8, and accounts that may not read performance_schema.
"""

from __future__ import annotations

from stallwatch.probes.replication_lag import gtid
from stallwatch.probes.replication_lag.lag import from_source
from stallwatch.probes.replication_lag.lag.clocks import apparent_delay, newest_received
from stallwatch.probes.replication_lag.lag.model import (
    ASKED_SOURCE,
    FRESH,
    LAST_KNOWN,
    LATE,
    NEWEST_RECEIVED,
    SECONDS_BEHIND,
    WHOLE,
    Figure,
    at_most,
)
from stallwatch.startup import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    from stallwatch.probes.replication_lag.lag.model import View

    Rule = Callable[[View], Figure | None]

_JUMP = 5.0  # seconds by which Seconds_Behind may run ahead of time before it is not believed
_WORTH_REPAIRING = 5.0  # seconds
_FEW = 10  # transactions: so many may wait for a moment


def figure(view: View) -> Figure | None:
    """Find the lag; None: unknown."""
    return next((found for rule in _RULES if (found := rule(view))), None)


def _history(view: View) -> Figure | None:
    """Read it from earlier looks at the source: when was it where we are now?"""
    found = from_source.by_history(view)
    if found is None or not view.works:
        return found
    started = view.said + WHOLE  # no statement is committed before it starts
    return found._replace(seconds=at_most(found.seconds, started), high=at_most(found.high, started))


def _stopped(view: View) -> Figure | None:
    """E2: the applier has stopped and something waits for it: the last figure, and the time since.

    What waits may be less, unless it was there at the last look already.
    """
    if view.channel.applier.runs or not view.snapshot.has_backlog:
        return None
    stands_for = None if _stood_still(view) else _stands_for(view) or None
    seconds = at_most(view.grown(), stands_for)
    return None if seconds is None else Figure(seconds, 0.0, view.most(), LAST_KNOWN)


def _stood_still(view: View) -> bool:
    """Whether nothing was applied since the last look, which found a lag."""
    before = view.snapshot.before
    return before is not None and bool(before.lag) and before.applied == view.channel.applied


def _cut_off(view: View) -> Figure | None:
    """E5: nothing is received: missing is, at most, what the source did since it was heard of."""
    if view.channel.receiver.runs:
        return None
    if view.works:
        return Figure(view.said, 0.0, view.said + WHOLE, SECONDS_BEHIND)
    heard, grown = view.hearing.longest, _grown(view)
    if heard is None or (grown and _is_nearer(view, grown, heard)):
        return grown
    return Figure(heard, 0.0, heard, "last contact", heard)


def _is_nearer(view: View, grown: Figure, heard: float) -> bool:
    """Whether the last figure and the time since fit a channel that is cut off better than its contact.

    What had come before may wait as well; and of the last contact only an old bound may be known.
    """
    seconds = grown.seconds or 0.0
    return seconds > heard if view.snapshot.has_backlog else seconds < heard and view.hearing.remembered


def _silent(view: View) -> Figure | None:
    """E6: it looks connected, but no source is quiet for so long."""
    hearing = view.hearing
    if not hearing.silent or not view.is_done:
        return None
    low = max(0.0, hearing.age.low - hearing.period)
    return Figure(hearing.age.low, low, hearing.longest, "last contact", hearing.age.low)


def _missing(view: View) -> Figure | None:
    """Transactions are missing, but there is no history yet that shows since when."""
    if not view.missing or view.works:
        return None
    return Figure(None, 0.0, None, ASKED_SOURCE)


def _full_stream(view: View) -> Figure | None:
    """Take what was seen in hand where a transaction is always on its way: all of them come so late.

    A single one may be a statement that took long: it counts as far as a lag can have become since. Where
    none was seen, a stream that was late still is.
    """
    stream = view.snapshot.stream
    if stream is None or not stream.is_full:
        return None
    most = view.grown() if view.most() is None else view.most()
    late, bound = stream.late, _bound_of_newest(view)
    if late is not None and bound is not None and late > bound + _JUMP:
        return None  # the source's clock was set: Seconds_Behind allows for clocks as they were at the log-in
    if late is None and stream.came_late:
        newest = _as_the_newest(view)
        now = at_most(view.grown(), newest)
        return Figure(now, 0.0, now if newest is None else most, LAST_KNOWN, now)  # else it is that at most
    if late is None:
        return Figure(None if most is None else 0.0, 0.0, most, SECONDS_BEHIND)
    if len(stream.in_hand) == 1:
        late = at_most(late, most) or 0.0
    if late <= LATE:
        return Figure(late, 0.0, late + WHOLE, SECONDS_BEHIND)
    return Figure(late, 0.0, late + WHOLE, SECONDS_BEHIND, late)


def _as_the_newest(view: View) -> float | None:
    """Change the last figure by what the newest event is later or earlier than then: clocks do not matter."""
    before, later = view.snapshot.before, _newest_comes_later(view)
    return None if before is None or before.lag is None or later is None else max(0.0, before.lag + later)


def _bound_of_newest(view: View) -> float | None:
    """Bound the lag by what it was at most, and what the newest event comes later than then.

    What comes later by more than the time since then shows a clock that was set.
    """
    before, later = view.snapshot.before, _newest_comes_later(view)
    if before is None or before.high is None or later is None:
        return None
    return max(0.0, before.high + min(later, before.seconds_ago)) + WHOLE


def _newest_comes_later(view: View) -> float | None:
    """Give the seconds by which the newest event comes later than that of the last look; None: unknown."""
    before, delay = view.snapshot.before, apparent_delay(view.snapshot)
    if before is None or before.delay is None or delay is None:
        return None
    return delay - before.delay - before.clock_set


def _newest_received(view: View) -> Figure | None:
    """MariaDB 11.6 dates the newest event that was received: a late stream shows.

    So do clocks that differ: what no Seconds_Behind confirms is doubtful (``clocks.suspected``).
    """
    written = newest_received(view.channel)
    if written is None or not view.waits or view.said:
        return None
    age = max(0.0, view.snapshot.now - written + view.ahead)
    arrived = view.snapshot.idle
    late = 0.0 if arrived is None or arrived >= FRESH else max(0.0, age - arrived)
    seconds = at_most(late, view.grown()) or 0.0  # it was written when its statement began, not at the commit
    if seconds <= LATE:
        seconds = 0.0
    high = None if view.snapshot.backlog else at_most(age, None if late <= LATE else _bound_of_newest(view))
    return Figure(seconds, 0.0, high, NEWEST_RECEIVED, seconds)


def _nothing_waits(view: View) -> Figure | None:
    """E6 without an applier: its Seconds_Behind is NULL, but all that came was applied when it stopped."""
    if view.channel.applier.runs or not view.is_done:
        return None
    return Figure(0.0, 0.0, None if view.mariadb else view.hearing.longest, "nothing waits")


def _believed(view: View) -> Figure | None:
    """Believe Seconds_Behind, unless it cannot be (E9): 0 with a backlog, or a jump."""
    if view.channel.seconds_behind is None:
        return None
    seconds = view.said
    if (in_backlog := _hidden_by_zero(view)) is not None:
        return Figure(in_backlog, 0.0, None, "backlog")
    if _drops(view):
        return _grown(view)
    if (limit := _jumps(view)) is not None:
        return Figure(limit, 0.0, _most(view, seconds), LAST_KNOWN, proven=True)
    return Figure(seconds, 0.0, _most(view, seconds), SECONDS_BEHIND)


def _hidden_by_zero(view: View) -> float | None:
    """E9: what waits although Seconds_Behind is 0; None: nothing, or the usual gap does not fit it.

    What came since the last look may be a burst of this moment (measured on MariaDB 10.11: 1500 transactions
    in the second in which Seconds_Behind was still 0, 20 s after the last one). So may what amounts to
    more than the lag can be.
    """
    stands_for, grown = _stands_for(view), view.grown()
    if view.said or grown is None or not _WORTH_REPAIRING < stands_for <= grown:
        return None
    return None if _came_since(view) else stands_for


def _came_since(view: View) -> bool:
    """Whether all that waits has been received since the last look."""
    before, backlog = view.snapshot.before, view.snapshot.backlog
    came = gtid.since(view.channel.received_gtids, before.contact.received_gtids) if before else None
    return came is not None and 0 < (backlog or 0) <= came


def is_unproven_zero(view: View) -> bool:
    """Whether more than a few transactions wait, Seconds_Behind is 0, and there is no history."""
    return not view.said and _waits_much(view) and view.grown() is None


def _waits_much(view: View) -> bool:
    return (view.snapshot.backlog or 0) > _FEW


def _most(view: View, seconds: float) -> float | None:
    """Bound the lag when Seconds_Behind is this.

    What is in hand is the oldest of all that is missing. With nothing in hand, MariaDB's shows nothing
    of what is on its way.
    """
    if not seconds and _waits_much(view):
        return view.most()
    if seconds or not view.waits:
        return seconds + WHOLE
    if view.mariadb:
        return None
    heard = view.hearing.longest
    return None if heard is None else max(seconds + WHOLE, heard)


def _stands_for(view: View) -> float:
    """Give the seconds of the source's time in the backlog, at its usual gap between transactions."""
    return (view.snapshot.backlog or 0) * view.gap


def _drops(view: View) -> bool:
    """E9: whether Seconds_Behind is 0 at once, with an event in hand: parallel workers leave such zeros.

    Measured on MySQL 5.7.42: 28, 0, 30 in three seconds. A second 0 is believed, and so is one where all that
    waits came since the last look: what waited then is applied (MariaDB 10.11.19: 11, then 0 after 10 s).
    """
    before = view.snapshot.before
    then = before.seconds_behind if before else None
    if view.channel.seconds_behind != 0 or (then or 0.0) <= _WORTH_REPAIRING or _came_since(view):
        return False
    return not view.waits or _waits_much(view)


def _jumps(view: View) -> float | None:
    """E9: what the lag can be at most, if Seconds_Behind has grown faster than time; None: it has not.

    It counts from the start of a statement that was committed long after it began (measured: 41 s for a
    lag of 9 s), or shows one of its spikes of months. Once the applier has gone on to other transactions,
    it is believed.
    """
    before, seconds = view.snapshot.before, view.said
    limit = view.grown() if view.most() is None else view.most()
    if before is None or limit is None:
        return None
    limit = max(limit, _stands_for(view))  # what a slow link held back comes with a backlog
    if seconds <= limit + _JUMP:
        return None
    then = before.seconds_behind
    jumped_now = then is None or seconds > then + before.seconds_ago + _JUMP
    return limit if jumped_now or before.applied == view.channel.applied else None


def _grown(view: View) -> Figure | None:
    """Take the last figure, and the time since: nothing else is known."""
    grown = view.grown()
    return None if grown is None else Figure(grown, 0.0, view.most(), LAST_KNOWN)


_RULES: tuple[Rule, ...] = (
    _history, _stopped, _cut_off, _silent, _missing, _full_stream, _newest_received, _nothing_waits,
    _believed, _grown,
)  # fmt: skip
