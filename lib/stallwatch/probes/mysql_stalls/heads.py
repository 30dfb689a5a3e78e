"""Who is at the head of all waiting, and for how long that has blocked others without a break.

A wait shows little: a single one for a row ends after innodb_lock_wait_timeout, and its successor begins;
and who waits for long in a queue that moves may be blocked by a head of a moment ago. So it is the head that
counts. Three things are certain: a head that is idle has had its locks since before it became idle, so it has
blocked others as long as both last: who waits for a row, as INNODB_TRX shows the wait itself, and who waits
to open a table, which a statement does first. (Of a definition, and of a COMMIT, the process list only shows
since when the statement runs.) The same transaction, or the same statement, that was the head at the last
look, too, has blocked others since then. So has the holder of a table for which one and the same statement
waited at both looks, as later requests for a table queue behind that statement. (Requests for a row do not
queue so strictly.) All else is possible, and a WARNING at most.
"""

from __future__ import annotations

from stallwatch.history import Since, own
from stallwatch.probes.mysql.locks.ending import Head
from stallwatch.probes.mysql.locks.graph import LockKind
from stallwatch.probes.mysql.locks.rows import MOST
from stallwatch.probes.mysql.locks.waits import opens_a_table
from stallwatch.probes.mysql.other_waits import AHEAD, LARGE
from stallwatch.probes.mysql.processes import Phase
from stallwatch.startup import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence
    from typing import Any

    from stallwatch.probes.mysql.locks.graph import Wait
    from stallwatch.probes.mysql.locks.rows import Transaction
    from stallwatch.probes.mysql.processes import Process
    from stallwatch.probes.mysql_stalls.collect import Details, Waiting

_ROUNDED = 2.0  # seconds: times are whole ones
_LONG = 300.0  # seconds from which on one alone is a problem whatever its state means
_APART = 900.0  # seconds between two looks, from which on nothing is known of the time between


class Blocked(NamedTuple):
    """Connections that wait, for one another or for nobody knows whom."""

    connections: Sequence[int]
    certain: float  # seconds
    possible: float
    lock: LockKind | None = None  # that they wait for; None: several kinds
    behind: int = 0  # how many wait for them in turn
    is_of_users: bool = False  # as of a Head
    phase: Phase | None = None  # in which they are, if they wait for no lock
    may_be_work: bool = False  # a single one, whose state proves no wait


class Memory:
    """Which heads the last look has seen, and since when: seconds of the server's uptime."""

    def __init__(self, memory: dict[str, Any], uptime: float) -> None:
        self._kept = own(memory, "heads")
        last = memory.get("looked")
        if not isinstance(last, int | float) or not 0 <= uptime - last <= _APART:
            self._kept.clear()
        memory["looked"] = uptime
        self.knew_any = bool(self._kept)
        self._since = Since(self._kept, uptime)
        self._seen: set[str] = set()

    def seconds(self, key: str, lasts: float | None) -> float:
        """Return for how long it has been seen. ``lasts``: what it does has begun so many seconds ago.

        None: the key shows that it is the same.
        """
        self._seen.add(key)
        seconds = self._since.seconds(key)
        if lasts is not None and lasts + _ROUNDED < seconds:  # it has done something else meanwhile
            self._since.seconds(key, holds=False)
            return self._since.seconds(key)
        return seconds

    def forget_others(self) -> None:
        """Keep what this look has seen."""
        for key in set(self._kept) - self._seen:
            del self._kept[key]


def heads(waiting: Waiting, details: Details, memory: Memory) -> list[Head]:
    """Return who blocks others, who has done so for longest first."""
    transactions = {one.process: one for one in waiting.transactions}
    if sum(one.is_detached for one in waiting.transactions) > 1:
        del transactions[0]  # nothing shows which of them it is
    found = []
    for connection in details.graph.heads():
        if connection in details.unexplained or _waits_itself(connection, details):
            continue
        process, transaction = details.processes.get(connection), transactions.get(connection)
        first = details.graph.first(connection)
        behind = sorted(details.graph.behind(connection))
        certain, possible = _look(process, transaction, first, transactions, details)
        unbroken = _unbroken(first, details)
        if transaction:
            number = f"{connection}" if connection else f"0 {transaction.id}"
            certain = max(certain, memory.seconds(f"{number} {transaction.started}", None))
        else:
            unbroken = max(unbroken, process.seconds if process else 0.0)
        if connection:
            certain = max(certain, memory.seconds(f"{connection}", unbroken))
        head = Head(connection, process, transaction, first, behind, certain, max(certain, possible))
        found.append(head._replace(is_of_users=_is_of_users(details, behind)))
    return _together(sorted(found, key=lambda one: (one.is_of_users, -one.possible, -len(one.behind))))


