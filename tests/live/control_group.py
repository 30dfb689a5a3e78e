"""A limit for some processes: a control group of their own, of version 1 or 2."""

import contextlib
import os
import time
import uuid
from typing import NamedTuple

from software import Missing

UNIFIED = "/sys/fs/cgroup"  # where version 2 is mounted
GONE = 10.0  # seconds in which processes that have ended leave their group


class Kind(NamedTuple):
    """A version of control groups: where it is mounted, and how limits are set and lifted.

    ``limits`` are (file, what sets it, what lifts it); {0}, {1} ... stand for what the user says.
    """

    root: str
    limits: tuple


@contextlib.contextmanager
def limited(processes, kinds, *told):
    """Meanwhile the processes are in a group with these limits, of the first kind that there is here."""
    with _group(kinds) as (kind, group):
        before = {process.pid: _groups_of(process.pid, kind) for process in processes}
        for file, limit, _ in kind.limits:
            _write(group, file, limit.format(*told))
        try:
            for pid in before:
                _write(group, "cgroup.procs", pid)
            yield
        finally:
            for file, _, unlimited in kind.limits:
                _write(group, file, unlimited.format(*told))
            for pid in _members(group):  # also those that they have started meanwhile
                with contextlib.suppress(ProcessLookupError):  # it has ended
                    _write(before.get(pid) or next(iter(before.values())), "cgroup.procs", pid)


@contextlib.contextmanager
def _group(kinds):
    """A group of our own that has such limits, and its kind."""
    for kind in kinds:
        group = os.path.join(kind.root, f"stallwatch-{uuid.uuid4().hex[:8]}")
        if not os.path.exists(os.path.join(kind.root, "cgroup.procs")):
            continue
        os.mkdir(group)
        try:
            if all(os.path.exists(os.path.join(group, file)) for file, _, _ in kind.limits):
                yield kind, group
                return
        finally:
            _remove(group)
    raise Missing(f"no control group that has {' or '.join(kind.limits[0][0] for kind in kinds)}")


def _remove(group):
    """Remove a group, once the last process that has ended in it is gone."""
    until = time.monotonic() + GONE
    while True:
        try:
            return os.rmdir(group)
        except OSError:
            if time.monotonic() > until:
                raise
            time.sleep(0.1)


def _groups_of(pid, kind):
    """The folder of the group that the process is in."""
    with open(f"/proc/{pid}/cgroup") as file:
        for line in file:
            _, controllers, path = line.rstrip("\n").split(":", 2)
            if os.path.basename(kind.root) in controllers.split(",") or not (
                controllers or kind.root != UNIFIED
            ):
                return kind.root + path.rstrip("/")
    raise Missing(f"process {pid} is in no control group of {kind.root}")


def _members(group):
    """The numbers of the processes in the group."""
    with open(os.path.join(group, "cgroup.procs")) as file:
        return [int(line) for line in file]


def _write(group, name, value):
    with open(os.path.join(group, name), "w") as file:
        file.write(str(value))
