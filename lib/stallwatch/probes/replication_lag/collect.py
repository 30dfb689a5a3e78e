"""Everything that one look asks about the lag: of the replica, of its sources, of our memory."""

from __future__ import annotations

from functools import partial

from stallwatch.findings import Fault, ProbeError, State
from stallwatch.line import in_all_forms
from stallwatch.probes.replication_lag import gtid, queries
from stallwatch.probes.replication_lag.lag.clocks import ENOUGH
from stallwatch.probes.replication_lag.model import ChannelSnapshot
from stallwatch.sources.mysql import DeniedError, MysqlError, UnreachableError
from stallwatch.startup import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import TypeVar

    from stallwatch.findings import Finding
    from stallwatch.probes.replication_lag.heartbeat_table import HeartbeatTable
    from stallwatch.probes.replication_lag.history import Memory
    from stallwatch.probes.replication_lag.model import Channel, Commits, Heartbeat, Source, Stream
    from stallwatch.probes.replication_lag.queries import Appliers, Facts
    from stallwatch.sources.mysql.server import Server

    Answer = TypeVar("Answer")

PATIENCE = 1.5  # s for a table that may be locked; the server stops waiting for the lock after 1 s
_AGAIN, _STEP = 60, 0.05  # further looks at most, seconds between them: 300 ms of a commit in 5 s are met
_SAME = 1.0  # s: the process list has whole seconds
_NO_COMMIT_TIMES = "without commit times the lag is what Seconds_Behind makes of it"
_NOT_AGAIN = "clocks that differ may look like lag"
_NO_STREAM = "how late transactions come was not seen"
_NO_PROCESSES = "without the process list a dead link may not show"


class Collector:
    """What is known about the lag of some channels. What is denied costs accuracy, not the lag.

    ``asides`` has what could not be asked, ``denied`` for want of a privilege.
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
        self.lost = False  # the replica has not answered in time: its connection is of no more use
        self.server = server
        self._facts = facts
        self.channels = channels
        self.existing = existing
        self.memory = memory
        self._commits: dict[str, Commits] = self._optional(queries.commits, {}, _NO_COMMIT_TIMES)
        self._appliers = appliers or self._look_at_appliers()
        self.heartbeats: dict[str, Heartbeat] = {}
        self.sources: dict[str, Source] = {}
        self._again: dict[str, tuple[float, ...]] = {}  # Seconds_Behind of further looks
        self._streams: dict[str, Stream] = {}

    def snapshots(self) -> list[ChannelSnapshot]:
        """Give what is known of each channel."""
        return [self._snapshot(channel) for channel in self.channels]

    def _snapshot(self, channel: Channel) -> ChannelSnapshot:
        return ChannelSnapshot(
            channel=channel,
            now=self._facts.now,
            net_timeout=self._facts.net_timeout,
            commits=self._commits.get(channel.name),
            heartbeat=self.heartbeats.get(channel.name),
            source=self.sources.get(channel.name),
            idle=self._idle(channel),
            sees_processes=self._appliers.visible,
            backlog=gtid.backlog(channel, self.existing, self._facts.server_id),
            before=self.memory.channel(channel).before,
            looked_again=self._again.get(channel.name),
            stream=self._streams.get(channel.name),
        )

    def _optional(self, ask: Callable[[Server], Answer], otherwise: Answer, without: str) -> Answer:
        """Ask for what the lag can do without."""
        if self.lost:
            return otherwise
        try:
            return ask(self.server)
        except MysqlError as error:
            if isinstance(error, UnreachableError):
                raise
            self.lost = error.ends_connection
            asides = self.denied if isinstance(error, DeniedError) else self.asides
            asides.append(Fault(State.OK, without, _why(error), error.advice))
            return otherwise

    def _look_at_appliers(self) -> Appliers:
        """Ask which appliers are idle, unless the times of all channels' transactions show it."""
        told = [one.name in self._commits and self._commits[one.name].queued_at for one in self.channels]
        nothing = queries.Appliers(visible=False)
        return nothing if all(told) else self._optional(queries.appliers, nothing, _NO_PROCESSES)

    def _idle(self, channel: Channel) -> float | None:
        """Return for how long this channel's applier has had nothing to do.

        The process list does not show whose thread is whose: as many have to be idle as in the status,
        and they have to agree.
        """
        expected = sum(one.applier.has_read_all for one in self.existing)
        idle = self._appliers.idle
        if not channel.applier.has_read_all or len(idle) != expected:
            return None
        return min(idle) if max(idle) - min(idle) <= _SAME else None

    def look_again(self, names: Sequence[str], pause: Callable[[float], bool]) -> None:
        """See what Seconds_Behind of these channels is while something received is not applied.

        ``pause`` waits this long and returns whether there was time for it.
        """
        self._again = dict.fromkeys(names, ())
        none: list[Channel] = []
        for _ in range(_AGAIN):
            seen = self._optional(queries.channels, none, _NOT_AGAIN) if pause(_STEP) else none
            if not seen:
                return
            for one in seen:
                if one.name in self._again and one.received != one.applied and one.seconds_behind is not None:
                    self._again[one.name] += (one.seconds_behind,)
            if all(len(told) >= ENOUGH for told in self._again.values()):
                return

    def ask_heartbeats(self, table: HeartbeatTable) -> None:
        """Read the heartbeat of each channel."""
        for channel in () if self.lost else self.channels:
            try:
                self.heartbeats[channel.name] = table.read(self.server, channel, PATIENCE)
            except ProbeError as error:
                if isinstance(error, UnreachableError):
                    raise
                if error.ends_connection:
                    self.lost = True
                    self.asides.append(Fault(State.OK, f"no heartbeat was read: {error.what}"))
                    return
                several = f"{channel.subject}: " if len(self.channels) > 1 else ""
                self.asides.append(ProbeError(in_all_forms(error.what, several.__add__), error.advice))

    def watch_streams(self) -> None:
        """See how late transactions come that seem to come without a pause, if nothing else shows it."""
        if not self.server.flavour.mariadb:
            return
        from stallwatch.probes.replication_lag import stream

        for one in filter(stream.is_worth_it, self.snapshots()):
            found = self._optional(partial(stream.watch, one=one), None, _NO_STREAM)
            if found:
                self._streams[one.channel.name] = found


def _why(error: MysqlError) -> str:
    """Return what went wrong; of a privilege that is missing, that alone."""
    return f"needs {error.grant}" if isinstance(error, DeniedError) and error.grant else error.what
