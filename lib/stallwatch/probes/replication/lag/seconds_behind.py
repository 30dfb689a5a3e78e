"""The lag where no commit times are: Seconds_Behind with repairs (rules E7 and E9).

MariaDB, MySQL 5.7, sources older than MySQL 8, and accounts that may not read performance_schema.
"""

from __future__ import annotations

from stallwatch.probes.replication.lag import missing
from stallwatch.probes.replication.lag.figure import Figure, at_most

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from stallwatch.probes.replication.lag.view import View

    Rule = Callable[[View], Figure | None]

BY = "Seconds_Behind"
LAST_KNOWN = "last known"
_LATE = 2.0  # seconds on the way that are worth calling late
_FRESH = 10.0  # seconds for which the last arrival speaks for the stream
_JUMP = 5.0  # seconds by which Seconds_Behind may run ahead of time before it is not believed
_WORTH_REPAIRING = 5.0  # seconds
_WHOLE = 1.0  # Seconds_Behind is cut to whole seconds


def figure(view: View) -> Figure | None:
    """Find the lag; None: nothing tells."""
    return next((found for rule in _RULES if (found := rule(view))), None)


def _history(view: View) -> Figure | None:
    """Take it from the source, if that was asked before: when was it where we are now?"""
    found = missing.by_history(view) if view.lacks else None
    if found is None or found.seconds is None or not _works(view):
        return found
    at_most_started = _seconds_behind(view) + _WHOLE  # no statement is committed before it starts
    return found._replace(
        seconds=min(found.seconds, at_most_started), high=at_most(found.high, at_most_started)
    )


def _stopped(view: View) -> Figure | None:
    """E2: the applier has stopped and something waits for it: the last figure, and the time since."""
    if view.channel.applier.runs or not view.has_backlog:
        return None
    seconds = at_most(view.grown(), _stands_for(view) or None)
    return None if seconds is None else Figure(seconds, 0.0, view.most(), LAST_KNOWN)


def _cut_off(view: View) -> Figure | None:
    """E5: nothing is received: missing is, at most, what the source did since it was heard of."""
    if view.channel.receiver.runs:
        return None
    if _works(view):
        return Figure(_seconds_behind(view), 0.0, _seconds_behind(view) + _WHOLE, BY)
    heard = view.hearing.longest
    if heard is None:
        return _grown(view)
    return Figure(heard, 0.0, None if view.mariadb else heard, "last contact", heard)


def _silent(view: View) -> Figure | None:
    """E6: it looks connected, but no source is quiet for so long."""
    hearing = view.hearing
    if not hearing.silent or not view.is_done:
        return None
    low = max(0.0, hearing.age.low - hearing.period)
    high = None if view.mariadb else hearing.longest
    return Figure(hearing.age.low, low, high, "last contact", hearing.age.low)


def _missing(view: View) -> Figure | None:
    """Transactions are missing, but there is no history yet that tells since when."""
    if not view.missing or _works(view):
        return None
    return Figure(None, 0.0, None, "asked the source")


def _newest_received(view: View) -> Figure | None:
    """MariaDB 11.6 tells when the newest event that was received had been written: a late stream shows."""
    written = _moment(view.channel.newest_received)
    if written is None or not view.idle:
        return None
    age = max(0.0, view.evidence.now - written + view.ahead)
    arrived = view.evidence.idle
    late = 0.0 if arrived is None or arrived >= _FRESH else max(0.0, age - arrived)
    seconds = late if late > _LATE else 0.0
    return Figure(seconds, 0.0, age, "newest event received", seconds)


def _moment(text: str) -> float | None:
    """Read a time of SHOW ALL SLAVES STATUS, which is in the session's zone: UTC."""
    if not text:
        return None
    from datetime import UTC, datetime

    try:
        return datetime.fromisoformat(text).replace(tzinfo=UTC).timestamp()
    except ValueError:
        return None


def _nothing_waits(view: View) -> Figure | None:
    """E6 without an applier: its Seconds_Behind is NULL, but all that came was applied when it stopped."""
    if view.channel.applier.runs or not view.is_done:
        return None
    return Figure(0.0, 0.0, None if view.mariadb else view.hearing.longest, "nothing waits")


def _believed(view: View) -> Figure | None:
    """Believe Seconds_Behind, unless it cannot be (E9): 0 with a backlog, or a jump."""
    if view.channel.seconds_behind is None:
        return None
    seconds = _seconds_behind(view)
    if not seconds and (stands_for := _stands_for(view)) > _WORTH_REPAIRING:
        return Figure(stands_for, 0.0, None, "backlog")
    if _drops(view):
        return _grown(view)
    if (limit := _jumps(view)) is not None:
        return Figure(limit, 0.0, _most(view, seconds), LAST_KNOWN)
    return Figure(seconds, 0.0, _most(view, seconds), BY)


def _most(view: View, seconds: float) -> float | None:
    """Bound the lag when Seconds_Behind is this.

    What is in hand is the oldest of all that is missing. With nothing in hand, MariaDB's says nothing of
    what is on its way.
    """
    if not view.idle:
        return seconds + _WHOLE
    if view.mariadb:
        return None
    heard = view.hearing.longest
    return None if heard is None else max(seconds + _WHOLE, heard)


def _stands_for(view: View) -> float:
    """Give the seconds of the source's time in the backlog, at its usual gap between transactions."""
    before = view.evidence.before
    gap = (before.transaction_gap if before else None) or 0.0
    return (view.evidence.backlog or 0) * gap


def _drops(view: View) -> bool:
    """E9: whether Seconds_Behind is 0 at once, with an event in hand: parallel workers leave such zeros.

    Measured on MySQL 5.7.42: 28, 0, 30 in three seconds. A second 0 is believed.
    """
    before = view.evidence.before
    then = before.seconds_behind if before else None
    return view.channel.seconds_behind == 0 and not view.idle and (then or 0.0) > _WORTH_REPAIRING


def _jumps(view: View) -> float | None:
    """E9: what the lag can be at most, if Seconds_Behind has grown faster than time; None: it has not.

    It counts from the start of a statement that was committed long after it began (measured: 41 s for a
    lag of 9 s), or shows one of its spikes of months. Once the applier has gone on to other transactions,
    it is believed.
    """
    before, seconds = view.evidence.before, _seconds_behind(view)
    limit = view.grown() if view.most() is None else view.most()
    if before is None or limit is None:
        return None
    limit = max(limit, _stands_for(view))  # what a slow link held back comes with a backlog
    if seconds <= limit + _JUMP:
        return None
    then = before.seconds_behind
    jumped_now = then is None or seconds > then + before.seconds_ago + _JUMP
    return limit if jumped_now or before.applied == view.channel.applied else None


def _works(view: View) -> bool:
    """Whether the applier has an event in hand whose time Seconds_Behind counts from."""
    return view.channel.applier.runs and not view.idle and bool(view.channel.seconds_behind)


def _seconds_behind(view: View) -> float:
    return view.channel.seconds_behind or 0.0


def _grown(view: View) -> Figure | None:
    """Take the last figure, and the time since: nothing else is known."""
    grown = view.grown()
    return None if grown is None else Figure(grown, 0.0, view.most(), LAST_KNOWN)


_RULES: tuple[Rule, ...] = (
    _history, _stopped, _cut_off, _silent, _missing, _newest_received, _nothing_waits, _believed, _grown,
)  # fmt: skip
