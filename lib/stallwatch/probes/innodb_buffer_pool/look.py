"""One look at the buffer pool: what it counted since the last one, what it is now, whether InnoDB hangs."""

from __future__ import annotations

import time

from stallwatch.findings import Fault, ProbeError, State
from stallwatch.history import delta, own
from stallwatch.history.streak import twice
from stallwatch.probes.innodb import status
from stallwatch.probes.innodb_buffer_pool import pool
from stallwatch.probes.innodb_buffer_pool.telling import MISS_RATIO, Found
from stallwatch.probes.mysql.asking import Asking
from stallwatch.sources.mysql import DeniedError, MysqlError
from stallwatch.startup import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Any

    from stallwatch.findings import Finding
    from stallwatch.frame.deadline import Deadline
    from stallwatch.probes.innodb_buffer_pool.pool import Pool
    from stallwatch.sources.mysql.server import Server

COLD = (
    1800.0  # seconds after its start in which a pool still fills: by custom, as check_ndb_page_buffer has it
)
_ONE_CONNECTION = (1203, 1226)  # what a server says to an account that may have one only


class Asked(NamedTuple):
    """What the user asked for."""

    deadline: Deadline
    trace: Callable[[str], None]
    alerts: Callable[[str, float | None], bool]  # whether a threshold of a quantity alerts on a value
    min_requests: int  # for pages, in an interval that is judged
    sample: float | None = None  # seconds between two looks of one run


def look(server: Server, asked: Asked, memory: dict[str, Any]) -> Found:
    """Look at the pool, and compare with the last look; raises a ProbeError."""
    asking = Asking(server, asked.trace)
    seen: list[Pool] = []

    def take() -> delta.Look:
        seen.append(pool.look(asking))
        return seen[-1].look

    interval: delta.Interval | None = None
    why: str | ProbeError = ""
    try:
        if asked.sample:
            interval = delta.sample(take, asked.sample, asked.deadline)
        else:
            interval = delta.since_last_look(own(memory, "look"), take())
    except delta.NoIntervalError as error:
        why = str(error)
    except ProbeError as error:  # of a sample, the second look was lost
        if not seen:
            raise
        why = error
    found = Found(seen[-1], interval, why, asked.min_requests)
    misses = asked.alerts(MISS_RATIO, found.miss_ratio)
    lasts = bool(twice(memory, "misses", {0} if misses else set(), time.time()))
    return found._replace(is_doubtful=misses and (not lasts or seen[-1].look.uptime < COLD))


def innodb_status(server: Server, deadline: Deadline) -> Iterator[Finding]:
    """Tell how long SHOW ENGINE INNODB STATUS takes: last of all, and on a connection of its own.

    Raises an UnreachableError if nobody can log in any more.
    """
    try:
        with server.again() as another:
            answer = status.look(another, deadline.left())
    except MysqlError as error:
        if error.number not in _ONE_CONNECTION:
            raise
        yield Fault(State.OK, f"SHOW ENGINE INNODB STATUS was not asked: {error.what}")
        return
    if answer.reading:
        yield answer.reading
    elif isinstance(answer.why, DeniedError):
        yield Fault(State.OK, "how long SHOW ENGINE INNODB STATUS takes is not known: it needs PROCESS")
    elif answer.why:
        yield answer.why
