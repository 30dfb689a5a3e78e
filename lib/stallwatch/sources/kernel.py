"""What the Linux kernel counts of the host that we run on, as /proc tells it.

Read here and not by psutil, which takes 40 ms to be imported, leaves out the time that requests spend in the
queue of a disk, takes all pages for 4 KiB, and swapping for 0 where it cannot be read (7.2.2).
"""

from __future__ import annotations

import os
from typing import NamedTuple

TYPE_CHECKING = False  # typing itself costs every check 2 ms
if TYPE_CHECKING:
    from collections.abc import Iterator

PLACE = "/proc"
SECTOR = 512  # bytes, whatever the disk's own sectors are (Documentation/admin-guide/iostats.rst)
_TICKS = os.sysconf("SC_CLK_TCK")
_PAGE = os.sysconf("SC_PAGE_SIZE")
_KIB = 1024
_WHOLE_LINE = 11  # numbers of a disk; partitions of Linux 2.6.24 and older have 4


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


class Interface(NamedTuple):
    """What has gone wrong with packets of a network interface, in both directions."""

    errors: int
    drops: int


def uptime() -> float:
    """Tell for how many seconds the host has been up, the time that it slept included. Raises OSError."""
    return float(_read("uptime").split()[0])


def load() -> tuple[float, float, float]:
    """Tell how many tasks ran, wanted to or waited for a disk, over 1, 5 and 15 minutes. Raises OSError."""
    one, five, fifteen, *_ = _read("loadavg").split()
    return float(one), float(five), float(fifteen)


def processors() -> dict[str, Processor]:
    """Tell what each processor has done, and as "cpu" all of them. Raises OSError."""
    rows = (line.split() for line in _read("stat").splitlines() if line.startswith("cpu"))
    fields = len(Processor._fields)
    return {name: Processor(*(int(ticks) / _TICKS for ticks in row[:fields])) for name, *row in rows}


def disks() -> dict[str, Disk]:
    """Tell what each block device has done. Raises OSError, as in containers without /proc/diskstats."""
    rows = (line.split() for line in _read("diskstats").splitlines())
    return {
        name: Disk(*map(int, numbers[:_WHOLE_LINE]))
        for _, _, name, *numbers in rows
        if len(numbers) >= _WHOLE_LINE
    }


def interfaces() -> dict[str, Interface]:
    """Tell what has gone wrong with packets of each network interface. Raises OSError."""
    found = {}
    for line in _read("net/dev").splitlines()[2:]:
        name, _, numbers = line.rpartition(":")  # "eth0:1" is an alias, "eth0:123" has no blank (2.6)
        each = [int(number) for number in numbers.split()]
        found[name.strip()] = Interface(each[2] + each[10], each[3] + each[11])
    return found


def memory() -> dict[str, int]:
    """Tell what memory there is, in bytes, by the names of /proc/meminfo. Raises OSError."""
    return {name: number * _KIB for name, number in _named("meminfo")}


def available() -> int:
    """Tell how much memory could be had without swapping, in bytes; a kernel older than 3.14 does not say."""
    import psutil

    psutil.PROCFS_PATH = PLACE
    return int(psutil.virtual_memory().available)


def swapped() -> tuple[int, int]:
    """Tell how many bytes were read from swap and written to it. Raises OSError."""
    counted = dict(_named("vmstat"))
    return counted.get("pswpin", 0) * _PAGE, counted.get("pswpout", 0) * _PAGE


def _named(file: str) -> Iterator[tuple[str, int]]:
    for line in _read(file).splitlines():
        name, number, *_ = line.split()
        yield name.rstrip(":"), int(number)


def _read(file: str) -> str:
    with open(f"{PLACE}/{file}", encoding="utf-8", errors="replace") as opened:
        return opened.read()
