"""The buffer pool at one moment, and what it has counted since the moment before."""

from __future__ import annotations

from stallwatch.startup import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping

    from stallwatch.findings import ProbeError
    from stallwatch.history.delta import Interval, Look

MISS_RATIO, DIRTY = "miss_ratio", "dirty"  # quantities that are judged
REQUESTS, READS = "Innodb_buffer_pool_read_requests", "Innodb_buffer_pool_reads"
FLUSHED, WAIT_FREE = "Innodb_buffer_pool_pages_flushed", "Innodb_buffer_pool_wait_free"
COUNTERS = (
    REQUESTS,
    READS,
    "Innodb_buffer_pool_read_ahead",
    "Innodb_buffer_pool_read_ahead_evicted",
    "Innodb_buffer_pool_write_requests",
    FLUSHED,
    WAIT_FREE,
)
_MUCH = 0.5  # a rule of thumb, not measured: of the dirty pages that innodb_max_dirty_pages_pct allows


class Pool(NamedTuple):
    """The buffer pool: counts of pages, what it counts, texts and settings by their names."""

    total: int
    free: int
    data: int
    dirty: int
    look: Look
    texts: Mapping[str, str]
    settings: Mapping[str, str]
    size: float | None  # bytes that it is to have
    most_dirty: float | None  # per cent above which InnoDB flushes with all that innodb_io_capacity allows
    unanswered: ProbeError | None = None  # why there are no settings

    @property
    def dirty_share(self) -> float:
        """Dirty pages in per cent, as InnoDB compares them with innodb_max_dirty_pages_pct."""
        return 100 * self.dirty / max(1, self.data + self.free)

    @property
    def is_dirty(self) -> bool:
        """Whether dirty pages may be why none is free."""
        return self.dirty_share >= _MUCH * (self.most_dirty or 100)


class Snapshot(NamedTuple):
    """What one run knows."""

    pool: Pool
    interval: Interval  # since the last look
    min_requests: int  # for pages, in an interval that has a miss ratio
    confirmed: bool = True  # False: the next miss ratio may be good

    @property
    def miss_ratio(self) -> float | None:
        """Per cent of the page requests since the last look that had to wait for the disk."""
        requests, reads = (self.interval.counts.get(name) for name in (REQUESTS, READS))
        if requests is None or reads is None or requests < self.min_requests:
            return None
        return min(100.0, round(100 * reads / requests, 4))
