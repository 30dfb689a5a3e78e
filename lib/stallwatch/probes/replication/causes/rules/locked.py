"""R5 and R6: the applier waits for a lock; who holds it?"""

from __future__ import annotations

from stallwatch.probes.replication.causes import appliers, locks, states, words
from stallwatch.probes.replication.causes.case import Cause
from stallwatch.units import say_duration

TYPE_CHECKING = False
if TYPE_CHECKING:
    from stallwatch.probes.replication.causes.case import Case
    from stallwatch.probes.replication.causes.locks import Lock
    from stallwatch.probes.replication.causes.transactions import Transaction

_WORTH = 5.0  # seconds of waiting


def r5_server_locked(case: Case) -> Cause | None:
    """Blame who keeps the applier waiting for a global, backup or table lock (its state says so).

    metadata_locks names the holder on MySQL 8; MariaDB needs the plugin metadata_lock_info.
    """
    waits = appliers.lasting(case, states.GLOBAL_LOCK) or appliers.lasting(case, states.METADATA_LOCK)
    if not waits or waits.seconds < _WORTH:
        return None
    held = holder(case)
    if held:
        process = case.signals.processes.get(held.process)
        by = words.who(process, held.process, case.signals.program(held.process))
        what = f"the applier waits for the {_lock(held)} of connection {by}"
        does = words.doing(process)
        unlock = "UNLOCK INSTANCE" if held.scope == "BACKUP LOCK" else "UNLOCK TABLES"
        advice = f"let it {unlock} or end, or KILL {held.process}"
        return Cause("R5", 88, f"{what}, {does}" if does else what, advice)
    what = f'the applier has been "{waits.state}" for {say_duration(waits.seconds)}'
    return Cause("R5", 88, what, _how_to_find(case))


def holder(case: Case) -> Lock | None:
    """Find the lock that keeps this case's appliers waiting; of several the one held longest."""
    at_work = appliers.appliers(case)
    waiting = {one.id for one in at_work[-1]} if at_work else set()
    processes = case.signals.processes
    clients = [
        (processes[one.process].seconds, one)
        for one in locks.holders(case.signals.locks, waiting)
        if one.process in processes and not processes[one.process].is_system
    ]
    return max(clients, default=(0.0, None))[1]


def _lock(held: Lock) -> str:
    if held.scope == "TABLE":
        return f"metadata lock on {held.table}"
    if held.scope == "BACKUP LOCK" or (held.scope == "BACKUP" and "FTWRL" not in held.kind):
        return "backup lock"
    return "global read lock"


def _how_to_find(case: Case) -> str:
    sleepers = sorted(
        (one for one in case.signals.processes.values() if one.command == "Sleep" and one.user),
        key=lambda one: -one.seconds,
    )
    longest = f": the longest asleep is {words.who(sleepers[0], sleepers[0].id)}" if sleepers else ""
    if case.signals.flavour and case.signals.flavour.mariadb:
        return f"INSTALL SONAME 'metadata_lock_info' to see who holds it{longest}"
    return f"see performance_schema.metadata_locks for who holds it{longest}"


def r6_row_locked(case: Case) -> Cause | None:
    """Blame who keeps the applier's transaction waiting for a row lock (INNODB_TRX says LOCK WAIT)."""
    looks = appliers.transactions(case)
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
    since = say_duration(waits.waiting or 0.0)
    if not holds:
        return Cause("R6", 86, f"the applier has waited for a row lock for {since}", _who_blocks(case))
    process = case.signals.processes.get(holds.process)
    by = words.who(process, holds.process, case.signals.program(holds.process))
    what = (
        f"the applier has waited {since} for a row lock of connection {by}, its transaction open for"
        f" {say_duration(holds.age)}"
    )
    does = words.doing(process)
    advice = f"let it commit, or KILL {holds.process}"
    return Cause("R6", 86, f"{what}, {does}" if does else what, advice)


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
    if flavour and not flavour.mariadb and flavour.version >= (8, 0):
        return "see sys.innodb_lock_waits for who holds it"
    return "see information_schema.INNODB_LOCK_WAITS for who holds it"
