"""The host that we run on: its disks, what is below a directory, its processors, without a shell.

Python itself has the size of a file system and the processors that we may use.
"""

from __future__ import annotations

import os
import time

from stallwatch.sources import kernel
from stallwatch.sources.recording import of_host
from stallwatch.startup import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator

_SYS_BLOCK = "/sys/dev/block"
_MOUNTS = "/proc/self/mountinfo"
_PLACE = 4  # the field with the place, from 0


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


class NoBlocksError(Exception):
    """A directory is on no block device; the message is a sentence for a person."""


class Mount(NamedTuple):
    """A file system and where it is mounted."""

    place: str
    kind: str  # "ext4", "nfs4", "overlay"
    source: str  # "/dev/sda1", "filer:/export"


@of_host
def disk_of(directory: str) -> str | None:
    """Name the disk that a directory is on: "sda", "nvme0n1", "dm-0".

    None: there is no such directory here, or its file system has no block device of its own (overlay, tmpfs,
    ZFS, Btrfs). psutil knows file systems, not the disks below partitions.
    """
    try:
        device = _device(os.stat(directory).st_dev)
    except OSError:
        return None
    return device and os.path.basename(device)


@of_host
def disk_use(disk: str) -> DiskUse | None:
    """Look what a disk has done; None: the kernel does not count it."""
    try:
        one = kernel.disks()[disk]
    except (OSError, ValueError, KeyError):  # no /proc/diskstats, as in some containers
        return None
    waited = (one.read_ms + one.write_ms) / 1000
    return DiskUse(time.monotonic(), one.busy_ms / 1000, waited, one.reads + one.writes)


def disk_load(before: DiskUse, after: DiskUse) -> DiskLoad | None:
    """Return what happened between two looks; None: no time has passed."""
    seconds = after.at - before.at
    if seconds <= 0:
        return None
    requests = after.requests - before.requests
    busy = min(100.0, max(0.0, 100 * (after.busy - before.busy) / seconds))
    return DiskLoad(busy, (after.waited - before.waited) / requests if requests > 0 else 0.0)


@of_host
def free_bytes(directory: str) -> int | None:
    """Return how many bytes of a directory's file system are free to others than root; None: not known."""
    try:
        of = os.statvfs(directory)
    except OSError:
        return None
    return of.f_bavail * of.f_frsize if of.f_blocks else None


@of_host
def processors() -> int:
    """Count the processors that we may use."""
    return len(os.sched_getaffinity(0))


@of_host
def below(directory: str) -> list[str]:
    """Name the block devices below a directory, those that others are made of last: ``["dm-0", "sda"]``.

    A partition is named after its disk. Raises NoBlocksError.
    """
    try:
        number = os.stat(directory).st_dev
    except OSError as error:
        raise NoBlocksError(f"{directory}: {error.strerror}") from None
    device = _device(number) or _device(_source(directory))
    if device is None:
        raise NoBlocksError(_why_none(directory))
    return list(dict.fromkeys(_with_parts(device)))


@of_host
def name_of(device: str) -> str | None:
    """Give the name that an administrator knows a device-mapper device by: ``vg0-mysql`` for dm-0."""
    try:
        with open(f"/sys/block/{device}/dm/name", encoding="utf-8") as file:
            return file.read().strip()
    except OSError:
        return None


def _device(number: int | None) -> str | None:
    """Find the folder of a block device, or of the disk that it is a partition of."""
    if number is None:
        return None
    path = os.path.realpath(f"{_SYS_BLOCK}/{os.major(number)}:{os.minor(number)}")
    if not os.path.isdir(path):
        return None
    return os.path.dirname(path) if os.path.exists(f"{path}/partition") else path


def _with_parts(device: str) -> Iterator[str]:
    yield os.path.basename(device).replace("!", "/")  # cciss/c0d0 is "cciss!c0d0" in /sys
    try:
        parts = sorted(os.listdir(f"{device}/slaves"))
    except OSError:
        return
    for part in parts:
        path = os.path.realpath(f"{device}/slaves/{part}")
        yield from _with_parts(os.path.dirname(path) if os.path.exists(f"{path}/partition") else path)


def _source(directory: str) -> int | None:
    """Find what a file system is mounted from: that of Btrfs has a number that is no block device's."""
    mount = _mount(directory)
    try:
        return os.stat(mount.source).st_rdev if mount and mount.source.startswith("/dev/") else None
    except (OSError, ValueError):  # a NUL is in no path
        return None


def _why_none(directory: str) -> str:
    mount = _mount(directory)
    kind = f"{mount.kind} ({mount.source}), which" if mount else "a file system that"
    return f"{directory} is on {kind} is on no block device that is seen here: name its disk with --disk"


def _mount(directory: str) -> Mount | None:
    """Find the file system of a directory (man proc, /proc/PID/mountinfo)."""
    wanted = f"{os.path.realpath(directory)}/"
    found = [mount for mount in _mounts() if wanted.startswith(f"{mount.place.rstrip('/')}/")]
    return max(
        reversed(found), key=lambda mount: len(mount.place), default=None
    )  # the last one covers others


def _mounts() -> Iterator[Mount]:
    try:
        with open(_MOUNTS, encoding="utf-8", errors="surrogateescape") as file:
            lines = file.read().splitlines()
    except OSError:
        return
    for line in lines:
        before, _, after = line.partition(" - ")
        fields, about = before.split(" "), after.split(" ")
        if len(fields) > _PLACE and len(about) > 1:
            yield Mount(_plain(fields[_PLACE]), *about[:2])


def _plain(place: str) -> str:
    for escaped, letter in ((r"\040", " "), (r"\011", "\t"), (r"\012", "\n"), (r"\134", "\\")):
        place = place.replace(escaped, letter)
    return place
