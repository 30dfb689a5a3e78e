"""What data nodes themselves measure of their writes to disk: the best evidence without a look at the host.

`slowdowns_due_to_io_lag` counts seconds in which a thread wrote checkpoints slower because its redo writes
lagged. Measured on 9.7.2 with the disk capped at 0.5 to 2 MB/s: it grows in every second; on a disk with room
it does not, though the same load fills RedoBuffer=1M for milliseconds again and again.
"""

from __future__ import annotations

from stallwatch.history.delta import NoIntervalError
from stallwatch.probes.ndbinfo.numbers import number, whole
from stallwatch.startup import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from stallwatch.probes.ndbinfo.asking import Ndbinfo, Row
    from stallwatch.probes.ndbinfo.cluster import Cluster
    from stallwatch.probes.ndbinfo.intervals import Intervals

SHOWS = 1.5  # seconds in which a lag shows: it is counted in whole ones
_FLAT = 0.25  # by so much the last 10 seconds may differ from the last minute
_ASKED = """SELECT node_id, COUNT(*) AS threads, MAX(slowdowns_due_to_io_lag) AS most,
 SUM(slowdowns_due_to_io_lag) AS in_all, SUM(redo_speed_last_10sec) AS lately,
 SUM(redo_speed_last_60sec) AS since FROM ndbinfo.disk_write_speed_aggregate
 WHERE node_id IN ({}) GROUP BY node_id"""


class Lagged(NamedTuple):
    """Seconds in which redo writes of a data node lagged, since its start."""

    threads: float  # how many
    most: float  # of the thread that has the most
    in_all: float


class Writing(NamedTuple):
    """What one data node has counted and measured."""

    lagged: Lagged
    lately: float  # bytes per second of redo log in the last 10 s
    before: float  # ... in the last 60 s

    @property
    def is_flat(self) -> bool:
        """Whether redo has been written at the same rate for a minute: with full buffers, at the limit."""
        return bool(self.before) and abs(self.lately - self.before) <= _FLAT * self.before


class Lag(NamedTuple):
    """For how many seconds the redo writes of some thread lagged at least, and in how many; 0: of none."""

    seconds: float
    of: float


def look(ndbinfo: Ndbinfo, cluster: Cluster) -> dict[int, Writing]:
    """Ask all data nodes that are started, by node; raises a ProbeError, as before 7.4."""
    rows = ndbinfo.rows(_ASKED.format(", ".join(map(str, cluster.started))))
    return {whole(row, "node_id"): _writing(row) for row in rows}


def since_last_look(intervals: Intervals, writing: dict[int, Writing]) -> dict[int, Lag]:
    """Tell for how long redo writes lagged since the last run; of a node without an earlier look nothing."""
    lags = {}
    for node, now in writing.items():
        try:
            interval = intervals.since(node, now.lagged._asdict())
        except NoIntervalError:
            continue
        if interval.counts.keys() != set(Lagged._fields):
            continue
        if lag := _lag(now.lagged, Lagged(**interval.counts), interval.seconds):
            lags[node] = lag
    return lags


def between(before: dict[int, Writing], after: dict[int, Writing], seconds: float) -> dict[int, Lag]:
    """Tell for how long redo writes lagged between two looks of one run, of nodes that are in both."""
    lags = {}
    for node in before.keys() & after.keys():
        then, now = before[node].lagged, after[node].lagged
        grown = Lagged(*(new - old for old, new in zip(then, now, strict=True)))
        if min(grown) >= 0 and (lag := _lag(now, grown, seconds)):
            lags[node] = lag
    return lags


def _lag(now: Lagged, grown: Lagged, of: float) -> Lag | None:
    """Find what one thread must have lagged; None: not all threads were told of both times."""
    if grown.threads:
        return None
    return Lag(min(of, max(grown.most, grown.in_all / now.threads)), of)


def _writing(row: Row) -> Writing:
    threads, most, in_all, lately, since = (
        number(row, name) for name in ("threads", "most", "in_all", "lately", "since")
    )
    return Writing(Lagged(threads, most, in_all), lately, since)
