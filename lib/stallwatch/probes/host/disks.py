"""How much disks had to do between two looks, in the figures of ``iostat -x``."""

from __future__ import annotations

from typing import NamedTuple

from stallwatch.probes.host.counters import of_disk
from stallwatch.sources.kernel import SECTOR

TYPE_CHECKING = False  # typing itself costs every check 2 ms
if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping

    from stallwatch.probes.looks import Interval
    from stallwatch.sources.kernel import Disk

_FULL = 100.0


class DiskLoad(NamedTuple):
    """What a disk did; the names that iostat has for it stand behind."""

    name: str
    busy: float | None  # per cent of the time (%util); None: the kernel does not count it
    wait: float | None  # seconds per request, in the queue and in the disk (await)
    queue: float | None  # requests, on average (aqu-sz, avgqu-sz)
    reads: float  # per second (r/s)
    writes: float  # per second (w/s)
    read: float  # bytes per second (rkB/s)
    written: float  # bytes per second (wkB/s)
    merged: float  # requests per second that became part of another one (rrqm/s + wrqm/s)

    @property
    def requests(self) -> float:
        """All requests per second."""
        return self.reads + self.writes

    @property
    def size(self) -> float | None:
        """Bytes per request (avgrq-sz); None: there was none."""
        return (self.read + self.written) / self.requests if self.requests else None


def loads(interval: Interval, disks: Mapping[str, Disk], chosen: Collection[str] | None) -> list[DiskLoad]:
    """Tell what these disks did, the busiest first; those that never did anything only if they are chosen."""
    found = [
        load
        for name, disk in disks.items()
        if (disk.reads or disk.writes or name in (chosen or ())) and (load := _load(name, disk, interval))
    ]
    return sorted(found, key=lambda load: (-(load.busy or 0.0), -(load.queue or 0.0), load.name))


def _load(name: str, disk: Disk, interval: Interval) -> DiskLoad | None:
    """Give None if it was not there at the last look, or is another one.

    The kernel's software RAID counts no times before Linux 5.14: they are always 0.
    """
    counted = [interval.rate(of_disk(name, field)) for field in disk._fields if field != "in_flight"]
    rates = [rate for rate in counted if rate is not None]
    if len(rates) < len(counted):
        return None
    reads, reads_merged, sectors_read, read_ms, writes, writes_merged, sectors_written, write_ms = rates[:8]
    busy_ms, queue_ms = rates[8:]
    is_timed = bool(disk.busy_ms)
    requests = reads + writes
    return DiskLoad(
        name,
        min(_FULL, busy_ms / 10) if is_timed else None,
        ((read_ms + write_ms) / requests / 1000 if requests else 0.0) if is_timed else None,
        queue_ms / 1000 if is_timed else None,
        reads,
        writes,
        sectors_read * SECTOR,
        sectors_written * SECTOR,
        reads_merged + writes_merged,
    )


def slowest(loads: Iterable[DiskLoad], fewest: float) -> DiskLoad | None:
    """Give the disk whose requests took longest, of those that had so many per second."""
    those = [load for load in loads if load.wait is not None and load.requests >= fewest]
    return max(those, key=lambda load: load.wait or 0.0, default=None)
