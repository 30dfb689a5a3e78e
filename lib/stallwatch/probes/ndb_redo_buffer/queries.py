"""What is asked besides the samples: what else fills, whether redo writes lag, how busy threads are.

What data nodes themselves measure of their writes to disk is the best evidence without a look at the host:
`slowdowns_due_to_io_lag` counts seconds in which a thread wrote checkpoints slower because its redo writes
lagged. Measured on 9.7.2 with the disk capped at 0.5 to 2 MB/s: it grows in every second; on a disk with room
it does not, though the same load fills RedoBuffer=1M for milliseconds again and again.
"""

from __future__ import annotations

from stallwatch.findings import ProbeError
from stallwatch.history.delta import NoIntervalError
from stallwatch.probes.ndb_redo_buffer.samples import RESERVED
from stallwatch.probes.ndbinfo import undo_log
from stallwatch.probes.ndbinfo.queries import number, whole
from stallwatch.startup import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from stallwatch.probes.ndbinfo.cluster import Cluster, Intervals
    from stallwatch.probes.ndbinfo.queries import Ndbinfo, Row

BUFFERS, SPACES = "logbuffers", "logspaces"  # the tables
_REDO, _UNDO = "REDO", "DD-UNDO"  # log_type
_FULLEST = """SELECT node_id, log_type, COUNT(*) AS parts, COUNT(used) AS told, MAX(log_id) AS last_id,
 MAX(100.0 * used / (total - {reserved})) AS fullest{more}
 FROM ndbinfo.{table} WHERE total > {reserved} AND node_id IN ({nodes}) GROUP BY node_id, log_type"""
# Bytes that are kept free in each part of the redo log. Measured on 9.7.2: with less, "Low space" comes and
# writes fail with error 410, at 6 of 12 MiB, 10 of 16, 18 of 24 and 42 of 48, with files of 4, 8 and 16 MiB.
_KEPT_FREE = 6 << 20
_OF_USABLE = f""",
 MAX(CASE WHEN total > {_KEPT_FREE} THEN 100.0 * used / (total - {_KEPT_FREE}) END) AS of_usable"""
_OF_REDO_BUFFERS = f"CASE log_type WHEN 'REDO' THEN {RESERVED} ELSE 0 END"
LAG_SHOWS = 1.5  # seconds in which a lag shows: it is counted in whole ones
_FLAT = 0.25  # by so much the last 10 seconds may differ from the last minute
_WRITING = """SELECT node_id, COUNT(*) AS threads, MAX(slowdowns_due_to_io_lag) AS most,
 SUM(slowdowns_due_to_io_lag) AS in_all, SUM(redo_speed_last_10sec) AS lately,
 SUM(redo_speed_last_60sec) AS since FROM ndbinfo.disk_write_speed_aggregate
 WHERE node_id IN ({}) GROUP BY node_id"""
_SATURATED = 90.0  # per cent of the time that a thread works: it cannot do much more
TABLES_OF_THREADS = 2  # are read, in the time of so many statements
_WRITES_REDO = "ldm"

# The busiest of each kind. A thread that waits for a processor or a disk counts as executing (9.7.2), and one
# that spins uses a processor: it works only while it does both. The join takes as long as either table alone.
_BUSIEST = """SELECT cpu.node_id AS node_id, thread.thread_name AS name,
 MAX(cpu.thread_exec + cpu.thread_send) AS works,
 MAX(CASE WHEN cpu.thread_exec + cpu.thread_send > cpu.OS_user + cpu.OS_system
 THEN cpu.OS_user + cpu.OS_system ELSE cpu.thread_exec + cpu.thread_send END) AS runs
 FROM ndbinfo.cpustat AS cpu
 JOIN ndbinfo.threads AS thread ON thread.node_id = cpu.node_id AND thread.thr_no = cpu.thr_no
 WHERE cpu.node_id IN ({}) GROUP BY cpu.node_id, thread.thread_name"""


class Filled(NamedTuple):
    """How full the fullest one of each data node is, in per cent, by node; {}: there is none of its kind."""

    redo: dict[int, float]  # of what operations may use
    undo: dict[int, float]  # of disk tables, of what writes can use
    redo_parts: int = 0  # in all
    numbered_by_id: bool = False  # log_id is the redo log part, not log_part
    here: frozenset[int] = frozenset()  # nodes that have a row of the redo log, with numbers or without
    problems: tuple[ProbeError, ...] = ()  # rows without


