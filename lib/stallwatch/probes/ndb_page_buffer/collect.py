"""What data nodes count: since the last run, or within this one; and where something is wrong, why."""

from __future__ import annotations

import time
from functools import partial

from stallwatch import units
from stallwatch.findings import Fault, ProbeError, State
from stallwatch.history.delta import Look, NoIntervalError, between, pause
from stallwatch.probes.mysql.asking import Inquiry
from stallwatch.probes.ndbinfo import cluster as data_nodes
from stallwatch.probes.ndbinfo.cluster import Intervals
from stallwatch.probes.ndbinfo.queries import DISK_PAGE_BUFFER_MEMORY, configured, number, whole
from stallwatch.startup import TYPE_CHECKING, NamedTuple
from stallwatch.units import say_duration

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from stallwatch.history.delta import Interval
    from stallwatch.probes.ndbinfo.cluster import Cluster
    from stallwatch.probes.ndbinfo.queries import Ndbinfo

    Counts = dict[str, float]

# What most of the waits of a node are for.
READS, WRITES, CHECKPOINTS, NEW_PAGES = "reads", "writes", "checkpoints", "new pages"
_OF_WAITS = 2  # waits for each page read, from which on most are for something else
INSTANCES = "instances"  # rows of a node, one for each of its threads that has a page buffer
# Not of nodes that lack one of the numbers somewhere: SUM would pass over it in silence.
_COUNTERS = """SELECT node_id, COUNT(*) AS instances, SUM(page_requests_direct_return) AS direct,
 SUM(page_requests_wait_queue) AS queued, SUM(page_requests_wait_io) AS waited, SUM(pages_read) AS pages_read,
 SUM(pages_written) AS pages_written, SUM(pages_written_lcp) AS pages_written_lcp,
 SUM(log_waits) AS log_waits FROM ndbinfo.diskpagebuffer GROUP BY node_id
 HAVING COUNT(*) = COUNT(page_requests_direct_return + page_requests_wait_queue + page_requests_wait_io
 + pages_read + pages_written + pages_written_lcp + log_waits)"""
_UPTIMES = "SELECT node_id, uptime FROM ndbinfo.nodes"
_READS = """SELECT upper_bound, SUM(page_reads) AS page_reads FROM ndbinfo.pgman_time_track_stats
 WHERE node_id = %s GROUP BY upper_bound"""
_NO_BOUND = 0xFFFFFFFF  # of the last class of the histogram
_LONGEST = 1.0  # seconds that a statement takes: 20 ms for each of 48 data nodes (measured on NDB 9.7.2)


class Traffic(NamedTuple):
    """Counts of one node over so many seconds; ``direct``, ``queued`` and ``waited`` are requests.

    A request is direct if its page is in memory. It has waited if the page is not: because it has to be
    read, is being written out, or is a new one. It is queued if others wait for a page that has just come
    (9.7.2 source, pgman.cpp, get_page_no_lirs).
    """

    seconds: float
    direct: float
    queued: float
    waited: float
    pages_read: float
    pages_written: float  # to make room, or ahead of that
    pages_written_lcp: float  # by checkpoints
    log_waits: float  # pages that could not be written before the undo log was

    @property
    def requests(self) -> float:
        """Those that the hit ratio is of."""
        return self.direct + self.waited

    @property
    def ratio(self) -> float | None:
        """The hit ratio in per cent, by the formula of the MySQL Cluster manual; None without requests."""
        return round(100 * self.direct / self.requests, 4) if self.requests else None

    @property
    def waits_for(self) -> str:
        """Return what most of the waits are for: only READS speak for a larger buffer.

        Measured on NDB 9.7.2: reads by key, in ranges and by scans wait 1.0 to 1.2 times for each page
        read, updates of many rows 20 times, bulk inserts 33 times and more. If it is checkpoints that
        write, no larger buffer spares them: with 64 MB, a load of 20 MB has nothing written but by
        checkpoints and a hit ratio of 97 %; with 4 MB it is 64 %, and two of three pages are written to
        make room.
        """
        if self.waited <= _OF_WAITS * self.pages_read:
            return READS
        if self.pages_written_lcp > self.pages_written:
            return CHECKPOINTS
        return WRITES if self.pages_written or self.log_waits else NEW_PAGES

    def per_second(self, count: float) -> float:
        """Give one of the counts as a rate."""
        return count / self.seconds


COUNTERS = Traffic._fields[1:]


class Snapshot(NamedTuple):
    """What there is to judge."""

    cluster: Cluster
    counts: dict[int, Counts]  # since a node's start, by node
    since: Callable[[int, Counts], Interval]  # what of it is since the look before, or raises NoIntervalError
    problems: list[ProbeError]  # nodes that do not show it
    is_first: bool = False  # there was no look before
    is_sample: bool = False  # the look before was in this run


