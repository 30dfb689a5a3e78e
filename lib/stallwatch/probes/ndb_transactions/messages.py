"""The words and the numbers for what was found: whose a transaction is, who is in the way, what to do."""

from __future__ import annotations

from stallwatch.findings import ProbeError, Reading
from stallwatch.probes.ndb_transactions import queries
from stallwatch.probes.ndb_transactions.diagnosis import INACTIVE, LOCK_HELD, LOCK_WAIT, NO_CLIENT
from stallwatch.startup import TYPE_CHECKING
from stallwatch.table import Table
from stallwatch.units import say_duration
from stallwatch.words import listed, plural

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from stallwatch.findings import Finding
    from stallwatch.probes.ndb_transactions.diagnosis import Chain, Client, Diagnosis, WantedRow
    from stallwatch.probes.ndb_transactions.queries import Totals, Transaction

_COLUMNS = ("client", "operations", "inactive_s", "state")
_KEEPS = "it keeps its locks until its client goes on"
_NAMED = 2  # clients in a sentence
_TIMEOUT = "a wait ends with error 1205 after TransactionDeadlockDetectionTimeout, 1.2 s by default"


def all_of_it(found: Diagnosis) -> Iterator[Finding]:
    """Say all that was found, in the order in which it is shown among equals."""
    yield _inactive(found)
    yield from _lock_waits(found)
    yield from found.unread
    yield from _unclear(found.unclear)
    yield from _counts(found.totals)
    yield from found.notes


def _inactive(found: Diagnosis) -> Reading:
    """Name the transactions that have asked nothing of the data nodes for longest."""
    if found.longest is None:  # nobody alerts, or that is all that could be found out
        seconds: float = found.totals.inactive
        what = _silent("a transaction", seconds) if found.alerts(INACTIVE, seconds) else _summary(found)
        return Reading(INACTIVE, seconds, "s", what, _KEEPS)
    inactive = [one for one in found.longest if not one.is_active]
    worst = [one for one in inactive if found.alerts(INACTIVE, one.inactive)]
    if worst:
        return _worst(found, worst)
    seconds = max((one.inactive for one in inactive), default=0.0)
    return Reading(INACTIVE, seconds, "s", _summary(found), table=_table(found))


def _worst(found: Diagnosis, worst: Sequence[Transaction]) -> Reading:
    first, *others = worst
    client = found.clients.of(first)
    least = "at least " * (len(worst) >= queries.MOST)  # more are not read
    more = f", as {least}{len(others)} more" if others else ""
    silent = _silent(f"a transaction of {client}", first.inactive)
    return Reading(
        INACTIVE,
        first.inactive,
        "s",
        f"{silent} ({plural(first.operations, 'operation')}){more}",
        f"{_state(client)}, {_KEEPS}" if client.connection else _KEEPS,
        _advice_on(client),
        table=_table(found),
    )


def _silent(who: str, seconds: float) -> str:
    return f"{who} has asked nothing of the data nodes for {say_duration(seconds)}"


def _summary(found: Diagnosis) -> str:
    """Say all of it in a sentence, for when all is well."""
    totals, waits = found.totals, found.waits
    if not totals.transactions:
        return "no open transactions"
    opened = plural(totals.transactions, "open transaction")
    words = [f"{opened} with {plural(totals.operations, 'operation')}"]
    if totals.inactive:
        words.append(f"inactive for at most {say_duration(totals.inactive)}")
    if waits and waits.waited_longest:
        words.append(f"a lock wait of {say_duration(waits.waited_longest.waited)}")
    elif waits:
        words.append("no lock waits")
    return ", ".join(words)


def _lock_waits(found: Diagnosis) -> Iterator[Reading]:
    """Name the row that has been locked for longest, and the one that is waited for for longest."""
    if found.waits is None:
        return
    held, waited = found.waits.held_longest, found.waits.waited_longest
    if waited is None:
        yield Reading(LOCK_HELD, 0.0, "s", "no lock waits")
        yield Reading(LOCK_WAIT, 0.0, "s", "no lock waits", in_table=True)
        return
    chains = [found.waits.chain(row) for row in (held, waited) if row]
    if held:
        yield Reading(LOCK_HELD, held.held, "s", *_sentences(found, held, chains[0]))
    words = _sentences(found, waited, chains[-1])
    is_same = bool(held) and chains[0] == chains[-1]  # whoever is to be looked at, whatever the row
    yield Reading(LOCK_WAIT, waited.waited, "s", *words, in_table=is_same)


def _sentences(found: Diagnosis, row: WantedRow, chain: Chain) -> tuple[str, str, str]:
    """Say what, why and what to do of a row, at whose end of all waiting are the heads of ``chain``."""
    return _what(found, row, chain), _why(found, row), _advice(found, row, chain)