def _waits_itself(connection: int, details: Details) -> bool:
    """Whether it waits for something that is no lock, so that to end it would not help."""
    return details.other_waits.get(connection) not in {None, Phase.WRITE}


def _together(found: Sequence[Head]) -> list[Head]:
    """Put those together that the same connections wait for: readers before a DDL, a row that many share."""
    groups: dict[tuple[int, ...], list[Head]] = {}
    for one in found:
        groups.setdefault(tuple(one.behind), []).append(one)
    together = (first._replace(beside=tuple(others)) for first, *others in groups.values())
    return [one._replace(certain=_least(one)) if one.are_doubted else one for one in together]


def _least(head: Head) -> float:
    """Return for how long each of several has been able to block others, as at least one of them does."""
    return min(one.certain for one in head.together)


def _look(
    process: Process | None,
    transaction: Transaction | None,
    first: Sequence[Wait],
    transactions: dict[int, Transaction],
    details: Details,
) -> tuple[float, float]:
    """Give for how long a head has blocked others, for certain and possibly, as far as one look shows it."""
    idle = process.seconds if process and process.command == "Sleep" and process.tells_idle else 0.0
    certain = possible = 0.0
    for one in first:
        waits = transactions.get(one.waiting)
        if one.lock is LockKind.ROW:
            seconds = (waits.waiting or 0.0) if waits else 0.0
            certain = max(certain, min(seconds, idle))
        else:
            waiter = details.processes.get(one.waiting)
            seconds = waiter.seconds if waiter else 0.0
            if waiter and opens_a_table(waiter):
                certain = max(certain, min(seconds, idle))
        ages = [other for other in (transaction and transaction.age, process and process.seconds) if other]
        if one.lock is not LockKind.ROW and one.certain and not transaction:
            ages = []  # LOCK TABLES lasts longer than a statement
        possible = max(possible, min(seconds, max(ages, default=seconds)))
    return certain, possible


def _unbroken(first: Sequence[Wait], details: Details) -> float:
    """Return for how long one has waited to open a table of the head, as a table of the server shows it."""
    direct = (details.processes.get(one.waiting) for one in first if one.certain and not one.queued)
    return max((one.seconds for one in direct if one and opens_a_table(one)), default=0.0)


def lasting(found: Sequence[Head], later: Sequence[Transaction] | None) -> list[Head]:
    """Leave out those whose transaction is over a moment later: the head of a queue that moves.

    ``later``: MOST transactions then; None: not looked at.
    """
    if later is None or len(later) >= MOST:
        return [*found]
    still = {(one.process, one.started) for one in later}
    lasts = [
        one
        for head in found
        for one in (head._replace(beside=()), *head.beside)
        if not one.transaction or (one.transaction.process, one.transaction.started) in still
    ]
    return _together(lasts)


def circles(waiting: Waiting, details: Details, memory: Memory) -> list[Blocked]:
    """Return who wait for one another, which the server does not see, as their locks are of several kinds.

    A wait for a row ends with error 1205, and is begun again. So a circle goes on for certain as long as one
    of them waits since the look that saw it first, and possibly as long as one has its transaction.
    """
    found, for_rows = [], waiting.for_rows()
    ages = {one.process: one.age for one in waiting.transactions}
    for circle in details.graph.circles():
        connections = sorted(circle)
        seconds = [_wait(one, for_rows, details, memory) for one in connections]
        certain, possible = map(min, zip(*seconds, strict=True))
        ids, waits = " ".join(map(str, connections)), max(longest for _, longest in seconds)
        certain = max(certain, memory.seconds(f"circle {ids}", waits))
        lasts = max(ages.get(one, 0.0) for one in connections)
        possible = max(certain, possible, memory.seconds(f"perhaps circle {ids}", max(waits, lasts)))
        behind = set().union(*map(details.graph.behind, connections)) - circle
        found.append(Blocked(connections, certain, possible, behind=len(behind)))
    return found


