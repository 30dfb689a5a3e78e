"""Everything that one look asks about the lag: of the replica, of its sources, of our memory."""

from __future__ import annotations

from typing import NamedTuple

from stallwatch.probes.replication import gtid, status
from stallwatch.probes.replication.evidence import Evidence
from stallwatch.reading import Fault, ProbeError, State
from stallwatch.sources.mysql import DeniedError, NoAnswerError, UnreachableError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from contextlib import AbstractContextManager

    from stallwatch.probes.replication.channel import Channel
    from stallwatch.probes.replication.commits import Commits
    from stallwatch.probes.replication.evidence import Heartbeat, Source
    from stallwatch.probes.replication.heartbeat_table import HeartbeatTable
    from stallwatch.probes.replication.history import Memory
    from stallwatch.probes.replication.status import Appliers, Facts
    from stallwatch.reading import Finding
    from stallwatch.sources.mysql.server import Server

    Opened = Callable[[], AbstractContextManager[Server]]

_IDLE = "has read all relay log"  # the state of an applier, in every version
_SAME = 1.0  # s: the process list has whole seconds


class Gathered(NamedTuple):
    """What there is to judge by, and what could not be asked."""

    evidences: Sequence[Evidence]
    asides: Sequence[Finding]


def gather(
    server: Server,
    facts: Facts,
    channels: Sequence[Channel],
    memory: Memory,
    table: HeartbeatTable | None = None,
    sources: Sequence[Opened] = (),
) -> Gathered:
    """Ask what is known about the lag of these channels; what is denied costs accuracy, not the lag."""
    asking = _Asking(server, channels)
    commits = asking.commits()
    appliers = asking.appliers(commits)
    heartbeats = asking.heartbeats(table)
    of_sources = asking.sources(sources, table, heartbeats)
    evidences = [
        Evidence(
            channel=channel,
            now=facts.now,
            net_timeout=facts.net_timeout,
            commits=commits.get(channel.name),
            heartbeat=heartbeats.get(channel.name),
            source=of_sources.get(channel.name),
            idle=_idle(channel, appliers),
            sees_processes=appliers.visible,
            backlog=gtid.backlog(channel),
            before=memory.channel(channel).before,
        )
        for channel in channels
    ]
    return Gathered(evidences, asking.asides)


def _idle(channel: Channel, appliers: Appliers) -> float | None:
    """Tell for how long this channel's applier has had nothing to do.

    The process list does not say whose thread is whose, so where several are idle they have to agree.
    """
    idle = appliers.idle if _IDLE in channel.applier.state else ()
    return min(idle) if idle and max(idle) - min(idle) <= _SAME else None


class _Asking:
    """Asks, and notes what it could not learn."""

    def __init__(self, server: Server, channels: Sequence[Channel]) -> None:
        self.server = server
        self.channels = channels
        self.asides: list[Finding] = []

    def commits(self) -> dict[str, Commits]:
        """Ask for the moments of transactions."""
        try:
            return status.commits(self.server)
        except DeniedError as denied:
            self._aside("without commit times the lag is what Seconds_Behind makes of it", denied)
            return {}

    def appliers(self, commits: dict[str, Commits]) -> Appliers:
        """Ask which appliers are idle, where the moments of transactions do not tell."""
        if any(one.queued_at for one in commits.values()):
            return status.Appliers(visible=False)
        return status.appliers(self.server)

    def heartbeats(self, table: HeartbeatTable | None) -> dict[str, Heartbeat]:
        """Read the heartbeat table, if there is one."""
        found: dict[str, Heartbeat] = {}
        if table is None:
            return found
        for channel in self.channels:
            try:
                found[channel.name] = table.read(self.server, channel)
            except (UnreachableError, NoAnswerError):
                raise
            except ProbeError as error:
                self.asides.append(error)
        return found

    def sources(
        self, sources: Sequence[Opened], table: HeartbeatTable | None, heartbeats: dict[str, Heartbeat]
    ) -> dict[str, Source]:
        """Ask the sources themselves, also how old their own heartbeat is; each tells whose source it is."""
        found: dict[str, Source] = {}
        for opened in sources:
            try:
                with opened() as source:
                    of_channels = self._of_source(source)
                    found |= of_channels
                    if table:
                        self._own_heartbeats(source, table, heartbeats, of_channels)
            except ProbeError as error:
                self.asides.append(error)
        return found

    @staticmethod
    def _own_heartbeats(
        source: Server, table: HeartbeatTable, heartbeats: dict[str, Heartbeat], names: Iterable[str]
    ) -> None:
        for name in names:
            if beat := heartbeats.get(name):
                heartbeats[name] = beat._replace(source_age=table.source_age(source, beat))

    def _of_source(self, source: Server) -> dict[str, Source]:
        from stallwatch.probes.replication.source import ask, identity

        who = identity(source)
        own = [one for one in self.channels if who.is_source_of(one)]
        if not own:
            raise ProbeError(f"{source.where} is server {who.server_id}, from which no channel replicates")
        return {one.name: ask(source, self.server, one, self.channels) for one in own}

    def _aside(self, what: str, denied: DeniedError) -> None:
        self.asides.append(Fault(State.OK, f"{what}: {denied.what}", advice=denied.advice))
