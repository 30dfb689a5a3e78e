"""The words and the numbers for what was found: whose a transaction is, who is in the way, what to do."""

from __future__ import annotations

from stallwatch.findings import Fault, Line, ProbeError, Reading, State
from stallwatch.probes.ndb_transactions import queries
from stallwatch.probes.ndb_transactions.diagnosis import INACTIVE, LOCK_HELD, LOCK_WAIT
from stallwatch.probes.ndbinfo.queries import not_seen
from stallwatch.sources.mysql import DeniedError, MissingTableError, NoAnswerError
from stallwatch.startup import TYPE_CHECKING
from stallwatch.table import Table
from stallwatch.units import say_duration
from stallwatch.words import listed, plural

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from stallwatch.findings import Finding
    from stallwatch.probes.mysql.asking import Refusal
    from stallwatch.probes.ndb_transactions.diagnosis import Chain, Client, Diagnosis, WantedRow
    from stallwatch.probes.ndb_transactions.queries import Totals, Transaction

_COLUMNS = ("client", "operations", "inactive_s", "state")
_KEEPS = "the transaction keeps its locks until its client goes on"
_ENDS = "KILL ends the transaction and releases its locks"
_OWN = "the cluster itself builds an index, copies a table or counts its rows"
_NAMED = 2  # clients in a sentence
_TIMEOUT = "a wait ends with error 1205 after TransactionDeadlockDetectionTimeout, 1.2 s by default"


def all_of_it(found: Diagnosis) -> Iterator[Finding]:
    """Write all that was found, in the order in which it is shown among equals."""
    yield _inactive(found)
    yield from _lock_waits(found)
    yield from found.unread
    yield from (_unread(one, found.totals) for one in found.refused if not (one.evidence or _is_of_old(one)))
    yield from _unclear(found.unclear)
    yield from _counts(found.totals)
    yield from found.notes
    yield from _unseen(found.refused)


def _unread(one: Refusal, totals: Totals) -> ProbeError:
    if isinstance(one.error, NoAnswerError) and not one.error.ends_connection:
        return ProbeError(f"{one.about} took too long to read, of {totals.operations} operations")
    return ProbeError(f"{one.about} is not known: {one.error.what}", one.error.advice)


def _is_of_old(one: Refusal) -> bool:
    """Whether it is the table of waits, which versions before 7.5.3 do not have."""
    return one.about == queries.WAITS and isinstance(one.error, MissingTableError)


def _unseen(refused: Iterable[Refusal]) -> Iterator[Fault]:
    """Write what does not explain anything, an aside for each reason."""
    told: dict[str, str] = {}
    for one in refused:
        if _is_of_old(one):
            told["version"] = f"this version does not show {one.about}"
        elif not one.evidence or one.of_version:
            continue
        elif isinstance(one.error, DeniedError):
            told.setdefault("denied", not_seen(one.about, one.error))
        elif one.asked:
            told.setdefault("failed", f"{one.about} is not seen: {one.error.what}")
        elif not one.error.ends_connection:
            told.setdefault("time", f"{one.about} was not asked any more: the data nodes take long to answer")
    yield from (Fault(State.OK, what) for what in told.values())


def _inactive(found: Diagnosis) -> Reading:
    """Name the transactions that have asked nothing of the data nodes for longest."""
    if found.longest is None:  # nobody alerts, or that is all that could be found out
        seconds: float = found.totals.inactive
        if not found.alerts(INACTIVE, seconds):
            return Reading(INACTIVE, seconds, "s", _summary(found))
        what = f"a transaction inactive for {say_duration(seconds)}"
        return Reading(INACTIVE, seconds, "s", what, line=Line(more=(_KEEPS,)))
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
    more = (f"{least}{plural(len(others), 'more transaction')} above the limit",) if others else ()
    what = f"transaction of {client.short} inactive for {say_duration(first.inactive)}"
    does = _does(client)
    why = f"client {does}" if does and client.connection and not client.is_mysqld else does
    locks = f"{plural(first.operations, 'operation')} so far, {_KEEPS}"
    advice, below = _advice_on(client)
    line = Line(more=(f"{client}: {_state(client)}", locks, *more, *below))
    return Reading(INACTIVE, first.inactive, "s", what, why, advice, table=_table(found), line=line)


def _summary(found: Diagnosis) -> str:
    """Write all of it in a sentence, for when all is well."""
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
        row = f"a row of {_of_table(found, held)} locked for {say_duration(held.held or 0)}"
        yield _lock(found, Reading(LOCK_HELD, held.held, "s", row), held, chains[0])
    row = f"lock wait {say_duration(waited.waited)}"
    is_same = bool(held) and chains[0] == chains[-1]  # whoever is to be looked at, whatever the row
    reading = Reading(LOCK_WAIT, waited.waited, "s", row, in_table=is_same)
    yield _lock(found, reading, waited, chains[-1])


def _lock(found: Diagnosis, reading: Reading, row: WantedRow, chain: Chain) -> Reading:
    """Return who holds a row up, what to do, and below, who waits; ``chain`` is at the end of all waiting."""
    held_up, why, advice, below = _who(found, row, chain)
    is_wait = reading.name == LOCK_WAIT
    then = f" for a row of {_of_table(found, row)}" if is_wait else ""
    if held_up:
        then += f", held {held_up}" if is_wait else f" {held_up}"
    return reading._replace(why=why, advice=advice, line=Line(then, (*below, *_waiting(found, row))))