def unexplained(waiting: Waiting, details: Details, memory: Memory) -> list[Blocked]:
    """Return who wait for nobody knows whom, by kinds.

    Who waits for a row may have been blocked by one after the other.
    """
    kinds: dict[LockKind, list[int]] = {}
    for connection, kind in details.unexplained.items():
        kinds.setdefault(kind, []).append(connection)
    found, for_rows = [], waiting.for_rows()
    for kind, connections in kinds.items():
        seconds = [_wait(one, for_rows, details, memory) for one in connections]
        certain = 0.0 if kind is LockKind.ROW else max(known for known, _ in seconds)
        behind = set().union(*(details.graph.behind(one) for one in connections)) - {*connections}
        blocked = Blocked(connections, certain, max(possible for _, possible in seconds), kind, len(behind))
        found.append(blocked._replace(is_of_users=kind is LockKind.USER and _is_of_users(details, behind)))
    return found


def other_waits(waiting: Waiting, details: Details, memory: Memory) -> list[Blocked]:
    """Return who wait for something that is no lock, by what it is.

    Clients may give up and try again. So it has lasted for certain as long as looks show the same statement,
    and possibly since the first look that shows one of them. A single one with a large transaction may well
    be at work for minutes, and so may one in a state that proves no wait.
    """
    phases: dict[Phase, list[int]] = {}
    for connection, phase in details.other_waits.items():
        phases.setdefault(phase, []).append(connection)
    queue = phases.pop(Phase.COMMIT, []) if not {*AHEAD}.isdisjoint(phases) else []
    large = {one.process for one in waiting.transactions if one.modified >= LARGE}
    found = []
    for phase, connections in phases.items():
        seconds = [_wait(one, {}, details, memory) for one in connections]
        certain, possible = map(max, zip(*seconds, strict=True))
        possible = max(possible, memory.seconds(f"phase {phase.name}", None))
        queued = {*queue} if phase in AHEAD else set()
        behind = set().union(queued, *(details.graph.behind(one) for one in (*connections, *queued)))
        behind -= {*connections}
        is_single = len(connections) + len(behind) == 1 and possible < _LONG
        if is_single and phase is Phase.COMMIT and connections[0] in large:
            continue
        proves_none = phase in {Phase.TABLES, Phase.WRITE, Phase.OTHER}
        may_be_work = proves_none and (is_single or (phase is Phase.WRITE and len(connections) == 1))
        group = Blocked(connections, 0.0 if proves_none else certain, possible, behind=len(behind))
        found.append(group._replace(phase=phase, may_be_work=may_be_work))
    return found


def longest(groups: Sequence[Blocked], details: Details) -> dict[Phase, float]:
    """Return for how many seconds the oldest statement of each phase has run."""
    return {
        group.phase: max(details.processes[one].seconds for one in group.connections)
        for group in groups
        if group.phase
    }


def _is_of_users(details: Details, connections: Collection[int]) -> bool:
    return all(one.lock is LockKind.USER for one in details.graph.waits if one.waiting in connections)


def _wait(
    connection: int, for_rows: Mapping[int, float], details: Details, memory: Memory
) -> tuple[float, float]:
    """Return for how long a connection has waited, for certain and possibly."""
    process = details.processes.get(connection)
    told = for_rows.get(connection, process.seconds if process else 0.0)
    seen = max(memory.seconds(f"waits {connection}", told), for_rows.get(connection, 0.0))
    return seen, max(seen, told)


def oldest(waiting: Waiting, found: Sequence[Head], details: Details) -> Transaction | None:
    """Find the oldest transaction that blocks nobody, and is not of a thread of the server itself.

    Transactions that wait, also for each other, are left out: their heads are reported.
    """
    processes = details.processes
    involved = {one.waiting for one in details.graph.waits}
    involved |= {other.connection for one in found for other in one.together} | details.other_waits.keys()
    others = [
        one
        for one in waiting.transactions
        if one.waiting is None
        and one.process not in involved
        and not ((known := processes.get(one.process)) and not known.is_client and known.command != "Killed")
    ]
    return max(others, key=lambda one: one.age, default=None)
