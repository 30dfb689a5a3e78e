"""What the Linux kernel shows of the host that we run on: what it counts, as psutil has it, and its bonds.

Where psutil has no number, or a wrong one (5.9.4 to 7.2.2), the files of /proc are read here; each reason is
beside its code.
"""

from __future__ import annotations

import errno
import os
import re

from stallwatch.sources.recording import of_host
from stallwatch.startup import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

PLACE = "/proc"
BONDS = "/proc/net/bonding"
_NET = "/sys/class/net"
SECTOR = 512  # bytes, whatever the disk's own sectors are (Documentation/admin-guide/iostats.rst)
_TICKS = os.sysconf("SC_CLK_TCK")
_PAGE = os.sysconf("SC_PAGE_SIZE")
_KIB = 1024
_WHOLE_LINE = 11  # numbers of a disk; partitions of Linux 2.6.24 and older have 4, and no queue
_IN_FLIGHT, _QUEUE_MS = 8, 10  # their places among them
_UPTIME = r"[0-9]{1,12}(?:\.[0-9]{1,9})?(?=\s)"
_LONGEST = 20  # digits of 64 bits
_NEXT_KIND = 4  # numbers of discards, which begin with how many are done; then those of flushes


class Processor(NamedTuple):
    """What a processor, or all of them, have spent their time with, in seconds (man proc, /proc/stat)."""

    user: float
    nice: float
    system: float
    idle: float
    iowait: float = 0.0
    irq: float = 0.0
    softirq: float = 0.0
    steal: float = 0.0  # the hypervisor gave the processor to somebody else
    guest: float = 0.0  # is counted in ``user``, too
    guest_nice: float = 0.0  # is counted in ``nice``, too


class Disk(NamedTuple):
    """What a disk has done since the host was started; times in milliseconds, of 32 bits each."""

    reads: int
    reads_merged: int
    sectors_read: int
    read_ms: int
    writes: int
    writes_merged: int
    sectors_written: int
    write_ms: int
    in_flight: int  # right now
    busy_ms: int
    queue_ms: int  # of all requests together, those in flight too
    others: int = 0  # discards (since Linux 4.18) and flushes (5.5) that are done


class Interface(NamedTuple):
    """What has gone wrong with packets of a network interface, in both directions."""

    errors: int
    drops: int


class Memory(NamedTuple):
    """Memory in bytes."""

    total: int
    available: int

    @property
    def share_available(self) -> float:
        """How much of it is available, in per cent."""
        return 100 * self.available / self.total


def asked(question: str, **how: Any) -> Any:
    """Give what psutil answers, which looks where we do, at ``PLACE``, for this question alone.

    Imported here alone, and by nobody who asks it nothing: it takes as long as Python's own start. Raises
    ModuleNotFoundError, OSError, and whatever a file makes of it that is not as psutil knows it.
    """
    import psutil

    before, psutil.PROCFS_PATH = psutil.PROCFS_PATH, PLACE
    try:
        return getattr(psutil, question)(**how)
    finally:
        psutil.PROCFS_PATH = before


@of_host
def uptime() -> float:
    """Return for how many seconds the host has been up, the time that it slept included. Raises OSError.

    psutil shows only when it was started, in whole seconds by a clock that is set.
    """
    told = re.match(_UPTIME, _read("uptime"))
    if not told:
        raise OSError(errno.EBADMSG, "it shows no time", f"{PLACE}/uptime")
    return float(told[0])


@of_host
def boot() -> str | None:
    """Name the start of the host: another name after each; None: not known. psutil has none."""
    try:
        return _read("sys/kernel/random/boot_id").strip() or None
    except OSError:
        return None


@of_host
def load() -> tuple[float, float, float]:
    """Return how many tasks ran, wanted to or waited for a disk, over 1, 5 and 15 minutes. Raises OSError.

    psutil asks the C library, which looks at no other place and does not report what it could not read.
    """
    one, five, fifteen, *_ = _read("loadavg").split()
    return float(one), float(five), float(fifteen)


@of_host
def processors() -> dict[str, Processor]:
    """Return what each processor has done, and as "cpu" all of them. Raises OSError, ValueError, TypeError.

    psutil does not name them: where the second of three is off-line, it has the third in its place.
    """
    rows = [line.split() for line in _read("stat").splitlines() if line.startswith("cpu")]
    fields = len(Processor._fields)
    each = {name: Processor(*(counted(ticks) / _TICKS for ticks in row[:fields])) for name, *row in rows}
    if "cpu" not in each:
        raise ValueError
    return each | {"cpu": Processor(*asked("cpu_times")[:fields])}


