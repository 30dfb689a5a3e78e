"""One look at the replication of a server: every channel's lag, direction and cause."""

from __future__ import annotations

import time

from stallwatch.findings import Fault, ProbeError, State
from stallwatch.probes import steady
from stallwatch.probes.replication import history, lag, status, telling, threads, trend
from stallwatch.probes.replication.gathering import Gathering
from stallwatch.probes.replication.judged import Judged
from stallwatch.sources.mysql import MysqlError, NoAnswerError
from stallwatch.startup import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    import re
    from collections.abc import Callable, Iterable, Iterator, Sequence
    from typing import Any

    from stallwatch.findings import Finding
    from stallwatch.frame.deadline import Deadline
    from stallwatch.probes.replication.causes import Signals
    from stallwatch.probes.replication.channel import Channel
    from stallwatch.probes.replication.evidence import Evidence
    from stallwatch.probes.replication.gathering import Opened
    from stallwatch.probes.replication.heartbeat_table import HeartbeatTable
    from stallwatch.sources.mysql.server import Server
    from stallwatch.thresholds import Range

    Limits = dict[str, Range | None]  # "warning" and "critical"

_KEPT_FOR_ANSWERS = 2.0  # seconds


class Asked(NamedTuple):
    """What the user asked for, and how to go about it."""

    deadline: Deadline
    trace: Callable[[str], None]  # is told what is asked of the server
    so_far: Callable[[Iterable[Finding]], None]  # is told what is known already
    limits: Limits  # of the lag
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


class Judgement(NamedTuple):
    """What is known without looking for causes: the channels, the worst first, and what else to say."""

    channels: Sequence[Judged]
    asides: Sequence[Finding] = ()
    denied: Sequence[Finding] = ()  # which the search for causes tells, too


def judge(server: Server, asked: Asked, memory: dict[str, Any]) -> Judgement:
    """Judge every channel. Raises MysqlError where the status itself cannot be had."""
    facts = status.facts(server)
    appliers = status.appliers(server, status.PATIENCE) if server.flavour.mariadb else None
    if appliers and appliers.lack_space:  # each question for the status would hang there for good
        return Judgement((), [_no_space(server, "it was not asked for: each question would hang with it")])
    try:
        existing = status.channels(server)
    except NoAnswerError as error:
        return Judgement((), [_why_no_answer(server, error)])
    channels = [one for one in existing if asked.wants(one) and not threads.is_resting(one)]
    if not channels:
        return Judgement((), [_nothing_to_judge(server, asked, existing)])
    remembered = history.Memory(memory, facts, steady.now(memory))
    remembered.keep_only([one.name for one in existing])
    others = [one for one in existing if one not in channels]
    gathering = Gathering(server, facts, channels, remembered, others, appliers)
    if asked.heartbeat or asked.sources:  # which may take long
        asked.so_far(_told([_judged(one, remembered) for one in gathering.evidences()], asked))
    if asked.heartbeat:
        gathering.ask_heartbeats(asked.heartbeat)
    gathering.ask_sources(asked.sources, asked.heartbeat)
    judged = [_remembered(_judged(one, remembered), remembered) for one in gathering.evidences()]
    judged.sort(key=lambda one: one.gravity, reverse=True)
    asked.so_far(_told(judged, asked))
    return Judgement(judged, [*remembered.problems, *gathering.asides], gathering.denied)


def findings(server: Server, judgement: Judgement, asked: Asked) -> Iterator[Finding]:
    """Tell what was judged, with its causes where there is something to explain."""
    judged = judgement.channels
    signals = None
    if judged and (asked.everything or any(one.is_worth_explaining for one in judged)):
        signals = _signals(server, [one.evidence for one in judged], asked)
        judged = [_explained(one, signals, asked) for one in judged]
    yield from _told(judged, asked)
    yield from judgement.asides
    if signals is None or not signals.missing:
        yield from judgement.denied
    if signals:
        yield from _of_server(server, signals, asked)


def _why_no_answer(server: Server, error: NoAnswerError) -> Fault:
    """Tell why the status hangs, if another connection sees it; else raise the error."""
    try:
        with server.again() as another:
            full = status.appliers(another, status.PATIENCE).lack_space
    except MysqlError:
        full = False
    if not full:
        raise error
    return _no_space(server, error.what)


def _no_space(server: Server, why: str) -> Fault:
    what = f"replication waits for disk space on {server.where}, and the replication status with it"
    return Fault(State.CRITICAL, what, why, "free space where its relay logs are (relay_log, datadir)")


