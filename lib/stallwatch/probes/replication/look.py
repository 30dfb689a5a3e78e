"""One look at the replication of a server: every channel's lag, direction and cause."""

from __future__ import annotations

import time
from typing import NamedTuple

from stallwatch.probes.replication import gathering, history, lag, status, telling, threads, trend
from stallwatch.reading import Fault, ProbeError, State

TYPE_CHECKING = False
if TYPE_CHECKING:
    import re
    from collections.abc import Callable, Iterator, Sequence
    from typing import Any

    from stallwatch.deadline import Deadline
    from stallwatch.probes.replication.causes import Cause, Signals
    from stallwatch.probes.replication.channel import Channel
    from stallwatch.probes.replication.evidence import Evidence
    from stallwatch.probes.replication.gathering import Opened
    from stallwatch.probes.replication.heartbeat_table import HeartbeatTable
    from stallwatch.probes.replication.history import History
    from stallwatch.probes.replication.lag import Lag
    from stallwatch.probes.replication.trend import Trend
    from stallwatch.reading import Finding
    from stallwatch.sources.mysql.server import Server
    from stallwatch.table import Table
    from stallwatch.units import Range

    Limits = dict[str, Range | None]  # "warning" and "critical"

WORTH_EXPLAINING = 5.0  # seconds of lag
_KEPT_FOR_ANSWERS = 2.0  # seconds


class Asked(NamedTuple):
    """What the user asked for, and how to go about it."""

    deadline: Deadline
    trace: Callable[[str], None]  # is told what is asked of the server
    channels: Sequence[re.Pattern[str]] = ()  # only those whose whole name fits one; none: all
    ignored: Sequence[re.Pattern[str]] = ()  # not those
    not_replica: State = State.UNKNOWN
    grace: threads.Grace = threads.Grace(connecting=120.0, backup=7200.0)
    horizon: float = 0.0  # seconds: a breach that is so near is a WARNING
    heartbeat: HeartbeatTable | None = None
    sources: Sequence[Opened] = ()
    reference: Opened | None = None  # a healthy replica to compare with
    everything: bool = False  # look for causes also where nothing is wrong

    def wants(self, channel: Channel) -> bool:
        """Whether this channel is to be judged."""
        named = not self.channels or any(one.fullmatch(channel.name) for one in self.channels)
        return named and not any(one.fullmatch(channel.name) for one in self.ignored)

    def pause(self, seconds: float) -> bool:
        """Wait so long, or tell that there is no time for it."""
        if self.deadline.left() < _KEPT_FOR_ANSWERS + seconds:
            return False
        self.deadline.doing = "looking several times at what the applier does"
        time.sleep(seconds)
        return True


class Judged(NamedTuple):
    """One channel after the look."""

    evidence: Evidence
    lag: Lag
    trend: Trend | None
    standing: threads.Standing
    causes: Sequence[Cause] = ()
    backup: bool = False  # a running one explains why the applier is stopped

    @property
    def channel(self) -> Channel:
        """What its server says of it."""
        return self.evidence.channel

    @property
    def runs(self) -> bool:
        """Whether both threads do their work."""
        return self.channel.receiver.runs and self.channel.applier.runs

    @property
    def is_worth_explaining(self) -> bool:
        """Whether there is anything to find a cause for."""
        behind = self.lag.seconds is None or max(self.lag.seconds, self.lag.low) >= WORTH_EXPLAINING
        return behind or self.lag.silent or not self.runs

    @property
    def gravity(self) -> tuple[bool, bool, float]:
        """Rank among channels: what is down before what is silent before what lags."""
        return not self.runs, self.lag.silent, self.lag.seconds or self.lag.low


