"""What the threads of a server do, as it tells itself."""

from __future__ import annotations

from stallwatch.probes.mysql.statement import Statement, text, whole
from stallwatch.probes.mysqld_process.privileges import PERFORMANCE_SCHEMA, PROCESS
from stallwatch.probes.mysqld_process.roles import Role
from stallwatch.startup import TYPE_CHECKING

if TYPE_CHECKING:
    from stallwatch.probes.mysql.asking import Asking

_THREADS = Statement(
    "SELECT NAME AS name, THREAD_OS_ID AS os_id, PROCESSLIST_ID AS id, PROCESSLIST_USER AS user"
    " FROM performance_schema.threads WHERE THREAD_OS_ID IS NOT NULL",
    PERFORMANCE_SCHEMA,
)
_CONNECTIONS = Statement(  # MariaDB
    "SELECT 'connection' AS name, TID AS os_id, ID AS id, USER AS user FROM information_schema.PROCESSLIST"
    " WHERE TID IS NOT NULL",
    PROCESS,
)
_CONNECTION = "one_connection"  # of the thread pools, too


def told(asking: Asking) -> dict[int, Role]:
    """Ask what each thread does, by its id for the operating system."""
    statement = _CONNECTIONS if asking.server.flavour.mariadb else _THREADS
    return {
        whole(row, "os_id"): _role(text(row, "name"), whole(row, "id"), text(row, "user"))
        for row in asking.rows(statement)
    }


def _role(name: str, connection: int, user: str) -> Role:
    short = name.removeprefix("thread/").removeprefix("sql/")
    if short in {_CONNECTION, "connection"}:
        return Role("connection", f"{connection} of {user}" if connection else "")
    return Role(short)
