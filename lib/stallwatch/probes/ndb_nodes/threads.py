"""The threads of data nodes: those that have no time left, and memory that is read from the swap device."""

from __future__ import annotations

from stallwatch.findings import Reading
from stallwatch.probes.ndb_nodes.counting import rates
from stallwatch.probes.ndbinfo.numbers import number, whole
from stallwatch.startup import TYPE_CHECKING, NamedTuple
from stallwatch.units import say_duration

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from stallwatch.history.delta import Interval
    from stallwatch.probes.ndbinfo.asking import Ndbinfo
    from stallwatch.probes.ndbinfo.cluster import Cluster

MAJOR_FAULTS = "major_faults"
USE = "thread_use"

_FAULTS = """SELECT node_id, COUNT(*) AS threads, SUM(os_ru_majflt) AS major_faults
 FROM ndbinfo.threadstat GROUP BY node_id"""
# Up to 20 samples of 20 s each: the last 400 s. A thread works, sends, spins, waits for a buffer or sleeps,
# which adds up to the elapsed time exactly (9.7.2). While it works it may still wait for a processor: 37 % of
# work with a processor for 7 % of the time were measured, on a host with too many servers. Send threads help
# the others with sending, who do it themselves when those are busy; which they are only threads tells.
_EACH = """SELECT c.node_id, c.thr_no, t.thread_name, SUM(c.elapsed_time) AS elapsed,
 100.0 * SUM(c.exec_time + c.send_time) / SUM(c.elapsed_time) AS used,
 100.0 * SUM(c.OS_user_time + c.OS_system_time) / SUM(c.elapsed_time) AS processor
 FROM ndbinfo.cpustat_20sec c JOIN ndbinfo.threads t ON t.node_id = c.node_id AND t.thr_no = c.thr_no
 WHERE t.thread_name <> 'send' AND c.elapsed_time > 0
 GROUP BY c.node_id, c.thr_no, t.thread_name"""
_BUSIEST = (
    "SELECT node_id, MAX(used) AS used, MIN(elapsed) AS elapsed FROM "  # noqa: S608
    f"({_EACH}) AS each_thread GROUP BY node_id"
)
_WHICH = (
    "SELECT thr_no, thread_name, used, processor FROM "  # noqa: S608
    f"({_EACH}) AS each_thread WHERE node_id = %s ORDER BY used DESC LIMIT 1"
)
_FIRST = 20  # seconds until a node has its first sample
_LASTING = 180.0  # seconds that have to be known of a thread for a critical state
_BUSY = 50.0  # per cent; below, waiting for a processor does not matter
_STARVED = 0.7  # of the time in which it works, a thread should have a processor


class Busiest(NamedTuple):
    """The busiest thread of a data node."""

    node: int
    used: float  # per cent of the time, in which it worked
    seconds: float  # that are known of every thread

    @property
    def confirmed(self) -> bool:
        """Whether it has lasted: a short time of it is no more than a WARNING."""
        return self.seconds >= _LASTING


class Thread(NamedTuple):
    """Which thread of its node that is."""

    number: int
    role: str  # ldm, tc, main, rep, recv, ...
    used: float  # per cent of the time, in which it worked
    processor: float  # per cent of it, in which it had a processor

    @property
    def is_starved(self) -> bool:
        """Whether it waits for a processor."""
        return self.used > _BUSY and self.processor < _STARVED * self.used


def faults(ndbinfo: Ndbinfo) -> dict[int, dict[str, float]]:
    """Ask how many pages each node's threads had to read from disk to go on: major page faults."""
    return {
        whole(row, "node_id"): {name: number(row, name) for name in (MAJOR_FAULTS, "threads")}
        for row in ndbinfo.rows(_FAULTS)
    }


def busiest(ndbinfo: Ndbinfo) -> dict[int, Busiest]:
    """Ask for the busiest thread of each node, the busiest first; send threads are not among them."""
    found = [
        Busiest(whole(row, "node_id"), number(row, "used"), number(row, "elapsed") / 1e6)
        for row in ndbinfo.rows(_BUSIEST)
    ]
    return {one.node: one for one in sorted(found, key=lambda one: (-one.used, one.node))}


def which(ndbinfo: Ndbinfo, node: int) -> Thread | None:
    """Ask which thread of a node is the busiest."""
    for row in ndbinfo.rows(_WHICH, node):
        used, processor = number(row, "used"), number(row, "processor")
        return Thread(whole(row, "thr_no"), str(row["thread_name"]), used, processor)
    return None


def use(worst: Busiest, thread: Thread | None) -> Reading:
    """Tell how busy the busiest of all is, and which thread that is, as far as it was asked."""
    name = f"{thread.role} thread {thread.number}" if thread else "the busiest thread"
    span = say_duration(round(worst.seconds))
    what = f"{name} of node {worst.node} worked {worst.used:.0f} % of the last {span}"
    advice = (
        f"more {thread.role if thread else ''} threads (AutomaticThreadConfig, NumCPUs or ThreadConfig; "
        "rolling restart), more data nodes, or fewer requests"
    )
    if thread and thread.is_starved:
        what += f", but had a processor for {thread.processor:.0f} % only"
        advice = (
            "see what else its host computes, a limit of processor time (cgroup), or other virtual machines"
        )
    return Reading(USE, round(worst.used, 2), "%", what, advice=advice, confirmed=worst.confirmed)


def too_young(cluster: Cluster) -> set[int]:
    """Tell which nodes may have no samples yet."""
    return {node.id for node in cluster.nodes.values() if node.uptime <= 2 * _FIRST}


def major_faults(intervals: Mapping[int, Interval]) -> Iterator[Reading]:
    """Tell how many major page faults there are per minute: NDB's memory is not to be swapped."""
    comparable = {node: one for node, one in intervals.items() if one.counts.get("threads") == 0}
    for worst in rates(comparable, MAJOR_FAULTS)[:1]:
        yield Reading(
            MAJOR_FAULTS, worst.per_minute, "",
            f"node {worst.node} had {worst.per_minute:.0f} major page faults per minute",
            "its host swaps, and its threads wait for the disk" if worst.per_minute else "",
            "free memory on that host, or lock it: LockPagesInMainMemory=1 (rolling restart)",
        )  # fmt: skip
