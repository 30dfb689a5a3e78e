"""One look at all data nodes of a cluster: who is there first, then one subject after the other."""

from __future__ import annotations

import time

from stallwatch.probes.ndb_nodes import (
    arbitrator,
    certificates,
    configuration,
    counting,
    groups,
    management,
    overview,
    restarts,
    telling,
    threads,
    transporters,
)
from stallwatch.probes.ndb_nodes.clocks import Clocks
from stallwatch.probes.ndb_nodes.management import NOT_ASKED
from stallwatch.probes.ndb_nodes.presence import put_together, seen_stopping
from stallwatch.probes.ndb_nodes.status import Judge, restarts_under_way
from stallwatch.probes.ndb_nodes.subjects import Subjects
from stallwatch.probes.ndbinfo import cluster as data_nodes
from stallwatch.probes.ndbinfo import ended
from stallwatch.probes.ndbinfo.asking import ClusterDownError
from stallwatch.probes.ndbinfo.cluster import Cluster
from stallwatch.probes.ndbinfo.numbers import whole
from stallwatch.probes.ndbinfo.parameters import NO_OF_REPLICAS, configured
from stallwatch.startup import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Container, Iterable, Iterator
    from typing import Any

    from stallwatch.findings import Finding, ProbeError
    from stallwatch.probes.ndb_nodes.management import Management, Place
    from stallwatch.probes.ndb_nodes.presence import Presence
    from stallwatch.probes.ndbinfo.asking import Ndbinfo, Row
    from stallwatch.thresholds import Range

_LEFT_OUT = "left_out"


class Asked(NamedTuple):
    """What the user asked for."""

    alerts: Callable[[str, float | None], bool]  # whether a threshold of that name alerts on that value
    so_far: Callable[[Iterable[Finding]], None]  # is told what is known already
    overloads: Range | None  # per minute; critical once it is confirmed
    management: Place | None = None  # None: the one that the SQL node has asked
    sql_host: str | None = None  # where the SQL node runs; None: here
    restarted: float = 600.0  # seconds in which a restart is told
    starting_grace: float = 7200.0  # seconds
    arbitrator_grace: float = 300.0  # seconds
    remembers: bool = True  # whether ``memory`` is there at the next run
    everything: bool = False


def findings(ndbinfo: Ndbinfo, asked: Asked, memory: dict[str, Any]) -> Iterator[Finding]:
    """Judge the data nodes. Raises a ProbeError where nothing is known of them."""
    yield from ended.settled(lambda: _findings(ndbinfo, asked, memory))


def _findings(ndbinfo: Ndbinfo, asked: Asked, memory: dict[str, Any]) -> list[Finding]:
    try:
        return _look(ndbinfo, asked, memory)
    except ClusterDownError as error:
        return [*_down(ndbinfo, asked, memory, error)]


def _look(ndbinfo: Ndbinfo, asked: Asked, memory: dict[str, Any]) -> list[Finding]:
    begun = time.monotonic()
    cluster = data_nodes.look(ndbinfo, memory)
    subjects = Subjects(ndbinfo.deadline, (time.monotonic() - begun) / 2)  # it was two statements
    uptimes = {node.id: node.uptime for node in cluster.nodes.values()}
    now = time.time()  # it was when they told their uptime, whatever the rest takes
    return _Look(ndbinfo, asked, memory, subjects, Clocks(memory, now, uptimes)).findings(cluster)


def _down(
    ndbinfo: Ndbinfo, asked: Asked, memory: dict[str, Any], error: ClusterDownError
) -> Iterator[Finding]:
    """Tell of a cluster of which no data node is connected: what the management server sees says why."""
    known = data_nodes.remembered(memory)
    cluster = Cluster(ndbinfo.where, {}, tuple(sorted(known)), max(0, error.configured - len(known)))
    seen = management.ask(ndbinfo, asked.management, asked.sql_host, cluster)
    clocks = Clocks(memory, time.time(), {})
    judge = Judge(seen, {}, clocks, asked.starting_grace, asked.remembers)
    if seen.nodes:
        cluster = cluster._replace(expected=tuple(sorted(seen.nodes)), unnamed=0)
    presence = put_together(cluster, judge, memory, {})
    yield from telling.cluster_down(presence, error)
    yield from telling.counts_of_none(presence)


