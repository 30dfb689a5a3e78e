"""What the page buffer of a data node was asked for, and what share of that it had."""

from __future__ import annotations

from stallwatch.startup import NamedTuple

HIT_RATIO = "hit_ratio"  # the quantity that is judged
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


class HitRatio(NamedTuple):
    """The hit ratio of a node that had enough to do, over one interval, and what is known of it."""

    node: int
    traffic: Traffic
    per_cent: float
    uptime: float  # seconds
    text: str  # the ratio as it is said: with as many decimals as put it on its side of each threshold
    is_cold: bool  # its buffer fills yet, after its start
    is_low: bool  # a threshold alerts on it
    is_critical: bool  # the critical one does
    in_a_row: int = 0  # intervals that were critical, with this one
    confirmed: bool = False  # there were as many as it takes, and nothing excuses it

    @property
    def is_excused(self) -> bool:
        """Whether a low ratio says nothing on the size of the buffer."""
        return self.is_cold or self.traffic.waits_for != READS

    @property
    def is_certain(self) -> bool:
        """Whether it is critical, and that is confirmed."""
        return self.is_critical and self.confirmed
