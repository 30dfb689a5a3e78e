"""The threads of data nodes: those that have no time left, and memory that is read from the swap device."""

from __future__ import annotations

from typing import NamedTuple

from stallwatch.probes.ndb_nodes.counting import rates
from stallwatch.probes.ndbinfo.numbers import number, whole
from stallwatch.reading import ProbeError, Reading
from stallwatch.units import say_duration

TYPE_CHECKING = False  # typing itself costs every check 2 ms
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from stallwatch.probes.ndbinfo.asking import Ndbinfo, Row
    from stallwatch.probes.ndbinfo.cluster import Cluster
    from stallwatch.probes.ndbinfo.intervals import Interval

MAJOR_FAULTS = "major_faults"

_FAULTS = "SELECT node_id, SUM(os_ru_majflt) AS major_faults FROM ndbinfo.threadstat GROUP BY node_id"
# Up to 20 samples of 20 s each: the last 400 s. A thread works, sends, spins, waits for a buffer or sleeps,
# which adds up to the elapsed time exactly (9.7.2). While it works it may still wait for a processor: 37 % of
# work with a processor for 7 % of the time were measured, on a host with too many servers. Send threads help
# the others with sending, who do it themselves when those are busy.
_USE = """SELECT c.node_id, c.thr_no, t.thread_name, SUM(c.elapsed_time) AS elapsed,
 100.0 * SUM(c.exec_time + c.send_time) / SUM(c.elapsed_time) AS used,
 100.0 * SUM(c.OS_user_time + c.OS_system_time) / SUM(c.elapsed_time) AS processor
 FROM ndbinfo.cpustat_20sec c JOIN ndbinfo.threads t ON t.node_id = c.node_id AND t.thr_no = c.thr_no
 WHERE t.thread_name <> 'send' AND c.elapsed_time > 0
 GROUP BY c.node_id, c.thr_no, t.thread_name ORDER BY used DESC LIMIT %s"""
_FIRST = 20.0  # seconds until a node has its first sample
_LASTING = 180.0  # seconds that have to be known of a thread for a critical state
_BUSY = 50.0  # per cent; below, waiting for a processor does not matter
_STARVED = 0.7  # of the time in which it works, a thread should have a processor


class Thread(NamedTuple):
    """One thread of a data node."""

    node: int
    number: int
    role: str  # ldm, tc, main, rep, recv, ...
    seconds: float  # that the rest is about
    used: float  # per cent of that, in which it worked
    processor: float  # per cent of that, in which it had a processor

    @property
    def name(self) -> str:
        """Name it for a person."""
        return f"{self.role} thread {self.number} of node {self.node}"


def counts(ndbinfo: Ndbinfo) -> dict[int, dict[str, float]]:
    """Ask how many pages each node's threads had to read from disk to go on: major page faults."""
    rows = ndbinfo.rows(_FAULTS)
    return {whole(row, "node_id"): {MAJOR_FAULTS: number(row, "major_faults")} for row in rows}


def busiest(ndbinfo: Ndbinfo, most: int) -> list[Thread]:
    """Ask for the threads that have the least time left, at most so many."""
    return [_thread(row) for row in ndbinfo.rows(_USE, most)]


def use(cluster: Cluster, threads: Sequence[Thread]) -> Iterator[Reading | ProbeError]:
    """Tell how busy the busiest is."""
    if threads:
        yield _use(threads)
    elif any(cluster.nodes[node].uptime > 2 * _FIRST for node in cluster.started):
        yield ProbeError(f"no data node has a row in ndbinfo.cpustat_20sec of {cluster.where}")


def major_faults(intervals: Mapping[int, Interval]) -> Iterator[Reading]:
    """Tell how many major page faults there are per minute: NDB's memory is not to be swapped."""
    for worst in rates(intervals, MAJOR_FAULTS)[:1]:
        yield Reading(
            MAJOR_FAULTS, worst.per_minute, "",
            f"node {worst.node} had {worst.per_minute:.0f} major page faults per minute",
            "its host swaps, and its threads wait for the disk" if worst.per_minute else "",
            "free memory on that host, or lock it: LockPagesInMainMemory=1 (rolling restart)",
        )  # fmt: skip


def _use(threads: Sequence[Thread]) -> Reading:
    first = threads[0]
    name = "thread_use" if first.seconds >= _LASTING else "doubtful_thread_use"
    what = f"{first.name} worked {first.used:.0f} % of the last {say_duration(round(first.seconds))}"
    advice = (
        f"more {first.role} threads (AutomaticThreadConfig, NumCPUs or ThreadConfig; rolling restart), "
        "more data nodes, or fewer requests"
    )
    if first.used > _BUSY and first.processor < _STARVED * first.used:
        what += f", but had a processor for {first.processor:.0f} % only"
        advice = (
            "see what else its host computes, a limit of processor time (cgroup), or other virtual machines"
        )
    return Reading(name, round(first.used, 2), "%", what, advice=advice, label="thread_use")


def _thread(row: Row) -> Thread:
    return Thread(
        whole(row, "node_id"),
        whole(row, "thr_no"),
        str(row["thread_name"]),
        number(row, "elapsed") / 1e6,
        number(row, "used"),
        number(row, "processor"),
    )
