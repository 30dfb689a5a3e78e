"""Everything that one look asks about the lag: of the replica, of its sources, of our memory."""

from __future__ import annotations

from stallwatch.findings import Fault, ProbeError, State
from stallwatch.probes.replication_lag import gtid, queries
from stallwatch.probes.replication_lag.model import ChannelSnapshot
from stallwatch.sources.mysql import DeniedError, MysqlError, NoAnswerError, UnreachableError
from stallwatch.startup import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from contextlib import AbstractContextManager
    from typing import TypeVar

    from stallwatch.findings import Finding
    from stallwatch.probes.replication_lag.heartbeat_table import HeartbeatTable
    from stallwatch.probes.replication_lag.history import Memory
    from stallwatch.probes.replication_lag.model import Channel, Commits, Heartbeat, Source
    from stallwatch.probes.replication_lag.queries import Appliers, Facts
    from stallwatch.probes.replication_lag.source import Identity
    from stallwatch.probes.replication_lag.upstream import Named
    from stallwatch.sources.mysql.server import Server

    Opened = Callable[[], AbstractContextManager[Server]]
    Answer = TypeVar("Answer")

_PATIENCE = 1.5  # s for a table that may be locked; the server gives up waiting for the lock after 1 s
_SAME = 1.0  # s: the process list has whole seconds
_NO_COMMIT_TIMES = "without commit times the lag is what Seconds_Behind makes of it"
_NO_PROCESSES = "without the process list a dead link may not show"


