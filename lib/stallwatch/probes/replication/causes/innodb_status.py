"""How long SHOW ENGINE INNODB STATUS takes: on its own connection, last, and never twice at a time.

In "Mystery Solved: Replication lag in InnoDB" it hung for 2 to 3 minutes whenever replication did.
Measured: 0 to 277 ms, even while writers wait for the redo log (MySQL 9.7.4).
"""

from __future__ import annotations

import re
import time

from stallwatch.probes.replication.causes.asking import Asking
from stallwatch.probes.replication.causes.processes import processes
from stallwatch.probes.replication.causes.readings import redo_log
from stallwatch.probes.replication.causes.redo import before_8_0_30
from stallwatch.probes.replication.causes.statement import Statement, text
from stallwatch.probes.replication.privileges import PROCESS
from stallwatch.reading import Reading
from stallwatch.sources.mysql import MysqlError, NoAnswerError
from stallwatch.units import say_duration

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from stallwatch.probes.replication.causes.processes import Process
    from stallwatch.probes.replication.causes.redo import Redo
    from stallwatch.probes.replication.causes.signals import Signals
    from stallwatch.reading import Finding
    from stallwatch.sources.mysql.server import Server

STATUS = Statement("/* stallwatch */ SHOW ENGINE INNODB STATUS", PROCESS)
ADVICE = "InnoDB's own locks are contended: look at dumps of the buffer pool, and at large DROP TABLEs"

_LEAST = 1.5  # seconds: with less time, running out of it says nothing
_HANGS = 10.0  # seconds, of anybody's
_SHOWS = re.compile(r"(/\*.*?\*/ *)?SHOW\s+ENGINE\s+INNODB\s+STATUS", re.IGNORECASE)
_LSN = re.compile(
    r"^Log sequence number\s+(\d+)\s*$.*?^Last checkpoint at\s+(\d+)\s*$", re.MULTILINE | re.DOTALL
)


def hanging(signals: Signals) -> Process | None:
    """Find one, ours or not, that takes far too long."""
    found = (one for one in signals.processes.values() if _SHOWS.match(one.info) and one.seconds >= _HANGS)
    return max(found, key=lambda one: one.seconds, default=None)


def look(server: Server, signals: Signals, budget: float) -> Iterator[Finding]:
    """Ask for it on this connection, which may be lost by that; it may take ``budget`` seconds.

    While an earlier one of ours still hangs it is not asked again: that is the finding. So is running out
    of time. The process list is asked once more for it, as the looks may have been lost in a stuck InnoDB.
    On MySQL 5.7 to 8.0.29 its text tells how full the redo log is.
    """
    if budget < _LEAST:
        return
    asking = Asking(server, lambda _: None)
    earlier = _ours(processes(asking))
    if not asking.is_connected:
        return
    if earlier:
        if earlier.seconds < _LEAST:
            return  # another check of ours asks at this moment
        hangs = f"an earlier SHOW ENGINE INNODB STATUS of ours hangs for {say_duration(earlier.seconds)}"
        yield _reading(earlier.seconds, hangs, f"connection {earlier.id}")
        return
    begun = time.monotonic()
    try:
        rows = server.rows(STATUS.sql, within=budget)
    except NoAnswerError:
        seconds = time.monotonic() - begun
        yield _reading(seconds, f"SHOW ENGINE INNODB STATUS takes longer than {say_duration(seconds)}")
        return
    except MysqlError:  # denied: PROCESS is missing for other signals, too, and noted there
        return
    seconds = time.monotonic() - begun
    yield _reading(seconds, f"SHOW ENGINE INNODB STATUS takes {say_duration(seconds)}")
    for row in rows if not signals.redo else ():
        if redo := redo_in(text(row, "Status"), signals.settings):
            yield redo_log(redo)


def _ours(listed: Iterable[Process]) -> Process | None:
    ours = (one for one in listed if one.info.startswith(STATUS.sql))
    return max(ours, key=lambda one: one.seconds, default=None)


def _reading(seconds: float, what: str, why: str = "") -> Reading:
    return Reading("innodb_status", round(seconds, 3), "s", what, why, ADVICE)


def redo_in(status: str, settings: Mapping[str, str]) -> Redo | None:
    """Read the redo log's age from the text, of which "Log capacity used" is not one (8.0.30 and later)."""
    match = _LSN.search(status)
    return before_8_0_30(int(match[1]) - int(match[2]), settings) if match else None
