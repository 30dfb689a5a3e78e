"""One run: ask, judge each channel, search for causes of what is wrong, report all."""

from __future__ import annotations

from stallwatch.findings import Fault, ProbeError, State
from stallwatch.line import Forms
from stallwatch.probes import shared
from stallwatch.probes.replication_lag import (
    filtered,
    history,
    messages,
    own_transactions,
    queries,
    reconnects,
    role,
)
from stallwatch.probes.replication_lag.collect import Collector
from stallwatch.probes.replication_lag.diagnosis import Criteria, diagnose, is_in_doubt, is_resting
from stallwatch.probes.replication_lag.trend import trend
from stallwatch.sources.mysql import MysqlError, NoAnswerError
from stallwatch.startup import TYPE_CHECKING

if TYPE_CHECKING:
    from argparse import Namespace
    from collections.abc import Iterator, Sequence
    from typing import Any

    from stallwatch.findings import Finding
    from stallwatch.frame.run import Run
    from stallwatch.probes.replication_lag.diagnosis import Diagnosis
    from stallwatch.probes.replication_lag.heartbeat_table import HeartbeatTable
    from stallwatch.probes.replication_lag.model import Channel, ChannelSnapshot
    from stallwatch.probes.replication_lag.named_sources import Opened
    from stallwatch.probes.replication_lag.signals import Signals
    from stallwatch.sources.mysql.server import Server

_KEPT_FOR_ANSWERS = 2.0  # seconds


