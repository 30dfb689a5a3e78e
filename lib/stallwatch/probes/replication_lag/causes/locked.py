"""R5 and R6: the applier waits for a lock; who holds it?"""

from __future__ import annotations

from stallwatch.probes.replication_lag.causes.case import DETACHED, END_DETACHED, SLOW, Cause, doing, rule
from stallwatch.probes.replication_lag.signals import activity, locks
from stallwatch.probes.replication_lag.signals.locks import Lock
from stallwatch.startup import TYPE_CHECKING
from stallwatch.units import say_duration

if TYPE_CHECKING:
    import re
    from collections.abc import Sequence

    from stallwatch.probes.mysql.processes import Process
    from stallwatch.probes.replication_lag.causes.case import Case
    from stallwatch.probes.replication_lag.signals.locks import Transaction

_WORTH = 5.0  # seconds of waiting
_PERFORMANCE_SCHEMA = (8, 0)  # MySQL: names who holds metadata and row locks, without being set up for it

# What is waited for in a state that is about the whole server: MySQL and MariaDB have their own words.
_SCOPES = {"global read": {"GLOBAL"}, "commit": {"COMMIT"}, "backup": {"BACKUP", "BACKUP LOCK"}}


@rule(SLOW, "R6")
def r5_server_locked(case: Case) -> Cause | None:
    """Blame who keeps the applier waiting for a global, backup or table lock (its state says so).

    metadata_locks names the holder on MySQL 8; MariaDB needs the plugin metadata_lock_info. Nobody is
    named by guess: KILL of the wrong connection mends nothing.
    """
    waits = _waits(case, activity.GLOBAL_LOCK) or _waits(case, activity.METADATA_LOCK)
    if not waits:
        return _flush_waits(case)
    held = holders(case, waits)
    if held:
        return Cause(88, *_held(case, held))
    what = f'{case.subject} has been "{waits.state}"{_for(case, waits)}'
    return Cause(88, what, _how_to_find(case, waits))


def _waits(case: Case, state: re.Pattern[str]) -> Process | None:
    """Find an applier that has waited for long; on MySQL its time may be that of the event."""
    found = case.lasting(state)
    return found if found and found.seconds >= _WORTH else None


def _for(case: Case, process: Process) -> str:
    """Say for how long; MySQL counts an applier's time from when the source wrote the event."""
    flavour = case.signals.flavour
    return f" for {say_duration(process.seconds)}" if flavour and flavour.mariadb else ""


def holders(case: Case, waits: Process) -> list[Lock]:
    """Find the clients' locks that keep this applier waiting, who has been there longest first."""
    processes = case.signals.processes
    clients = [
        one
        for one in locks.holders(case.signals.locks, _awaited(case, waits))
        if one.process in processes and not processes[one.process].is_system
    ]
    first = {one.process: one for one in reversed(clients)}
    return sorted(first.values(), key=lambda one: -processes[one.process].seconds)


def held_by(case: Case) -> set[int]:
    """Tell which connections keep the applier waiting for what R5 is about."""
    waits = _waits(case, activity.GLOBAL_LOCK) or _waits(case, activity.METADATA_LOCK)
    return {one.process for one in holders(case, waits)} if waits else set()


def _awaited(case: Case, waits: Process) -> list[Lock]:
    """List what the applier waits for: as metadata_locks tells, else as its state and statement do."""
    told = [one for one in case.signals.locks if not one.granted and one.process == waits.id]
    match = activity.GLOBAL_LOCK.search(waits.state)
    scopes = _SCOPES[match[1]] if match else {"TABLE"}
    if told:
        return [one for one in told if one.scope in scopes]
    defines = activity.defines(waits.info)
    if match:
        kinds = ["DDL", "ALTER_COPY"] if defines else ["DML", "TRANS_DML", "COMMIT"]
        kinds.append("INTENTION_EXCLUSIVE")
        return [Lock(scope, "", kind, granted=False, process=waits.id) for scope in scopes for kind in kinds]
    of_table = activity.defined_table if defines else activity.changed_table
    table = of_table(waits.info, waits.database)
    kind = "EXCLUSIVE" if defines else "SHARED_WRITE"
    return [Lock("TABLE", table, kind, granted=False, process=waits.id)] if table else []


def _held(case: Case, held: Sequence[Lock]) -> tuple[str, str]:
    """Say who holds what the applier waits for, and what to do."""
    first, others = held[0], len(held) - 1
    process = case.signals.processes.get(first.process)
    name, release = _lock(first)
    what = f"{case.subject} waits for the {name} of connection {case.who(first.process)}"
    if does := doing(process):
        what += f", {does}"
    if others:
        what += f", and of {others} more"
    return what, f"let it {release} or end, or {case.kill(first.process)}"


