"""What a host did between two looks: processors, swap, network, and disks in the figures of ``iostat -x``."""

from __future__ import annotations

from stallwatch.probes.host.collect import ALL, of_disk
from stallwatch.sources.kernel import SECTOR
from stallwatch.startup import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping, Sequence

    from stallwatch.history.delta import Interval
    from stallwatch.probes.host.collect import Snapshot
    from stallwatch.sources.kernel import Disk

_STATES = ("user", "nice", "system", "idle", "iowait", "irq", "softirq", "steal")
_FULL = 100.0
_NEGATIVE = 1 << 31  # in flight are less than none: drivers of old kernels have miscounted
_COUNTED = ("reads", "reads_merged", "sectors_read", "writes", "writes_merged", "sectors_written", "others")


class Use(NamedTuple):
    """What processors spent their time with, in per cent of all of it."""

    user: float  # with those of lower priority
    system: float  # with interrupts
    iowait: float  # idle, while a task waited for a disk
    steal: float  # the hypervisor gave it to somebody else
    busiest: float  # of the busiest processor alone, what is neither idle nor iowait

    @property
    def busy(self) -> float:
        """All that is neither idle nor iowait."""
        return self.user + self.system + self.steal


class Trouble(NamedTuple):
    """Packets per second with errors, and packets that were dropped, of one network interface."""

    interface: str
    errors: float
    drops: float


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


class Activity(NamedTuple):
    """What a host did between two looks; None: it is not known (yet)."""

    snapshot: Snapshot  # at the end
    places: Mapping[str, str]  # directories that disks were chosen for
    use: Use | None
    disks: Sequence[DiskLoad]  # the busiest first
    swapping: tuple[float, float] | None  # bytes per second: read, written
    network: Sequence[Trouble]

    @property
    def seconds(self) -> float:
        """How long that was; 0: there is nothing to compare with."""
        return self.snapshot.interval.seconds

    @property
    def load(self) -> float | None:
        """Tasks per processor that run, want to run or wait for a disk, over 5 minutes."""
        load, processors = self.snapshot.load, self.snapshot.processors
        return load[1] / processors if load and processors else None

    @property
    def slowest(self) -> DiskLoad | None:
        """The disk whose requests took longest, however few there were: one that is dying serves few."""
        those = [disk for disk in self.disks if disk.wait is not None]
        return max(those, key=lambda disk: disk.wait or 0.0, default=None)


def activity(snapshot: Snapshot, places: Mapping[str, str] | None) -> Activity:
    """Return what the host did until this snapshot; ``places`` are the disks that were chosen, None: all."""
    interval = snapshot.interval
    read, written = interval.rate("swap in"), interval.rate("swap out")
    return Activity(
        snapshot,
        places or {},
        processors(interval, snapshot.processors),
        loads(interval, snapshot.disks or {}, places),
        None if read is None or written is None else (read, written),
        list(_troubles(interval)),
    )


def processors(interval: Interval, several: int) -> Use | None:
    """Return how busy so many processors were; None: it is not known.

    What the kernel counts as iowait goes back now and then (man proc): that is none then. So does idle, when
    a processor goes off-line: all of the time is that of the processors then, which is known without it.
    """
    counts = {state: interval.counts.get(f"{ALL} {state}", 0.0) for state in _STATES}
    total = sum(counts.values())
    if not total:
        return None
    if f"{ALL} idle" not in interval.counts:
        total = max(total, interval.seconds * several)
    share = {state: 100 * seconds / total for state, seconds in counts.items()}
    each = [
        seconds
        for name, seconds in interval.counts.items()
        if name.startswith(ALL) and name.endswith(" busy")
    ]
    return Use(
        share["user"] + share["nice"],
        share["system"] + share["irq"] + share["softirq"],
        share["iowait"],
        share["steal"],
        min(100.0, 100 * max(each, default=0.0) * several / total),
    )


def _troubles(interval: Interval) -> Iterator[Trouble]:
    """Give for each network interface what went wrong; one whose counters began again is left out."""
    for name in interval.counts:
        kind, _, rest = name.partition(" ")
        interface, _, field = rest.rpartition(" ")
        if kind == "net" and field == "errors":
            drops = interval.rate(f"net {interface} drops")
            if drops is not None:
                yield Trouble(interface, interval.rate(name) or 0.0, drops)


def loads(interval: Interval, disks: Mapping[str, Disk], chosen: Collection[str] | None) -> list[DiskLoad]:
    """Give what these disks did, the busiest first; those that never did anything only if they are chosen."""
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
    """Return for how long requests have waited, at least, if nothing was completed in the interval.

    Those that were in flight at its beginning still are; else the disk has been busy since they came.
    """
    done = sum(interval.counts.get(of_disk(name, field), 0.0) for field in ("reads", "writes", "others"))
    if done or not 0 < disk.in_flight < _NEGATIVE:
        return 0.0
    since = disk.in_flight - interval.counts.get(of_disk(name, "in_flight"), disk.in_flight)
    return interval.seconds if since > 0 else interval.seconds * busy / _FULL
