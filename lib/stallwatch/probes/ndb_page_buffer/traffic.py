"""What the page buffer of a data node was asked for, from its counters in ndbinfo.diskpagebuffer."""

from __future__ import annotations

from stallwatch.probes.ndbinfo.numbers import number, whole
from stallwatch.startup import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from stallwatch.probes.ndbinfo.asking import Ndbinfo

    Counts = dict[str, float]

# What most of the waits of a node are for.
READS, WRITES, CHECKPOINTS, NEW_PAGES = "reads", "writes", "checkpoints", "new pages"
_OF_WAITS = 2  # waits for each page read, from which on most are for something else


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
        """Tell what most of the waits are for: only READS speak for a larger buffer.

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
INSTANCES = "instances"  # rows of a node, one for each of its threads that has a page buffer
# Not of nodes that lack one of the numbers somewhere: SUM would pass over it in silence.
_STATEMENT = """SELECT node_id, COUNT(*) AS instances, SUM(page_requests_direct_return) AS direct,
 SUM(page_requests_wait_queue) AS queued, SUM(page_requests_wait_io) AS waited, SUM(pages_read) AS pages_read,
 SUM(pages_written) AS pages_written, SUM(pages_written_lcp) AS pages_written_lcp,
 SUM(log_waits) AS log_waits FROM ndbinfo.diskpagebuffer GROUP BY node_id
 HAVING COUNT(*) = COUNT(page_requests_direct_return + page_requests_wait_queue + page_requests_wait_io
 + pages_read + pages_written + pages_written_lcp + log_waits)"""


def counters(ndbinfo: Ndbinfo) -> dict[int, Counts]:
    """Give the counters of all nodes, each the sum of so many INSTANCES of the node.

    Raises a ProbeError, which says why there are none.
    """
    return {
        whole(row, "node_id"): {name: float(number(row, name)) for name in (*COUNTERS, INSTANCES)}
        for row in ndbinfo.some(_STATEMENT)
    }
