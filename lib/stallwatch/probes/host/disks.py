"""How much disks had to do between two looks, in the figures of ``iostat -x``."""

from __future__ import annotations

from stallwatch.probes.host.counters import of_disk
from stallwatch.sources.kernel import SECTOR
from stallwatch.startup import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping

    from stallwatch.history.delta import Interval
    from stallwatch.sources.kernel import Disk

_FULL = 100.0
_NEGATIVE = 1 << 31  # in flight are less than none: drivers of old kernels have miscounted
_COUNTED = ("reads", "reads_merged", "sectors_read", "writes", "writes_merged", "sectors_written", "others")


class DiskLoad(NamedTuple):
    """What a disk did; the names that iostat has for it stand behind."""

    name: str
    busy: float | None  # per cent of the time (%util); None: the kernel has not counted it
    wait: float | None  # seconds per request, in the queue and in the disk (await); None: none was completed
    queue: float | None  # requests, on average (aqu-sz, avgqu-sz)
    reads: float  # per second (r/s)
    writes: float  # per second (w/s)
    read: float  # bytes per second (rkB/s)
    written: float  # bytes per second (wkB/s)
    merged: float  # requests per second that became part of another one (rrqm/s + wrqm/s)
    waiting: int = 0  # requests in flight at the end
    silent: float = 0.0  # seconds for which these have waited, at least, and nothing was completed

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

    The kernel's software RAID counts no times before Linux 5.14: they are always 0. A time that went back by
    itself is not known.
    """
    rates = {field: interval.rate(of_disk(name, field)) for field in disk._fields}
    if any(rates[field] is None for field in _COUNTED):
        return None
    rate = {field: number or 0.0 for field, number in rates.items()}
    is_timed = bool(disk.busy_ms)
    busy_ms, queue_ms = (rates[field] if is_timed else None for field in ("busy_ms", "queue_ms"))
    busy = None if busy_ms is None else min(_FULL, busy_ms / 10)
    silent = _silent(name, disk, interval, busy or 0.0)
    requests = rate["reads"] + rate["writes"]
    wait = silent or None
    if requests and is_timed and None not in {rates["read_ms"], rates["write_ms"]}:
        wait = (rate["read_ms"] + rate["write_ms"]) / requests / 1000
    return DiskLoad(
        name,
        busy,
        wait,
        None if queue_ms is None else queue_ms / 1000,
        rate["reads"],
        rate["writes"],
        rate["sectors_read"] * SECTOR,
        rate["sectors_written"] * SECTOR,
        rate["reads_merged"] + rate["writes_merged"],
        disk.in_flight,
        silent,
    )


def _silent(name: str, disk: Disk, interval: Interval, busy: float) -> float:
    """Tell for how long requests have waited, at least, if nothing was completed in the interval.

    Those that were in flight at its beginning still are; else the disk has been busy since they came.
    """
    done = sum(interval.counts.get(of_disk(name, field), 0.0) for field in ("reads", "writes", "others"))
    if done or not 0 < disk.in_flight < _NEGATIVE:
        return 0.0
    since = disk.in_flight - interval.counts.get(of_disk(name, "in_flight"), disk.in_flight)
    return interval.seconds if since > 0 else interval.seconds * busy / _FULL


def slowest(loads: Iterable[DiskLoad]) -> DiskLoad | None:
    """Give the disk whose requests took longest, however few there were: one that is dying serves few."""
    those = [load for load in loads if load.wait is not None]
    return max(those, key=lambda load: load.wait or 0.0, default=None)