def _nothing_to_judge(server: Server, asked: Asked, existing: Sequence[Channel]) -> Fault:
    if not existing:
        what = f"{server.where} ({server.flavour.text}) is not a replica: it has no replication channel"
        return Fault(asked.not_replica, what)
    names = ", ".join(f'"{one.name}"' for one in existing)
    what = f"{server.where} has no channel that --channel and --ignore-channel leave to judge"
    return Fault(State.UNKNOWN, what, f"its channels are {names}")


def _judged(evidence: Evidence, memory: history.Memory) -> Judged:
    kept, channel = memory.channel(evidence.channel), evidence.channel
    standing = threads.Standing(
        connecting=kept.since("connecting", holds=threads.is_connecting(channel)),
        stopped=kept.since("stopped", holds=threads.is_stopped(channel)),
    )
    return Judged(evidence, lag.judge(evidence), standing)


def _remembered(judged: Judged, memory: history.Memory) -> Judged:
    """Keep what the next look is to know, and see where the lag goes."""
    kept = memory.channel(judged.channel)
    kept.keep(judged.evidence, judged.lag)
    moving = judged.runs and not judged.lag.silent  # else the lag goes where time goes
    return judged._replace(trend=trend.trend(kept.samples) if moving else None)


def _told(all_judged: Sequence[Judged], asked: Asked) -> Iterator[Finding]:
    """Say of each channel what is wrong, then how far it is behind, then its other numbers."""
    labels = telling.labels(all_judged)
    for number, judged in enumerate(all_judged):
        fault = _fault(judged, asked)
        if fault:
            yield fault
        label = labels[judged.channel.name]
        if judged.lag.seconds is not None or not fault:
            table = None if number else telling.table(all_judged)
            yield telling.lag(judged, asked.limits, label, with_causes=not fault, table=table)
        yield from telling.numbers(judged, label, few=len(all_judged) <= telling.MOST)


def _fault(judged: Judged, asked: Asked) -> Fault | None:
    state = threads.state(judged.channel, judged.standing, asked.grace, backup=judged.backup)
    if state is not State.OK:
        return telling.down(judged, state)
    if judged.lag.silent:
        return telling.silent(judged)
    if asked.horizon and (words := trend.breach(judged.trend, judged.lag, asked.limits, asked.horizon)):
        return telling.breach(judged, words)
    return None


def _signals(server: Server, evidences: Sequence[Evidence], asked: Asked) -> Signals:
    from stallwatch.probes.replication import causes

    return causes.gather(server, evidences, asked.pause, asked.trace)


def _explained(judged: Judged, signals: Signals, asked: Asked) -> Judged:
    if not (asked.everything or judged.is_worth_explaining):
        return judged
    from stallwatch.probes.replication import causes

    stopped = judged.standing.stopped
    case = causes.Case(judged.evidence, judged.lag, judged.trend, signals, stopped)
    ages = [one.seconds for one in signals.backups if one.explains_stop(stopped) and one.seconds is not None]
    return judged._replace(causes=causes.explain(case), backup=max(ages, default=None))


def _of_server(server: Server, signals: Signals, asked: Asked) -> Iterator[Finding]:
    """Give what was seen of the server as a whole; last of all what may take long."""
    from stallwatch.probes.innodb import redo, status
    from stallwatch.probes.replication.causes import findings as of_signals

    yield from of_signals(signals)
    if signals.missing:
        yield Fault(State.OK, f"some causes cannot be seen: {', '.join(signals.missing)}")
    if asked.reference:
        yield _compared(asked.reference, signals, asked)
    try:
        with server.again() as another:
            answer = status.look(another, asked.deadline.left())
    except MysqlError as error:  # an account may have one connection only
        fault = Fault(State.OK, f"SHOW ENGINE INNODB STATUS was not asked: {error.what}")
        yield error if error.always_unknown else fault
        return
    if answer.reading:
        yield answer.reading
    if not signals.redo and (told := status.redo_in(answer.text, signals.settings)):
        yield redo.redo_log(told)  # MySQL 5.7 to 8.0.29


def _compared(reference: Opened, signals: Signals, asked: Asked) -> Finding:
    """Say what differs from a healthy replica, asked in the same way."""
    from stallwatch.probes.replication.causes.reference import can_compare, differences

    try:
        with reference() as server:
            facts, channels = status.facts(server), status.channels(server)
            gathering = Gathering(server, facts, channels, history.Memory({}, facts, 0.0))
            theirs = _signals(server, gathering.evidences(), asked)
    except ProbeError as error:  # that is no trouble of this replica
        fault = Fault(State.OK, f"not compared with the reference: {error.what}")
        return error if error.always_unknown else fault
    alike = "nothing differs by three times" if can_compare(signals, theirs) else "nothing could be compared"
    differs = ", ".join(differences(signals, theirs)) or alike
    return Fault(State.OK, f"compared with {server.where}: {differs}")
