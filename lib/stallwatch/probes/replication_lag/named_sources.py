"""The servers that --source names: whose source each of them is, and how far that is behind itself.

Only servers that the user named are asked: what a server has of its own source is only shown.
"""

from __future__ import annotations

from contextlib import ExitStack

from stallwatch.findings import Fault, ProbeError, State
from stallwatch.line import in_all_forms
from stallwatch.probes import shared
from stallwatch.probes.replication_lag import history, queries
from stallwatch.probes.replication_lag.collect import PATIENCE, Collector
from stallwatch.probes.replication_lag.diagnosis import diagnose, is_resting
from stallwatch.probes.replication_lag.model import Upstream
from stallwatch.probes.replication_lag.source import Identity, ask, identity, is_above
from stallwatch.sources.mysql import DeniedError, NoAnswerError
from stallwatch.startup import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from contextlib import AbstractContextManager
    from typing import Any

    from stallwatch.findings import Finding
    from stallwatch.probes.replication_lag.heartbeat_table import HeartbeatTable
    from stallwatch.probes.replication_lag.model import Channel
    from stallwatch.sources.mysql.server import Server

    Opened = Callable[[], AbstractContextManager[Server]]


class Named(NamedTuple):
    """A server that the user named, and who it is."""

    server: Server
    who: Identity


def ask_sources(collector: Collector, sources: Sequence[Opened], table: HeartbeatTable | None) -> None:
    """Ask the servers that --source names; find whose source each is."""
    if collector.lost or not sources:
        return
    with ExitStack() as until:
        named = _log_in(sources, until, collector.asides)
        asked = _ask_named(collector, named)
        if table:
            _ask_writers(collector, named, table)
        for server, who in (one for one in named if one not in asked):
            what = f"{server.where} is server {who.server_id}, from which no channel replicates"
            collector.asides.append(ProbeError(what))


def _ask_writers(collector: Collector, named: Sequence[Named], table: HeartbeatTable) -> None:
    """Ask who writes a heartbeat's row how old that is there: whether it is still written."""
    for server, who in named:
        for name, beat in collector.heartbeats.items():
            if beat.server_id == who.server_id:
                try:
                    age = table.source_age(server, beat, PATIENCE)
                    collector.heartbeats[name] = beat._replace(source_age=age)
                except ProbeError as error:
                    collector.asides.append(error)


def _ask_named(collector: Collector, named: Sequence[Named], below: Sequence[Identity] = ()) -> set[Named]:
    """Ask each channel's source, or who is above that; returns who was asked.

    ``below`` are the servers that replicate from this one.
    """
    asked: set[Named] = set()
    for channel in collector.channels:
        try:
            _ask_above(collector, channel, named, below, asked)
        except ProbeError as error:
            collector.asides.append(_not_asked(error))
    return asked


def _ask_above(
    collector: Collector,
    channel: Channel,
    named: Sequence[Named],
    below: Sequence[Identity],
    asked: set[Named],
) -> None:
    """Ask the source of a channel, also about its own replication, or else who is above that."""
    replica, existing = collector.server, collector.existing
    direct = [one for one in named if one.who.is_source_of(channel)]
    known = direct or [one for one in named if is_above(one.who, replica, channel, existing)]
    asked.update(known)
    if not known:
        return
    found = ask(known[0].server, replica, channel, existing)
    collector.sources[channel.name] = found if direct else found._replace(errant=None, distant=True)
    if direct:
        others = [one for one in named if one is not known[0]]
        above = Above(known[0], others, replica, below)
        try:
            upstream = above.look(collector.memory.of(found.where))
            collector.sources[channel.name] = found._replace(upstream=upstream)
        except ProbeError as error:
            above.asked.update(others)  # which may be its sources
            above.asides.append(_not_asked(error, f"the replication of {found.where} was not seen"))
        collector.asides += above.asides
        asked |= above.asked


def _log_in(sources: Sequence[Opened], until: ExitStack, asides: list[Finding]) -> list[Named]:
    """Log in to the named servers; ``asides`` gets what fails."""
    named = []
    for opened in sources:
        try:
            server = until.enter_context(opened())
            named.append(Named(server, identity(server)))
        except ProbeError as error:
            asides.append(_not_asked(error))
    return named


def _not_asked(error: ProbeError, what: str = "the source was not asked") -> Finding:
    """Report that it is the source that fails, or its name, not the replica.

    A missing answer where there is little time left does not hide the lag, which is known.
    """
    what = in_all_forms(error.what, lambda why: f"{what}: {why}")
    if isinstance(error, NoAnswerError):
        return Fault(State.OK, what, "", error.advice)
    error.what = what
    return error


class Above:
    """The replication of a channel's source: what it is like, and who was asked and denied for that.

    ``below`` are the servers that get their data from there: in a ring the first one's source replicates
    from the last one, whose lag is none of the first. Raises MysqlError.
    """

    def __init__(
        self, source: Named, others: Sequence[Named], replica: Server, below: Sequence[Identity]
    ) -> None:
        self.asides: list[Finding] = []
        self.asked: set[Named] = set()
        self._server = source.server
        self._others = others
        self._replica = replica
        self._below = below

    def look(self, memory: dict[str, Any]) -> Upstream | None:
        """Judge the source as a replica: its worst channel. None: it is none, or unknown."""
        server = self._server
        appliers = queries.appliers(server, PATIENCE) if server.flavour.mariadb else None
        if appliers and appliers.lack_space:  # each question for the status would hang there for good
            what = f"replication of {server.where} waits for disk space"
            self.asides.append(Fault(State.CRITICAL, what, advice=queries.FREE_SPACE))
            self.asked.update(self._others)
            return None
        try:
            existing = queries.channels(server)
        except DeniedError as error:
            what = f"whether {server.where} is itself a replica cannot be seen"
            self.asides.append(Fault(State.OK, what, f"needs {error.grant}" if error.grant else error.what))
            self.asked.update(self._others)  # which may be its sources
            return None
        below = (*self._below, identity(self._replica)) if existing else ()
        own = [one for one in existing if not (is_resting(one) or _is_from(below, one))]
        if not own:
            return None
        facts = queries.facts(server)
        kept = history.Memory(memory, facts, shared.steady_now(memory))
        collector = Collector(server, facts, existing, own, kept, appliers)
        self.asked = _ask_named(collector, self._others, below)
        self.asides += [*kept.problems, *collector.asides, *collector.denied]
        judged = [diagnose(one, kept.channel(one.channel)) for one in collector.snapshots()]
        for one in judged:
            kept.channel(one.channel).keep(one.snapshot, one.lag)
        worst = max(judged, key=lambda one: one.gravity)
        return Upstream(server.where, server.flavour, worst.snapshot, worst.lag)


def _is_from(servers: Sequence[Identity], channel: Channel) -> bool:
    return any(one.is_source_of(channel) for one in servers)