def _what(found: Diagnosis, row: WantedRow, chain: Chain) -> str:
    several = len(row.waiters) > 1
    least = "at least " * found.has_more
    waiter = found.client(row.first_waiter) or "a transaction"
    wait = f"{least}{len(row.waiters)} transactions have" if several else f"{waiter} has"
    upto = "up to " * several + say_duration(row.waited)
    table = found.tables.get(row.table, f"table {row.table}")
    if row.held is None:
        return f"{wait} waited for a row of {table} for {upto}, and who holds it is not seen"
    locked = f"locked for {say_duration(row.held)}{_by(found, list(row.in_the_way), chain)}"
    return f"a row of {table} has been {locked}, and {wait} waited for it for {upto}"


def _by(found: Diagnosis, holders: Sequence[int], chain: Chain) -> str:
    """Say who holds it; if those wait themselves, for whom in the end; and what that one does."""
    who = _named(found, holders)
    if not who:
        return ""
    one = len(holders) == 1
    if chain.is_deadlock:
        return f" by {who}, which {'is in a deadlock' if one else 'wait for each other'}"
    if set(holders) == set(chain.heads):
        return f" by {who}{_does(found, chain)}"
    heads = _named(found, chain.heads) or "somebody who is not seen"
    return f" by {who}, which {'waits' if one else 'wait'} for {heads}{_does(found, chain)}"


def _does(found: Diagnosis, chain: Chain) -> str:
    client = found.client(chain.heads[0]) if len(chain.heads) == 1 else None
    return f", {_state(client)}" if client else ""


def _named(found: Diagnosis, transactions: Sequence[int]) -> str:
    """Name some of their clients and count the rest; nothing if none is known."""
    clients = [client for client in map(found.client, transactions[:_NAMED]) if client]
    names = [str(client) for client in clients] + [""] * (len(transactions) - len(clients))
    return listed(names, len(clients)) if clients else ""


def _why(found: Diagnosis, row: WantedRow) -> str:
    waiter = found.client(row.first_waiter) if len(row.waiters) > 1 else None
    others = len(found.waits.rows) - 1 if found.waits else 0
    least = "at least " * found.has_more
    reasons = [
        f"one of them is {waiter}" if waiter else "",
        _TIMEOUT,
        f"{least}{plural(others, 'more row')} like it" if others else "",
    ]
    return "; ".join(filter(None, reasons))


def _advice(found: Diagnosis, row: WantedRow, chain: Chain) -> str:
    if row.held is None:
        return "look again: ndbinfo.cluster_locks tells who holds it, if it has not been let go meanwhile"
    if chain.is_deadlock:
        return "let transactions lock rows in the same order: now one of them fails"
    if len(chain.heads) > 1:
        return "see what each of them does: all have to end until the row is free"
    head = found.client(chain.heads[0]) if chain.heads else None
    if head and chain.is_whole:
        return _advice_on(head)
    return "look again: who holds up all of them is not seen for certain"


def _state(client: Client) -> str:
    """Say what a client does, as far as that is known."""
    if client.transaction.is_active:
        return "at work in the data nodes"
    if client.connection is None or not client.connection.command:
        return f"silent for {say_duration(client.transaction.inactive)}"
    if client.connection.user == NO_CLIENT:
        return "a thread of mysqld's own"
    spent = say_duration(client.connection.seconds)
    if client.connection.command == "Sleep":
        return f"idle for {spent}"
    return f"at work for {spent} ({client.connection.command})"


def _advice_on(client: Client) -> str:
    """Say what to do about its transaction: only what does nothing is to be ended."""
    if client.transaction.is_own:
        return "wait: the cluster itself builds an index, copies a table or counts its rows"
    if client.connection is not None and client.is_idle:
        return f"KILL {client.connection.id} on {client.node} ends it and lets go of its locks"
    if client.connection is not None:
        return f"SHOW PROCESSLIST on {client.node} tells what connection {client.connection.id} does"
    if client.is_sql:
        tells = "ndbinfo.server_transactions tells its connection, SHOW PROCESSLIST what that does"
        return f"on {client.node} {tells}"
    return f"see what {client.node} does"


def _unclear(unclear: Sequence[ProbeError]) -> Iterator[ProbeError]:
    if unclear:
        first, *others = unclear
        more = f", and {plural(len(others), 'more row')} like it" if others else ""
        yield ProbeError(f"{first.what}{more}", first.advice)


def _counts(totals: Totals) -> Iterator[Reading]:
    """Give the numbers of what is open."""
    opened = plural(totals.transactions, "open transaction")
    yield Reading("transactions", totals.transactions, what=opened)
    operations = plural(totals.operations, "operation")
    yield Reading("operations", totals.operations, what=f"{operations} in all open transactions")
    what = f"the largest transaction has {plural(totals.largest, 'operation')}"
    why = "beyond MaxDMLOperationsPerTransaction or MaxNoOfConcurrentOperations it fails (NDB error 261)"
    yield Reading("largest", totals.largest, what=what, why=why, advice="commit more often")


def _table(found: Diagnosis) -> Table | None:
    """Give transactions side by side; None if there are none."""
    clients = (found.clients.of(one) for one in found.longest or ())
    rows = tuple(
        (str(one), one.transaction.operations, one.transaction.inactive, _state(one)) for one in clients
    )
    return Table(_COLUMNS, rows) if rows else None
