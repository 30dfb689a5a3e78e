"""Sentences on a row that somebody waits for: who is in the way, and what is to be done about whom."""

from __future__ import annotations

from stallwatch.probes.ndbinfo.words import listed
from stallwatch.startup import TYPE_CHECKING, NamedTuple
from stallwatch.units import say_duration
from stallwatch.words import plural

if TYPE_CHECKING:
    from collections.abc import Sequence

    from stallwatch.probes.ndb_transactions.known import Known
    from stallwatch.probes.ndb_transactions.waits import Chain, WantedRow

_NAMED = 2  # clients in a sentence
_TIMEOUT = "a wait ends with error 1205 after TransactionDeadlockDetectionTimeout, 1.2 s by default"


class Sentences(NamedTuple):
    """What is to be said of a row, as a Reading takes it."""

    what: str
    why: str
    advice: str


def sentences(known: Known, row: WantedRow, chain: Chain) -> Sentences:
    """Tell of a row, at whose end of all waiting are the heads of ``chain``."""
    return Sentences(_what(known, row, chain), _why(known, row), _advice(known, row, chain))


def _what(known: Known, row: WantedRow, chain: Chain) -> str:
    several = len(row.waiters) > 1
    least = "at least " * known.has_more
    waiter = known.client(row.first_waiter) or "a transaction"
    wait = f"{least}{len(row.waiters)} transactions have" if several else f"{waiter} has"
    upto = "up to " * several + say_duration(row.waited)
    table = known.tables.get(row.table, f"table {row.table}")
    if row.held is None:
        return f"{wait} waited for a row of {table} for {upto}, and who holds it is not seen"
    locked = f"locked for {say_duration(row.held)}{_by(known, list(row.in_the_way), chain)}"
    return f"a row of {table} has been {locked}, and {wait} waited for it for {upto}"


def _by(known: Known, holders: Sequence[int], chain: Chain) -> str:
    """Tell who holds it; if those wait themselves, for whom in the end; and what that one does."""
    who = _named(known, holders)
    if not who:
        return ""
    one = len(holders) == 1
    if chain.is_deadlock:
        return f" by {who}, which {'is in a deadlock' if one else 'wait for each other'}"
    if set(holders) == set(chain.heads):
        return f" by {who}{_does(known, chain)}"
    heads = _named(known, chain.heads) or "somebody who is not seen"
    return f" by {who}, which {'waits' if one else 'wait'} for {heads}{_does(known, chain)}"


def _does(known: Known, chain: Chain) -> str:
    client = known.client(chain.heads[0]) if len(chain.heads) == 1 else None
    return f", {client.state}" if client else ""


def _named(known: Known, transactions: Sequence[int]) -> str:
    """Name some of their clients and count the rest; nothing if none is known."""
    clients = [client for client in map(known.client, transactions[:_NAMED]) if client]
    names = [str(client) for client in clients] + [""] * (len(transactions) - len(clients))
    return listed(names, len(clients)) if clients else ""


def _why(known: Known, row: WantedRow) -> str:
    waiter = known.client(row.first_waiter) if len(row.waiters) > 1 else None
    others = len(known.waits.rows) - 1 if known.waits else 0
    least = "at least " * known.has_more
    reasons = [
        f"one of them is {waiter}" if waiter else "",
        _TIMEOUT,
        f"{least}{plural(others, 'more row')} like it" if others else "",
    ]
    return "; ".join(filter(None, reasons))


def _advice(known: Known, row: WantedRow, chain: Chain) -> str:
    if row.held is None:
        return "look again: ndbinfo.cluster_locks tells who holds it, if it has not been let go meanwhile"
    if chain.is_deadlock:
        return "let transactions lock rows in the same order: now one of them fails"
    if len(chain.heads) > 1:
        return "see what each of them does: all have to end until the row is free"
    head = known.client(chain.heads[0]) if chain.heads else None
    if head and chain.is_whole:
        return head.advice
    return "look again: who holds up all of them is not seen for certain"