def _who(found: Diagnosis, row: WantedRow, chain: Chain) -> tuple[str, str, str, tuple[str, ...]]:
    """Return who holds a row, for WHAT, then cause, next step, and lines below."""
    if row.held is None:
        meanwhile = "the holder may have released the row meanwhile"
        return "", "its holder is not seen", "look again at ndbinfo.cluster_locks", (meanwhile,)
    holders = list(row.in_the_way)
    names = _named(found, holders)
    locked = (f"the row is locked by {names}",) if names else ()
    holder = _short(found, holders)
    by = f"by {holder}" if holder else ""
    if chain.is_deadlock:
        why = "in a deadlock" if len(holders) == 1 else "the holders wait for each other"
        fails = "in a deadlock one of the transactions fails"
        return by, why, "lock rows in the same order", (*locked, fails)
    if len(chain.heads) > 1:
        heads = _named(found, chain.heads)
        ends = "all of these transactions have to end"
        others = (f"{heads} hold up all others",) if heads and heads != names else ()
        who = (*locked, *others, ends)
        return "", f"{len(chain.heads)} transactions hold it up", "see what each of them does", who
    head = found.client(chain.heads[0]) if chain.heads else None
    if head is None or not chain.is_whole:
        unseen = "who holds up all of them is not seen for certain"
        return by, "", "look again", (*locked, unseen)
    advice, below = _advice_on(head)
    says = f"{head}: {_state(head)}"
    if set(holders) == set(chain.heads):
        return f"by {head.short}", _does(head), advice, (says, *below)
    why = ", ".join(filter(None, (f"held up by {head.short}", _does(head))))
    wait = "the holder waits" if len(holders) == 1 else "the holders wait"
    return "", why, advice, (*locked, f"{wait} for {says}", *below)


def _of_table(found: Diagnosis, row: WantedRow) -> str:
    return found.tables.get(row.table, f"table {row.table}")


def _short(found: Diagnosis, transactions: Sequence[int]) -> str:
    """Name the only one of these clients, if it is known."""
    client = found.client(transactions[0]) if len(transactions) == 1 else None
    return client.short if client else ""


def _waiting(found: Diagnosis, row: WantedRow) -> Iterator[str]:
    """Return who waits, when a wait ends, and how many rows are waited for."""
    several = len(row.waiters) > 1
    least = "at least " * found.has_more
    waiter = found.client(row.first_waiter)
    if several:
        wait = f"{least}{len(row.waiters)} transactions have waited for up to {say_duration(row.waited)}"
        yield f"{wait}, one of them is {waiter}" if waiter else wait
    else:
        yield f"{waiter or 'a transaction'} has waited for {say_duration(row.waited)}"
    yield _TIMEOUT
    others = len(found.waits.rows) - 1 if found.waits else 0
    if others:
        yield f"{least}{plural(others, 'more row')} like it"


def _named(found: Diagnosis, transactions: Sequence[int]) -> str:
    """Name some of their clients and count the rest; nothing if none is known."""
    clients = [client for client in map(found.client, transactions[:_NAMED]) if client]
    names = [str(client) for client in clients] + [""] * (len(transactions) - len(clients))
    return listed(names, len(clients)) if clients else ""


def _does(client: Client) -> str:
    """Return in a few words what a client does; "": not known."""
    if client.transaction.is_active:
        return "at work"
    if client.connection is None or not client.connection.command:
        return ""
    told = client.is_mysqld or client.connection.command == "Sleep"
    return _state(client) if told else "at work"


def _state(client: Client) -> str:
    """Return what a client does, as far as that is known."""
    if client.transaction.is_active:
        return "at work in the data nodes"
    if client.connection is None or not client.connection.command:
        return f"silent for {say_duration(client.transaction.inactive)}"
    if client.is_mysqld:
        return "mysqld's own thread"
    spent = say_duration(client.connection.seconds)
    if client.connection.command == "Sleep":
        return f"idle for {spent}"
    return f"at work for {spent} ({client.connection.command})"


def _advice_on(client: Client) -> tuple[str, tuple[str, ...]]:
    """Return what to do about its transaction, and below; only what does nothing is to be ended."""
    if client.transaction.is_own:
        return "wait until it ends", (_OWN,)
    if client.connection is not None and client.is_idle:
        return f"KILL {client.connection.id} on {client.node}", (_ENDS,)
    if client.connection is not None:
        return f"SHOW PROCESSLIST on {client.node}", ()
    if client.is_sql:
        shows = "ndbinfo.server_transactions shows the connection, SHOW PROCESSLIST what the connection does"
        return f"see ndbinfo.server_transactions on {client.node}", (shows,)
    return f"see what {client.node} does", ()


def _unclear(unclear: Sequence[ProbeError]) -> Iterator[ProbeError]:
    if unclear:
        first, *others = unclear
        more = f", and {plural(len(others), 'more row')} like it" if others else ""
        yield ProbeError(f"{first.what}{more}", first.advice)


def _counts(totals: Totals) -> Iterator[Reading]:
    """Give the numbers of what is open."""
    opened = plural(totals.transactions, "open transaction")
    yield Reading("transactions", totals.transactions, what=opened, line=Line())
    operations = plural(totals.operations, "operation")
    yield Reading("operations", totals.operations, what=f"{operations} in all open transactions", line=Line())
    what = f"the largest transaction has {plural(totals.largest, 'operation')}"
    fails = "beyond MaxDMLOperationsPerTransaction or MaxNoOfConcurrentOperations it fails (NDB error 261)"
    yield Reading("largest", totals.largest, what=what, advice="commit more often", line=Line(more=(fails,)))


def _table(found: Diagnosis) -> Table | None:
    """Give transactions side by side; None if there are none."""
    clients = (found.clients.of(one) for one in found.longest or ())
    rows = tuple(
        (str(one), one.transaction.operations, one.transaction.inactive, _state(one)) for one in clients
    )
    return Table(_COLUMNS, rows) if rows else None