NO_LOGS = Filled({}, {})


def fullest(ndbinfo: Ndbinfo, cluster: Cluster, table: str) -> Filled:
    """Ask one table for the fullest of each data node that is started; raises a ProbeError."""
    nodes = ", ".join(map(str, cluster.started))
    reserved = _OF_REDO_BUFFERS if table == BUFFERS else "0"
    more = _OF_USABLE if table == SPACES else ""
    rows = ndbinfo.some(_FULLEST.format(reserved=reserved, more=more, table=table, nodes=nodes))
    redo = [row for row in rows if row["log_type"] == _REDO]
    undo = _fullest([row for row in rows if row["log_type"] == _UNDO])
    usable = undo_log.usable(ndbinfo) if table == SPACES else 1.0
    return Filled(
        redo=_fullest(redo, "of_usable" if table == SPACES else "fullest"),
        undo={node: min(100.0, round(share / usable, 2)) for node, share in undo.items()},
        redo_parts=sum(whole(row, "parts") for row in redo),
        numbered_by_id=any(whole(row, "last_id") for row in redo),
        here=frozenset(whole(row, "node_id") for row in redo),
        problems=tuple(_untold(rows, table)),
    )


def _fullest(rows: list[Row], column: str = "fullest") -> dict[int, float]:
    return {
        whole(row, "node_id"): min(
            100.0, round(number(row, column if row[column] is not None else "fullest"), 2)
        )
        for row in rows
        if row["fullest"] is not None
    }


def _untold(rows: list[Row], table: str) -> Iterator[ProbeError]:
    for row in rows:
        parts, told = whole(row, "parts"), whole(row, "told")
        if told < parts:
            what = f"{parts - told} of {parts} rows ({row['log_type']}) of node {row['node_id']}"
            yield ProbeError(f"{what} in ndbinfo.{table} have no number: judged without them")


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


def writing(ndbinfo: Ndbinfo, cluster: Cluster) -> dict[int, Writing]:
    """Ask all data nodes that are started, by node; raises a ProbeError, as before 7.4."""
    rows = ndbinfo.rows(_WRITING.format(", ".join(map(str, cluster.started))))
    return {whole(row, "node_id"): _writing(row) for row in rows}


def since_last_look(intervals: Intervals, written: dict[int, Writing]) -> dict[int, Lag]:
    """Return for how long redo writes lagged since the last run; nothing of a node without earlier look."""
    lags = {}
    for node, now in written.items():
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
    """Return for how long redo writes lagged between two looks of one run, of nodes that are in both."""
    lags = {}
    for node in before.keys() & after.keys():
        then, now = before[node].lagged, after[node].lagged
        grown = Lagged(*(new - old for old, new in zip(then, now, strict=True)))
        if min(grown) >= 0 and (lag := _lag(now, grown, seconds)):
            lags[node] = lag
    return lags


def _lag(now: Lagged, grown: Lagged, of: float) -> Lag | None:
    """Find what one thread must have lagged; None: the number of threads has changed."""
    if grown.threads:
        return None
    return Lag(min(of, max(grown.most, grown.in_all / now.threads)), of)


def _writing(row: Row) -> Writing:
    threads, most, in_all, lately, since = (
        number(row, name) for name in ("threads", "most", "in_all", "lately", "since")
    )
    return Writing(Lagged(threads, most, in_all), lately, since)


class Thread(NamedTuple):
    """A thread of a data node, in the last second."""

    name: str  # ldm, tc, main, recv, ...
    works: float  # per cent of the time

    @property
    def is_saturated(self) -> bool:
        """Whether it has hardly time for more."""
        return self.works >= _SATURATED

    @property
    def writes_redo(self) -> bool:
        """Whether it is one of those that empty the redo buffers: others do not hold them up."""
        return self.name == _WRITES_REDO


def threads(ndbinfo: Ndbinfo, nodes: Iterable[int]) -> dict[int, list[Thread]]:
    """Return the busiest thread of each kind, the busiest first; raises a ProbeError, as before 7.5.2."""
    found: dict[int, list[Thread]] = {}
    for row in ndbinfo.rows(_BUSIEST.format(", ".join(map(str, nodes)))):
        works = number(row, "works") if row["runs"] is None else number(row, "runs")
        thread = Thread(str(row["name"]), min(100.0, works))
        found.setdefault(whole(row, "node_id"), []).append(thread)
    return {node: sorted(several, key=lambda one: -one.works) for node, several in found.items()}
