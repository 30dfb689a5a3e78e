"""Who has the connections of a server that has few left, or none: then the last look shows it."""

from __future__ import annotations

import time

from stallwatch.causes import Cause, Certainty, Kind, Subject
from stallwatch.findings import Fault, Line, Reading, State
from stallwatch.history import recall, remember
from stallwatch.line import Forms
from stallwatch.probes.mysql.asking import record
from stallwatch.probes.mysql.processes import of_process_list
from stallwatch.sources.mysql.errors import TOO_MANY
from stallwatch.startup import TYPE_CHECKING, NamedTuple
from stallwatch.units import say_duration
from stallwatch.words import plural

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from stallwatch.probes.mysql.asking import Asking
    from stallwatch.sources.mysql import UnreachableError

NAME = "connections"  # of the quantity, and of what is remembered of it
_WORTH = 0.5  # of max_connections: from here on it is remembered who has them
_HOLDERS = (
    "SELECT USER AS user, SUBSTRING_INDEX(HOST, ':', 1) AS host, COUNT(*) AS number,"
    " SUM(COMMAND = 'Sleep') AS idle, MAX(IF(COMMAND = 'Sleep', TIME, 0)) AS longest FROM "
)
_BY_ACCOUNT = " WHERE COMMAND <> 'Daemon' GROUP BY USER, SUBSTRING_INDEX(HOST, ':', 1)"
_FIRST = " ORDER BY COUNT(*) DESC LIMIT 5"
_POOL = Forms("let that pool keep fewer, or raise max_connections", "let that pool keep fewer")
_BUSY = Forms("see what they wait for (SHOW PROCESSLIST)", "see what they wait for")
_LET_IN = (
    "one place is kept for CONNECTION_ADMIN or SUPER; MySQL's admin_port and MariaDB's extra_port let"
    " administrators in, too"
)


class Holder(NamedTuple):
    """An account at one host, with what it has."""

    user: str
    host: str
    number: int  # connections
    idle: int  # of them
    longest: float  # seconds for which one has been idle; of MySQL, since its last statement began


class Used(NamedTuple):
    """How many connections there are, and whose: those of most first."""

    at: float  # seconds since 1970
    number: int
    most: int  # max_connections
    holders: tuple[Holder, ...] = ()

    @property
    def share(self) -> float:
        """Per cent of all."""
        return 100.0 * self.number / self.most


def look(asking: Asking, connected: int, most: int, memory: dict[str, Any]) -> Used | None:
    """See how many of its ``most`` connections a server has, and from half of them on whose they are."""
    if not most:
        return None
    used = Used(time.time(), connected, most)
    if used.number >= _WORTH * most:
        rows = of_process_list(asking, _HOLDERS, _BY_ACCOUNT + _FIRST)
        used = used._replace(holders=tuple(record(row, Holder) for row in rows))
        remember(memory, NAME, used)
    return used


def reading(used: Used, server: Subject) -> Reading:
    """Report how many connections are used, and who has most of them."""
    what = f"{used.number} of {plural(used.most, 'connection')} used"
    found = Reading(NAME, round(used.share, 1), "%", what, "whose is not known", line=Line())
    if not used.holders:
        return found
    first, cause = used.holders[0], Cause(Kind.TOO_MANY_CONNECTIONS, server, Certainty.CERTAIN)
    why, line = _has("", first), Line(more=_lines(used.holders))
    return found._replace(why=why, advice=_step(first), line=line, cause=cause)


def refused(error: UnreachableError, memory: dict[str, Any]) -> Fault | None:
    """Report that none is left, not even for this check, and who had them; None: it is another error."""
    if error.number != TOO_MANY:
        return None
    last = recall(memory, NAME, Used)
    why, advice = "whose they are is not known", error.advice
    more: tuple[str, ...] = (_LET_IN,)
    if last and last.holders:
        ago = f"{say_duration(max(0.0, time.time() - last.at))} ago "
        why, advice = _has(ago, last.holders[0]), _step(last.holders[0])
        more = (*_lines(last.holders), _LET_IN)
    return Fault(State.CRITICAL, error.what, why, advice, Line(more=more))


def _has(ago: str, one: Holder) -> Forms:
    """Write who has most: ``app@web1 has 140, 138 idle``; behind ``ago`` what the last look has shown."""
    has = f"{'had' if ago else 'has'} {one.number}{f', {one.idle} idle' if one.idle else ''}"
    return Forms(f"{ago}{one.user}@{one.host} {has}", f"{ago}{one.user} {has}", f"{one.user} {has}")


def _step(one: Holder) -> Forms:
    return _POOL if 2 * one.idle > one.number else _BUSY


def _lines(holders: Sequence[Holder]) -> tuple[str, ...]:
    return tuple(
        f"{one.user}@{one.host}: {plural(one.number, 'connection')}, {one.idle} idle"
        + (f", the longest for {say_duration(one.longest)}" if one.idle else "")
        for one in holders
    )
