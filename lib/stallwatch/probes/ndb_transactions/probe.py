"""One run: count what is open, see who waits for whose lock, and where that alerts, find out who it is."""

from __future__ import annotations

import time

from stallwatch.findings import Fault, ProbeError, State
from stallwatch.probes.ndb_transactions import messages
from stallwatch.probes.ndb_transactions.diagnosis import INACTIVE, Clients, Diagnosis, wanted
from stallwatch.probes.ndb_transactions.queries import MOST_LOCKS, MOST_OPERATIONS, MOST_ROWS, Queries
from stallwatch.probes.ndbinfo import cluster as data_nodes
from stallwatch.sources.mysql import MissingTableError, NoAnswerError
from stallwatch.startup import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from stallwatch.findings import Finding
    from stallwatch.frame.run import Run
    from stallwatch.probes.ndb_transactions.queries import Lock
    from stallwatch.probes.ndbinfo.queries import Ndbinfo


def findings(ndbinfo: Ndbinfo, run: Run, memory: dict[str, Any], *, everything: bool) -> Iterator[Finding]:
    """Judge what is open and who waits, with ``everything`` also which transactions; raises a ProbeError."""
    cluster = data_nodes.look_at_started(ndbinfo, memory)
    begun = time.monotonic()
    queries = Queries(ndbinfo, {node.id: node.uptime for node in cluster.nodes.values()})
    found = Diagnosis(queries.totals(), queries.unclear, run.alerts)

    def all_of_it() -> Iterator[Finding]:
        yield from messages.all_of_it(found)
        yield from cluster.asides()

    run.so_far(all_of_it())
    _ask_locks(queries, found)
    run.so_far(all_of_it())
    if (everything and found.totals.transactions) or run.alerts(INACTIVE, found.totals.inactive):
        _ask_longest(queries, found)
    run.so_far(all_of_it())
    _ask_involved(queries, found)
    _ask_clients(queries, found, begun)
    found.tables = queries.tables({row.table for row in found.lock_waits()})
    found.notes += queries.unseen.values()
    yield from all_of_it()


def _ask_locks(queries: Queries, found: Diagnosis) -> None:
    """Look at the locks if anybody might wait for one, and if there are not too many."""
    operations = found.totals.operations
    if not found.totals.active:
        found.waits = wanted((), ())
        return
    if operations > MOST_OPERATIONS:
        found.unread.append(ProbeError(f"who waits for whom is not looked at, of {operations} operations"))
        return
    try:
        waiting = queries.waits()
    except MissingTableError:
        found.notes.append(Fault(State.OK, "this version does not show who waits for whom"))
    except ProbeError as error:
        found.unread.append(_unread("who waits for whom", operations, error))
    else:
        found.has_more = len(waiting) >= MOST_LOCKS
        if waiting:
            found.waits = wanted(waiting, (), is_whole=False)
            _ask_holders(queries, found, waiting)
        elif not found.unclear:
            found.waits = wanted((), ())


def _ask_holders(queries: Queries, found: Diagnosis, waiting: list[Lock]) -> None:
    rows = list(dict.fromkeys(lock.row for lock in waiting))
    if len(rows) > MOST_ROWS:
        words = f"who holds them is looked at of {MOST_ROWS} of {len(rows)} rows that are waited for"
        found.notes.append(Fault(State.OK, words))
    try:
        held = queries.holds(rows[:MOST_ROWS])
    except ProbeError as error:
        found.unread.append(_unread("who holds what others wait for", found.totals.operations, error))
        return
    is_whole = not (found.has_more or found.unclear)
    if len(held) >= MOST_LOCKS:
        found.notes.append(Fault(State.OK, f"{MOST_LOCKS} holders are looked at, there may be more"))
        is_whole = False
    found.waits = wanted(waiting, held, is_whole=is_whole)


def _unread(what: str, operations: int, error: ProbeError) -> ProbeError:
    if isinstance(error, NoAnswerError) and error.number:  # the server has given up, and can be queries again
        return ProbeError(f"{what} took too long to read, of {operations} operations")
    return ProbeError(f"{what} is not known: {error.what}", error.advice)


def _ask_longest(queries: Queries, found: Diagnosis) -> None:
    """Ask which transactions have asked nothing for longest."""
    try:
        found.longest = queries.longest()
    except ProbeError as error:
        found.notes.append(Fault(State.OK, f"its client is not seen: {error.what}"))


def _ask_involved(queries: Queries, found: Diagnosis) -> None:
    """Ask of which transactions the locks are that alert."""
    try:
        involved = queries.transactions(found.named())
    except ProbeError as error:
        found.notes.append(Fault(State.OK, f"whose locks they are stays unseen: {error.what}"))
    else:
        found.involved = {one.id: one for one in involved}


def _ask_clients(queries: Queries, found: Diagnosis, begun: float) -> None:
    """Ask who has opened these transactions, which were asked for from ``begun`` on, in monotonic time."""
    of_clients = [one for one in (*(found.longest or ()), *found.involved.values()) if not one.is_own]
    connections = queries.connections({one.id >> 32 for one in of_clients})
    since = time.monotonic() - begun
    found.clients = Clients(connections, queries.processes({one.client for one in of_clients}), since)
