"""What the kernel shows of a process, its log of its threads, and what is remembered of it."""

from __future__ import annotations

import contextlib
import os
import re
import time

from stallwatch import history
from stallwatch.probes.mysqld_process.model import DATA_NODES, Role, Snapshot
from stallwatch.sources import processes
from stallwatch.sources.following import opener
from stallwatch.startup import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from typing import Any

    from stallwatch.probes.mysqld_process.queries import QueriedServer
    from stallwatch.sources.processes import Running

_NAME = r"ndb_\d+_out\.log"
_ANGEL, _STARTED = b"Angel pid: ", b" started child: "
_LENGTHS = (1 << 20, 8 << 20, 64 << 20)  # bytes, one after another: to read these takes 30 ms
_LONGEST = 4 << 20  # bytes; a start among 48 nodes writes one of them
_ROLE = rb" thr: (\d+) tid: (\d+) \((\w+)\)| id = (\d+), type = (\w+)\b"
_KEPT = "process"
WINDOW = 3600.0  # seconds within which starts are counted
_SLACK = 5.0  # seconds by which our clock may be set between two looks


class LastProcess(NamedTuple):
    """The process of the last look, and its starts before and since that were seen."""

    id: list[float]  # its number, and when it was started
    at: float  # the last look, in seconds since the epoch
    starts: list[float]  # likewise, within the last hour


def take_snapshot(process: Running) -> Snapshot | None:
    """Look at a process; None: it is not there any more."""
    pid = process.pid
    task, status, now = processes.task(pid), processes.status(pid), time.time()
    if task is None or status is None or task.state == processes.ENDED:
        return None
    process = process._replace(age=processes.age(task))
    descriptors, limit = processes.descriptors(pid), processes.descriptor_limit(pid)
    found = Snapshot(process, task, status, descriptors, limit, (), now)
    return found if found.has_too_many_threads else found._replace(threads=tuple(processes.threads(pid)))


def roles(snapshot: Snapshot) -> dict[int, Role]:
    """Return what each thread is called, by its id.

    All threads of ndbmtd are called ndbmtd. MySQL 9.7 names most threads, older ones none (15 bytes:
    "ib_log_writer", "connection"); performance_schema knows them all. MariaDB 10.11 names none, and shows
    those of connections in its process list.
    """
    return {one.id: _numbered(one.name) for one in snapshot.threads}


def _numbered(name: str) -> Role:
    """Distinguish "ib_io_rd-1" and "GC Thread#1" from others of their kind."""
    kind = name.rstrip("0123456789")
    return Role(kind[:-1], name[len(kind) :]) if name != kind and kind.endswith(("-", "#")) else Role(name)


def exact_roles(snapshot: Snapshot, directory: str | None, server: QueriedServer | None) -> dict[int, Role]:
    """Return what each thread does, by its id, as far as a log or the server shows it."""
    if snapshot.process.name in DATA_NODES:
        return _roles_in_log(snapshot.process.pid, directory)
    return server.roles() if server else {}


def _roles_in_log(pid: int, directory: str | None) -> dict[int, Role]:
    """Read them in the log of a data node, which shows once, at each start, which is which."""
    directory = directory or processes.directory_of(pid)
    found = re.findall(_ROLE, start_of(pid, directory)) if directory else []
    return {
        int(tid or other): Role(role.decode(), number.decode()) if tid else Role(kind.decode())
        for number, tid, role, other, kind in found
    }


def start_of(pid: int, directory: str) -> bytes:
    """Read what a data node that works in a directory wrote when it started as this process.

    Its log begins that with "Angel pid: 996 started child: 1004".

    Nothing comes back if its last start was that of another process, or is not in the last 64 MiB of the log,
    or this is not for us to read.
    """
    with contextlib.suppress(OSError):
        for name in os.listdir(directory):
            if re.fullmatch(_NAME, name) and (start := _last_start(f"{directory}/{name}", pid)):
                return start
    return b""


def is_angel_in(pid: int, directory: str) -> bool:
    """Whether the last start in the log of a data node that works in a directory was made by this angel."""
    with contextlib.suppress(OSError):
        for name in os.listdir(directory):
            if re.fullmatch(_NAME, name) and _end_of(f"{directory}/{name}")[0] == pid:
                return True
    return False


def _last_start(log: str, pid: int) -> bytes:
    """Give what follows the last start, if that was of this process."""
    _, start = _end_of(log)
    return start if start.startswith(b"%b%d\n" % (_STARTED, pid)) else b""


def _end_of(log: str) -> tuple[int, bytes]:
    """Find the last start from the end of the log, which may be cut off or renamed meanwhile.

    Give the process of the angel, 0 if there is none, and the log from the number of its child on.
    """
    with open(log, "rb", opener=opener) as file:
        size = file.seek(0, os.SEEK_END)
        for length in _LENGTHS:
            file.seek(max(0, size - length))
            end = file.read(length)
            at = end.rfind(_STARTED)
            if at >= 0 or length >= size:
                break
    if at < 0:
        return 0, b""
    angel = re.search(rb"%b(\d{1,10})\Z" % _ANGEL, end[max(0, at - 30) : at])
    return int(angel[1]) if angel else 0, end[at : at + _LONGEST]


def remembered(memory: dict[str, Any]) -> LastProcess | None:
    """Return what is remembered; None: nothing, or it is none of ours."""
    return history.recall(memory, _KEPT, LastProcess)


def was_there(memory: dict[str, Any], snapshot: Snapshot) -> bool:
    """Whether this process was there at the last look already, which was at another one."""
    last = remembered(memory)
    return last is not None and last.id != _id(snapshot) and not _is_new(last, snapshot)


def remember(snapshot: Snapshot, memory: dict[str, Any]) -> bool:
    """Note which process this is and when it was started; whether there was another one at the last look.

    What is remembered of another process is forgotten.
    """
    last = remembered(memory)
    starts = [when for when in last.starts if snapshot.at - when < WINDOW] if last else []
    other = last is not None and last.id != _id(snapshot)
    if last and other and _is_new(last, snapshot):
        starts.append(snapshot.at - snapshot.age)
    if other:
        memory.clear()
    history.remember(memory, _KEPT, LastProcess(_id(snapshot), snapshot.at, starts))
    return other


def _id(snapshot: Snapshot) -> list[float]:
    return [snapshot.process.pid, snapshot.task.started]


def _is_new(last: LastProcess, snapshot: Snapshot) -> bool:
    return snapshot.age < snapshot.at - last.at + _SLACK
