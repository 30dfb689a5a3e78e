"""Each wait of a server, of all kinds: from transactions, the process list and tables of locks."""

from __future__ import annotations

from stallwatch.probes.mysql import statements
from stallwatch.probes.mysql.locks.graph import LockKind, Release, Wait
from stallwatch.probes.mysql.locks.metadata import (
    FLUSH,
    GLOBAL_LOCK,
    METADATA_LOCK,
    SCHEMA,
    USER_LOCK,
    Lock,
    awaited,
    holders_of,
    table_of,
)
from stallwatch.probes.mysql.locks.rows import NO_ID
from stallwatch.probes.mysql.locks.suspects import flush, oldest_statement, suspect
from stallwatch.startup import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

    from stallwatch.probes.mysql.locks.rows import RowLock, Transaction
    from stallwatch.probes.mysql.processes import Process

_USER, _TABLE_LEVEL = "User lock", "Waiting for table level lock"  # states
# A request that waits and that later ones of the weaker kinds wait behind (MDL_lock of sql/mdl.cc).
_STRONG = frozenset({"EXCLUSIVE", "SHARED_NO_READ_WRITE", "SHARED_NO_WRITE"})
_OF_SCOPES = {
    "TABLE": (LockKind.METADATA, Release.COMMIT_OR_UNLOCK),
    SCHEMA: (LockKind.DATABASE, Release.END),
    "BACKUP LOCK": (LockKind.BACKUP, Release.UNLOCK_INSTANCE),
}
_ROUNDED = 1.0  # seconds: the process list has whole ones


class _Suspects(NamedTuple):
    """Candidates for who probably holds a lock that no table shows; ``flush`` waits itself."""

    flush: Process | None
    processes: Sequence[Process]
    transactions: Sequence[Transaction]
    copies: Collection[int]


def kind(process: Process) -> LockKind | None:
    """Get what a connection waits for, from its state; None: nothing. Row locks have no state.

    Of a lock of the whole server the state does not always show which.
    """
    if METADATA_LOCK.search(process.state):
        return LockKind.METADATA
    if process.state.startswith(_TABLE_LEVEL):
        return LockKind.TABLE
    if GLOBAL_LOCK.search(process.state):
        return LockKind.SERVER
    if FLUSH.search(process.state):
        return LockKind.FLUSH
    return LockKind.USER if process.state.startswith(_USER) else None


def opens_a_table(process: Process) -> bool:
    """Whether it waits for a lock that a statement needs first: it has waited since it started.

    A definition may copy for hours before it waits, and for the commit lock a transaction waits at its end.
    """
    waits = kind(process) in {LockKind.METADATA, LockKind.TABLE, LockKind.SERVER}
    of_server = GLOBAL_LOCK.search(process.state)
    if not waits or (of_server and of_server[1] == "commit"):
        return False
    return not (statements.defines(process.info) or statements.flushes(process.info))


def for_rows(
    transactions: Iterable[Transaction],
    row_locks: Iterable[RowLock],
    tables: Mapping[str, tuple[str, str]],
) -> Iterator[Wait]:
    """List the waits for row locks; ``row_locks`` has one transaction of all that wait for the same row.

    ``tables`` are table and index of rows. Who waits for a row, waits for whom the first of them waits for.
    """
    listed = list(transactions)
    known = {one.id: one for one in listed}
    holding: dict[str, dict[int, bool]] = {}  # by row: who holds it, and whether that is certain
    of_no_id: dict[str, None] = {}  # rows that somebody holds who has no id
    for one in row_locks:
        waits, holds = known.get(one.waiting), known.get(one.holding)
        row = one.row or (waits.row if waits else "")
        if row and one.holding == NO_ID:
            of_no_id[row] = None
        elif row and waits and holds:
            holding.setdefault(row, {})[holds.process] = True
    for row in of_no_id:
        found = _without_an_id(listed, row)
        holding.setdefault(row, {}).update(dict.fromkeys(found, len(found) == 1))
    groups: dict[str, list[int]] = {}
    for transaction in listed:
        if transaction.row in holding:
            groups.setdefault(transaction.row, []).append(transaction.process)
    for row, group in groups.items():
        outside = [one for one in holding[row] if one not in group]  # the others wait in the same queue
        on, key = tables.get(row, ("", ""))
        for waiting in group:
            for holder in outside:
                yield Wait(waiting, holder, LockKind.ROW, on, key, certain=holding[row][holder])


def _without_an_id(transactions: Sequence[Transaction], row: str) -> list[int]:
    """List the connections that may hold a row in a transaction without an id (MariaDB).

    They have row locks, and are as old as the longest wait for it. Nothing shows how many hold it: there
    is a pair for each lock, of which one transaction may have two.
    """
    longest = max((one.waiting or 0.0 for one in transactions if one.row == row), default=0.0)
    return [
        one.process
        for one in transactions
        if one.id == NO_ID and one.locked and one.waiting is None and one.age + _ROUNDED >= longest
    ]


