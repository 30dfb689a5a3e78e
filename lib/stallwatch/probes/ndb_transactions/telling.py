"""The words and the numbers for what was found."""

from __future__ import annotations

from typing import NamedTuple

from stallwatch.probes.ndb_transactions import asking
from stallwatch.reading import Fault, ProbeError, Reading, State
from stallwatch.table import Table
from stallwatch.units import say_duration

TYPE_CHECKING = False  # typing itself costs every check 2 ms
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from stallwatch.probes.ndb_transactions.asking import Lock, Totals, Transaction
    from stallwatch.probes.ndb_transactions.clients import Clients

INACTIVE, HELD, WAITED = "inactive", "lock_held", "lock_wait"
_COLUMNS = ("client", "state", "operations", "inactive_s")


class Locks(NamedTuple):
    """Rows that somebody waits for, as far as that was looked at."""

    rows: Sequence[Lock] = ()  # those that have been locked for longest first
    unread: str = ""  # why they were not looked at

    @property
    def held(self) -> float:
        """Seconds that one of them has been locked, at most."""
        return max((one.held or 0.0 for one in self.rows), default=0.0)

    @property
    def waited(self) -> float:
        """Seconds that somebody has waited, at most."""
        return max((one.waited for one in self.rows), default=0.0)


def summary(totals: Totals, locks: Locks) -> str:
    """Tell all of it in a sentence, for when all is well."""
    if not totals.transactions:
        return "no open transactions"
    opened = _counted(totals.transactions, "open transaction")
    words = [f"{opened} with {_counted(totals.operations, 'operation')}"]
    if totals.inactive:
        words.append(f"inactive for at most {say_duration(totals.inactive)}")
    if locks.rows:
        words.append(f"a lock wait of {say_duration(locks.waited)}")
    elif not locks.unread:
        words.append("no lock waits")
    return ", ".join(words)


def inactive(
    totals: Totals, worst: Sequence[Transaction], well: str, clients: Clients, table: Table | None
) -> Reading:
    """Tell of the ``worst`` transactions, whose clients do nothing; ``well`` is told if there are none."""
    if not worst:
        return Reading(INACTIVE, totals.inactive, "s", well, table=table)
    first, *others = worst
    client = clients.of(first)
    what = f"a transaction of {client} has been open without activity for {say_duration(first.inactive)}"
    least = "at least " * (len(worst) >= asking.MOST)  # more are not read
    more = f", as {least}{len(others)} more" if others else ""
    why = "it keeps its locks until its client goes on"
    return Reading(
        INACTIVE,
        first.inactive,
        "s",
        f"{what} ({_counted(first.operations, 'operation')}){more}",
        why,
        client.advice,
        table=table,
    )


def lock_waits(
    locks: Locks, involved: Mapping[int, Transaction], clients: Clients, tables: Mapping[int, str]
) -> Iterator[Reading]:
    """Tell of the row that has been locked for longest while others want it, judged by both times."""
    held = _lock(locks, involved, clients, tables) if locks.rows else Reading(HELD, 0.0, what="no lock waits")
    yield held._replace(name=HELD, value=locks.held, unit="s")
    yield held._replace(name=WAITED, value=locks.waited, unit="s", in_table=True)


def _lock(
    locks: Locks, involved: Mapping[int, Transaction], clients: Clients, tables: Mapping[int, str]
) -> Reading:
    row, *others = locks.rows
    holder, waiter = involved.get(row.holder or 0), involved.get(row.waiter)
    by = f" by {clients.of(holder)}" if holder else ""
    wait = f"{row.waiters} transactions wait" if row.waiters > 1 else "a transaction waits"
    table = tables.get(row.table, f"table {row.table}")
    reasons = [
        f"for up to {say_duration(row.waited)}"
        + (f", such as that of {clients.of(waiter)}" if waiter else ""),
        "a wait ends with error 1205 after TransactionDeadlockDetectionTimeout, 1.2 s by default",
        f"{_counted(len(others), 'more row')} like it" if others else "",
    ]
    return Reading(
        HELD,
        row.held,
        what=f"a row of {table} has been locked for {say_duration(row.held or 0)}{by}, and {wait} for it",
        why="; ".join(filter(None, reasons)),
        advice=clients.of(holder).advice if holder else "look again: who held it has just ended",
    )


def unread(locks: Locks, waiting: float) -> Iterator[Fault | ProbeError]:
    """Say why locks were not looked at: that is not known to be well if somebody waits for something."""
    if locks.unread and waiting:
        yield ProbeError(f"{locks.unread}: a transaction has waited for {say_duration(waiting)}")
    elif locks.unread:
        yield Fault(State.OK, f"{locks.unread}: no transaction has waited for a second")


def counts(totals: Totals) -> Iterator[Reading]:
    """Give the numbers of what is open."""
    opened = _counted(totals.transactions, "open transaction")
    yield Reading("transactions", totals.transactions, what=opened)
    operations = _counted(totals.operations, "operation")
    yield Reading("operations", totals.operations, what=f"{operations} in all open transactions")
    what = f"the largest transaction has {_counted(totals.largest, 'operation')}"
    why = "beyond MaxDMLOperationsPerTransaction or MaxNoOfConcurrentOperations it fails (NDB error 261)"
    yield Reading("largest", totals.largest, what=what, why=why, advice="commit more often")


def not_seen(clients: Clients) -> Iterator[Fault]:
    """Say what is not known for want of a privilege."""
    if clients.denied:
        how = clients.denied.advice or "it takes PROCESS"
        yield Fault(State.OK, f"which connection of its SQL node it is, is not seen: {how}")


def table(transactions: Sequence[Transaction], clients: Clients) -> Table | None:
    """Give transactions side by side; None if there are none."""
    rows = ((str(clients.of(one)), one.state, one.operations, one.inactive) for one in transactions)
    return Table(_COLUMNS, tuple(rows)) if transactions else None


def _counted(number: int, what: str) -> str:
    return f"{number} {what}{'s' * (number != 1)}"