class Probe:
    """One run at one server, by the options of the plugin: ``judge`` its channels, then get ``findings``."""

    def __init__(self, server: Server, options: Namespace, run: Run) -> None:
        self._server = server
        self._options = options
        self._run = run
        self._criteria = Criteria(
            options.connecting_grace, options.backup_grace, options.horizon, run.seconds_until
        )
        self._everything = bool(options.verbose)  # look for causes also where nothing is wrong
        self._channels: list[Diagnosis] = []  # the worst first
        self._asides: list[Finding] = []
        self._usual: float | None = None  # seconds of a log-in
        self._denied: list[Finding] = []  # which the search for causes has, too

    def judge(self, memory: dict[str, Any], sources: Sequence[Opened] = ()) -> None:
        """Judge every channel. Raises MysqlError where the status itself cannot be had."""
        server = self._server
        facts = queries.facts(server)
        appliers = queries.appliers(server, queries.PATIENCE) if server.flavour.mariadb else None
        if appliers and appliers.lack_space:  # each question for the status would hang there for good
            self._asides = [_no_space(server, "it was not asked for: each question would hang with it")]
            return
        try:
            existing = queries.channels(server)
        except NoAnswerError as error:
            self._asides = [_why_no_answer(server, error)]
            return
        channels = [one for one in existing if self._is_wanted(one) and not is_resting(one)]
        fits: list[Finding] = list(role.judge(self._options.role, facts, existing, server.where))
        if not channels:
            memory.pop("own", None)  # what it writes now is no error
            is_meant = self._options.role == role.SOURCE and all(map(is_resting, existing))
            self._asides = fits if is_meant else [*fits, self._nothing_to_judge(existing)]
            return
        remembered = history.Memory(memory, facts, shared.steady_now(memory))
        if server.answers_after is not None and not server.local:
            self._usual = remembered.usual_answer(server.answers_after)
        remembered.keep_only([one.name for one in existing])
        collector = Collector(server, facts, existing, channels, remembered, appliers)
        heartbeat = self._heartbeat()
        if heartbeat or sources:  # which may be slow
            known = [self._judged(one, remembered) for one in collector.snapshots()]
            self._run.so_far(messages.channels(known, self._criteria))
        if heartbeat:
            collector.ask_heartbeats(heartbeat)
        if sources:
            from stallwatch.probes.replication_lag.named_sources import ask_sources

            ask_sources(collector, sources, heartbeat)
        if doubtful := [one.channel.name for one in collector.snapshots() if is_in_doubt(one)]:
            collector.look_again(doubtful, self._pause)
        collector.watch_streams()
        judged = [self._judged(one, remembered, keep=True) for one in collector.snapshots()]
        if not collector.lost:
            judged = [self._watched(one, remembered) for one in judged]
        self._channels = sorted(judged, key=lambda one: one.gravity, reverse=True)
        found = list(messages.channels(self._channels, self._criteria))
        self._run.so_far([*found, *fits, *remembered.problems, *collector.asides])
        own = list(self._own(remembered, facts, existing))
        told = any(self._run.is_problem(one) for one in own)  # these show read_only OFF, too
        self._asides = [*own, *([] if told else fits), *remembered.problems, *collector.asides]
        self._denied = collector.denied
        self._run.so_far([*found, *self._asides, *self._denied], all_but="the search for causes")

    def findings(self, reference: Opened | None = None) -> Iterator[Finding]:
        """Return what was judged, with its causes where there is something to explain.

        ``reference`` opens a healthy replica to compare with.
        """
        signals = None
        if self._channels and (self._everything or any(one.is_worth_explaining for one in self._channels)):
            signals = self._signals(self._server, [one.snapshot for one in self._channels])
            self._channels = [self._explained(one, signals) for one in self._channels]
        yield from messages.channels(self._channels, self._criteria)
        yield from self._asides
        if signals is None or not signals.missing:
            yield from self._denied
        if signals:
            yield from self._of_server(signals, reference)

    def _is_wanted(self, channel: Channel) -> bool:
        """Whether this channel is to be judged: its whole name fits one of those wanted, if any are."""
        wanted, ignored = self._options.channel, self._options.ignore_channel
        fits = not wanted or any(one.fullmatch(channel.name) for one in wanted)
        return fits and not any(one.fullmatch(channel.name) for one in ignored)

    def _nothing_to_judge(self, existing: Sequence[Channel]) -> Fault:
        where = self._server.where
        if not existing:
            what = f"{where} ({self._server.flavour.text}) is not a replica: it has no replication channel"
            advice = "ask a replica, or set --not-replica ok"
            return Fault(State[self._options.not_replica.upper()], what, advice=advice)
        names = ", ".join(f'"{one.name}"' for one in existing)
        what = f"{where} has no channel that --channel and --ignore-channel leave to judge"
        return Fault(State.UNKNOWN, what, f"its channels are {names}")

    def _heartbeat(self) -> HeartbeatTable | None:
        table: HeartbeatTable | None = self._options.heartbeat
        zone = self._options.heartbeat_zone
        utc = None if zone is None else zone == "utc"
        return table and table._replace(server_id=self._options.heartbeat_server_id, utc=utc)

    def _judged(self, snapshot: ChannelSnapshot, memory: history.Memory, *, keep: bool = False) -> Diagnosis:
        """Judge a channel; ``keep`` what the next look is to know, and see where the lag goes."""
        kept = memory.channel(snapshot.channel)
        found = diagnose(snapshot, kept)
        if not keep:
            return found
        kept.keep(snapshot, found.lag)
        moving = found.runs and not found.lag.silent  # else the lag goes where time goes
        return found._replace(trend=trend(kept.samples) if moving else None)

    def _watched(self, one: Diagnosis, memory: history.Memory) -> Diagnosis:
        """See what only several looks show: a receiver that comes and goes, filters that drop all."""
        kept = memory.channel(one.channel)
        found = reconnects.look(kept.of("relay_logs"), one.channel, self._server, memory.now)
        dropped = filtered.dropped_for(kept.of("filtered"), one.channel, self._server, memory.now)
        return one._replace(reconnects=found, dropped=dropped)

    def _own(
        self, memory: history.Memory, facts: queries.Facts, channels: Sequence[Channel]
    ) -> Iterator[Finding]:
        """Return what the sources do not have; if none shows that, what was written here of late.

        The latter is meant on a source.
        """
        found = own_transactions.look(memory.own, facts, channels, memory.now)
        known = list(messages.errant(self._channels, facts))
        yield from known
        if not found or known or self._options.role == role.SOURCE:
            return
        may_be_meant = found.number and self._options.role is None
        go_on = may_be_meant and own_transactions.go_on_to_a_source(
            memory.own, self._server, facts, channels, memory.now
        )
        errant = found._replace(number=0) if go_on else found
        yield own_transactions.finding(errant, facts, channels, doubtful=go_on is None)

    def _signals(self, server: Server, snapshots: Sequence[ChannelSnapshot]) -> Signals:
        from stallwatch.probes.replication_lag.signals import Answers
        from stallwatch.probes.replication_lag.signals.collect import gather

        found = gather(server, snapshots, self._pause, self._run.trace)
        if not self._usual or server is not self._server:
            return found
        return found._replace(answers=Answers.of(server.answers_after, self._usual, server.network_trip))

    def _pause(self, seconds: float) -> bool:
        """Wait so long; False: there is no time for it."""
        deadline = self._run.deadline
        if deadline.left() < _KEPT_FOR_ANSWERS + seconds:
            return False
        deadline.doing = "looking several times at what the applier does"
        deadline.rest(seconds)
        return True

    def _explained(self, one: Diagnosis, signals: Signals) -> Diagnosis:
        if not (self._everything or one.is_worth_explaining):
            return one
        from stallwatch.probes.replication_lag.causes import explain
        from stallwatch.probes.replication_lag.causes.case import Case

        found = explain(Case(one.snapshot, one.lag, one.trend, signals, one.stopped, one.connecting))
        stops = (backup.seconds for backup in signals.backups if backup.explains_stop(one.stopped))
        return one._replace(causes=found, backup=max((age for age in stops if age is not None), default=None))

    def _of_server(self, signals: Signals, reference: Opened | None) -> Iterator[Finding]:
        """Report what was seen of the server as a whole; what may be slow comes last."""
        from stallwatch.probes.mysql import innodb
        from stallwatch.probes.replication_lag.signals import readings

        yield from readings(signals)
        if signals.missing:
            yield Fault(State.OK, f"some causes cannot be seen: {', '.join(signals.missing)}")
        if reference:
            yield self._compared(signals, reference)
        try:
            with self._server.again() as another:
                answer = innodb.ask_status(another, self._run.deadline.left(), self._server)
        except MysqlError as error:  # an account may have one connection only
            fault = Fault(State.OK, f"SHOW ENGINE INNODB STATUS was not asked: {error.what}")
            yield error if error.state is State.UNKNOWN else fault
            return
        if answer.reading:
            yield answer.reading
        if not signals.redo and (told := innodb.redo_in(answer.text, signals.settings)):
            yield innodb.redo_log(told)  # MySQL 5.7 to 8.0.29

    def _compared(self, signals: Signals, reference: Opened) -> Finding:
        """Return what differs from a healthy replica, asked in the same way."""
        from stallwatch.probes.replication_lag.signals import can_compare, differences

        try:
            with reference() as server:
                facts = queries.facts(server)
                appliers = queries.appliers(server, queries.PATIENCE) if server.flavour.mariadb else None
                if appliers and appliers.lack_space:
                    what = f"replication of {server.where} waits for disk space"
                    return Fault(State.OK, f"not compared with the reference: {what}")
                channels, memory = queries.channels(server), history.Memory({}, facts, 0.0)
                snapshots = Collector(server, facts, channels, channels, memory, appliers).snapshots()
                theirs = self._signals(server, snapshots)
        except ProbeError as error:  # that is no trouble of this replica
            fault = Fault(State.OK, f"not compared with the reference: {error.what}")
            return error if error.state is State.UNKNOWN else fault
        known = can_compare(signals, theirs)
        alike = "nothing differs by three times" if known else "nothing could be compared"
        differs = ", ".join(differences(signals, theirs)) or alike
        return Fault(State.OK, f"compared with {server.where}: {differs}")


def _why_no_answer(server: Server, error: NoAnswerError) -> Fault:
    """Return why the status hangs, if another connection sees it; else raise the error."""
    try:
        with server.again() as another:
            full = queries.appliers(another, queries.PATIENCE).lack_space
    except MysqlError:
        full = False
    if not full:
        raise error
    return _no_space(server, error.what)


def _no_space(server: Server, why: str) -> Fault:
    what = f"replication waits for disk space on {server.where}"
    what = Forms(f"{what}, and the replication status with it", what)
    return Fault(State.CRITICAL, what, why, queries.FREE_SPACE)
