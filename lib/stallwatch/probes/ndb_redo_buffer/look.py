"""One look at the redo buffers of a cluster: how full, and why."""

from __future__ import annotations

import time

from stallwatch.findings import Fault, ProbeError, Reading, State
from stallwatch.history.streak import twice
from stallwatch.probes.ndb_redo_buffer import judging, processor, space, telling, use, writing
from stallwatch.probes.ndb_redo_buffer.evidence import Search
from stallwatch.probes.ndbinfo.cluster import look_at_started
from stallwatch.probes.ndbinfo.words import FEW, LABELLED
from stallwatch.probes.shared.inquiry import Inquiry
from stallwatch.startup import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence
    from typing import Any

    from stallwatch.findings import Finding
    from stallwatch.probes.ndb_log import Told
    from stallwatch.probes.ndbinfo.asking import Ndbinfo

_NOT_SEEN = (
    "not seen is a redo buffer that was full for milliseconds between the samples: only the node's own log "
    "tells of that (--log)"
)


class Asked(NamedTuple):
    """What the user asked for."""

    is_problem: Callable[[Finding], bool]  # by the user's limits
    so_far: Callable[[Iterable[Finding]], None]  # is told what is known already
    samples: int
    every: float  # seconds
    directories: Sequence[str] = ()  # of data nodes on this host
    read_logs: Callable[[dict[str, Any]], Told] | None = None  # is given what is kept between runs
    everything: bool = False  # say also what cannot be seen


def findings(ndbinfo: Ndbinfo, asked: Asked, memory: dict[str, Any]) -> Iterator[Finding]:
    """Judge redo buffers, redo log and undo log.

    Raises ClusterDownError, or another ProbeError, if none of them could be looked at.
    """
    look = _Look(ndbinfo, asked, memory)
    look.take()
    yield from look.findings()


