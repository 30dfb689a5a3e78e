"""One run: ask for the pool, compare it with the last look; then ask whether InnoDB hangs."""

from __future__ import annotations

import time

from stallwatch.findings import Fault, ProbeError, State
from stallwatch.history import delta
from stallwatch.history.streak import lasts
from stallwatch.probes.innodb_buffer_pool import messages
from stallwatch.probes.innodb_buffer_pool.model import COUNTERS, DIRTY, MISS_RATIO, Pool, Snapshot
from stallwatch.probes.mysql import innodb
from stallwatch.probes.mysql.asking import Asking
from stallwatch.probes.mysql.status import global_status, numbers, variables
from stallwatch.sources.mysql import DeniedError, MysqlError
from stallwatch.startup import TYPE_CHECKING

if TYPE_CHECKING:
    from argparse import Namespace
    from collections.abc import Iterator
    from typing import Any

    from stallwatch.deadline import Deadline
    from stallwatch.findings import Finding
    from stallwatch.frame.run import Run
    from stallwatch.sources.mysql.server import Server

# Seconds after its start in which a pool still fills: by custom, as check_ndb_page_buffer has it.
COLD = 1800.0
_ONE_CONNECTION = (1203, 1226)  # what a server answers to an account that may have one only
_PAGES = {name: f"Innodb_buffer_pool_pages_{name}" for name in ("total", "free", "data", "dirty")}
_TEXTS = (
    "Innodb_buffer_pool_dump_status",
    "Innodb_buffer_pool_load_status",
    "Innodb_buffer_pool_load_incomplete",  # MariaDB
)
_STATUS = ("Uptime", *COUNTERS, *_PAGES.values(), *_TEXTS)
_SIZE, _MOST_DIRTY = "innodb_buffer_pool_size", "innodb_max_dirty_pages_pct"
_SETTINGS = (
    "innodb_auto_lru_dump",  # Percona Server 5.1
    "innodb_buffer_pool_restore_at_startup",  # its name in Percona Server 5.5
    _SIZE,
    _MOST_DIRTY,
)


def look(server: Server, run: Run, options: Namespace, memory: dict[str, Any]) -> Snapshot:
    """Look at the pool, and compare with the last look; raises a ProbeError.

    ``options`` has ``sample``, the seconds between two looks of one run or None, and ``min_requests``.
    """
    asking = Asking(server, run.trace)
    seen: list[Pool] = []

    def take() -> delta.Look:
        seen.append(_pool(asking))
        return seen[-1].look

    try:
        interval = delta.measured(take, memory, options.sample, run.deadline)
    except ProbeError as error:  # of a sample, the second look was lost
        if not seen:
            raise
        interval = delta.NOTHING._replace(why=error)
    found = Snapshot(seen[-1], interval, options.min_requests)
    misses = run.alerts(MISS_RATIO, found.miss_ratio)
    misses_again = lasts(memory, "misses", time.time(), is_bad=misses)
    is_cold = found.pool.look.uptime < COLD
    return found._replace(confirmed=not misses or (misses_again and not is_cold))


def findings(server: Server, run: Run, snapshot: Snapshot) -> Iterator[Finding]:
    """Judge the pool; then ask whether InnoDB hangs, which may take all the time that is left."""
    if snapshot.pool.most_dirty:
        run.default(DIRTY, warning=f"{snapshot.pool.most_dirty:g}")
    yield from messages.all_of_it(snapshot)
    yield from _innodb_status(server, run.deadline)


def _pool(asking: Asking) -> Pool:
    """Ask for the pool as it is; raises a ProbeError."""
    texts = global_status(asking, _STATUS)
    asking.must_have_answered()
    found = numbers(texts)
    lacking = [name for name in ("Uptime", *_PAGES.values()) if name not in found]
    if lacking:
        where, flavour = asking.server.where, asking.server.flavour.text
        raise ProbeError(
            f"{where} ({flavour}) shows no buffer pool: SHOW GLOBAL STATUS has no {lacking[0]}",
            "see with SHOW ENGINES whether InnoDB is there",
        )
    pages = {name: int(found[variable]) for name, variable in _PAGES.items()}
    counts = {name: found[name] for name in COUNTERS if name in found}
    at = time.time()
    settings = variables(asking, _SETTINGS)
    return Pool(
        **pages,
        look=delta.Look(found["Uptime"], at, counts),
        texts=texts,
        settings=settings,
        size=numbers(settings).get(_SIZE),
        most_dirty=numbers(settings).get(_MOST_DIRTY),
        unanswered=asking.failed,
    )


def _innodb_status(server: Server, deadline: Deadline) -> Iterator[Finding]:
    """Give how long SHOW ENGINE INNODB STATUS takes: last of all, and on a connection of its own.

    Raises an UnreachableError if nobody can log in any more.
    """
    try:
        with server.again() as another:
            answer = innodb.ask_status(another, deadline.left(), server)
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
