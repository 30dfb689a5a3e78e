"""What the hosts of data nodes show: how busy their disks are, and what their logs show of the redo log."""

from __future__ import annotations

import os
import re
import time

from stallwatch.findings import Fault, ProbeError, State
from stallwatch.history import own
from stallwatch.startup import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from typing import Any

    from stallwatch.deadline import Deadline
    from stallwatch.findings import Finding, Reading
    from stallwatch.probes.ndb_log.collect import NodeLog, Snapshot
    from stallwatch.sources.host import DiskUse
    from stallwatch.sources.logs import Follow

_FILES = re.compile(r"ndb_(\d{1,3})_fs")  # a data node's file system, in DataDir or FileSystemPath


# A disk that is not busy proves nothing: one that a quota holds back, as in a cloud, was seen at 0 to 16 %
# while redo lagged (measured on 9.7.2).
_BUSY = 90.0  # per cent of the time
_LONG = 0.5  # seconds that a request takes
_SHOWS = 10.0  # per cent of the time; less is usual where somebody works


class Busy(NamedTuple):
    """How busy a disk was."""

    disk: str
    percent: float  # of the time
    wait: float = 0.0  # seconds per request
    stalled: float | None = None  # per cent of the time that some task of the host waited for any disk
    is_only: bool = True  # whether no other disk of the node is known: its files are on this one

    @property
    def is_busy(self) -> bool:
        """Whether it is busy nearly all the time."""
        return self.percent >= _BUSY

    @property
    def is_slow(self) -> bool:
        """Whether something is wrong with it."""
        return self.is_busy or self.wait >= _LONG

    @property
    def is_waited_for(self) -> bool:
        """Whether tasks of the host wait for its disks more than is usual."""
        return self.stalled is not None and self.stalled >= _SHOWS


class Device(NamedTuple):
    """The disk below a directory, whose data nodes it is, and what it had done before the samples."""

    disk: str
    nodes: tuple[int, ...]
    before: DiskUse
    stalled: float | None = None  # seconds that some task of the host had waited for any disk


def devices(directories: Iterable[str]) -> tuple[list[Device], list[Finding]]:
    """Find the disks of these directories, and report where that cannot be done."""
    found: list[Device] = []
    problems: list[Finding] = []
    for directory in directories:
        try:
            found.append(_device(directory))
        except ProbeError as problem:
            problems.append(problem)
        except LookupError as why:
            problems.append(Fault(State.OK, f"the disk of {directory} cannot be looked at: {why}"))
    return found, problems


def _device(directory: str) -> Device:
    from stallwatch.sources import host, kernel

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
    return Device(disk, tuple(nodes), before, kernel.stalled("io"))


def busiest(devices: Iterable[Device]) -> dict[int, Busy]:
    """Return, by data node, the busiest of its disks since: it may have several (FileSystemPathDD)."""
    from stallwatch.sources import host, kernel

    found: dict[int, Busy] = {}
    for device in devices:
        after = host.disk_use(device.disk)
        load = host.disk_load(device.before, after) if after else None
        if after is None or load is None:  # it is not known any more
            continue
        stalled = _stalled(device, kernel.stalled("io"), after.at)
        for node in device.nodes:
            busy, other = Busy(device.disk, load.busy, load.wait, stalled), found.get(node)
            worst = busy if other is None or busy.percent > other.percent else other
            is_only = other is None or (other.is_only and other.disk == busy.disk)
            found[node] = worst._replace(is_only=is_only)
    return found


def _stalled(device: Device, now: float | None, at: float) -> float | None:
    if now is None or device.stalled is None:
        return None
    return min(100.0, max(0.0, 100 * (now - device.stalled) / (at - device.before.at)))


class Heard(NamedTuple):
    """What the logs of one data node show, as far as it still counts."""

    node: int | None  # None: the log does not show whose it is
    full: Reading  # median seconds of its full episodes, 0: none
    lag: Reading  # seconds, 0: none
    problems: tuple[Fault, ...]  # not cleared
    blames_disk: bool | None  # False: the buffer; None: it shows neither

    @property
    def worst(self) -> Reading:
        """The lag, or how long buffers were full where none lagged."""
        return self.lag if self.lag.value else self.full

    def and_more(self, other: Heard) -> Heard:
        """Put two logs of one node together, as of before and after a rotation: the worst of both counts."""
        return Heard(
            self.node,
            max(self.full, other.full, key=_value),
            max(self.lag, other.lag, key=_value),
            tuple(dict.fromkeys((*self.problems, *other.problems))),
            max(self.blames_disk, other.blames_disk, key=(None, False, True).index),
        )


def read_logs(
    patterns: Sequence[str], hold: float, memory: dict[str, Any], deadline: Deadline
) -> tuple[list[Heard], list[Finding]]:
    """Read on in the logs of data nodes, which count for ``hold`` seconds; ``memory`` has where they end."""
    from stallwatch.probes.ndb_log.collect import collect
    from stallwatch.probes.ndb_log.model import Rules
    from stallwatch.sources import logs

    def follow(path: str, kept: dict[str, Any] | None) -> Follow:
        deadline.doing = f"reading {path}"
        return logs.Follow(path, kept, left=deadline.left)

    kept = own(memory, "logs")
    rules = Rules(now=time.time(), hold=hold)
    return hear(collect(logs.named(patterns, kept), follow, kept, rules))


def hear(snapshot: Snapshot) -> tuple[list[Heard], list[Finding]]:
    """Take from the logs that were read what is about the redo log, by node; and problems of the logs."""
    heard: dict[int | None, Heard] = {}
    findings: list[Finding] = [*snapshot.problems, *(Fault(State.OK, aside) for aside in snapshot.asides)]
    for log in snapshot.logs:
        node = log.node.id
        if log.node.is_cluster_log:
            continue  # a management node's, which ndb_*_out.log fits, too
        if node is None:
            what = f"{log.path} does not name its data node: it is no evidence for any"
            findings.append(Fault(State.OK, f"{what}, unless it is called ndb_N_out.log"))
        one = _heard(log)
        heard[node] = heard[node].and_more(one) if node in heard else one
    if snapshot.logs and not heard:
        what = f"{snapshot.logs[0].path} is a management node's, which shows no full redo buffers"
        findings.append(ProbeError(what, "name the data nodes' ndb_N_out.log with --log"))
    return list(heard.values()), findings


def _heard(log: NodeLog) -> Heard:
    full, lag = log.redo.readings()
    return Heard(log.node.id, full, lag, tuple(log.redo.problems()), log.redo.blames_disk)


def _value(reading: Reading) -> float:
    return reading.value or 0
