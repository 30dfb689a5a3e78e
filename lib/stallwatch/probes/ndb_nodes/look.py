"""One look at all data nodes of a cluster."""

from __future__ import annotations

import time
from typing import NamedTuple

from stallwatch.probes.ndb_nodes import (
    arbitrator,
    certificates,
    configuration,
    overview,
    presence,
    restarts,
    threads,
    transporters,
)
from stallwatch.probes.ndb_nodes import management as management_server
from stallwatch.probes.ndb_nodes.groups import groups
from stallwatch.probes.ndb_nodes.presence import Presence
from stallwatch.probes.ndb_nodes.since import Since
from stallwatch.probes.ndb_nodes.standing import Kind, restarts_under_way, standings
from stallwatch.probes.ndbinfo import cluster as data_nodes
from stallwatch.probes.ndbinfo.asking import ClusterDownError
from stallwatch.probes.ndbinfo.intervals import Intervals, NoIntervalError
from stallwatch.probes.ndbinfo.numbers import whole
from stallwatch.reading import Fault, ProbeError, Reading, State
from stallwatch.sources.mysql import MissingTableError, NoAnswerError, UnreachableError

TYPE_CHECKING = False  # typing itself costs every check 2 ms
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from typing import Any

    from stallwatch.probes.ndb_nodes.counting import Limits
    from stallwatch.probes.ndb_nodes.management import Management, Place
    from stallwatch.probes.ndb_nodes.threads import Thread
    from stallwatch.probes.ndbinfo.asking import Ndbinfo, Row
    from stallwatch.probes.ndbinfo.cluster import Cluster
    from stallwatch.probes.ndbinfo.intervals import Interval
    from stallwatch.reading import Finding

_STOPPING, _COMPLETE = "stopping", "complete"
_FEW, _ALL = 8, 100_000  # threads


class Asked(NamedTuple):
    """What the user asked for."""

    overloads: Limits  # per minute
    management: Place | None = None  # None: the one that the SQL node has asked
    sql_host: str = "127.0.0.1"
    restarted: float = 600.0  # seconds in which a restart is told
    arbitrator_grace: float = 300.0  # seconds
    everything: bool = False


def findings(ndbinfo: Ndbinfo, asked: Asked, memory: dict[str, Any]) -> Iterator[Finding]:
    """Judge the data nodes. Raises a ProbeError where nothing is known of them."""
    since = Since(memory, time.time())
    try:
        cluster = data_nodes.look(ndbinfo, memory)
        yield from _Look(ndbinfo, asked, memory, since, cluster).findings()
    except ClusterDownError as error:
        yield from _down(ndbinfo, asked, error)


def _down(ndbinfo: Ndbinfo, asked: Asked, error: ClusterDownError) -> Iterator[Finding]:
    """Tell of a cluster of which no data node is connected: what the management server sees says why."""
    management = management_server.ask(ndbinfo, asked.management, asked.sql_host)
    seen = {node.status for node in management.nodes.values()}
    advice = error.advice
    if "STARTED" in seen:
        advice = f"look at the network between {ndbinfo.where} and the hosts of the data nodes"
    elif "STARTING" in seen:
        advice = "wait; ndb_N_out.log of each tells how far it is"
    yield Fault(State.CRITICAL, error.what, management.says(), advice)
    yield Reading("nodes_started", 0, "", "no data node is up")
    if management.aside:
        yield management.aside


