"""The host that we run on: its disks and its processors, without a shell.

Python itself tells the size of a file system and the processors that we may use.
"""

from __future__ import annotations

import os
import time

from stallwatch.sources import kernel
from stallwatch.startup import NamedTuple

_SYS_BLOCK = "/sys/dev/block"


class DiskUse(NamedTuple):
    """What a disk had done since the host was started."""

    at: float  # seconds, by a clock that never jumps
    busy: float  # seconds in which it had something to do
    waited: float  # seconds that its requests took, together
    requests: int


class DiskLoad(NamedTuple):
    """How much a disk had to do between two looks."""

    busy: float  # per cent of the time; of a disk that does several things at once 100 is not yet full
    wait: float  # seconds per request


def disk_of(directory: str) -> str | None:
    """Name the disk that a directory is on: "sda", "nvme0n1", "dm-0".

    None: there is no such directory here, or its file system has no block device of its own (overlay, tmpfs,
    ZFS, Btrfs). psutil knows file systems, not the disks below partitions.
    """
    try:
        device = os.stat(directory).st_dev
        path = os.path.realpath(f"{_SYS_BLOCK}/{os.major(device)}:{os.minor(device)}", strict=True)
    except OSError:
        return None
    if os.path.exists(f"{path}/partition"):
        path = os.path.dirname(path)
    return os.path.basename(path)


def disk_use(disk: str) -> DiskUse | None:
    """Look what a disk has done; None: the kernel does not count it."""
    try:
        one = kernel.disks()[disk]
    except (OSError, ValueError, KeyError):  # no /proc/diskstats, as in some containers
        return None
    waited = (one.read_ms + one.write_ms) / 1000
    return DiskUse(time.monotonic(), one.busy_ms / 1000, waited, one.reads + one.writes)


def disk_load(before: DiskUse, after: DiskUse) -> DiskLoad | None:
    """Tell what happened between two looks; None: no time has passed."""
    seconds = after.at - before.at
    if seconds <= 0:
        return None
    requests = after.requests - before.requests
    busy = min(100.0, max(0.0, 100 * (after.busy - before.busy) / seconds))
    return DiskLoad(busy, (after.waited - before.waited) / requests if requests > 0 else 0.0)


def free_bytes(directory: str) -> int | None:
    """Tell how many bytes of a directory's file system are free to others than root; None: not known."""
    try:
        of = os.statvfs(directory)
    except OSError:
        return None
    return of.f_bavail * of.f_frsize if of.f_blocks else None


def processors() -> int:
    """Count the processors that we may use."""
    return len(os.sched_getaffinity(0))
