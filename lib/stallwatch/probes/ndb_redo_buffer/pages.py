"""Pages of disk tables: how many were long in being read or written, or waited long for the undo log.

A page is written when the undo log is on disk up to its last change, and then to its data file: a data node
measures both, and reads (9.7.2 source, pgman.cpp; ndbinfo.pgman_time_track_stats is of NDB 8.0.19 and later).
"""

from __future__ import annotations

from stallwatch.history import own, recall, remember
from stallwatch.history.delta import NoIntervalError
from stallwatch.probes.ndbinfo.cluster import Intervals
from stallwatch.probes.ndbinfo.queries import number, whole
from stallwatch.startup import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from typing import Any

    from stallwatch.probes.ndbinfo.cluster import Cluster
    from stallwatch.probes.ndbinfo.queries import Ndbinfo

LONG = 0.5  # seconds, or a little more:
_BOUND = 1 << 19  # us; the histogram has classes up to this one and above
_FEWEST = 3  # reads, writes or waits: fewer mean nothing
_HELD = 300.0  # seconds for which a long wait counts that nothing came after
_KEPT, _COUNTED = "pages", "page counters"  # names in memory
KINDS = ("page_reads", "page_writes", "log_waits")  # columns of the table
_SUMS = ", ".join(
    f"SUM({kind}) AS {kind}, SUM(CASE WHEN upper_bound > {_BOUND} THEN {kind} ELSE 0 END) AS long_{kind}"
    for kind in KINDS
)
_TIMES = (
    f"SELECT node_id, {_SUMS} FROM ndbinfo.pgman_time_track_stats WHERE node_id IN ({{}}) GROUP BY node_id"  # noqa: S608 - our own names
)


class Long(NamedTuple):
    """How many reads, writes or waits took longer than LONG, of how many."""

    longer: float
    of: float

    @property
    def percent(self) -> float:
        """Their share, with one decimal."""
        return round(100 * self.longer / self.of, 1) if self.of > 0 else 0.0


class Pages(NamedTuple):
    """What a data node's pages waited for between two looks."""

    seconds: float
    kinds: dict[str, Long]  # by KINDS; without those of which there was hardly any
    until: float = 0.0  # seconds since the epoch; 0: it is of the last interval

    def long(self, *kinds: str) -> tuple[str, Long] | None:
        """Return the kind with the largest share of long ones; None: there was hardly anything to do."""
        found = [(kind, self.kinds[kind]) for kind in kinds if kind in self.kinds]
        return max(found, key=lambda one: one[1].percent, default=None)


def counted(ndbinfo: Ndbinfo, cluster: Cluster) -> dict[int, dict[str, float]]:
    """Ask for all counts since the start of each node, by node; raises a ProbeError, as before 8.0.19."""
    rows = ndbinfo.rows(_TIMES.format(", ".join(map(str, cluster.started))))
    names = [name for kind in KINDS for name in (kind, f"long_{kind}")]
    return {whole(row, "node_id"): {name: number(row, name) for name in names} for row in rows}


def since_last_look(
    counts: dict[int, dict[str, float]], cluster: Cluster, memory: dict[str, Any], now: float
) -> dict[int, Pages]:
    """Return what each node's pages waited for since the last run, or before where nothing happened since.

    A disk that has nothing to do is not known to be fast again: what was last seen is held for five minutes.
    A node without an earlier look has nothing.
    """
    intervals = Intervals(own(memory, _COUNTED), cluster, now)
    before = recall(memory, _KEPT, dict[int, Pages]) or {}
    found: dict[int, Pages] = {}
    held: dict[int, Pages] = {}
    for node, since_start in counts.items():
        try:
            interval = intervals.since(node, since_start)
        except NoIntervalError:
            continue
        last = before.get(node)
        if kinds := _kinds(interval.counts):
            found[node] = Pages(interval.seconds, kinds)
            held[node] = found[node]._replace(until=now)
        elif last and 0 <= now - last.until <= _HELD:
            found[node] = held[node] = last
    remember(memory, _KEPT, held)
    return found


def _kinds(counts: Any) -> dict[str, Long]:
    return {
        kind: Long(counts[f"long_{kind}"], counts[kind])
        for kind in KINDS
        if counts.get(kind, 0) >= _FEWEST and f"long_{kind}" in counts
    }