def findings(
    server: Server, asked: Asked, memory: dict[str, Any], thresholds: dict[str, Limits]
) -> Iterator[Finding]:
    """Judge every channel, the worst first. Raises MysqlError where the status itself cannot be had."""
    facts = status.facts(server)
    existing = status.channels(server)
    channels = [one for one in existing if asked.wants(one)]
    if not channels:
        yield _nothing_to_judge(server, asked, existing)
        return
    remembered = history.Memory(memory, facts, time.time())
    remembered.keep_only([one.name for one in existing])
    gathered = gathering.gather(server, facts, channels, remembered, asked.heartbeat, asked.sources)
    all_judged = [_judged(one, remembered.channel(one.channel)) for one in gathered.evidences]
    all_judged.sort(key=lambda judged: judged.gravity, reverse=True)
    explain = asked.everything or any(judged.is_worth_explaining for judged in all_judged)
    signals = _signals(server, gathered.evidences, asked) if explain else None
    if signals:
        all_judged = [_explained(judged, signals, asked) for judged in all_judged]
    for number, judged in enumerate(all_judged):
        table = None if number else telling.table(all_judged)
        yield from _of_channel(judged, asked, thresholds["lag"], table)
    yield from gathered.asides
    if signals:
        yield from _of_server(server, signals, asked)


def _signals(server: Server, evidences: Sequence[Evidence], asked: Asked) -> Signals:
    from stallwatch.probes.replication import causes

    return causes.gather(server, evidences, asked.pause, asked.trace)


def _of_server(server: Server, signals: Signals, asked: Asked) -> Iterator[Finding]:
    """Give what was seen of the server as a whole; last of all what may take long."""
    from stallwatch.probes.replication.causes import findings, innodb_status

    yield from findings(signals)
    if signals.missing:
        yield Fault(State.OK, f"some causes cannot be seen: {', '.join(signals.missing)}")
    if asked.reference:
        yield _compared(asked.reference, signals, asked)
    with server.again() as another:
        yield from innodb_status.look(another, signals, asked.deadline.left())


def _compared(reference: Opened, signals: Signals, asked: Asked) -> Finding:
    """Say what differs from a healthy replica, asked in the same way."""
    from stallwatch.probes.replication.causes.reference import differences

    try:
        with reference() as server:
            facts, channels = status.facts(server), status.channels(server)
            gathered = gathering.gather(server, facts, channels, history.Memory({}, facts, time.time()))
            found = differences(signals, _signals(server, gathered.evidences, asked))
    except ProbeError as error:
        return error
    return Fault(
        State.OK, f"compared with {server.where}: {', '.join(found) or 'nothing differs by three times'}"
    )


def _nothing_to_judge(server: Server, asked: Asked, existing: Sequence[Channel]) -> Fault:
    if not existing:
        what = f"{server.where} ({server.flavour.text}) is not a replica: it has no replication channel"
        return Fault(asked.not_replica, what)
    names = ", ".join(f'"{one.name}"' for one in existing)
    what = f"{server.where} has no channel that --channel and --ignore-channel leave to judge"
    return Fault(State.UNKNOWN, what, f"its channels are {names}")


def _judged(evidence: Evidence, kept: History) -> Judged:
    """Judge one channel, and keep what the next look is to know."""
    channel = evidence.channel
    found = lag.judge(evidence)
    standing = threads.Standing(
        connecting=kept.since("connecting", holds=threads.is_connecting(channel)),
        stopped=kept.since("stopped", holds=threads.is_stopped(channel)),
    )
    kept.keep(evidence, found)
    return Judged(evidence, found, trend.trend(kept.samples), standing)


def _explained(judged: Judged, signals: Signals, asked: Asked) -> Judged:
    if not (asked.everything or judged.is_worth_explaining):
        return judged
    from stallwatch.probes.replication import causes

    case = causes.Case(judged.evidence, judged.lag, judged.trend, signals)
    backup = any(one.stops_applier for one in signals.backups)
    return judged._replace(causes=causes.explain(case), backup=backup)


def _of_channel(judged: Judged, asked: Asked, limits: Limits, table: Table | None) -> Iterator[Finding]:
    """Say what is wrong with a channel, then how far it is behind, then its other numbers."""
    fault = _fault(judged, asked, limits)
    if fault:
        yield fault
    if judged.lag.seconds is not None or not fault:
        yield telling.lag(judged, limits, with_causes=not fault, table=table)
    yield from telling.numbers(judged)


def _fault(judged: Judged, asked: Asked, limits: Limits) -> Fault | None:
    state = threads.state(judged.channel, judged.standing, asked.grace, backup=judged.backup)
    if state is not State.OK:
        return telling.down(judged, state)
    if judged.lag.silent:
        return telling.silent(judged)
    if asked.horizon and (words := trend.breach(judged.trend, judged.lag, limits, asked.horizon)):
        return telling.breach(judged, words)
    return None
