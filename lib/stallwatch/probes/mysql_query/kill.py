"""Ending a statement on the server that its own time limit has not ended.

The first connection is of no more use then. A second one looks for the statement in the process list, and
ends it only if all of this is the same: the server (a proxy may lead to another one, where the number of our
connection is somebody else's), the connection, its user, the text, and the time that it has run. MariaDB ends
a statement by a number of its own, MySQL whatever that connection runs by then.
"""

from __future__ import annotations

import time

from stallwatch.probes.mysql.asking import number, text, whole
from stallwatch.probes.mysql_query.queries import ABOUT, identity
from stallwatch.sources.mysql import MysqlError
from stallwatch.startup import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable

    from stallwatch.deadline import Deadline
    from stallwatch.probes.mysql.asking import Row
    from stallwatch.probes.mysql_query.queries import Identity
    from stallwatch.sources.mysql.server import Server

_MYSQL = "SHOW FULL PROCESSLIST"  # information_schema.PROCESSLIST is deprecated there
# INFO has a question mark for each byte that utf8mb3 lacks (10.11.19).
_MARIADB = (
    "SELECT ID AS id, USER AS user, COMMAND AS command, TIME AS time, INFO_BINARY AS info, QUERY_ID AS query"
    " FROM information_schema.PROCESSLIST WHERE COMMAND <> 'Sleep'"
)
_SLEEPS = "Sleep"
_PAUSE = 0.02  # seconds until the next look: a statement that is ended stops where it looks for that
_NO_SUCH_CONNECTION = 1094


class Running(NamedTuple):
    """A statement that was sent at ``begun`` (time.monotonic), over a connection that is none any more."""

    sql: str
    at: Identity | None
    begun: float


def end(connect: Callable[[Deadline], Server], running: Running, deadline: Deadline) -> str:
    """End it by ``deadline``; return why it may still run, "" if it does not."""
    if not running.at:
        return "the server does not name its connection"
    try:
        with connect(deadline) as server:
            here = identity(server, deadline.left())
            if not here or not here.is_at(running.at):
                return f"a second connection to {server.where} reached another server"
            return _ended(server, running, running.at, deadline)
    except MysqlError as error:
        return error.what


def _ended(server: Server, running: Running, at: Identity, deadline: Deadline) -> str:
    is_killed = False
    while True:
        processes = _processes(server, deadline)
        process = next((one for one in processes if whole(one, "id") == at.connection), None)
        if not process:
            is_there = any(_runs(one, running) for one in processes)  # a proxy may have numbers of its own
            return "the process list shows it at another connection" * is_there
        if text(process, "user") != at.user or not _runs(process, running):
            return "the process list shows another statement there"
        if not is_killed:
            _kill(server, process, deadline)
            is_killed = True
        if deadline.left() <= _PAUSE:
            return "KILL QUERY has not ended it yet"
        deadline.rest(_PAUSE)


def _processes(server: Server, deadline: Deadline) -> list[Row]:
    rows = server.rows(_MARIADB if server.flavour.mariadb else _MYSQL, within=deadline.left())
    named = ({name.lower(): value for name, value in row.items()} for row in rows)
    return [row for row in named if row.get("command") != _SLEEPS]


def _runs(process: Row, running: Running) -> bool:
    """Whether a process runs that text, for about that time."""
    since = time.monotonic() - running.begun
    same = _trimmed(text(process, "info")) == _trimmed(running.sql)
    return same and abs(number(process, "time") - since) <= ABOUT


def _trimmed(sql: str) -> str:
    """Give it as the process list has it: the servers leave out what is around a statement."""
    return sql.strip(" \t\n\v\f\r;\0")


def _kill(server: Server, process: Row, deadline: Deadline) -> None:
    query = whole(process, "query")  # MariaDB's number of the statement
    target = f"ID {query}" if query else whole(process, "id")
    try:
        server.rows(f"KILL QUERY {target}", within=deadline.left())
    except MysqlError as error:
        if error.number != _NO_SUCH_CONNECTION:  # it has ended meanwhile
            raise