def _lock(held: Lock) -> tuple[str, str]:
    """Name a lock, and what releases it."""
    if held.scope == "TABLE":
        return f"metadata lock on {held.table}", "COMMIT or UNLOCK TABLES"
    if held.scope == "BACKUP LOCK":
        return "backup lock", "UNLOCK INSTANCE"
    if held.scope == "BACKUP" and "FTWRL" not in held.kind:
        return "backup lock", "BACKUP STAGE END"
    return "global read lock", "UNLOCK TABLES"


def _how_to_find(case: Case, waits: Process) -> str:
    flavour = case.signals.flavour
    if flavour and flavour.mariadb:
        where = "LOCK TABLES, ALTER TABLE or a transaction that is open long"
        if activity.GLOBAL_LOCK.search(waits.state):
            where = "FLUSH TABLES WITH READ LOCK, BACKUP STAGE or a backup"
        plugin = "the plugin metadata_lock_info would name who holds it"
        return f"look in SHOW FULL PROCESSLIST for {where}; {plugin}"
    where = "see performance_schema.metadata_locks for who holds it"
    if flavour and flavour.version < _PERFORMANCE_SCHEMA:
        where += " (only with the instrument wait/lock/metadata/sql/mdl, which is off by default)"
    return where


def _flush_waits(case: Case) -> Cause | None:
    """Tell of a FLUSH TABLES that waits for a statement: whoever opens such a table waits with it.

    The statement is older than the FLUSH. To end the FLUSH does not help (MySQL 9.7.2).
    """
    waits = _waits(case, activity.FLUSH)
    if not waits:
        return None
    what = f'{case.subject} has been "{waits.state}"{_for(case, waits)}'
    clients = [one for one in case.signals.processes.values() if one.is_client_s_statement]
    begun = max((one.seconds for one in clients if activity.FLUSH.search(one.state)), default=None)
    if begun is not None:
        what += f", behind a FLUSH TABLES or its like of {say_duration(begun)} ago"
    reading = [one for one in clients if not activity.FLUSH.search(one.state)]
    oldest = max(reading, key=lambda one: one.seconds, default=None)
    if not oldest or oldest.seconds < (begun or _WORTH):
        return Cause(88, what, "see in SHOW FULL PROCESSLIST which statement is older than the FLUSH")
    older = f"{case.who(oldest.id)}, which {doing(oldest)} for {say_duration(oldest.seconds)}"
    advice = f"the FLUSH waits for an older statement: look first at connection {older}"
    return Cause(88, what, advice)


@rule(SLOW)
def r6_row_locked(case: Case) -> Cause | None:
    """Blame who keeps the applier's transaction waiting for a row lock (INNODB_TRX says LOCK WAIT)."""
    looks = case.transactions
    waiting = [[one for one in look if one.waiting is not None] for look in looks]
    seen = [look for look in waiting if look]
    if not seen or 2 * len(seen) <= len(looks):
        return None
    waits = max(seen[-1], key=lambda one: one.waiting or 0.0)
    if (waits.waiting or 0.0) < _WORTH:
        return None
    holds = _blocker(case, waits)
    if holds and _applies(case, holds):
        return None  # appliers wait for one another: what the other one does is the cause
    what = f"{case.subject} has waited {say_duration(waits.waiting or 0.0)} for a row lock"
    if not holds:
        return Cause(86, what, _who_blocks(case))
    return Cause(86, *_row_held(case, what, holds))


def _row_held(case: Case, what: str, holds: Transaction) -> tuple[str, str]:
    """Say who holds it, and what to do."""
    if holds.is_detached:
        return f"{what} of {DETACHED}, {say_duration(holds.age)} old", END_DETACHED
    process = case.signals.processes.get(holds.process)
    details = filter(None, (doing(process), f"its transaction open for {say_duration(holds.age)}"))
    what = f"{what} of connection {case.who(holds.process)}, {', '.join(details)}"
    if holds.rolls_back:
        return f"{what}, which is being rolled back", "wait for it: KILL does not help"
    return what, f"let it commit, or {case.kill(holds.process)}"


def _blocker(case: Case, waits: Transaction) -> Transaction | None:
    """Find the transaction at the root of it: who waits in turn is not to blame."""
    transactions = {one.id: one for one in case.signals.transactions}
    holding: dict[str, list[str]] = {}
    for one in case.signals.row_locks:
        holding.setdefault(one.waiting, []).append(one.holding)
    seen, at = {waits.id}, waits.id
    while ahead := [one for one in holding.get(at, ()) if one not in seen and one in transactions]:
        at = max(ahead, key=lambda one: transactions[one].age)
        seen.add(at)
    return transactions[at] if at != waits.id else None


def _applies(case: Case, transaction: Transaction) -> bool:
    process = case.signals.processes.get(transaction.process)
    return bool(process and process.is_system)


def _who_blocks(case: Case) -> str:
    flavour = case.signals.flavour
    if flavour and not flavour.mariadb and flavour.version >= _PERFORMANCE_SCHEMA:
        return "see sys.innodb_lock_waits for who holds it"
    return "see information_schema.INNODB_LOCK_WAITS for who holds it"
