"""What the threads of a process do: by the names that they have, or that the program knows them by.

All threads of ndbmtd are called ndbmtd; its log tells once, at each start, which is which. MySQL 9.7 names
most threads, older ones none (15 bytes: "ib_log_writer", "connection"); performance_schema knows them all.
MariaDB 10.11 names none, and tells those of connections in its process list.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from stallwatch.probes.mysql.statement import Statement, text, whole
from stallwatch.probes.mysqld_process.choosing import DATA_NODES
from stallwatch.probes.mysqld_process.node_log import start_of
from stallwatch.probes.mysqld_process.privileges import PERFORMANCE_SCHEMA, PROCESS
from stallwatch.sources import processes

TYPE_CHECKING = False  # typing itself costs every check 2 ms
if TYPE_CHECKING:
    from stallwatch.probes.mysql.asking import Asking
    from stallwatch.probes.mysqld_process.use import Seen

THREADS = Statement(
    "SELECT NAME AS name, THREAD_OS_ID AS os_id, PROCESSLIST_ID AS id, PROCESSLIST_USER AS user"
    " FROM performance_schema.threads WHERE THREAD_OS_ID IS NOT NULL",
    PERFORMANCE_SCHEMA,
)
CONNECTIONS = Statement(
    "SELECT 'connection' AS name, TID AS os_id, ID AS id, USER AS user FROM information_schema.PROCESSLIST"
    " WHERE TID IS NOT NULL",
    PROCESS,
)
_CONNECTION = "one_connection"  # of the thread pools, too
_ROLE = re.compile(rb" thr: (\d+) tid: (\d+) \((\w+)\)| id = (\d+), type = (\w+)\b")
_NUMBERED = re.compile(r"(.*?)(?:[-#](\d+))?", re.DOTALL)


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
    kind, which = _NUMBERED.fullmatch(name).groups("")  # type: ignore[union-attr]  # anything fits
    return Role(kind, which)


def known(seen: Seen, directory: str | None, asking: Asking | None) -> dict[int, Role]:
    """Tell what each thread does, by its id, as far as that can be known."""
    if seen.process.name in DATA_NODES:
        return named(seen) | _of_log(seen.process.pid, directory)
    return named(seen) | (_of_server(asking) if asking else {})


def _of_log(pid: int, directory: str | None) -> dict[int, Role]:
    directory = directory or processes.directory_of(pid)
    found = _ROLE.findall(start_of(pid, directory)) if directory else []
    return {
        int(tid or other): Role(role.decode(), number.decode()) if tid else Role(kind.decode())
        for number, tid, role, other, kind in found
    }


def _of_server(asking: Asking) -> dict[int, Role]:
    statement = CONNECTIONS if asking.server.flavour.mariadb else THREADS
    return {
        whole(row, "os_id"): _role(text(row, "name"), whole(row, "id"), text(row, "user"))
        for row in asking.rows(statement)
    }


def _role(name: str, connection: int, user: str) -> Role:
    short = name.removeprefix("thread/").removeprefix("sql/")
    if short in {_CONNECTION, "connection"}:
        return Role("connection", f"{connection} of {user}" if connection else "")
    return Role(short)