def since_last_run(ndbinfo: Ndbinfo, memory: dict[str, Any]) -> Snapshot:
    """Look once; ``memory`` has the look before. Raises a ProbeError."""
    is_first = not memory
    cluster, counts = data_nodes.look_at_started(ndbinfo, memory), _counters(ndbinfo)
    since = Intervals(memory, cluster, time.time()).since
    return Snapshot(cluster, counts, since, _silent(ndbinfo, cluster, counts), is_first=is_first)


def in_this_run(ndbinfo: Ndbinfo, seconds: float) -> Snapshot:
    """Look twice, so far apart, or less if the deadline is near; raises a ProbeError."""
    start = time.monotonic()
    cluster, begun = data_nodes.look_at_started(ndbinfo, {}), _counters(ndbinfo)
    at = time.monotonic()
    pause(seconds, at - start, ndbinfo.deadline)
    up = {whole(row, "node_id"): whole(row, "uptime") for row in ndbinfo.some(_UPTIMES)}
    nodes = {one: node._replace(uptime=up[one]) for one, node in cluster.nodes.items() if one in up}
    ended_with = _counters(ndbinfo)
    passed = time.monotonic() - at  # more than what was waited if there are many nodes
    cluster = cluster._replace(nodes=nodes)

    def since(node: int, counts: Counts) -> Interval:
        if node not in begun or nodes[node].uptime < passed:
            raise NoIntervalError("not up for the whole sample")
        return between(Look(0.0, at, begun[node]), Look(passed, at + passed, counts))

    problems = _silent(ndbinfo, cluster, ended_with)
    return Snapshot(cluster, ended_with, since, problems, is_first=True, is_sample=True)


def _silent(ndbinfo: Ndbinfo, cluster: Cluster, counts: dict[int, Counts]) -> list[ProbeError]:
    return data_nodes.without_row(ndbinfo, cluster, counts, "diskpagebuffer")


def _counters(ndbinfo: Ndbinfo) -> dict[int, Counts]:
    """Give the counters of all nodes, each the sum of so many INSTANCES of the node.

    Raises a ProbeError with the reason why there are none.
    """
    return {
        whole(row, "node_id"): {name: float(number(row, name)) for name in (*COUNTERS, INSTANCES)}
        for row in ndbinfo.some(_COUNTERS)
    }


class Evidence(NamedTuple):
    """What could be found out; a version or an account may lack all of it."""

    sizes: dict[int, int]  # bytes of DiskPageBufferMemory, by node
    read_times: dict[int, str]  # how long half of all page reads of a node took, in words
    missing: tuple[Fault, ...] = ()  # why there is no more of it


NONE = Evidence({}, {})


def gather(ndbinfo: Ndbinfo, node: int | None) -> Evidence:
    """Ask for the sizes, and for the time of page reads of one node since its start, if one is given."""
    inquiry = Inquiry(ndbinfo.deadline)
    ask = partial(inquiry.ask, evidence=True, takes=_LONGEST)
    sizes = ask("how large page buffers are", partial(_sizes, ndbinfo)) or {}
    times = ask("how long page reads take", partial(_read_times, ndbinfo, node)) or {}
    told = (one for one in inquiry.refused if one.asked or one.error is not inquiry.lost)
    missing = (Fault(State.OK, f"not known {one.about}: {one.error.what}") for one in told)
    return Evidence(sizes, times, tuple(missing))


def _sizes(ndbinfo: Ndbinfo) -> dict[int, int]:
    """Ask for all of them.

    Not DISK_PAGE_BUFFER of ndbinfo.resources, which holds more: 14 MiB where 4 MiB are configured (9.7.2).
    """
    found = {}
    for node, size in configured(ndbinfo, DISK_PAGE_BUFFER_MEMORY).items():
        if (octets := units.whole(size)) is None:
            raise ProbeError(f"{size!r} is no number of bytes")
        found[node] = octets
    return found


def _read_times(ndbinfo: Ndbinfo, node: int | None) -> dict[int, str]:
    """Find the class of the histogram that has the median; the table is of 8.0.19 and later."""
    if node is None:
        return {}
    rows = ndbinfo.rows(_READS, node)
    reads = sorted((whole(row, "upper_bound"), number(row, "page_reads")) for row in rows)
    half, below = sum(count for _, count in reads) / 2, 0
    for bound, count in reads:  # in us
        half -= count
        if count and half <= 0:
            limit, least = (below, "more than") if bound >= _NO_BOUND else (bound, "up to")
            return {node: f"{least} {say_duration(limit / 1e6)}"}
        below = bound
    return {}