class _Look:
    """What one run has found so far.

    The samples come first, which the check is about; then what else can be too full; then what only tells
    why. What fails, or would take longer than there is time, takes nothing from the rest.
    """

    def __init__(self, ndbinfo: Ndbinfo, asked: Asked, memory: dict[str, Any]) -> None:
        self._ndbinfo, self._asked, self._memory = ndbinfo, asked, memory
        self._look_at_nodes()
        self._samples: use.Samples | None = None
        self._judged = judging.NOTHING
        self._spaces = self._buffers = space.NOTHING
        self._lasting: dict[str, set[int]] = {}
        self._search = Search(ndbinfo, self._cluster, memory)
        self._inquiry = Inquiry(ndbinfo.deadline)
        self._inquiry.problems += self._search.begin_with_disks(asked.directories)

    def take(self) -> None:
        """Do all steps, each of which is told before the next one, which may never end."""
        search, a_statement = self._search, self._a_statement
        failure = self._step("how full the redo buffers are", self._sample)
        self._step("how full the redo log is", self._look_at_spaces, a_statement())
        self._step("whether other buffers fill", self._look_at_buffers, a_statement())
        if failure and not self._spaces.redo and not self._buffers.redo:
            raise failure
        if self._silent():  # one may have ended since
            self._look_again(a_statement())
        self._evidence("whether redo writes lagged", search.measure_lag, a_statement())
        self._step("what the logs say", self._read_logs)
        if suspects := self._suspects():
            search.end_with_disks()
            two = processor.TABLES * a_statement()
            self._evidence("how busy threads are", lambda: search.measure_threads(suspects), two)
            takes = writing.SHOWS + a_statement()
            self._evidence("whether redo writes lag now", search.measure_lag_now, takes)

    def _a_statement(self) -> float:
        """Seconds that a statement on ndbinfo may take: the more, the more data nodes there are."""
        return self._samples.slowest if self._samples else 0.0

    def _step(self, about: str, step: Callable[[], None], takes: float = 0.0) -> ProbeError | None:
        """Do one step, if there is time for it; gives why it failed, which is a finding."""
        failure = self._inquiry.subject(about, step, takes)
        self._asked.so_far(self.findings())
        return failure

    def _evidence(self, about: str, step: Callable[[], None], takes: float) -> None:
        """Do one step, if there is time for it; if it fails, evidence is missing, nothing more."""
        self._inquiry.evidence(about, step, takes)
        self._asked.so_far(self.findings())

    def _look_at_nodes(self) -> None:
        self._cluster = look_at_started(self._ndbinfo, self._memory)

    def _sample(self) -> None:
        for samples in use.watch(self._ndbinfo, self._cluster, self._asked.samples, self._asked.every):
            self._samples, self._judged = samples, judging.judge(samples, self._asked.is_problem)
            self._asked.so_far(self.findings())

    def _look_at_spaces(self) -> None:
        """Ask how full redo log and undo log are, and whose are too full for the second run in a row.

        They rise until a checkpoint is complete and fall then, within minutes: what is 98 % now may be 1 % in
        a minute, which nobody need be woken for. If one does get full, writes fail at once (410, 1501), so a
        second run is enough: checkpoints do not keep up then. The samples of one run are too close together
        to tell. With --no-state no run is the second one: it is a WARNING at most.
        """
        self._spaces = space.look(self._ndbinfo, self._cluster, space.SPACES)
        for name, used in (("redo_space", self._spaces.redo), ("undo_space", self._spaces.undo)):
            full = {node for node in used if self._asked.is_problem(Reading(name, used[node]))}
            self._lasting[name] = twice(self._memory, name, full, time.time())

    def _look_at_buffers(self) -> None:
        self._buffers = space.look(self._ndbinfo, self._cluster, space.BUFFERS)

    def _look_again(self, a_statement: float) -> None:
        """Find out who answers now. While a node is killed, rows of others may be missing, too (9.7.2)."""
        before = self._cluster.started
        self._step("which nodes answer", self._look_at_nodes, a_statement)
        if self._silent() and self._cluster.started != before:
            self._step("how full the redo log is", self._look_at_spaces, a_statement)
            self._step("whether other buffers fill", self._look_at_buffers, a_statement)

    def _silent(self) -> list[ProbeError]:
        """Say so of started nodes of which a table has no row."""
        looked_at = ((self._spaces, space.SPACES), (self._buffers, space.BUFFERS))
        return [
            problem
            for filled, table in looked_at
            if filled is not space.NOTHING
            for problem in self._cluster.without_row(filled.here, table)
        ]

    def _read_logs(self) -> None:
        if self._asked.read_logs:
            self._inquiry.problems += self._search.hear(self._asked.read_logs(self._memory))

    def _suspects(self) -> list[int]:
        """Choose nodes of which to look for the cause: the worst ones, then those whose logs complain."""
        full = (one.part.node for one in self._judged.worst())
        complaints = (one.node for one in self._search.heard if one.node and one.blames_disk is not None)
        return list(dict.fromkeys((*full, *complaints)))[:FEW]

    def findings(self) -> Iterator[Finding]:
        """Say all of it."""
        asked = self._asked
        verdicts = self._search.verdicts(self._judged, self._suspects())
        if self._samples:
            told = telling.Buffers(self._samples, self._judged, verdicts, self._buffers, asked.is_problem)
            yield from told.findings(by_node=self._cluster.configured <= LABELLED)
        yield from telling.spaces(self._spaces, self._buffers, self._lasting, asked.is_problem)
        yield from telling.heard(self._search.heard, verdicts)
        if self._samples and (failed := self._samples.failed):
            taken, wanted = self._samples.taken, self._samples.wanted
            yield ProbeError(f"only {taken} of {wanted} samples: {failed.what}", failed.advice)
        yield from (*self._silent(), *self._spaces.problems, *self._buffers.problems, *self._inquiry.problems)
        yield from self._cluster.asides()
        yield from self._asides(is_searched=bool(verdicts) or asked.everything)

    def _asides(self, *, is_searched: bool) -> Iterator[Fault]:
        yield from self._inquiry.asides(all_of_them=is_searched)
        if self._asked.everything and not self._asked.read_logs:
            yield Fault(State.OK, _NOT_SEEN)
