"""One run: take samples of the redo buffers, see what else fills, and where something does, find out why.

The samples come first, which the check is about; then what else can be too full; then what only explains.
What fails, or would take longer than there is time, takes nothing from the rest.
"""

from __future__ import annotations

import time

from stallwatch.causes import Scope, Subject
from stallwatch.findings import Fault, ProbeError, State
from stallwatch.history.streak import twice
from stallwatch.probes.mysql.asking import Inquiry
from stallwatch.probes.ndb_redo_buffer import hosts, messages, pages, queries, slow_disk
from stallwatch.probes.ndb_redo_buffer.diagnosis import NOTHING, Evidence, diagnose, find_too_full
from stallwatch.probes.ndb_redo_buffer.samples import watch
from stallwatch.probes.ndb_redo_buffer.slow_disk import Waits
from stallwatch.probes.ndbinfo import growth
from stallwatch.probes.ndbinfo.cluster import Intervals, look_at_started
from stallwatch.startup import TYPE_CHECKING
from stallwatch.words import FEW

if TYPE_CHECKING:
    from argparse import Namespace
    from collections.abc import Callable, Iterator
    from typing import Any

    from stallwatch.findings import Finding, Reading
    from stallwatch.frame.run import Run
    from stallwatch.probes.ndb_redo_buffer.diagnosis import Diagnosis
    from stallwatch.probes.ndb_redo_buffer.hosts import Busy, Heard
    from stallwatch.probes.ndb_redo_buffer.messages import Bounds
    from stallwatch.probes.ndb_redo_buffer.pages import Pages
    from stallwatch.probes.ndb_redo_buffer.queries import Lag, Thread, Writing
    from stallwatch.probes.ndb_redo_buffer.samples import Samples
    from stallwatch.probes.ndbinfo.queries import Ndbinfo

_FINE = 100  # parts of one per cent that a forecast separates
_NOT_SEEN = (
    "not seen is a redo buffer that was full for milliseconds between the samples: only the node's own log "
    "shows that (--log)"
)


def findings(ndbinfo: Ndbinfo, options: Namespace, run: Run, memory: dict[str, Any]) -> Iterator[Finding]:
    """Judge redo buffers, redo log and undo log.

    Raises ClusterDownError, or another ProbeError, if none of them could be looked at.
    """
    look = _Look(ndbinfo, options, run, memory)
    look.take_steps()
    yield from look.findings()