class Collector:
    """What is known about the lag of some channels. What is denied costs accuracy, not the lag.

    ``asides`` tells what could not be asked, ``denied`` for want of a privilege.
    Raises MysqlError where the server closes the connection; one that no longer answers in time is asked
    nothing more.
    """

    def __init__(
        self,
        server: Server,
        facts: Facts,
        existing: Sequence[Channel],
        channels: Sequence[Channel],  # those of them to be judged
        memory: Memory,
        appliers: Appliers | None = None,  # None: they were not looked at yet
    ) -> None:
        self.asides: list[Finding] = []
        self.denied: list[Finding] = []
        self._lost = False  # the replica has not answered in time: its connection is of no more use
        self._server = server
        self._facts = facts
        self._channels = channels
        self._all = existing
        self._memory = memory
        self._commits: dict[str, Commits] = self._optional(queries.commits, {}, _NO_COMMIT_TIMES)
        self._appliers = appliers or self._look_at_appliers()
        self._heartbeats: dict[str, Heartbeat] = {}
        self._sources: dict[str, Source] = {}

    def snapshots(self) -> list[ChannelSnapshot]:
        """Give what is known of each channel."""
        return [self._snapshot(channel) for channel in self._channels]

    def _snapshot(self, channel: Channel) -> ChannelSnapshot:
        return ChannelSnapshot(
            channel=channel,
            now=self._facts.now,
            net_timeout=self._facts.net_timeout,
            commits=self._commits.get(channel.name),
            heartbeat=self._heartbeats.get(channel.name),
            source=self._sources.get(channel.name),
            idle=self._idle(channel),
            sees_processes=self._appliers.visible,
            backlog=gtid.backlog(channel, self._all, self._facts.server_id),
            before=self._memory.channel(channel).before,
        )

    def _optional(self, ask: Callable[[Server], Answer], otherwise: Answer, without: str) -> Answer:
        """Ask for what the lag can do without."""
        if self._lost:
            return otherwise
        try:
            return ask(self._server)
        except MysqlError as error:
            if isinstance(error, UnreachableError):
                raise
            self._lost = _is_late(error)
            asides = self.denied if isinstance(error, DeniedError) else self.asides
            asides.append(Fault(State.OK, without, _why(error), error.advice))
            return otherwise

    def _look_at_appliers(self) -> Appliers:
        """Ask which appliers are idle, unless the moments of all channels' transactions tell."""
        told = [one.name in self._commits and self._commits[one.name].queued_at for one in self._channels]
        nothing = queries.Appliers(visible=False)
        return nothing if all(told) else self._optional(queries.appliers, nothing, _NO_PROCESSES)

    def _idle(self, channel: Channel) -> float | None:
        """Tell for how long this channel's applier has had nothing to do.

        The process list does not say whose thread is whose: as many have to be idle as the status says,
        and they have to agree.
        """
        expected = sum(one.applier.has_read_all for one in self._all)
        idle = self._appliers.idle
        if not channel.applier.has_read_all or len(idle) != expected:
            return None
        return min(idle) if max(idle) - min(idle) <= _SAME else None

    def ask_heartbeats(self, table: HeartbeatTable) -> None:
        """Read the heartbeat of each channel."""
        for channel in () if self._lost else self._channels:
            try:
                self._heartbeats[channel.name] = table.read(self._server, channel, _PATIENCE)
            except ProbeError as error:
                if isinstance(error, UnreachableError):
                    raise
                if _is_late(error):
                    self._lost = True
                    self.asides.append(Fault(State.OK, f"no heartbeat was read: {error.what}"))
                    return
                several = f"{channel.subject}: " if len(self._channels) > 1 else ""
                self.asides.append(ProbeError(several + error.what, error.advice))

    def ask_sources(self, sources: Sequence[Opened], table: HeartbeatTable | None) -> None:
        """Ask the servers that --source names; each tells whose source it is."""
        if self._lost or not sources:
            return
        from contextlib import ExitStack

        from stallwatch.probes.replication_lag.upstream import log_in

        with ExitStack() as until:
            named = log_in(sources, until, self.asides)
            asked = self.ask_named(named)
            if table:
                self._ask_writers(named, table)
            for server, who in (one for one in named if one not in asked):
                what = f"{server.where} is server {who.server_id}, from which no channel replicates"
                self.asides.append(ProbeError(what))

    def _ask_writers(self, named: Sequence[Named], table: HeartbeatTable) -> None:
        """Ask who writes a heartbeat's row how old that is there: whether it is still written."""
        for server, who in named:
            for name, beat in self._heartbeats.items():
                if beat.server_id == who.server_id:
                    try:
                        age = table.source_age(server, beat, _PATIENCE)
                        self._heartbeats[name] = beat._replace(source_age=age)
                    except ProbeError as error:
                        self.asides.append(error)

    def ask_named(self, named: Sequence[Named], below: Sequence[Identity] = ()) -> set[Named]:
        """Ask each channel's source, or who is above that; returns who was asked.

        ``below`` are the servers that replicate from this one.
        """
        from stallwatch.probes.replication_lag.upstream import not_asked

        asked: set[Named] = set()
        for channel in self._channels:
            try:
                self._ask_above(channel, named, below, asked)
            except ProbeError as error:
                self.asides.append(not_asked(error))
        return asked

    def _ask_above(
        self, channel: Channel, named: Sequence[Named], below: Sequence[Identity], asked: set[Named]
    ) -> None:
        """Ask the source of a channel, also about its own replication, or else who is above that."""
        from stallwatch.probes.replication_lag.source import ask, is_above
        from stallwatch.probes.replication_lag.upstream import Above

        direct = [one for one in named if one.who.is_source_of(channel)]
        known = direct or [one for one in named if is_above(one.who, self._server, channel, self._all)]
        asked.update(known)
        if not known:
            return
        found = ask(known[0].server, self._server, channel, self._all)
        self._sources[channel.name] = found if direct else found._replace(errant=None, distant=True)
        if direct:
            others = [one for one in named if one is not known[0]]
            above = Above(known[0], others, self._server, below)
            upstream = above.look(self._memory.of(found.where))
            self._sources[channel.name] = found._replace(upstream=upstream)
            self.asides += above.asides
            asked |= above.asked


def _is_late(error: ProbeError) -> bool:
    """Whether the server has not answered in time: nothing else can be asked on this connection, either."""
    return isinstance(error, NoAnswerError) and not error.number


def _why(error: MysqlError) -> str:
    """Say what went wrong; of a privilege that is missing, that alone."""
    return f"needs {error.grant}" if isinstance(error, DeniedError) and error.grant else error.what
