"""What data nodes themselves measure of their writes to disk: the best evidence without a look at the host.

`slowdowns_due_to_io_lag` counts seconds in which a thread wrote checkpoints slower because its redo writes
lagged. Measured on 9.7.2 with the disk capped at 0.5 to 2 MB/s: it grows in every second; on a disk with room
it does not, though the same load fills RedoBuffer=1M for milliseconds again and again.
"""

from __future__ import annotations

from typing import NamedTuple

from stallwatch.probes.ndbinfo.intervals import Intervals, NoIntervalError
from stallwatch.probes.ndbinfo.numbers import number, whole
from stallwatch.sources.mysql import MissingTableError

TYPE_CHECKING = False  # typing itself costs every check 2 ms
if TYPE_CHECKING:
    from stallwatch.probes.ndbinfo.asking import Ndbinfo

_FLAT = 0.25  # by so much the last 10 seconds may differ from the last minute
_KEPT = "io_lag"


class Writing(NamedTuple):
    """What one data node has counted and measured."""

    lagged: float  # seconds since its start in which redo writes lagged, the mean of its threads
    lately: float  # bytes per second of redo log in the last 10 s
    before: float  # ... in the last 60 s

    @property
    def is_flat(self) -> bool:
        """Whether redo has been written at the same rate for a minute: with full buffers, at the limit."""
        return bool(self.before) and abs(self.lately - self.before) <= _FLAT * self.before


class Lag(NamedTuple):
    """For how many seconds redo writes lagged, and in how many."""

    seconds: float
    of: float


def look(ndbinfo: Ndbinfo) -> dict[int, Writing]:
    """Ask all data nodes, by node; {}: this version does not know (before 7.4)."""
    try:
        rows = ndbinfo.rows(
            "SELECT node_id, AVG(slowdowns_due_to_io_lag) AS lagged, SUM(redo_speed_last_10sec) AS lately,"
            " SUM(redo_speed_last_60sec) AS since FROM ndbinfo.disk_write_speed_aggregate GROUP BY node_id"
        )
    except MissingTableError:
        return {}
    return {
        whole(row, "node_id"): Writing(*(number(row, name) for name in ("lagged", "lately", "since")))
        for row in rows
    }


def since_last_look(intervals: Intervals, writing: dict[int, Writing]) -> dict[int, Lag]:
    """Tell for how long redo writes lagged since the last run; of a node without an earlier look nothing."""
    lags = {}
    for node, now in writing.items():
        try:
            interval = intervals.since(node, {_KEPT: now.lagged})
        except (NoIntervalError, KeyError):  # KeyError: it came while we looked
            continue
        if _KEPT in interval.counts:
            lags[node] = Lag(min(interval.counts[_KEPT], interval.seconds), interval.seconds)
    return lags
