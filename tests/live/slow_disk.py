"""A disk that writes no faster than one says, for some processes: a limit of their own control group.

Only what is written past the page cache is slowed down in version 1 of control groups: O_DIRECT.
"""

import contextlib
import os
import uuid
from typing import NamedTuple

from software import Missing


class Kind(NamedTuple):
    """A version of control groups: where it is mounted, and how a limit is set and lifted."""

    root: str
    file: str
    limit: str
    unlimited: str


KINDS = (
    Kind("/sys/fs/cgroup/blkio", "blkio.throttle.write_bps_device", "{} {}", "{} 0"),
    Kind("/sys/fs/cgroup", "io.max", "{} wbps={}", "{} wbps=max"),
)


@contextlib.contextmanager
def slow_disk(processes, folder, rate):
    """Meanwhile the processes write so many octets per second at most, to the disk below that folder."""
    disk = device(folder)
    with _group() as (kind, group):
        before = {process.pid: _groups_of(process.pid, kind) for process in processes}
        _write(group, kind.file, kind.limit.format(disk, int(rate)))
        try:
            for pid in before:
                _write(group, "cgroup.procs", pid)
            yield
        finally:
            _write(group, kind.file, kind.unlimited.format(disk))
            for pid in _members(group):  # also those that they have started meanwhile
                with contextlib.suppress(ProcessLookupError):  # it has ended
                    _write(before.get(pid) or next(iter(before.values())), "cgroup.procs", pid)


def unavailable(folder):
    """Why no disk can be slowed down here, or None."""
    try:
        with slow_disk((), folder, 1 << 20):
            return None
    except (Missing, OSError) as error:
        return f"cannot slow down a disk here: {error}"


def device(folder):
    """The disk that the folder is on, as "major:minor"; of a partition, the whole."""
    number = os.stat(folder).st_dev
    name = f"{os.major(number)}:{os.minor(number)}"
    place = os.path.realpath(f"/sys/dev/block/{name}")
    if not os.path.isdir(place):
        raise Missing(f"{folder} is not on a block device")
    if os.path.exists(os.path.join(place, "partition")):
        with open(os.path.join(os.path.dirname(place), "dev")) as file:
            name = file.read().strip()
    return name


@contextlib.contextmanager
def _group():
    """A group of our own that can limit what is written, and its kind."""
    for kind in KINDS:
        group = os.path.join(kind.root, f"stallwatch-{uuid.uuid4().hex[:8]}")
        if not os.path.exists(os.path.join(kind.root, "cgroup.procs")):
            continue
        os.mkdir(group)
        try:
            if os.path.exists(os.path.join(group, kind.file)):
                yield kind, group
                return
        finally:
            os.rmdir(group)
    raise Missing("no control group that limits input and output")


def _groups_of(pid, kind):
    """The folder of the group that the process is in."""
    with open(f"/proc/{pid}/cgroup") as file:
        for line in file:
            _, controllers, path = line.rstrip("\n").split(":", 2)
            if controllers == os.path.basename(kind.root) or (not controllers and kind.file == "io.max"):
                return kind.root + path.rstrip("/")
    raise Missing(f"process {pid} is in no control group of {kind.root}")


def _members(group):
    """The numbers of the processes in the group."""
    with open(os.path.join(group, "cgroup.procs")) as file:
        return [int(line) for line in file]


def _write(group, name, value):
    with open(os.path.join(group, name), "w") as file:
        file.write(str(value))
