"""One run: count what is open, see who waits for whose lock, and where that alerts, find out who it is."""

from __future__ import annotations

import time

from stallwatch.findings import Fault, ProbeError, State
from stallwatch.probes.ndb_transactions import messages
from stallwatch.probes.ndb_transactions.diagnosis import INACTIVE, Clients, Diagnosis, wanted
from stallwatch.probes.ndb_transactions.queries import MOST_LOCKS, MOST_OPERATIONS, MOST_ROWS, Queries
from stallwatch.probes.ndbinfo import cluster as data_nodes
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
    found = Diagnosis(queries.totals(), queries.unclear, queries.refused, run.alerts)

    def all_of_it() -> Iterator[Finding]:
        yield from messages.all_of_it(found)
        yield from cluster.asides()

    run.so_far(all_of_it())
    _ask_locks(queries, found)
    run.so_far(all_of_it())
    if (everything and found.totals.transactions) or run.alerts(INACTIVE, found.totals.inactive):
        found.longest = queries.longest()
    run.so_far(all_of_it())
    found.involved = {one.id: one for one in queries.transactions(found.named())}
    _ask_clients(queries, found, begun)
    found.tables = queries.tables({row.table for row in found.lock_waits()})
    yield from all_of_it()


def _ask_locks(queries: Queries, found: Diagnosis) -> None:
    """Look at the locks if anybody might wait for one, and if there are not too many."""
    operations = found.totals.operations
    if not found.totals.active:
        found.waits = wanted((), ())
    elif operations > MOST_OPERATIONS:
        found.unread.append(ProbeError(f"who waits for whom is not looked at, of {operations} operations"))
    elif (waiting := queries.waits()) is not None:
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
    held = queries.holds(rows[:MOST_ROWS])
    if held is None:
        return
    is_whole = not (found.has_more or found.unclear)
    if len(held) >= MOST_LOCKS:
        found.notes.append(Fault(State.OK, f"{MOST_LOCKS} holders are looked at, there may be more"))
        is_whole = False
    found.waits = wanted(waiting, held, is_whole=is_whole)


def _ask_clients(queries: Queries, found: Diagnosis, begun: float) -> None:
    """Ask who has opened these transactions, which were asked for from ``begun`` on, in monotonic time."""
    of_clients = [one for one in (*(found.longest or ()), *found.involved.values()) if not one.is_own]
    connections = queries.connections({one.id >> 32 for one in of_clients})
    since = time.monotonic() - begun
    found.clients = Clients(connections, queries.processes({one.client for one in of_clients}), since)