def for_others(
    processes: Mapping[int, Process],
    locks: Sequence[Lock],
    transactions: Sequence[Transaction],
    copies: Collection[int] = (),
) -> Iterator[Wait]:
    """Get the waits that states in the process list show; the holder is certain only if a table shows it.

    What nothing explains is no wait here: see ``kind``. ``copies`` are connections of backups, where known.
    """
    # Found once: a thousand may wait for the same.
    listed = list(processes.values())
    if not any(one.is_detached for one in transactions):  # who holds it has just logged out
        locks = [one for one in locks if one.process]
    user_locks = [one for one in locks if one.scope == USER_LOCK]
    locks = [one for one in locks if one.scope != USER_LOCK]
    ahead, oldest = flush(listed), _oldest_user_of_tables(listed, locks)
    suspected = _Suspects(ahead, listed, transactions, copies)
    definitions = [one for one in listed if METADATA_LOCK.search(one.state) and statements.defines(one.info)]
    running = [one for one in listed if one.is_client_s_statement and not kind(one)]
    for one in listed:
        lock = kind(one)
        if lock is LockKind.FLUSH:
            yield from _for_flush(one, ahead, oldest)
        elif lock is LockKind.USER:
            yield from _for_user_lock(one, user_locks)
        elif lock is LockKind.TABLE:
            yield from _for_table_level(one, running)
        elif lock:
            yield from _for_metadata(one, definitions, locks, suspected)


def _for_metadata(
    waits: Process, definitions: Sequence[Process], locks: Sequence[Lock], suspected: _Suspects
) -> Iterator[Wait]:
    wanted = awaited(locks, waits)
    held = holders_of(locks, wanted)
    told = held or _queue(wanted, locks)
    for one in told:
        which, release = _which(one)
        yield Wait(waits.id, one.process, which, one.table, release=release, queued=not held)
    if told:
        return
    of_server = GLOBAL_LOCK.search(waits.state)
    if first := _definition(waits, definitions):
        queued = Wait(waits.id, first.id, LockKind.METADATA, table_of(first), release=Release.END)
        yield queued._replace(certain=False, queued=True)
    elif of_server and (flushes := suspected.flush):  # it has that lock before it waits
        yield Wait(waits.id, flushes.id, LockKind.READ, release=Release.UNLOCK_TABLES, certain=False)
    elif not locks and (holds := suspect(waits, *suspected[1:])):
        unknown = Wait(waits.id, holds.id, LockKind.METADATA, table_of(waits), certain=False)
        unknown = unknown._replace(release=Release.COMMIT_OR_UNLOCK)
        if of_server:  # what a COMMIT waits for is the lock of FLUSH TABLES WITH READ LOCK
            which = LockKind.SERVER if of_server[1] == "backup" else LockKind.READ
            unknown = unknown._replace(lock=which, on="", release=Release.UNLOCK_TABLES)
        yield unknown


def _which(held: Lock) -> tuple[LockKind, Release]:
    """Return which lock it is, and what releases it."""
    if held.scope == "BACKUP" and "FTWRL" not in held.kind:
        return LockKind.BACKUP, Release.BACKUP_STAGE_END
    return _OF_SCOPES.get(held.scope, (LockKind.READ, Release.UNLOCK_TABLES))


def _queue(wanted: Iterable[Lock], locks: Iterable[Lock]) -> list[Lock]:
    """Find the requests that wait themselves and that these wait behind: a DDL behind a reader."""
    weak = [one for one in wanted if one.kind not in _STRONG]
    return [
        one
        for one in locks
        if not one.granted
        and one.kind in _STRONG
        and any(one.process != other.process and one.keeps_waiting(other) for other in weak)
    ]


def _definition(waits: Process, definitions: Iterable[Process]) -> Process | None:
    """Find the oldest ALTER TABLE or its like that waits for the same table: MariaDB shows no requests."""
    table = table_of(waits)
    if not table or statements.defines(waits.info):
        return None
    begun = waits.seconds - _ROUNDED
    found = [one for one in definitions if table_of(one) == table and one.seconds >= begun]
    return max(found, key=lambda one: one.seconds, default=None)


def _for_flush(waits: Process, ahead: Process | None, oldest: Process | None) -> Iterator[Wait]:
    """Let a FLUSH wait for the oldest statement that uses a table, and all others for the FLUSH."""
    if ahead and ahead.id != waits.id:
        queued = Wait(waits.id, ahead.id, LockKind.FLUSH, release=Release.END)
        yield queued._replace(certain=False, queued=True)
    elif oldest and oldest.seconds >= waits.seconds - _ROUNDED:
        yield Wait(waits.id, oldest.id, LockKind.STATEMENT, release=Release.END, certain=False)


def _oldest_user_of_tables(listed: Iterable[Process], locks: Iterable[Lock]) -> Process | None:
    users = {one.process for one in locks if one.granted and one.scope == "TABLE"}
    return oldest_statement(one for one in listed if not users or one.id in users)


def _for_user_lock(waits: Process, locks: Sequence[Lock]) -> Iterator[Wait]:
    wanted = [one for one in locks if not one.granted and one.process == waits.id]
    for lock in holders_of(locks, wanted):
        yield Wait(waits.id, lock.process, LockKind.USER, lock.table, release=Release.RELEASE_LOCK)


def _for_table_level(waits: Process, running: Iterable[Process]) -> Iterator[Wait]:
    """Blame the only statement on the same table that does not wait: no table has MyISAM's locks."""
    table = table_of(waits)
    users = [one for one in running if table and table_of(one) == table]
    if len(users) == 1:
        yield Wait(waits.id, users[0].id, LockKind.TABLE, table, release=Release.END, certain=False)
