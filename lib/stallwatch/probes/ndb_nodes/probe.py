"""One run: who is there first, then one subject after the other, the most important first."""

from __future__ import annotations

import time
from functools import partial

from stallwatch.history import recall
from stallwatch.probes.mysql.asking import Inquiry
from stallwatch.probes.ndb_nodes import clients, collect, diagnosis, health, messages, queries
from stallwatch.probes.ndb_nodes.collect import Clocks, Snapshot
from stallwatch.probes.ndb_nodes.diagnosis import Rules, diagnose
from stallwatch.probes.ndb_nodes.model import NOT_ASKED
from stallwatch.probes.ndbinfo import cluster as data_nodes
from stallwatch.probes.ndbinfo.cluster import Cluster, named
from stallwatch.probes.ndbinfo.queries import ClusterDownError, whole
from stallwatch.startup import TYPE_CHECKING

if TYPE_CHECKING:
    from argparse import Namespace
    from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
    from typing import Any

    from stallwatch.findings import Finding, ProbeError
    from stallwatch.frame.run import Run
    from stallwatch.history.delta import Interval
    from stallwatch.probes.ndb_nodes.clients import Client
    from stallwatch.probes.ndb_nodes.model import Presence
    from stallwatch.probes.ndb_nodes.queries import Busiest, Counts
    from stallwatch.probes.ndbinfo.queries import Ndbinfo, Row

_LEFT_OUT = "left_out"
_NO_CONTACT = "no_contact"  # a clock: since no data node is connected to the SQL node
# Seconds for which that must last. Data nodes declare one dead after 20 s by default (4 missed heartbeats of
# HeartbeatIntervalDbDb): one that is only frozen is back, or has ended.
_LASTS = 20.0


def findings(
    ndbinfo: Ndbinfo, options: Namespace, run: Run, memory: dict[str, Any], sql_host: str
) -> Iterator[Finding]:
    """Judge the data nodes of the SQL node on ``sql_host``.

    Raises a ProbeError where nothing is known of them.
    """
    yield from data_nodes.settled(lambda: _Look(ndbinfo, options, run, memory, sql_host).findings())


