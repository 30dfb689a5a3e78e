"""One run: take samples of the redo buffers, see what else fills, and where something does, find out why.

The samples come first, which the check is about; then what else can be too full; then what only tells why.
What fails, or would take longer than there is time, takes nothing from the rest.
"""

from __future__ import annotations

from stallwatch.findings import Fault, ProbeError, State
from stallwatch.probes.ndb_redo_buffer import messages, queries
from stallwatch.probes.ndb_redo_buffer.collect import Snapshot
from stallwatch.probes.ndb_redo_buffer.diagnosis import find_too_full
from stallwatch.probes.ndb_redo_buffer.inquiry import Inquiry
from stallwatch.probes.ndb_redo_buffer.samples import watch
from stallwatch.startup import TYPE_CHECKING

if TYPE_CHECKING:
    from argparse import Namespace
    from collections.abc import Callable, Iterator
    from typing import Any

    from stallwatch.findings import Finding
    from stallwatch.frame.run import Run
    from stallwatch.probes.ndbinfo.queries import Ndbinfo

_NOT_SEEN = (
    "not seen is a redo buffer that was full for milliseconds between the samples: only the node's own log "
    "tells of that (--log)"
)


def findings(ndbinfo: Ndbinfo, options: Namespace, run: Run, memory: dict[str, Any]) -> Iterator[Finding]:
    """Judge redo buffers, redo log and undo log.

    Raises ClusterDownError, or another ProbeError, if none of them could be looked at.
    """
    one = _OneRun(ndbinfo, options, run, memory)
    one.take_steps()
    yield from one.findings()


class _OneRun:
    """The steps of one run; what is found is reported before the next step, which may never end."""

    def __init__(self, ndbinfo: Ndbinfo, options: Namespace, run: Run, memory: dict[str, Any]) -> None:
        self._ndbinfo, self._options, self._run = ndbinfo, options, run
        self._found = Snapshot(ndbinfo, run, memory)
        self._inquiry = Inquiry(ndbinfo.deadline)
        self._inquiry.problems += self._found.begin_with_disks(options.data_dir)

    def take_steps(self) -> None:
        """Do all steps."""
        found, seconds = self._found, self._a_statement
        failure = self._step("how full the redo buffers are", self._sample)
        self._step("how full the redo log is", found.ask_spaces, seconds())
        self._step("whether other buffers fill", found.ask_buffers, seconds())
        if failure and not found.spaces.redo and not found.buffers.redo:
            raise failure
        if found.silent():  # one may have ended since
            self._ask_again(seconds())
        self._evidence("whether redo writes lagged", found.measure_lag, seconds())
        self._step("what the logs say", self._read_logs)
        if suspects := found.suspects():
            found.end_with_disks()
            takes = queries.TABLES_OF_THREADS * seconds()
            self._evidence("how busy threads are", lambda: found.measure_threads(suspects), takes)
            takes = queries.LAG_SHOWS + seconds()
            self._evidence("whether redo writes lag now", found.measure_lag_now, takes)

    def _a_statement(self) -> float:
        """Seconds that a statement on ndbinfo may take: the more, the more data nodes there are."""
        return self._found.samples.slowest if self._found.samples else 0.0

    def _step(self, about: str, step: Callable[[], None], takes: float = 0.0) -> ProbeError | None:
        """Do one step, if there is time for it; gives why it failed, which is a finding."""
        failure = self._inquiry.subject(about, step, takes)
        self._run.so_far(self.findings())
        return failure

    def _evidence(self, about: str, step: Callable[[], None], takes: float) -> None:
        """Do one step, if there is time for it; if it fails, evidence is missing, nothing more."""
        self._inquiry.evidence(about, step, takes)
        self._run.so_far(self.findings())

    def _sample(self) -> None:
        found, options = self._found, self._options
        for samples in watch(self._ndbinfo, found.cluster, options.samples, options.every):
            found.samples, found.too_full = samples, find_too_full(samples, self._run.alerts)
            self._run.so_far(self.findings())

    def _ask_again(self, a_statement: float) -> None:
        """Find out who answers now. While a node is killed, rows of others may be missing, too (9.7.2)."""
        found = self._found
        before = found.cluster.started
        self._step("which nodes answer", found.ask_nodes, a_statement)
        if found.silent() and found.cluster.started != before:
            self._step("how full the redo log is", found.ask_spaces, a_statement)
            self._step("whether other buffers fill", found.ask_buffers, a_statement)

    def _read_logs(self) -> None:
        if self._options.log:
            self._inquiry.problems += self._found.read_logs(self._options.log, self._options.hold)

    def findings(self) -> Iterator[Finding]:
        """Say all of it."""
        found, everything = self._found, bool(self._options.verbose)
        diagnoses = found.diagnoses()
        yield from messages.all_of_it(found, diagnoses, self._run.alerts)
        yield from (*found.silent(), *found.spaces.problems, *found.buffers.problems)
        yield from self._inquiry.problems
        yield from found.cluster.asides()
        yield from self._inquiry.asides(all_of_them=bool(diagnoses) or everything)
        if everything and not self._options.log:
            yield Fault(State.OK, _NOT_SEEN)