class _Look:
    """What is known, more after each step; it is reported before the next step, which may never end."""

    def __init__(self, ndbinfo: Ndbinfo, options: Namespace, run: Run, memory: dict[str, Any]) -> None:
        self._ndbinfo, self._options, self._run, self._memory = ndbinfo, options, run, memory
        self._ask_nodes()
        self._samples: Samples | None = None
        self._too_full = NOTHING
        self._spaces = self._buffers = queries.NO_LOGS
        self._lasting: dict[str, set[int]] = {}  # nodes whose logs are critical for longer, by quantity
        self._bounds: dict[str, Bounds] = {}  # within which logs will be full, by quantity
        self._heard: list[Heard] = []  # from logs
        self._busy: dict[int, Busy] = {}
        self._writing: dict[int, Writing] = {}
        self._written_at = 0.0
        self._lately: dict[int, Lag] = {}
        self._pages: dict[int, Pages] = {}
        self._slow: dict[str, set[int]] = {}  # nodes whose disks are critical for longer, by quantity
        self._right_now: dict[int, Lag] = {}
        self._threads: dict[int, list[Thread]] = {}
        self._inquiry = Inquiry(ndbinfo.deadline)
        self._devices, problems = hosts.devices(options.data_dir)
        self._of_hosts: list[Finding] = [*problems]  # what is wrong with what was given

    def take_steps(self) -> None:
        """Do all steps."""
        failure = self._step("how full the redo buffers are", self._sample)
        self._ask_logs()
        if failure and not self._spaces.redo and not self._buffers.redo:
            raise failure
        if self._silent():  # one may have ended since
            self._ask_again()
        self._evidence("whether redo writes lagged", self._measure_lag, self._statement)
        if self._buffers.undo:  # else there are no disk tables
            self._evidence("how long page reads and writes take", self._measure_pages, self._statement)
        alerts = self._run.alerts
        if any(alerts(slow_disk.UNDO_BUFFER, share) for share in self._buffers.undo.values()):
            takes = queries.LAG_SHOWS + self._statement
            self._evidence("whether undo buffers stay full", self._look_at_undo_again, takes)
        if self._options.log:
            self._read_logs()
            self._run.so_far(self.findings())
        waits = self._waits()
        self._slow = slow_disk.lasting(waits, alerts, self._memory, time.time())
        suspects = self._suspects()
        if suspects or any(one.slow(alerts) for one in waits.values()):
            self._busy = hosts.busiest(self._devices)
        if suspects:
            takes = queries.TABLES_OF_THREADS * self._statement
            self._evidence("how busy threads are", lambda: self._measure_threads(suspects), takes)
            takes = queries.LAG_SHOWS + self._statement
            self._evidence("whether redo writes lag now", self._measure_lag_now, takes)

    @property
    def _statement(self) -> float:
        """Seconds that a statement on ndbinfo may take: the more, the more data nodes there are."""
        return self._samples.slowest if self._samples else 0.0

    def _step(
        self, about: str, step: Callable[[], None], takes: float = 0.0, *, evidence: bool = False
    ) -> ProbeError | None:
        """Do one step, if there is time for it; returns why it failed, which is a finding."""
        self._inquiry.ask(about, step, evidence=evidence, takes=takes)
        failure = self._inquiry.failed
        self._run.so_far(self.findings())
        return failure

    def _evidence(self, about: str, step: Callable[[], None], takes: float) -> None:
        """Do one step that only explains: if it fails, evidence is missing, nothing more."""
        self._step(about, step, takes, evidence=True)

    def _sample(self) -> None:
        for samples in watch(self._ndbinfo, self._cluster, self._options.count, self._options.spread):
            self._samples, self._too_full = samples, find_too_full(samples, self._run.alerts)
            self._run.so_far(self.findings())

    def _ask_nodes(self) -> None:
        self._cluster = look_at_started(self._ndbinfo, self._memory)

    def _ask_logs(self) -> None:
        self._step("how full the redo log is", self._ask_spaces, self._statement)
        self._step("whether other buffers fill", self._ask_buffers, self._statement)

    def _ask_again(self) -> None:
        """Find out who answers now. While a node is killed, rows of others may be missing, too (9.7.2)."""
        before = self._cluster.started
        self._step("which nodes answer", self._ask_nodes, self._statement)
        if self._silent() and self._cluster.started != before:
            self._ask_logs()

    def _ask_spaces(self) -> None:
        """Ask how full redo log and undo log are, and whose are critical for the second run in a row.

        They rise until a checkpoint is complete and fall then, within minutes: what is 98 % now may be 1 % in
        a minute, which nobody need be woken for. If one does get full, writes fail at once (410, 1501), so a
        second run is enough: checkpoints do not keep up then. The samples of one run are too close together
        to show that. With --no-state no run is the second one: it is a WARNING at most.
        """
        self._spaces = queries.fullest(self._ndbinfo, self._cluster, queries.SPACES)
        now = time.time()
        history = growth.of_logs(self._memory, now)
        for name, used in (("redo_space", self._spaces.redo), ("undo_space", self._spaces.undo)):
            critical = {node for node in used if self._run.alerts(name, used[node], State.CRITICAL)}
            self._lasting[name] = twice(self._memory, name, critical, now)
            self._bounds[name] = {
                node: history.full_within(
                    f"{name}/{node}", _FINE * share, 100 * _FINE, self._cluster.nodes[node].uptime
                )
                for node, share in used.items()
            }

    def _ask_buffers(self) -> None:
        """Ask how full the undo buffers are, and which redo buffers there are."""
        self._buffers = queries.fullest(self._ndbinfo, self._cluster, queries.BUFFERS)

    def _silent(self) -> list[ProbeError]:
        """Report started nodes of which a table has no row."""
        looked_at = ((self._spaces, queries.SPACES), (self._buffers, queries.BUFFERS))
        return [
            problem
            for filled, table in looked_at
            if filled is not queries.NO_LOGS
            for problem in self._cluster.without_row(filled.here, table)
        ]

    def _read_logs(self) -> None:
        """Read what logs show of the last ``--hold`` seconds."""
        options = self._options
        self._heard, problems = hosts.read_logs(options.log, options.hold, self._memory, self._run.deadline)
        self._of_hosts += problems

    def _measure_lag(self) -> None:
        """Ask for how long redo writes lagged since the last run."""
        self._writing = queries.writing(self._ndbinfo, self._cluster)
        self._written_at = time.monotonic()
        intervals = Intervals(self._memory, self._cluster, time.time())
        self._lately = queries.since_last_look(intervals, self._writing)

    def _measure_pages(self) -> None:
        """Ask how long page reads and writes have taken since the last run."""
        counts = pages.counted(self._ndbinfo, self._cluster)
        self._pages = pages.since_last_look(counts, self._cluster, self._memory, time.time())

    def _look_at_undo_again(self) -> None:
        """Find out whether undo buffers stay full: a burst fills one for a moment on a fast disk, too."""
        self._ndbinfo.deadline.doing = "looking twice at the undo buffers"
        self._ndbinfo.deadline.rest(queries.LAG_SHOWS)
        again = queries.fullest(self._ndbinfo, self._cluster, queries.BUFFERS).undo
        undo = {node: min(share, again.get(node, share)) for node, share in self._buffers.undo.items()}
        self._buffers = self._buffers._replace(undo=undo)

    def _waits(self) -> dict[int, Waits]:
        """Put together what is known of each node's disks so far."""
        return {
            node: Waits(
                node,
                self._pages.get(node),
                self._lately.get(node),
                self._busy.get(node),
                self._buffers.undo.get(node),
            )
            for node in sorted(self._pages.keys() | self._lately.keys())
        }

    def _measure_lag_now(self) -> None:
        """Ask whether redo writes lag now, as soon as that can show since ``_measure_lag``."""
        if not self._writing:
            return
        before, self._ndbinfo.deadline.doing = self._writing, "seeing whether redo writes lag"
        self._ndbinfo.deadline.rest(self._written_at + queries.LAG_SHOWS - time.monotonic())
        self._writing = queries.writing(self._ndbinfo, self._cluster)
        self._right_now = queries.between(before, self._writing, time.monotonic() - self._written_at)

    def _measure_threads(self, nodes: list[int]) -> None:
        self._threads = queries.threads(self._ndbinfo, nodes)

    def _suspects(self) -> list[int]:
        """Choose nodes of which to look for the cause: the worst ones, then those whose logs complain."""
        full = (use.part.node for use in self._too_full.worst())
        complaints = (one.node for one in self._heard if one.node and one.blames_disk is not None)
        return list(dict.fromkeys((*full, *complaints)))[:FEW]

    def _subject(self, node: int) -> Subject:
        """Return a data node as the subject of a cause."""
        known = self._cluster.nodes.get(node)
        started = time.time() - known.uptime if known else None
        return Subject(self._ndbinfo.where, Scope.NODE, str(node), started)

    def _diagnoses(self) -> dict[int, Diagnosis]:
        """Report of each suspect which it is, a small buffer or a slow disk, as far as is known yet."""
        heard = {one.node: one for one in self._heard}
        seconds = self._samples.seconds if self._samples else 0.0
        return {
            node: diagnose(
                Evidence(
                    node,
                    stays_full=self._too_full.stays_full(node),
                    still_for=seconds if self._too_full.is_still(node) else 0.0,
                    heard=heard.get(node),
                    right_now=self._right_now.get(node),
                    lately=self._lately.get(node),
                    busy=self._busy.get(node),
                    writing=self._writing.get(node),
                    threads=self._threads.get(node, ()),
                ),
                self._subject(node),
            )
            for node in self._suspects()
        }

    def _space(self, name: str, used: dict[int, float]) -> Iterator[Reading]:
        """Return how full a log is, unless there is none."""
        if used:
            lasting, bounds = self._lasting.get(name, ()), self._bounds.get(name, {})
            yield from messages.log_space(name, used, lasting, bounds, self._subject, self._run.alerts)

    def findings(self) -> Iterator[Finding]:
        """Write all of it, in the order in which it is shown among equals."""
        alerts, everything, diagnoses = self._run.alerts, bool(self._options.verbose), self._diagnoses()
        samples = self._samples
        if samples:
            buffers = messages.Buffers(samples, self._too_full, diagnoses, self._buffers, alerts)
            yield from buffers.findings(self._cluster.configured)
        yield from messages.disks(self._waits(), self._slow, self._subject, alerts)
        yield from self._space("redo_space", self._spaces.redo)
        yield from self._space("undo_space", self._spaces.undo)
        if self._buffers.undo:
            yield messages.space("undo_buffer", self._buffers.undo, {}, self._subject, alerts)
        yield from messages.heard(self._heard, diagnoses)
        if samples and samples.failed:
            what = f"only {samples.taken} of {samples.wanted} samples: {samples.failed.what}"
            yield ProbeError(what, samples.failed.advice)
        yield from (*self._silent(), *self._spaces.problems, *self._buffers.problems)
        yield from self._of_hosts
        yield from messages.not_found_out(self._inquiry.refused)
        yield from self._cluster.asides()
        yield from messages.left_out(self._inquiry.refused, everything=bool(diagnoses) or everything)
        if everything and not self._options.log:
            yield Fault(State.OK, _NOT_SEEN)