class _Look:
    """What one look knows."""

    def __init__(
        self, ndbinfo: Ndbinfo, asked: Asked, memory: dict[str, Any], since: Since, cluster: Cluster
    ) -> None:
        self._ndbinfo, self._asked, self._memory, self._since = ndbinfo, asked, memory, since
        self._cluster = cluster
        self._lacking: list[str] = []  # tables that this version has not
        self._failures: list[ProbeError] = []  # with one table

    def findings(self) -> Iterator[Finding]:
        """Put all subjects together."""
        incomplete = bool(self._cluster.missing or self._cluster.not_started or self._cluster.unnamed)
        management = management_server.NOT_ASKED
        if incomplete:
            management = management_server.ask(self._ndbinfo, self._asked.management, self._asked.sql_host)
            self._cluster = _named_by(management, self._cluster)
        members = self._have(lambda: self._ndbinfo.rows("SELECT * FROM ndbinfo.membership"), "membership")
        there = self._presence(management, members or [])
        up = there.those(Kind.UP)
        table = busiest = None
        if self._asked.everything:
            busiest = self._busiest(_ALL)
            table = overview.table(there, overview.versions(self._ndbinfo), busiest or [])
        yield from presence.findings(there, self._since, table)
        if management.aside:
            yield management.aside
        yield from restarts.look(self._cluster, up, self._asked.restarted, self._memory, time.time())
        yield from configuration.look(self._cluster, self._since)
        if members is not None:
            yield from self._cluster.without_row({whole(row, "node_id") for row in members}, "membership")
            yield from arbitrator.look(self._ndbinfo, members, up, self._since, self._asked.arbitrator_grace)
        busiest = busiest or self._busiest(_FEW)
        if busiest is not None:
            yield from threads.use(self._cluster, busiest)
        yield from self._counted(there)
        yield from (
            self._have(lambda: list(certificates.look(self._ndbinfo, time.time())), "certificates") or []
        )
        yield from self._failures
        if self._lacking and self._asked.everything:
            names = ", ".join(dict.fromkeys(self._lacking))
            yield Fault(State.OK, f"not looked at, as this version does not have it: ndbinfo.{names}")

    def _busiest(self, most: int) -> list[Thread] | None:
        found: list[Thread] | None = self._have(lambda: threads.busiest(self._ndbinfo, most), "cpustat_20sec")
        return found

    def _presence(self, management: Management, members: Sequence[Row]) -> Presence:
        cluster, memory = self._cluster, self._memory
        under_way = restarts_under_way(self._ndbinfo) if cluster.missing or cluster.not_started else {}
        stand = standings(cluster, management, under_way, self._since)
        placed = groups(self._ndbinfo, cluster, members, stand, memory)
        kept = memory.get(_STOPPING)
        stopping = {node for node, standing in stand.items() if standing.kind is Kind.STOPPING}
        still = {node for node, standing in stand.items() if standing.kind is Kind.MISSING}
        stopped = (still & set(kept) if isinstance(kept, list) else set()) | stopping
        memory[_STOPPING] = sorted(stopped)
        return Presence(cluster, stand, placed, management, frozenset(stopped))

    def _counted(self, there: Presence) -> Iterator[Finding]:
        """Tell of all that is counted, as it was since the last look."""
        counts: dict[int, dict[str, float]] = {node: {} for node in self._cluster.nodes}
        expected = self._cluster.expected
        for table, ask in (
            ("transporters", lambda: transporters.counts(self._ndbinfo, expected)),
            ("threadstat", lambda: threads.counts(self._ndbinfo)),
        ):
            if table == "transporters" and len(expected) < 2:  # noqa: PLR2004 - no links
                continue
            counted = self._have(ask, table)
            if counted is None:
                continue
            yield from self._cluster.without_row(counted, table)
            for node, numbers in counted.items():
                counts.setdefault(node, {}).update(numbers)
        intervals = self._intervals(counts)
        limits = self._asked.overloads
        yield from transporters.overloads(self._ndbinfo, expected, intervals, limits, self._since)
        complete = len(there.those(Kind.UP)) == there.total
        if complete and self._memory.get(_COMPLETE) and len(intervals) == there.total:  # none has restarted
            yield from transporters.reconnects(intervals)
        self._memory[_COMPLETE] = complete
        yield from threads.major_faults(intervals)

    def _intervals(self, counts: dict[int, dict[str, float]]) -> dict[int, Interval]:
        intervals = Intervals(self._memory, self._cluster, time.time())
        found = {}
        for node in self._cluster.started:
            try:
                found[node] = intervals.since(node, counts[node])
            except NoIntervalError:
                continue
        return found

    def _have(self, ask: Callable[[], Any], table: str) -> Any:
        """Give what is asked; None if it cannot be had, which is told at the end."""
        try:
            return ask()
        except MissingTableError:
            self._lacking.append(table)
        except (UnreachableError, NoAnswerError, ClusterDownError):
            raise
        except ProbeError as error:
            self._failures.append(error)
        return None


def _named_by(management: Management, cluster: Cluster) -> Cluster:
    """Take the ids of missing nodes from the management server, where ndbinfo does not tell them."""
    if not cluster.unnamed or len(management.nodes) != cluster.configured:
        return cluster
    return cluster._replace(expected=tuple(sorted(management.nodes)), unnamed=0)
