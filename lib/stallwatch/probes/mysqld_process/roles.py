"""What the threads of a process do: by the names that they have, or that the program knows them by.

All threads of ndbmtd are called ndbmtd; its log tells once, at each start, which is which. MySQL 9.7 names
most threads, older ones none (15 bytes: "ib_log_writer", "connection"); performance_schema knows them all.
MariaDB 10.11 names none, and tells those of connections in its process list.
"""

from __future__ import annotations

import re

from stallwatch.probes.mysqld_process.choosing import DATA_NODES
from stallwatch.probes.mysqld_process.node_log import start_of
from stallwatch.sources import processes
from stallwatch.startup import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from stallwatch.probes.mysql.asking import Asking
    from stallwatch.probes.mysqld_process.use import Seen

_ROLE = rb" thr: (\d+) tid: (\d+) \((\w+)\)| id = (\d+), type = (\w+)\b"


class Role(NamedTuple):
    """What a thread does; ``which`` tells it from others that do the same."""

    name: str
    which: str = ""

    def __str__(self) -> str:
        return f"{self.name} {self.which}".rstrip()


def named(seen: Seen) -> dict[int, Role]:
    """Tell what each thread is called, by its id."""
    return {one.id: _numbered(one.name) for one in seen.threads}


def _numbered(name: str) -> Role:
    """Tell "ib_io_rd-1" and "GC Thread#1" from others of their kind."""
    kind = name.rstrip("0123456789")
    return Role(kind[:-1], name[len(kind) :]) if name != kind and kind.endswith(("-", "#")) else Role(name)


def known(seen: Seen, directory: str | None, asking: Asking | None) -> dict[int, Role]:
    """Tell what each thread does, by its id, as far as that can be known."""
    if seen.process.name in DATA_NODES:
        return named(seen) | _of_log(seen.process.pid, directory)
    if asking is None:
        return named(seen)
    from stallwatch.probes.mysqld_process.told_roles import told

    return named(seen) | told(asking)


def _of_log(pid: int, directory: str | None) -> dict[int, Role]:
    directory = directory or processes.directory_of(pid)
    found = re.findall(_ROLE, start_of(pid, directory)) if directory else []
    return {
        int(tid or other): Role(role.decode(), number.decode()) if tid else Role(kind.decode())
        for number, tid, role, other, kind in found
    }
