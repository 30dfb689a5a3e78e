"""What is asked of ndbinfo: what page buffers count; where something is wrong, their sizes and read times."""

from __future__ import annotations

from stallwatch.findings import Fault, ProbeError, State
from stallwatch.probes.ndb_page_buffer.model import Traffic
from stallwatch.probes.ndbinfo.queries import DISK_PAGE_BUFFER_MEMORY, configured, number, whole
from stallwatch.sources.mysql import NoAnswerError
from stallwatch.startup import TYPE_CHECKING, NamedTuple
from stallwatch.units import say_duration

if TYPE_CHECKING:
    from stallwatch.probes.ndbinfo.queries import Ndbinfo

    Counts = dict[str, float]

COUNTERS = Traffic._fields[1:]
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


def counters(ndbinfo: Ndbinfo) -> dict[int, Counts]:
    """Give the counters of all nodes, each the sum of so many INSTANCES of the node.

    Raises a ProbeError, which says why there are none.
    """
    return {
        whole(row, "node_id"): {name: float(number(row, name)) for name in (*COUNTERS, INSTANCES)}
        for row in ndbinfo.some(_COUNTERS)
    }


def uptimes(ndbinfo: Ndbinfo) -> dict[int, int]:
    """Give for how many seconds the nodes that answer have been up; raises a ProbeError."""
    return {whole(row, "node_id"): whole(row, "uptime") for row in ndbinfo.some(_UPTIMES)}


class Evidence(NamedTuple):
    """What could be found out; a version or an account may lack all of it."""

    sizes: dict[int, int]  # bytes of DiskPageBufferMemory, by node
    read_times: dict[int, str]  # how long half of all page reads of a node took, in words
    missing: tuple[Fault, ...] = ()  # why there is no more of it


NONE = Evidence({}, {})


def gather(ndbinfo: Ndbinfo, node: int | None) -> Evidence:
    """Ask for the sizes, and for the time of page reads of one node since its start, if one is given."""
    found, missing = Evidence({}, {}), []
    for subject, ask in (("how large page buffers are", _sizes), ("how long page reads take", _read_times)):
        try:
            if ndbinfo.deadline.left() < _LONGEST:
                raise NoAnswerError("no time is left to ask for it")
            ask(ndbinfo, node, found)
        except (ProbeError, ValueError) as error:
            missing.append(Fault(State.OK, f"not known {subject}: {error}"))
            if isinstance(error, NoAnswerError):
                break
    return found._replace(missing=tuple(missing))


def _sizes(ndbinfo: Ndbinfo, _: int | None, found: Evidence) -> None:
    """Ask for all of them.

    Not DISK_PAGE_BUFFER of ndbinfo.resources, which holds more: 14 MiB where 4 MiB are configured (9.7.2).
    """
    for node, size in configured(ndbinfo, DISK_PAGE_BUFFER_MEMORY).items():
        found.sizes[node] = int(size)


def _read_times(ndbinfo: Ndbinfo, node: int | None, found: Evidence) -> None:
    """Find the class of the histogram that has the median; the table is of 8.0.19 and later."""
    if node is None:
        return
    rows = ndbinfo.rows(_READS, node)
    reads = sorted((whole(row, "upper_bound"), number(row, "page_reads")) for row in rows)
    half, below = sum(count for _, count in reads) / 2, 0
    for bound, count in reads:  # in us
        half -= count
        if count and half <= 0:
            more = bound >= _NO_BOUND
            found.read_times[node] = f"{'more than' if more else 'up to'} {_said(below if more else bound)}"
            return
        below = bound


def _said(microseconds: int) -> str:
    return say_duration(microseconds / 1e6)
