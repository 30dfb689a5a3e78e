"""The words and the numbers for what was found."""

from __future__ import annotations

from stallwatch.findings import ProbeError, Reading
from stallwatch.probes.ndb_transactions import asking
from stallwatch.probes.ndb_transactions.known import HELD, INACTIVE, WAITED
from stallwatch.probes.ndb_transactions.wanted_rows import sentences
from stallwatch.startup import TYPE_CHECKING
from stallwatch.table import Table
from stallwatch.units import say_duration
from stallwatch.words import plural

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from stallwatch.findings import Finding
    from stallwatch.probes.ndb_transactions.asking import Totals, Transaction
    from stallwatch.probes.ndb_transactions.known import Known

_COLUMNS = ("client", "operations", "inactive_s", "state")
_KEEPS = "it keeps its locks until its client goes on"


def findings(known: Known) -> Iterator[Finding]:
    """Tell all that is known."""
    yield _inactive(known)
    yield from _lock_waits(known)
    yield from known.unread
    yield from _unclear(known.unclear)
    yield from _counts(known.totals)
    yield from known.notes


def _inactive(known: Known) -> Reading:
    """Tell of the transactions that have asked nothing of the data nodes for longest."""
    if known.longest is None:  # nobody alerts, or that is all that could be found out
        seconds: float = known.totals.inactive
        what = _silent("a transaction", seconds) if known.alerts(INACTIVE, seconds) else _summary(known)
        return Reading(INACTIVE, seconds, "s", what, _KEEPS)
    inactive = [one for one in known.longest if not one.is_active]
    worst = [one for one in inactive if known.alerts(INACTIVE, one.inactive)]
    if worst:
        return _worst(known, worst)
    seconds = max((one.inactive for one in inactive), default=0.0)
    return Reading(INACTIVE, seconds, "s", _summary(known), table=_table(known))


def _worst(known: Known, worst: Sequence[Transaction]) -> Reading:
    first, *others = worst
    client = known.clients.of(first)
    least = "at least " * (len(worst) >= asking.MOST)  # more are not read
    more = f", as {least}{len(others)} more" if others else ""
    silent = _silent(f"a transaction of {client}", first.inactive)
    return Reading(
        INACTIVE,
        first.inactive,
        "s",
        f"{silent} ({plural(first.operations, 'operation')}){more}",
        f"{client.state}, {_KEEPS}" if client.connection else _KEEPS,
        client.advice,
        table=_table(known),
    )


def _silent(who: str, seconds: float) -> str:
    return f"{who} has asked nothing of the data nodes for {say_duration(seconds)}"


def _summary(known: Known) -> str:
    """Tell all of it in a sentence, for when all is well."""
    totals, waits = known.totals, known.waits
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


def _lock_waits(known: Known) -> Iterator[Reading]:
    """Tell of the row that has been locked for longest, and of the one that is waited for for longest."""
    if known.waits is None:
        return
    held, waited = known.waits.held_longest, known.waits.waited_longest
    if waited is None:
        yield Reading(HELD, 0.0, "s", "no lock waits")
        yield Reading(WAITED, 0.0, "s", "no lock waits", in_table=True)
        return
    chains = [known.waits.chain(row) for row in (held, waited) if row]
    if held:
        yield Reading(HELD, held.held, "s", *sentences(known, held, chains[0]))
    words = sentences(known, waited, chains[-1])
    is_same = bool(held) and chains[0] == chains[-1]  # whoever is to be looked at, whatever the row
    yield Reading(WAITED, waited.waited, "s", *words, in_table=is_same)


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


def _table(known: Known) -> Table | None:
    """Give transactions side by side; None if there are none."""
    clients = (known.clients.of(one) for one in known.longest or ())
    rows = tuple(
        (str(one), one.transaction.operations, one.transaction.inactive, one.state) for one in clients
    )
    return Table(_COLUMNS, rows) if rows else None
