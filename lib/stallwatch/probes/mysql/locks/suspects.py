"""Who probably holds what no table shows: MariaDB without the plugin metadata_lock_info, and any FLUSH."""

from __future__ import annotations

from stallwatch.probes.mysql import statements
from stallwatch.probes.mysql.locks.metadata import FLUSH, GLOBAL_LOCK, METADATA_LOCK, table_of
from stallwatch.startup import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Sequence

    from stallwatch.probes.mysql.locks.rows import Transaction
    from stallwatch.probes.mysql.processes import Process

_ROUNDED = 1.0  # seconds: the process list and INNODB_TRX have whole ones
_BEFORE = 10.0  # seconds that a lock may have been held before somebody came to it
_WAITS = (FLUSH, GLOBAL_LOCK, METADATA_LOCK)  # a FLUSH TABLES waits for a statement


def suspect(
    waits: Process,
    processes: Collection[Process],
    transactions: Collection[Transaction],
    copies: Collection[int] = (),
) -> Process | None:
    """Find the only client that can have kept this one waiting since it began; None: none, or several.

    MariaDB 10.11.19: who ran FLUSH TABLES WITH READ LOCK or LOCK TABLES, and then nothing, has been idle for
    0.5 to 1 s longer than an applier has waited, at 2 commits a second, and has no transaction. Who reads
    the table that is to be altered has a transaction that is older than the wait. ``copies`` are connections
    of backups. Another applier that is at work may hold the lock of a table as well as a client, and nothing
    shows how long an applier of MySQL has waited.
    """
    if not waits.tells_since_when:
        return None
    clients = [one for one in processes if one.is_client and one.id != waits.id]
    if GLOBAL_LOCK.search(waits.state):
        writes = {one.process for one in transactions if one.modified}  # who cannot while it is held
        reads = [one for one in clients if one.id not in writes]
        return _since(waits, reads) or _only([one for one in reads if one.id in copies])
    if any(_may_have_it(one, waits) for one in processes):
        return None
    if statements.defines(waits.info):
        return _in_the_way(waits, transactions, clients)
    table = table_of(waits)
    defining = [one for one in clients if table and statements.defined_table(one.info, one.database) == table]
    return _only(defining) if defining else _since(waits, clients)


def _may_have_it(applier: Process, waits: Process) -> bool:
    """Whether it is another applier that is at work, and not behind this one in the same queue."""
    behind = METADATA_LOCK.search(applier.state) and applier.seconds <= waits.seconds
    return applier.is_applier_at_work and applier.id != waits.id and not behind


def _in_the_way(
    waits: Process, transactions: Collection[Transaction], clients: Sequence[Process]
) -> Process | None:
    """Find who keeps an ALTER TABLE or its like waiting: a transaction or a statement that is older."""
    begun = waits.seconds - _ROUNDED
    open_ = {one.process for one in transactions if one.age >= begun}
    queued = {one.process for one in transactions if one.waiting is not None}  # who has its row is before it
    older = [
        one
        for one in clients
        if not one.state.startswith("Waiting")  # behind it
        if one.id not in queued
        if one.id in open_ or (one.is_client_s_statement and one.seconds >= begun)
    ]
    return _only(older) if older else _since(waits, clients)


def _since(waits: Process, clients: Sequence[Process]) -> Process | None:
    """Find the only client that there is, else the only one that has been idle since the wait began."""
    running = [one for one in clients if not one.state.startswith("Waiting")]
    if len(running) == 1:
        return running[0]
    idle = [one for one in running if one.command == "Sleep" and one.tells_idle]
    return _only([one for one in idle if -_ROUNDED <= one.seconds - waits.seconds <= _BEFORE])


def _only(found: Sequence[Process]) -> Process | None:
    return found[0] if len(found) == 1 else None


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
