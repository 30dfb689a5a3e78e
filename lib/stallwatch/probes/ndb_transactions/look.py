"""One look at the open transactions of a cluster, and at who waits for whom."""

from __future__ import annotations

from typing import NamedTuple

from stallwatch.probes.ndb_transactions import asking, telling
from stallwatch.probes.ndb_transactions.clients import Clients
from stallwatch.probes.ndb_transactions.telling import Locks
from stallwatch.probes.ndbinfo import cluster as data_nodes
from stallwatch.reading import Reading
from stallwatch.sources.mysql import NoAnswerError

TYPE_CHECKING = False  # typing itself costs every check 2 ms
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from typing import Any

    from stallwatch.probes.ndb_transactions.asking import Totals, Transaction
    from stallwatch.probes.ndbinfo.asking import Ndbinfo
    from stallwatch.reading import Finding


class Asked(NamedTuple):
    """What the user asked for."""

    is_problem: Callable[[Finding], bool]  # whether a threshold alerts on it
    everything: bool = False  # tell of transactions also where nothing is wrong

    def minds(self, name: str, seconds: float) -> bool:
        """Whether a threshold alerts on this time."""
        return self.is_problem(Reading(name, seconds, "s"))


def findings(ndbinfo: Ndbinfo, asked: Asked, memory: dict[str, Any]) -> Iterator[Finding]:
    """Judge what is open and who waits; raises a ProbeError."""
    cluster = data_nodes.look_at_started(ndbinfo, memory)
    totals = asking.totals(ndbinfo)
    locks = _locks(ndbinfo, totals)
    idle: Sequence[Transaction] = ()
    if asked.minds(telling.INACTIVE, totals.inactive) or (asked.everything and totals.transactions):
        idle = asking.inactive(ndbinfo)
    involved, tables = _involved(ndbinfo, asked, locks)
    clients = Clients(ndbinfo, [*idle, *involved.values()])
    worst = [one for one in idle if asked.minds(telling.INACTIVE, one.inactive)]
    yield telling.inactive(
        totals, worst, telling.summary(totals, locks), clients, telling.table(idle, clients)
    )
    if not locks.unread:
        yield from telling.lock_waits(locks, involved, clients, tables)
    yield from telling.unread(locks, totals.waiting)
    yield from telling.counts(totals)
    yield from cluster.asides()
    yield from telling.not_seen(clients)


def _involved(ndbinfo: Ndbinfo, asked: Asked, locks: Locks) -> tuple[dict[int, Transaction], dict[int, str]]:
    """Find out who holds and wants the worst of the locks, and of which table it is, if that matters."""
    if not (asked.minds(telling.HELD, locks.held) or asked.minds(telling.WAITED, locks.waited)):
        return {}, {}
    worst = locks.rows[:1]
    ids = {one for lock in worst for one in (lock.holder, lock.waiter) if one is not None}
    found = asking.transactions(ndbinfo, ids)
    return {one.id: one for one in found}, asking.table_names(ndbinfo, [lock.table for lock in worst])


def _locks(ndbinfo: Ndbinfo, totals: Totals) -> Locks:
    """Look at the locks if anybody might wait for one, and if there are not too many."""
    if not totals.busy:
        return Locks()
    if totals.operations > asking.MOST_OPERATIONS:
        return Locks(unread=f"locks are not looked at, of {totals.operations} operations")
    try:
        return Locks(asking.locks(ndbinfo))
    except NoAnswerError as error:
        if not error.number:  # else the server has given up, and can be asked again
            raise
        return Locks(unread=f"the locks of {totals.operations} operations took too long to read")