@of_host
def disks() -> dict[str, Disk]:
    """Return what each block device has done. Raises OSError, as without /proc/diskstats; ValueError."""
    rest = _queues()  # first: where there is no such file psutil goes on to /sys, wherever we look
    told = asked("disk_io_counters", perdisk=True, nowrap=False)
    return {
        name: Disk(
            one.read_count, one.read_merged_count, one.read_bytes // SECTOR, one.read_time,
            one.write_count, one.write_merged_count, one.write_bytes // SECTOR, one.write_time,
            busy_ms=one.busy_time, **rest[name],
        )
        for name, one in told.items()
        if name in rest
    }  # fmt: skip


def _queues() -> dict[str, dict[str, int]]:
    """Return for each disk what psutil leaves out: what waits, how long, discards and flushes."""
    rows = (line.split() for line in _read("diskstats").splitlines())
    found = {name: [*map(counted, numbers)] for _, _, name, *numbers in rows if len(numbers) >= _WHOLE_LINE}
    return {
        name: {
            "in_flight": numbers[_IN_FLIGHT],
            "queue_ms": numbers[_QUEUE_MS],
            "others": sum(numbers[_WHOLE_LINE::_NEXT_KIND]),
        }
        for name, numbers in found.items()
    }


@of_host
def interfaces() -> dict[str, Interface]:
    """Return what has gone wrong with packets of each network interface. Raises OSError, ValueError."""
    told = asked("net_io_counters", pernic=True, nowrap=False)
    if not told:  # each network namespace has a lo
        raise ValueError
    return {name: Interface(one.errin + one.errout, one.dropin + one.dropout) for name, one in told.items()}


@of_host
def memory() -> Memory:
    """Return how much memory there is, and how much could be had without swapping.

    Raises OSError, ValueError, KeyError.
    """
    import warnings

    with warnings.catch_warnings(action="ignore"):  # of numbers that nobody asks for
        told = asked("virtual_memory")
    # 0 is what a full host has; psutil estimates then, as it does where nothing is said (before Linux 3.14).
    says = dict(_named("meminfo")).get("MemAvailable")
    if not told.total:
        raise ValueError
    return Memory(told.total, told.available if says is None else says * _KIB)


@of_host
def swapped() -> tuple[int, int]:
    """Return how many bytes were read from swap and written to it. Raises OSError, KeyError.

    psutil takes all pages for 4 KiB, and returns 0 where they are not to be read.
    """
    counted = dict(_named("vmstat"))
    return counted["pswpin"] * _PAGE, counted["pswpout"] * _PAGE


@of_host
def stalled(resource: str) -> float | None:
    """Return for how long some task had to wait for "cpu", "io" or "memory", in seconds since the start.

    None: the kernel does not show it (CONFIG_PSI, psi=0). psutil does not have it.
    """
    try:
        return int(_read(f"pressure/{resource}").partition(" total=")[2].split()[0]) / 1e6
    except (OSError, ValueError, IndexError):
        return None


@of_host
def bonds() -> dict[str, str] | None:
    """Give what it shows of each bond in our network namespace; None: no driver is loaded. Raises OSError.

    The file of a bond shows less to a user without CAP_NET_ADMIN: nothing of the partner (since Linux 4.3).
    """
    try:
        names = sorted(os.listdir(BONDS))
    except FileNotFoundError:
        return None
    found = {}
    for name in names:
        try:
            with open(f"{BONDS}/{name}", encoding="utf-8", errors="replace") as file:
                found[name] = file.read()
        except FileNotFoundError:
            continue  # it was removed a moment ago
    return found


@of_host
def port_state(link: str) -> int | None:
    """Give the state of a link in LACP, bits of IEEE 802.3ad; anybody may read it. None: not known."""
    try:
        with open(f"{_NET}/{link}/bonding_slave/ad_actor_oper_port_state", encoding="ascii") as file:
            return int(file.read())
    except (OSError, ValueError):
        return None


def _named(file: str) -> Iterator[tuple[str, int]]:
    for line in _read(file).splitlines():
        name, number, *_ = line.split()
        yield name.rstrip(":"), counted(number)


def counted(digits: str | bytes) -> int:
    """Read a number of at most 64 bits; raises ValueError."""
    if len(digits) > _LONGEST:
        raise ValueError(digits)
    return int(digits)


def _read(file: str) -> str:
    with open(f"{PLACE}/{file}", encoding="utf-8", errors="replace") as opened:
        return opened.read()