class _Look:
    """One look at all data nodes."""

    def __init__(
        self, ndbinfo: Ndbinfo, options: Namespace, run: Run, memory: dict[str, Any], sql_host: str
    ) -> None:
        self._ndbinfo, self._options, self._run, self._memory = ndbinfo, options, run, memory
        self._sql_host = sql_host
        self._rules = Rules(options.starting_grace, remembers=not options.no_state)
        self._busiest: dict[int, Busiest] = {}
        self._asked: list[Mapping[int, Client] | None] = []
        self._told = ""  # a program of which it was said that no node that runs it is connected
        self._no_baseline: dict[tuple[str, str], list[str]] = {}  # by reason and nodes: subjects

    def findings(self) -> list[Finding]:
        """Return who is there, then all else; where no data node is connected, why."""
        try:
            return self._of_all_subjects()
        except ClusterDownError as error:
            return [*self._no_contact(error)]

    def _of_all_subjects(self) -> list[Finding]:
        begun = time.monotonic()
        cluster = data_nodes.look(self._ndbinfo, self._memory)
        # It was two statements. One takes 20 ms for each data node (9.7.2): there may not be time for all.
        slowest = (time.monotonic() - begun) / 2
        self._tables = Inquiry(self._ndbinfo.deadline, slowest, ending=(ClusterDownError,))
        uptimes = {node.id: node.uptime for node in cluster.nodes.values()}
        # Now, as these are the uptimes of this moment, whatever the rest takes.
        self._clocks = Clocks(self._memory, time.time(), uptimes)
        self._clocks.over(_NO_CONTACT)
        found: list[Finding] = []
        for findings in self._one_by_one(cluster):
            found = [*found, *findings]
            self._run.so_far(found)
        return found

    def _no_contact(self, error: ClusterDownError) -> Iterator[Finding]:
        """Report that no data node is connected to the SQL node; the management server shows why."""
        known = data_nodes.remembered(self._memory)
        missing = max(0, error.configured - len(known))
        cluster = Cluster(self._ndbinfo.where, {}, tuple(sorted(known)), missing)
        snapshot = self._look_around(cluster)
        clocks = Clocks(self._memory, time.time(), {})
        lasts = not self._rules.remembers or clocks.seconds(_NO_CONTACT) >= _LASTS
        presence = diagnose(snapshot, self._rules, clocks, self._memory)
        yield from messages.no_contact(presence, error, lasts=lasts)

    def _look_around(self, cluster: Cluster) -> Snapshot:
        """Ask the management server, and see which processes of missing nodes run on this host."""
        given = self._options.management
        asked = collect.ask_management(self._ndbinfo, given, self._sql_host, cluster)
        if asked.management.aside and not given:
            others = clients.managers(self._memory)
            asked = collect.ask_others(self._ndbinfo, others, self._sql_host, asked)
        return asked._replace(here=collect.alive_here(self._sql_host, asked))

    def _one_by_one(self, cluster: Cluster) -> Iterator[Iterable[Finding]]:
        stopped = diagnosis.seen_stopping(self._memory)
        at_first = diagnose(Snapshot(cluster), self._rules, self._clocks, dict(self._memory))
        self._run.so_far(messages.who_is_up(at_first, self._run.is_problem))
        presence, membership = self._presence(cluster)
        yield messages.who_is_up(presence, self._run.is_problem)
        starts = diagnosis.starts(presence.cluster, stopped, self._memory, self._clocks.time)
        yield health.generations(*diagnosis.generations(presence.cluster, self._clocks))
        yield self._arbitrator(presence, membership)
        for subject in self._in_order():
            yield subject(presence)
        # Of what is a problem as well, the one that may heal itself comes last.
        yield health.restarts(presence, starts, self._options.restarted)
        if self._rules.remembers:
            yield health.no_baseline(self._no_baseline)
        yield messages.not_read(self._tables, everything=bool(self._options.verbose))
        self._memory[_LEFT_OUT] = [one.about for one in self._tables.refused if not one.asked]

    def _in_order(self) -> list[Callable[[Presence], Iterator[Finding]]]:
        """Return what else there is, the most important first, and before them what was left out last."""
        each = {
            "transporters": self._links,
            "threadstat": self._page_faults,
            "cpustat_20sec": self._threads,
            "certificates": self._certificates,
            "clients": self._clients,
            "processes": self._side_by_side,
        }
        late = recall(self._memory, _LEFT_OUT, list[str]) or []
        first = [name for name in each if name in late and name != "processes"]
        return [each[name] for name in dict.fromkeys([*first, *each])]

    def _presence(self, cluster: Cluster) -> tuple[Presence, list[Row] | None]:
        """Ask all that there is to know of those that are not up, and who is in which node group."""
        ndbinfo, ask, snapshot = self._ndbinfo, self._tables.ask, Snapshot(cluster)
        if cluster.missing or cluster.not_started or cluster.unnamed:
            snapshot = self._look_around(cluster)
            restarts = ask("restart_info", lambda: queries.restarts_under_way(ndbinfo), evidence=True)
            snapshot = snapshot._replace(restarts=restarts or {})
        membership = ask("membership", lambda: queries.membership(ndbinfo))
        groups = self._tables.understand("membership", lambda: diagnosis.groups_of(membership or []))
        snapshot = snapshot._replace(groups=groups or {})

        def replicas() -> int:
            return ask("config_values", lambda: queries.replicas(ndbinfo), evidence=True) or 0

        return diagnose(snapshot, self._rules, self._clocks, self._memory, replicas), membership

    def _arbitrator(self, presence: Presence, membership: Sequence[Row] | None) -> Iterator[Finding]:
        if membership is None:
            return
        ndbinfo, ask, grace = self._ndbinfo, self._tables.ask, self._options.arbitrator_grace

        def why_none() -> str | None:
            return ask("config_values", lambda: queries.why_no_arbitrator(ndbinfo), evidence=True)

        def judged() -> list[Finding]:
            answering = {whole(row, "node_id") for row in membership}
            no_manager = partial(self._no_manager, presence)
            found = health.arbitrator(membership, presence.up, self._clocks, grace, why_none, no_manager)
            return [*self._without_row(presence.cluster, answering, "membership"), *found]

        yield from self._tables.understand("membership", judged) or ()

    def _no_manager(self, presence: Presence) -> tuple[str, str, str]:
        """Show that no management node is connected to the data nodes, and what to do; all empty: one is."""
        connected = self._connected()
        if connected is None or any(one.program == clients.MANAGEMENT for one in connected.values()):
            return "", "", ""
        seen = presence.management
        if seen is NOT_ASKED:
            seen = self._look_around(presence.cluster).management
        self._told = clients.MANAGEMENT
        if seen.is_down:
            return f"management node {seen.where} is down", "start ndb_mgmd there", ""
        below = seen.aside.what if seen.aside else ""
        return "no management node is connected", "check ndb_mgmd, then its network", below

    def _connected(self) -> Mapping[int, Client] | None:
        """Ask, once, who else is connected; before 7.5.7 that is not known: None."""
        if not self._asked:
            self._asked.append(self._tables.ask("processes", lambda: queries.clients(self._ndbinfo)))
        return self._asked[0]

    def _clients(self, _: Presence) -> Iterator[Finding]:
        """Judge who else is connected."""
        connected = self._connected()
        if connected is not None:
            options, now = self._options, self._clocks.time
            wanted, forgotten = options.expect_api, options.forget_api
            yield clients.missing(connected, wanted, forgotten, self._memory, now, told=self._told)

    def _links(self, presence: Presence) -> Iterator[Finding]:
        """Judge the links between data nodes, which one alone does not have."""
        nodes = presence.cluster.expected
        if len(nodes) < 2:  # noqa: PLR2004
            return
        problems, intervals = self._counted(
            "transporters", lambda: queries.links(self._ndbinfo, nodes), presence, ("overloads", "reconnects")
        )
        yield from problems
        yield from health.overloads(intervals, self._memory, self._run.is_problem)
        if len(intervals) == presence.total:  # none has restarted
            yield from health.reconnects(intervals)

    def _page_faults(self, presence: Presence) -> Iterator[Finding]:
        problems, intervals = self._counted(
            "threadstat", lambda: queries.page_faults(self._ndbinfo), presence, ("page faults",)
        )
        yield from problems
        yield from health.major_faults(intervals)

    def _counted(
        self, table: str, ask: Callable[[], Counts], presence: Presence, subjects: Sequence[str]
    ) -> tuple[list[ProbeError], dict[int, Interval]]:
        """Ask what nodes have counted, and compare it with the last look; none if that cannot be had."""
        counts = self._tables.ask(table, ask)
        if counts is None:
            return [], {}
        problems = self._without_row(presence.cluster, counts, table)
        now = self._clocks.now
        intervals, reasons = collect.since_last_look(table, counts, presence.cluster, self._memory, now)
        for why, nodes in reasons.items():
            self._no_baseline.setdefault((why, named(nodes)), []).extend(subjects)
        return problems, intervals

    def _threads(self, presence: Presence) -> Iterator[Finding]:
        found = self._tables.ask("cpustat_20sec", lambda: queries.busiest(self._ndbinfo))
        if found is None:
            return
        self._busiest = found
        known = health.too_young(presence.cluster) | set(found)
        yield from self._without_row(presence.cluster, known, "cpustat_20sec")
        if not found:
            return
        worst, *_ = found.values()
        thread = None
        if self._run.alerts(health.USE, worst.used):
            thread = self._tables.ask(
                "cpustat_20sec", lambda: queries.busiest_of(self._ndbinfo, worst.node), evidence=True
            )
        yield health.thread_use(worst, thread)

    def _without_row(self, cluster: Cluster, answering: Container[int], table: str) -> list[ProbeError]:
        """Name started nodes that have no row in a table; raises NodeEndedError if one has ended."""
        problems = [*cluster.without_row(answering, table)]
        if problems:
            self._tables.ask("nodes", lambda: data_nodes.rule_out_end(self._ndbinfo, cluster))
        return problems

    def _certificates(self, _: Presence) -> Iterator[Finding]:
        def judged() -> list[Finding]:
            return [*health.certificate(queries.certificates(self._ndbinfo), self._clocks.now)]

        yield from self._tables.ask("certificates", judged) or ()

    def _side_by_side(self, presence: Presence) -> Iterator[Finding]:
        if self._options.verbose:
            ask = self._tables.ask
            versions = ask("processes", lambda: queries.versions(self._ndbinfo), evidence=True)
            yield messages.side_by_side(presence, versions or {}, self._busiest)
