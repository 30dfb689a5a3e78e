"""What the Linux kernel counts of the host that we run on, as /proc tells it.

Read here and not by psutil, which takes 40 ms to be imported, leaves out the time that requests spend in the
queue of a disk, takes all pages for 4 KiB, and swapping for 0 where it cannot be read (7.2.2).
"""

from __future__ import annotations

import errno
import os
import re

from stallwatch.startup import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator

PLACE = "/proc"
SECTOR = 512  # bytes, whatever the disk's own sectors are (Documentation/admin-guide/iostats.rst)
_TICKS = os.sysconf("SC_CLK_TCK")
_PAGE = os.sysconf("SC_PAGE_SIZE")
_KIB = 1024
_WHOLE_LINE = 11  # numbers of a disk; partitions of Linux 2.6.24 and older have 4
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


def uptime() -> float:
    """Tell for how many seconds the host has been up, the time that it slept included. Raises OSError."""
    told = re.match(_UPTIME, _read("uptime"))
    if not told:
        raise OSError(errno.EBADMSG, "it tells no time", f"{PLACE}/uptime")
    return float(told[0])


def boot() -> str | None:
    """Name the start of the host: another name after each; None: it is not told."""
    try:
        return _read("sys/kernel/random/boot_id").strip() or None
    except OSError:
        return None


def load() -> tuple[float, float, float]:
    """Tell how many tasks ran, wanted to or waited for a disk, over 1, 5 and 15 minutes. Raises OSError."""
    one, five, fifteen, *_ = _read("loadavg").split()
    return float(one), float(five), float(fifteen)


def processors() -> dict[str, Processor]:
    """Tell what each processor has done, and as "cpu" all of them. Raises OSError, ValueError."""
    rows = (line.split() for line in _read("stat").splitlines() if line.startswith("cpu"))
    fields = len(Processor._fields)
    found = {name: Processor(*(counted(ticks) / _TICKS for ticks in row[:fields])) for name, *row in rows}
    if "cpu" not in found:
        raise ValueError
    return found


def disks() -> dict[str, Disk]:
    """Tell what each block device has done. Raises OSError, as in containers without /proc/diskstats."""
    rows = (line.split() for line in _read("diskstats").splitlines())
    return {
        name: Disk._make(_counted([counted(number) for number in numbers]))
        for _, _, name, *numbers in rows
        if len(numbers) >= _WHOLE_LINE
    }


def _counted(numbers: list[int]) -> list[int]:
    return [*numbers[:_WHOLE_LINE], sum(numbers[_WHOLE_LINE::_NEXT_KIND])]


def interfaces() -> dict[str, Interface]:
    """Tell what has gone wrong with packets of each network interface. Raises OSError, ValueError."""
    found = {}
    for line in _read("net/dev").splitlines()[2:]:
        name, _, numbers = line.rpartition(":")  # "eth0:1" is an alias, "eth0:123" has no blank (2.6)
        each = [counted(number) for number in numbers.split()]
        found[name.strip()] = Interface(each[2] + each[10], each[3] + each[11])
    if not found:  # each network namespace has a lo
        raise ValueError
    return found


def memory() -> dict[str, int]:
    """Tell what memory there is, in bytes, by the names of /proc/meminfo. Raises OSError."""
    return {name: number * _KIB for name, number in _named("meminfo")}


def available() -> int:
    """Tell how much memory could be had without swapping, in bytes. Raises OSError, KeyError.

    A kernel older than 3.14 does not say, and it is estimated as later ones do (Linux commit 34e431b0ae39):
    what is free above the low watermarks, and caches but for what the kernel would keep of them.
    """
    told = memory()
    if "MemAvailable" in told:
        return told["MemAvailable"]
    low = _watermarks()
    caches = (told["Active(file)"] + told["Inactive(file)"], told.get("SReclaimable", 0))
    return max(0, told["MemFree"] - low + sum(cache - min(cache // 2, low) for cache in caches))


def _watermarks() -> int:
    try:
        rows = [line.split() for line in _read("zoneinfo").splitlines()]
    except OSError:
        return 0
    return sum(counted(row[1]) for row in rows if row[:1] == ["low"]) * _PAGE


def swapped() -> tuple[int, int]:
    """Tell how many bytes were read from swap and written to it. Raises OSError, KeyError."""
    counted = dict(_named("vmstat"))
    return counted["pswpin"] * _PAGE, counted["pswpout"] * _PAGE


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
