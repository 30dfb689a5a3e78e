"""How InnoDB is: how long SHOW ENGINE INNODB STATUS takes, and whether its buffer pool is dumped or loaded.

The status is asked on its own connection, last, and never twice at a time. In "Mystery Solved: Replication
lag in InnoDB" it hung for 2 to 3 minutes whenever replication did. Measured: 0 to 277 ms, even while writers
wait for the redo log (MySQL 9.7.4).

Dumps and loads are many reads, and in old Percona Servers locks: ``innodb_auto_lru_dump`` of 5.1
(innodb_buffer_pool_restore_at_startup in 5.5) cost replication 5 to 10 per cent at best, and hours behind a
backup (the same article).
"""

from __future__ import annotations

import re
import time

from stallwatch.findings import ProbeError, Reading
from stallwatch.probes.innodb.redo import before_8_0_30
from stallwatch.probes.mysql.asking import PROCESS, Asking, Statement, text
from stallwatch.probes.mysql.processes import processes
from stallwatch.probes.mysql.status import is_on
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

_UNDER_WAY, _OVER = ("Dumping", "Loading", "Loaded"), ("not started", "completed", "aborted")
_LOADED = r"(\d+)/(\d+) pages"
_DUMPING = r"(\d+)/(\d+), page (\d+)/(\d+)"  # the first is of the pool's instances
_OLD_DUMPS = ("innodb_auto_lru_dump", "innodb_buffer_pool_restore_at_startup")


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


def dump_under_way(texts: Mapping[str, str]) -> str:
    """Say what is going on with the buffer pool's dump: "load 31 %"; "": nothing."""
    for what in ("load", "dump"):
        status = texts.get(f"Innodb_buffer_pool_{what}_status", "")
        if status.startswith(_UNDER_WAY) and not any(words in status for words in _OVER):
            return f"{what}{_progress(status)}"
    return ""


def _progress(status: str) -> str:
    share = _share(status)
    return "" if share is None else f" {100 * share:.0f} %"


def _share(status: str) -> float | None:
    if match := re.search(_DUMPING, status):
        instance, instances, page, pages = map(int, match.groups())
        return (instance - 1 + page / pages) / instances if instances and pages else None
    if match := re.search(_LOADED, status):
        done, total = map(int, match.groups())
        return done / total if total else None
    return None


def old_dump(settings: Mapping[str, str]) -> str:
    """Give the name of the variable that lets an old Percona Server dump its LRU list all the time."""
    return next((name for name in _OLD_DUMPS if is_on(settings.get(name, ""))), "")
