"""What there is to know of data nodes whose redo buffers fill, from all that can be asked."""

from __future__ import annotations

import time

from stallwatch.probes.ndb_redo_buffer import processor, verdict, writing
from stallwatch.probes.ndbinfo.intervals import Intervals
from stallwatch.startup import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from typing import Any

    from stallwatch.findings import Finding
    from stallwatch.probes.ndb_log import Told
    from stallwatch.probes.ndb_redo_buffer.device import Busy, Device
    from stallwatch.probes.ndb_redo_buffer.judging import Judged
    from stallwatch.probes.ndb_redo_buffer.log import Heard
    from stallwatch.probes.ndbinfo.asking import Ndbinfo
    from stallwatch.probes.ndbinfo.cluster import Cluster


class Search:
    """The evidence of one run as it comes; each method asks for one kind, and may raise a ProbeError."""

    def __init__(self, ndbinfo: Ndbinfo, cluster: Cluster, memory: dict[str, Any]) -> None:
        self.heard: list[Heard] = []
        self._ndbinfo, self._cluster, self._memory = ndbinfo, cluster, memory
        self._devices: Sequence[Device] = ()
        self._busy: dict[int, Busy] = {}
        self._writing: dict[int, writing.Writing] = {}
        self._written_at = 0.0
        self._lately: dict[int, writing.Lag] = {}
        self._right_now: dict[int, writing.Lag] = {}
        self._threads: dict[int, list[processor.Thread]] = {}

    def begin_with_disks(self, directories: Sequence[str]) -> Sequence[Finding]:
        """Look at the disks for the first time; says which ones that cannot be done of."""
        if not directories:
            return ()
        from stallwatch.probes.ndb_redo_buffer import device

        self._devices, problems = device.look(directories)
        return problems

    def end_with_disks(self) -> None:
        """See how busy the disks were since."""
        if self._devices:
            from stallwatch.probes.ndb_redo_buffer import device

            self._busy = device.busiest(self._devices)

    def measure_lag(self) -> None:
        """Ask for how long redo writes lagged since the last run."""
        self._writing = writing.look(self._ndbinfo, self._cluster)
        self._written_at = time.monotonic()
        intervals = Intervals(self._memory, self._cluster, time.time())
        self._lately = writing.since_last_look(intervals, self._writing)

    def measure_lag_now(self) -> None:
        """Ask whether redo writes lag now, as soon as that can show since ``measure_lag``."""
        if not self._writing:
            return
        before, self._ndbinfo.deadline.doing = self._writing, "seeing whether redo writes lag"
        time.sleep(max(0.0, self._written_at + writing.SHOWS - time.monotonic()))
        self._writing = writing.look(self._ndbinfo, self._cluster)
        seconds = time.monotonic() - self._written_at
        self._right_now = writing.between(before, self._writing, seconds)

    def measure_threads(self, nodes: Iterable[int]) -> None:
        """Ask how busy the threads of these nodes are."""
        self._threads = processor.look(self._ndbinfo, nodes)

    def hear(self, told: Told) -> Sequence[Finding]:
        """Take what logs tell; gives what there is to say of the logs themselves."""
        from stallwatch.probes.ndb_redo_buffer import log

        self.heard, findings = log.hear(told)
        return findings

    def verdicts(self, judged: Judged, nodes: Iterable[int]) -> dict[int, verdict.Verdict]:
        """Say of these nodes which it is, a small buffer or a slow disk, as far as is known yet."""
        heard = {one.node: one for one in self.heard}
        return {
            node: verdict.judge(
                verdict.Evidence(
                    node,
                    stays_full=judged.stays_full(node),
                    heard=heard.get(node),
                    right_now=self._right_now.get(node),
                    lately=self._lately.get(node),
                    busy=self._busy.get(node),
                    writing=self._writing.get(node),
                    threads=self._threads.get(node, ()),
                )
            )
            for node in nodes
        }
