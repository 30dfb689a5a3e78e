"""A FLUSH TABLES that waits for a statement, and the statement that it waits for."""

from __future__ import annotations

from stallwatch.probes.mysql import statements
from stallwatch.probes.mysql.locks.metadata import FLUSH, GLOBAL_LOCK, METADATA_LOCK
from stallwatch.startup import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

    from stallwatch.probes.mysql.processes import Process

_WAITS = (FLUSH, GLOBAL_LOCK, METADATA_LOCK)


def flush(processes: Iterable[Process]) -> Process | None:
    """Find the oldest FLUSH TABLES that waits.

    FLUSH TABLES WITH READ LOCK takes the global lock first, then waits until all tables are closed (MySQL
    Reference Manual, "FLUSH").
    """
    found = [one for one in processes if FLUSH.search(one.state) and statements.flushes(one.info)]
    return max(found, key=lambda one: one.seconds, default=None)


def oldest_statement(processes: Iterable[Process]) -> Process | None:
    """Find the oldest statement of a client that does not itself wait for a lock or a flush."""
    found = [
        one
        for one in processes
        if one.is_client_s_statement and not any(state.search(one.state) for state in _WAITS)
    ]
    return max(found, key=lambda one: one.seconds, default=None)
