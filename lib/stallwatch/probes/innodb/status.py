"""How long SHOW ENGINE INNODB STATUS takes: on its own connection, last, and never twice at a time.

In "Mystery Solved: Replication lag in InnoDB" it hung for 2 to 3 minutes whenever replication did.
Measured: 0 to 277 ms, even while writers wait for the redo log (MySQL 9.7.4).
"""

from __future__ import annotations

import re
import time

from stallwatch.findings import ProbeError, Reading
from stallwatch.probes.innodb.redo import before_8_0_30
from stallwatch.probes.mysql.asking import Asking
from stallwatch.probes.mysql.privileges import PROCESS
from stallwatch.probes.mysql.processes import processes
from stallwatch.probes.mysql.statement import Statement, text
from stallwatch.sources.mysql import MysqlError, NoAnswerError
from stallwatch.startup import TYPE_CHECKING, NamedTuple
from stallwatch.units import say_duration

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from stallwatch.probes.innodb.redo import Redo
    from stallwatch.probes.mysql.processes import Process
    from stallwatch.sources.mysql.server import Server

STATUS = Statement("/* stallwatch */ SHOW ENGINE INNODB STATUS", PROCESS)
ADVICE = "InnoDB's own locks are contended: look at dumps of the buffer pool, and at large DROP TABLEs"

_LEAST = 1.5  # seconds: with less time, running out of it says nothing
_ALIVE = 0.5  # seconds within which a server that answers at all answers _NOTHING
_NOTHING = "SELECT 1"  # it needs nothing of InnoDB
_HANGS = 10.0  # seconds, of anybody's
_SHOWS = r"(?i)(/\*.*?\*/ *)?SHOW\s+ENGINE\s+INNODB\s+STATUS"
_LSN = r"(?ms)^Log sequence number\s+(\d+)\s*$.*?^Last checkpoint at\s+(\d+)\s*$"


def hanging(listed: Iterable[Process]) -> Process | None:
    """Find one, ours or not, that takes far too long."""
    found = (one for one in listed if one.seconds >= _HANGS and re.match(_SHOWS, one.info))
    return max(found, key=lambda one: one.seconds, default=None)


class Answer(NamedTuple):
    """How long it took, as far as that is known, and what it says."""

    reading: Reading | None = None
    text: str = ""
    why: ProbeError | None = None  # neither is known: a DeniedError if it needs PROCESS


def look(server: Server, budget: float, idle: Server | None = None) -> Answer:
    """Ask for it on this connection, which may be lost by that; it may take ``budget`` seconds.

    While an earlier one hangs it is not asked again: that is the finding. So is running out of time, unless
    the server does not answer on ``idle`` either, another connection to it: then all of it stands still, and
    that says nothing about InnoDB. The process list is asked for that first.
    """
    if budget < _LEAST:
        what = f"no time was left to ask {server.where} SHOW ENGINE INNODB STATUS"
        return Answer(why=ProbeError(what, "give it a longer --timeout"))
    begun = time.monotonic()
    asking = Asking(server, lambda _: None)
    earlier = _earlier(processes(asking))
    if asking.failed:
        return Answer(why=asking.failed)
    if earlier:
        return Answer(_reading(earlier.seconds, *_said(earlier)))
    left = budget - (time.monotonic() - begun) - (_ALIVE if idle else 0)
    return _asked(server, max(_LEAST, left), idle)


def _asked(server: Server, budget: float, idle: Server | None) -> Answer:
    begun = time.monotonic()
    try:
        rows = server.rows(STATUS.sql, within=budget)
    except NoAnswerError:
        seconds = time.monotonic() - begun
        try:
            if idle:
                idle.rows(_NOTHING, within=_ALIVE)
        except MysqlError as error:
            return Answer(why=error)
        longer = f"SHOW ENGINE INNODB STATUS takes longer than {say_duration(seconds)}"
        return Answer(_reading(seconds, longer))
    except MysqlError as error:
        return Answer(why=error)
    seconds = time.monotonic() - begun
    reading = _reading(seconds, f"SHOW ENGINE INNODB STATUS takes {say_duration(seconds)}")
    return Answer(reading, "".join(text(row, "Status") for row in rows))


def _earlier(listed: Sequence[Process]) -> Process | None:
    """Find one that hangs: of ours, whatever takes longer than one that another check asks just now."""
    ours = (one for one in listed if _is_ours(one) and one.seconds >= _LEAST)
    return max(ours, key=lambda one: one.seconds, default=None) or hanging(listed)


def _is_ours(one: Process) -> bool:
    return one.info.startswith(STATUS.sql)


def _said(one: Process) -> tuple[str, str]:
    whose = "ours" if _is_ours(one) else f"the user {one.user}"
    hangs = f"an earlier SHOW ENGINE INNODB STATUS of {whose} hangs for {say_duration(one.seconds)}"
    return hangs, f"connection {one.id}"


def _reading(seconds: float, what: str, why: str = "") -> Reading:
    return Reading("innodb_status", round(seconds, 6), "s", what, why, ADVICE)


def redo_in(status: str, settings: Mapping[str, str]) -> Redo | None:
    """Read the redo log's age from the text, of which "Log capacity used" is not one (8.0.30 and later)."""
    match = re.search(_LSN, status)
    return before_8_0_30(int(match[1]) - int(match[2]), settings) if match else None
