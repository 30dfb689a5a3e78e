"""How busy the threads of a data node are: the article ruled the processor out with ``top -H``."""

from __future__ import annotations

from stallwatch.probes.ndbinfo.numbers import number, whole
from stallwatch.startup import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable

    from stallwatch.probes.ndbinfo.asking import Ndbinfo

SATURATED = 90.0  # per cent of the time that a thread works: it cannot do much more
TABLES = 2  # are read, in the time of so many statements
_WRITES_REDO = "ldm"

# The busiest of each kind. A thread that waits for a processor counts as executing, too (9.7.2), which is as
# bad for the redo log. Measured on 9.7.2: the join takes as long as either table alone.
_BUSIEST = """SELECT cpu.node_id AS node_id, thread.thread_name AS name,
 MAX(cpu.thread_exec + cpu.thread_send) AS works FROM ndbinfo.cpustat AS cpu
 JOIN ndbinfo.threads AS thread ON thread.node_id = cpu.node_id AND thread.thr_no = cpu.thr_no
 WHERE cpu.node_id IN ({}) GROUP BY cpu.node_id, thread.thread_name"""


class Thread(NamedTuple):
    """A thread of a data node, in the last second."""

    name: str  # ldm, tc, main, recv, ...
    works: float  # per cent of the time

    @property
    def is_saturated(self) -> bool:
        """Whether it has hardly time for more."""
        return self.works >= SATURATED

    @property
    def writes_redo(self) -> bool:
        """Whether it is one of those that empty the redo buffers: others do not hold them up."""
        return self.name == _WRITES_REDO


def look(ndbinfo: Ndbinfo, nodes: Iterable[int]) -> dict[int, list[Thread]]:
    """Give the busiest thread of each kind, the busiest first; raises a ProbeError, as before 7.5.2."""
    found: dict[int, list[Thread]] = {}
    for row in ndbinfo.rows(_BUSIEST.format(", ".join(map(str, nodes)))):
        thread = Thread(str(row["name"]), min(100.0, number(row, "works")))
        found.setdefault(whole(row, "node_id"), []).append(thread)
    return {node: sorted(threads, key=lambda one: -one.works) for node, threads in found.items()}
