"""How busy the threads of a data node are: the article ruled the processor out with ``top -H``."""

from __future__ import annotations

from typing import NamedTuple

from stallwatch.probes.ndbinfo.numbers import whole
from stallwatch.sources.mysql import MissingTableError

TYPE_CHECKING = False  # typing itself costs every check 2 ms
if TYPE_CHECKING:
    from collections.abc import Iterable

    from stallwatch.probes.ndbinfo.asking import Ndbinfo

SATURATED = 90.0  # per cent of the time that a thread works: it cannot do much more
_NUMBERS = 1000  # more than a data node has threads

# The busiest and its number as one: portable, and one row of each node. A thread that waits for a processor
# counts as executing, too (9.7.2), which is as bad for the redo log.
_BUSIEST = f"""SELECT node_id, MAX({_NUMBERS} * (thread_exec + thread_send) + thr_no) AS busiest
 FROM ndbinfo.cpustat WHERE node_id IN ({{}}) GROUP BY node_id"""  # noqa: S608 - our own numbers
_NAMES = f"""SELECT node_id, thread_name FROM ndbinfo.threads
 WHERE node_id * {_NUMBERS} + thr_no IN ({{}})"""  # noqa: S608 - likewise


class Busiest(NamedTuple):
    """The busiest thread of a data node in the last second."""

    name: str  # ldm, tc, main, recv, ...
    works: float  # per cent of the time

    @property
    def is_saturated(self) -> bool:
        """Whether it has hardly time for more."""
        return self.works >= SATURATED

    def __str__(self) -> str:
        return f"its busiest thread, {self.name}, works {self.works:.0f} % of the time"


def busiest(ndbinfo: Ndbinfo, nodes: Iterable[int]) -> dict[int, Busiest]:
    """Tell the busiest thread of each of these nodes; {}: this version does not know (before 7.5.2)."""
    try:
        rows = ndbinfo.rows(_BUSIEST.format(", ".join(map(str, nodes))))
        found = {whole(row, "node_id"): divmod(whole(row, "busiest"), _NUMBERS) for row in rows}
        numbers = [node * _NUMBERS + thread for node, (_, thread) in found.items()]
        rows = ndbinfo.rows(_NAMES.format(", ".join(map(str, numbers)))) if numbers else []
    except MissingTableError:
        return {}
    names = {whole(row, "node_id"): str(row["thread_name"]) for row in rows}
    return {
        node: Busiest(names.get(node, f"number {thread}"), min(100.0, works))
        for node, (works, thread) in found.items()
    }
