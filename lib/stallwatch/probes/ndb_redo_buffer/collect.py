"""What is known of the redo log of a cluster, from all that can be asked."""

from __future__ import annotations

import time

from stallwatch.history.streak import twice
from stallwatch.probes.ndb_redo_buffer import hosts, queries
from stallwatch.probes.ndb_redo_buffer.diagnosis import NOTHING, Evidence, diagnose
from stallwatch.probes.ndbinfo.cluster import Intervals, look_at_started
from stallwatch.startup import TYPE_CHECKING
from stallwatch.words import FEW

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from typing import Any

    from stallwatch.findings import Finding, ProbeError
    from stallwatch.frame.run import Run
    from stallwatch.probes.ndb_redo_buffer.diagnosis import Diagnosis
    from stallwatch.probes.ndb_redo_buffer.hosts import Busy, Device, Heard
    from stallwatch.probes.ndb_redo_buffer.queries import Lag, Thread, Writing
    from stallwatch.probes.ndb_redo_buffer.samples import Samples
    from stallwatch.probes.ndbinfo.queries import Ndbinfo


class Snapshot:
    """What is known, more after each step; each method asks for one thing, and may raise a ProbeError."""

    def __init__(self, ndbinfo: Ndbinfo, run: Run, memory: dict[str, Any]) -> None:
        self._ndbinfo, self._run, self._memory = ndbinfo, run, memory
        self.ask_nodes()
        self.samples: Samples | None = None
        self.too_full = NOTHING
        self.spaces = self.buffers = queries.NO_LOGS
        self.lasting: dict[str, set[int]] = {}  # nodes whose logs are too full for longer, by quantity
        self.heard: list[Heard] = []  # from logs
        self._devices: Sequence[Device] = ()
        self._busy: dict[int, Busy] = {}
        self._writing: dict[int, Writing] = {}
        self._written_at = 0.0
        self._lately: dict[int, Lag] = {}
        self._right_now: dict[int, Lag] = {}
        self._threads: dict[int, list[Thread]] = {}

    def ask_nodes(self) -> None:
        """Ask which data nodes there are."""
        self.cluster = look_at_started(self._ndbinfo, self._memory)

    def ask_spaces(self) -> None:
        """Ask how full redo log and undo log are, and whose are too full for the second run in a row.

        They rise until a checkpoint is complete and fall then, within minutes: what is 98 % now may be 1 % in
        a minute, which nobody need be woken for. If one does get full, writes fail at once (410, 1501), so a
        second run is enough: checkpoints do not keep up then. The samples of one run are too close together
        to tell. With --no-state no run is the second one: it is a WARNING at most.
        """
        self.spaces = queries.fullest(self._ndbinfo, self.cluster, queries.SPACES)
        for name, used in (("redo_space", self.spaces.redo), ("undo_space", self.spaces.undo)):
            full = {node for node in used if self._run.alerts(name, used[node])}
            self.lasting[name] = twice(self._memory, name, full, time.time())

    def ask_buffers(self) -> None:
        """Ask how full the undo buffers are, and which redo buffers there are."""
        self.buffers = queries.fullest(self._ndbinfo, self.cluster, queries.BUFFERS)

    def silent(self) -> list[ProbeError]:
        """Say so of started nodes of which a table has no row."""
        looked_at = ((self.spaces, queries.SPACES), (self.buffers, queries.BUFFERS))
        return [
            problem
            for filled, table in looked_at
            if filled is not queries.NO_LOGS
            for problem in self.cluster.without_row(filled.here, table)
        ]

    def begin_with_disks(self, directories: Sequence[str]) -> Sequence[Finding]:
        """Look at the disks for the first time; says of which ones that cannot be done."""
        self._devices, problems = hosts.devices(directories)
        return problems

    def end_with_disks(self) -> None:
        """See how busy the disks were since."""
        self._busy = hosts.busiest(self._devices)

    def read_logs(self, patterns: Sequence[str], hold: float) -> Sequence[Finding]:
        """Read what logs tell of the last ``hold`` seconds; gives what there is to say of the logs."""
        self.heard, findings = hosts.read_logs(patterns, hold, self._memory, self._run.deadline)
        return findings

    def measure_lag(self) -> None:
        """Ask for how long redo writes lagged since the last run."""
        self._writing = queries.writing(self._ndbinfo, self.cluster)
        self._written_at = time.monotonic()
        intervals = Intervals(self._memory, self.cluster, time.time())
        self._lately = queries.since_last_look(intervals, self._writing)

    def measure_lag_now(self) -> None:
        """Ask whether redo writes lag now, as soon as that can show since ``measure_lag``."""
        if not self._writing:
            return
        before, self._ndbinfo.deadline.doing = self._writing, "seeing whether redo writes lag"
        time.sleep(max(0.0, self._written_at + queries.LAG_SHOWS - time.monotonic()))
        self._writing = queries.writing(self._ndbinfo, self.cluster)
        self._right_now = queries.between(before, self._writing, time.monotonic() - self._written_at)

    def measure_threads(self, nodes: Iterable[int]) -> None:
        """Ask how busy the threads of these nodes are."""
        self._threads = queries.threads(self._ndbinfo, nodes)

    def suspects(self) -> list[int]:
        """Choose nodes of which to look for the cause: the worst ones, then those whose logs complain."""
        full = (use.part.node for use in self.too_full.worst())
        complaints = (one.node for one in self.heard if one.node and one.blames_disk is not None)
        return list(dict.fromkeys((*full, *complaints)))[:FEW]

    def diagnoses(self) -> dict[int, Diagnosis]:
        """Say of each suspect which it is, a small buffer or a slow disk, as far as is known yet."""
        heard = {one.node: one for one in self.heard}
        return {
            node: diagnose(
                Evidence(
                    node,
                    stays_full=self.too_full.stays_full(node),
                    heard=heard.get(node),
                    right_now=self._right_now.get(node),
                    lately=self._lately.get(node),
                    busy=self._busy.get(node),
                    writing=self._writing.get(node),
                    threads=self._threads.get(node, ()),
                )
            )
            for node in self.suspects()
        }
