"""The disk of a data node that runs on this host, while the samples are taken."""

from __future__ import annotations

import os
import re

from stallwatch.findings import Fault, ProbeError, State
from stallwatch.sources import host
from stallwatch.startup import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable

_FILES = re.compile(r"ndb_(\d{1,3})_fs")  # a data node's file system, in DataDir or FileSystemPath


class Busy(NamedTuple):
    """How busy a disk was."""

    disk: str
    load: host.DiskLoad


class Device(NamedTuple):
    """The disk below a directory, whose data nodes it is, and what it had done before the samples."""

    disk: str
    nodes: tuple[int, ...]
    before: host.DiskUse

    def busy(self) -> Busy | None:
        """Tell how busy it was since; None: it cannot be told any more."""
        after = host.disk_use(self.disk)
        load = host.disk_load(self.before, after) if after else None
        return Busy(self.disk, load) if load else None


def look(directories: Iterable[str]) -> tuple[list[Device], list[Fault | ProbeError]]:
    """Find the disks of these directories, and say of which ones that cannot be done."""
    devices: list[Device] = []
    problems: list[Fault | ProbeError] = []
    for directory in directories:
        try:
            devices.append(_device(directory))
        except ProbeError as problem:
            problems.append(problem)
        except LookupError as why:
            problems.append(Fault(State.OK, f"the disk of {directory} cannot be looked at: {why}"))
    return devices, problems


def _device(directory: str) -> Device:
    try:
        names = [*os.listdir(directory), os.path.basename(os.path.abspath(directory))]
    except OSError as error:
        raise ProbeError(f"--data-dir {directory}: {error.strerror}") from None
    nodes = sorted(int(found[1]) for found in map(_FILES.fullmatch, names) if found)
    if not nodes:
        advice = "name the DataDir or FileSystemPath of a data node on this host"
        raise ProbeError(f"--data-dir {directory} has no data node's files: no ndb_N_fs is there", advice)
    disk = host.disk_of(directory)
    if disk is None:
        raise LookupError("it has no block device of its own")
    before = host.disk_use(disk)
    if before is None:
        raise LookupError(f"the kernel does not count what {disk} does")
    return Device(disk, tuple(nodes), before)


def busiest(devices: Iterable[Device]) -> dict[int, Busy]:
    """Tell, by data node, the busiest of its disks since: it may have several (FileSystemPathDD)."""
    found: dict[int, Busy] = {}
    for device in devices:
        busy = device.busy()
        for node in device.nodes if busy else ():
            if busy and (node not in found or busy.load.busy > found[node].load.busy):
                found[node] = busy
    return found
