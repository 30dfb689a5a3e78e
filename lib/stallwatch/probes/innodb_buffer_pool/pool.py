"""What the server tells of its buffer pool at one moment."""

from __future__ import annotations

import time

from stallwatch.findings import ProbeError
from stallwatch.history.delta import Look
from stallwatch.probes.mysql.status import global_status, numbers, variables
from stallwatch.startup import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping

    from stallwatch.probes.mysql.asking import Asking

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
_PAGES = {name: f"Innodb_buffer_pool_pages_{name}" for name in ("total", "free", "data", "dirty")}
_TEXTS = (
    "Innodb_buffer_pool_dump_status",
    "Innodb_buffer_pool_load_status",
    "Innodb_buffer_pool_load_incomplete",  # MariaDB
)
_STATUS = ("Uptime", *COUNTERS, *_PAGES.values(), *_TEXTS)
_SETTINGS = (
    "innodb_auto_lru_dump",  # Percona Server 5.1
    "innodb_buffer_pool_restore_at_startup",  # its name in Percona Server 5.5
    "innodb_buffer_pool_size",
    "innodb_max_dirty_pages_pct",
)


class Pool(NamedTuple):
    """The buffer pool: counts of pages, what it counts, texts and settings by their names."""

    total: int
    free: int
    data: int
    dirty: int
    look: Look
    texts: Mapping[str, str]
    settings: Mapping[str, str]
    unanswered: ProbeError | None = None  # why there are no settings

    @property
    def dirty_share(self) -> float:
        """Dirty pages in per cent, as InnoDB compares them with innodb_max_dirty_pages_pct."""
        return 100 * self.dirty / max(1, self.data + self.free)

    @property
    def most_dirty(self) -> float | None:
        """Per cent above which InnoDB flushes with all that innodb_io_capacity allows; None: not told."""
        return numbers(self.settings).get("innodb_max_dirty_pages_pct")

    @property
    def size(self) -> float | None:
        """Bytes that it is to have; None: not told."""
        return numbers(self.settings).get("innodb_buffer_pool_size")


def look(asking: Asking) -> Pool:
    """Ask for it; raises a ProbeError."""
    texts = global_status(asking, _STATUS)
    if asking.failed:
        raise asking.failed
    found = numbers(texts)
    lacking = [name for name in ("Uptime", *_PAGES.values()) if name not in found]
    if lacking:
        where, flavour = asking.server.where, asking.server.flavour.text
        raise ProbeError(
            f"{where} ({flavour}) tells nothing of a buffer pool: SHOW GLOBAL STATUS has no {lacking[0]}",
            "see with SHOW ENGINES whether InnoDB is there",
        )
    pages = {name: int(found[told]) for name, told in _PAGES.items()}
    counts = {name: found[name] for name in COUNTERS if name in found}
    now = Look(found["Uptime"], time.time(), counts)
    settings = variables(asking, _SETTINGS)
    return Pool(**pages, look=now, texts=texts, settings=settings, unanswered=asking.failed)