class _Look:
    """The subjects of one look."""

    def __init__(
        self, ndbinfo: Ndbinfo, asked: Asked, memory: dict[str, Any], subjects: Subjects, clocks: Clocks
    ) -> None:
        self._ndbinfo, self._asked, self._memory, self._clocks = ndbinfo, asked, memory, clocks
        self._subjects = subjects
        self._busiest: dict[int, threads.Busiest] = {}
        self._counted: dict[str, counting.Counted] = {}

    def findings(self, cluster: Cluster) -> list[Finding]:
        """Tell who is there, then of all subjects, the most important first."""
        found: list[Finding] = []
        for findings in self._one_by_one(cluster):
            found = [*found, *findings]
            self._asked.so_far(found)
        return found

    def _one_by_one(self, cluster: Cluster) -> Iterator[Iterable[Finding]]:
        stopped = seen_stopping(self._memory)
        at_first = put_together(cluster, self._judge(NOT_ASKED), dict(self._memory), {})
        self._asked.so_far(list(telling.findings(at_first, self._asked.alerts)))
        presence, membership = self._presence(cluster)
        yield telling.findings(presence, self._asked.alerts)
        clock = self._clocks.time
        restarted = list(restarts.look(presence, self._asked.restarted, stopped, self._memory, clock))
        yield configuration.look(presence.cluster, self._clocks)
        yield self._arbitrator(presence, membership)
        for subject in self._in_order():
            yield subject(presence)
        yield restarted  # of what is a problem as well, the one that may heal itself comes last
        if self._asked.remembers:
            yield counting.no_baseline(self._counted)
        yield self._subjects.told(everything=self._asked.everything)
        self._memory[_LEFT_OUT] = self._subjects.left_out

    def _in_order(self) -> list[Callable[[Presence], Iterator[Finding]]]:
        """Give what else there is, the most important first, and before them what was left out last."""
        each = {
            "transporters": self._links,
            "threadstat": self._faults,
            "cpustat_20sec": self._threads,
            "certificates": self._certificates,
            "processes": self._table,
        }
        late = self._memory.get(_LEFT_OUT)
        first = [name for name in each if isinstance(late, list) and name in late and name != "processes"]
        return [each[name] for name in dict.fromkeys([*first, *each])]

    def _presence(self, cluster: Cluster) -> tuple[Presence, list[Row] | None]:
        """Ask all that there is to know of those that are not up, and who is in which node group."""
        ndbinfo, have, seen, under_way = self._ndbinfo, self._subjects.have, NOT_ASKED, None
        if cluster.missing or cluster.not_started or cluster.unnamed:
            seen = management.ask(ndbinfo, self._asked.management, self._asked.sql_host, cluster)
            cluster = _named_by(seen, cluster)
            under_way = have("restart_info", lambda: restarts_under_way(ndbinfo), evidence=True)
        membership = have("membership", lambda: ndbinfo.rows("SELECT * FROM ndbinfo.membership"))
        groups_told = have("membership", lambda: groups.told(membership or []), asks=False) or {}
        judge = self._judge(seen, under_way or {})
        return put_together(cluster, judge, self._memory, groups_told, self._replicas), membership

    def _judge(self, seen: Management, under_way: dict[int, Any] | None = None) -> Judge:
        asked = self._asked
        return Judge(seen, under_way or {}, self._clocks, asked.starting_grace, asked.remembers)

    def _replicas(self) -> int:
        found = self._subjects.have(
            "config_values", lambda: configured(self._ndbinfo, NO_OF_REPLICAS), evidence=True
        )
        return max((int(value) for value in (found or {}).values() if value.isdecimal()), default=0)

    def _arbitrator(self, presence: Presence, membership: list[Row] | None) -> Iterator[Finding]:
        if membership is None:
            return
        have, ndbinfo = self._subjects.have, self._ndbinfo
        grace = self._asked.arbitrator_grace

        def why_none() -> str | None:
            return have("config_values", lambda: arbitrator.on_purpose(ndbinfo), evidence=True)

        def judged() -> list[Finding]:
            answering = {whole(row, "node_id") for row in membership}
            found = arbitrator.look(membership, presence.up, self._clocks, grace, why_none)
            return [*self._without_row(presence.cluster, answering, "membership"), *found]

        yield from have("membership", judged, asks=False) or ()

    def _links(self, presence: Presence) -> Iterator[Finding]:
        """Tell of the links between data nodes, which one alone does not have."""
        nodes, memory = presence.cluster.expected, self._memory
        if len(nodes) < 2:  # noqa: PLR2004
            return
        counts = self._subjects.have("transporters", lambda: transporters.counts(self._ndbinfo, nodes))
        if counts is None:
            return
        yield from self._without_row(presence.cluster, counts, "transporters")
        counted = counting.since_last_look("transporters", counts, presence.cluster, memory, self._clocks.now)
        yield from transporters.overloads(counted.intervals, self._asked.overloads, memory)
        if len(counted.intervals) == presence.total:  # none has restarted
            yield from transporters.reconnects(counted.intervals)
        self._counted["overloads"] = self._counted["reconnects"] = counted

    def _faults(self, presence: Presence) -> Iterator[Finding]:
        counts = self._subjects.have("threadstat", lambda: threads.faults(self._ndbinfo))
        if counts is None:
            return
        yield from self._without_row(presence.cluster, counts, "threadstat")
        counted = counting.since_last_look(
            "threadstat", counts, presence.cluster, self._memory, self._clocks.now
        )
        yield from threads.major_faults(counted.intervals)
        self._counted["page faults"] = counted

    def _threads(self, presence: Presence) -> Iterator[Finding]:
        found = self._subjects.have("cpustat_20sec", lambda: threads.busiest(self._ndbinfo))
        if found is None:
            return
        self._busiest = found
        told = threads.too_young(presence.cluster) | set(found)
        yield from self._without_row(presence.cluster, told, "cpustat_20sec")
        if not found:
            return
        worst, *_ = found.values()
        thread = None
        if self._asked.alerts(threads.USE, worst.used):
            thread = self._subjects.have(
                "cpustat_20sec", lambda: threads.which(self._ndbinfo, worst.node), evidence=True
            )
        yield threads.use(worst, thread)

    def _without_row(self, cluster: Cluster, told: Container[int], table: str) -> list[ProbeError]:
        """Say so of started nodes that a table does not tell of; raises NodeEndedError if one has ended."""
        problems = [*cluster.without_row(told, table)]
        if problems:
            self._subjects.have("nodes", lambda: ended.rule_out_end(self._ndbinfo, cluster))
        return problems

    def _certificates(self, _: Presence) -> Iterator[Finding]:
        now = self._clocks.now
        yield from (
            self._subjects.have("certificates", lambda: list(certificates.look(self._ndbinfo, now))) or ()
        )

    def _table(self, presence: Presence) -> Iterator[Finding]:
        if self._asked.everything:
            versions = self._subjects.have(
                "processes", lambda: overview.versions(self._ndbinfo), evidence=True
            )
            yield overview.reading(presence, versions or {}, self._busiest)


def _named_by(seen: Management, cluster: Cluster) -> Cluster:
    """Take the ids of missing nodes from the management server, where ndbinfo does not tell them."""
    if not cluster.unnamed or not seen.nodes:
        return cluster
    return cluster._replace(expected=tuple(sorted(seen.nodes)), unnamed=0)
