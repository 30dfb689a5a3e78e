"""What is asked: the query, in a session of its own in which it can do little harm.

Before it goes what limits the query, and which server a connection has reached: whoever has to end the query
by another connection has to know that.
"""

from __future__ import annotations

import math
import time

from stallwatch.findings import State
from stallwatch.line import shorten
from stallwatch.sources.mysql import (
    DeniedError,
    MysqlError,
    NoAnswerError,
    UnknownStatementError,
    UnreachableError,
)
from stallwatch.sources.mysql.literals import identifier
from stallwatch.startup import TYPE_CHECKING, NamedTuple
from stallwatch.units import say_duration

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import TypeVar

    from stallwatch.sources.mysql.server import Server

    _Answer = TypeVar("_Answer")

LEAD = 0.1  # seconds that the server's own time-out is to come before ours, so that we hear of it
# MySQL's is for SELECT alone. Who waits for a lock is to give up by then, too: that is in whole seconds.
_LIMITS = "SET SESSION {of_statements}, lock_wait_timeout = {whole}, innodb_lock_wait_timeout = {whole}"
# What a function writes is refused by either of these: error 1792 (MySQL 9.7.2, MariaDB 10.11.14). Only the
# first stops CREATE TABLE, which ends a transaction; only the second a function that has undone the first.
_READ_ONLY = "SET SESSION TRANSACTION READ ONLY"
_BEGIN, _END = "START TRANSACTION READ ONLY", "COMMIT"
_TO_END = 1.0  # seconds that it has at least
# MariaDB has no server_uuid. The time of its start distinguishes two that were copied, with their names.
_IDENTITY = (
    "SELECT CONNECTION_ID() AS connection, USER() AS user,"
    " CONCAT_WS(' ', @@server_uuid, @@hostname, @@port) AS server, 0 AS started"
)
_IDENTITY_MARIADB = (
    "SELECT CONNECTION_ID() AS connection, USER() AS user,"
    " CONCAT_WS(' ', @@hostname, @@port, @@server_id, @@datadir) AS server, (SELECT UNIX_TIMESTAMP() -"
    " VARIABLE_VALUE FROM information_schema.GLOBAL_STATUS WHERE VARIABLE_NAME = 'UPTIME') AS started"
)
ABOUT = 2.0  # seconds by which two times may differ that are in whole ones
_NO_DATABASE, _NO_VARIABLE, READ_ONLY = 1046, 1193, 1792


class Query(NamedTuple):
    """What is asked, in which database ("": none), whether it may write, and whether the user gave it."""

    sql: str
    database: str = ""
    writes: bool = False
    is_given: bool = False


class Answer(NamedTuple):
    """How long one run took, and what ``Skimmed`` has; ``cut``: we gave up on it then."""

    seconds: float
    rows: int | None = None
    first: str | None = None
    cut: bool = False


class Session:
    """A log-in that is ready for the query; ``patience`` is how long a run may take, in seconds.

    ``identity`` is which connection of which server it is, None: not known. ``runs_since`` is when the query
    was sent whose answer we gave up on, by time.monotonic; None: there is none. Raises a MysqlError, as
    ``ask`` does.
    """

    def __init__(self, server: Server, query: Query, patience: float) -> None:
        self._server = server
        self._query = query
        self._patience = patience
        self.runs_since: float | None = None
        self._limit = max(patience - LEAD, patience / 2, 0.001)  # 0 would be for ever
        of_statements = server.flavour.statement_limit(self._limit)
        self._order(_LIMITS.format(of_statements=of_statements, whole=math.ceil(self._limit)))
        if server.flavour.mariadb:
            self._answer_anew()
        if query.database:
            self._order(f"USE {identifier(query.database)}")
        if not query.writes:
            self._order(_READ_ONLY)
        self.identity = self._answered(lambda: identity(server, patience))

    def ask(self, within: float = math.inf) -> Answer:
        """Run it once, in a transaction that ends with it: what it has read may be altered by others then.

        It may take as long as the patience, and no longer than ``within``, in seconds.
        """
        within = min(within, self._patience)
        if self._query.writes:
            return self._asked(within)
        until = time.monotonic() + within
        self._order(_BEGIN)
        try:
            answer = self._asked(until - time.monotonic())
        except MysqlError as error:
            if not isinstance(error, NoAnswerError | UnreachableError):  # after those we log out
                self._order(_END)
            raise
        self._order(_END, max(until - time.monotonic(), _TO_END))
        return answer

    def _asked(self, within: float) -> Answer:
        self.runs_since, begun = time.monotonic(), self._server.deadline.clock()
        try:
            skimmed = self._server.skim(self._query.sql, max(within, 0.001))
        except MysqlError as error:
            if error.number or not isinstance(error, NoAnswerError):
                self.runs_since = None
            raise
        self.runs_since = None
        seconds = self._server.deadline.clock() - begun
        # At the server's time-out SLEEP() answers like one that has slept, MySQL 9.7.2; so does BENCHMARK(),
        # MariaDB 10.11.14.
        if seconds >= self._limit and not self._query.writes:
            raise self._unanswered(f"ended it after {say_duration(self._limit)}")
        return Answer(seconds, skimmed.rows, skimmed.first)

    def _order(self, sql: str, within: float | None = None) -> None:
        """Ask a statement of ours."""
        self._answered(lambda: self._server.rows(sql, within=self._patience if within is None else within))

    def _answered(self, ask: Callable[[], _Answer]) -> _Answer:
        """Ask something of ours; where that does not end, the query has no answer."""
        begun = time.monotonic()
        try:
            return ask()
        except NoAnswerError as error:
            if error.number:
                raise
            waited = say_duration(round(time.monotonic() - begun, 1))
            raise self._unanswered(f"has not answered within {waited}") from None

    def _answer_anew(self) -> None:
        """Let no answer come from the query cache, which shows nothing of how fast the query is."""
        try:
            self._order("SET SESSION query_cache_type = OFF")
        except MysqlError as error:
            if error.number != _NO_VARIABLE:  # it can be built without
                raise

    def _unanswered(self, what: str) -> NoAnswerError:
        self._server.deadline.must_have_had_time()
        return NoAnswerError(f"{self._server.where} {what}: asked {shorten(self._query.sql, 80)}")

    def close(self) -> None:
        """Log out."""
        self._server.close()


class Identity(NamedTuple):
    """A connection by its number, the user's name in it, and what is known of its server.

    ``started`` is when that was, in seconds of its clock; 0 where that is not needed.
    """

    connection: int
    user: str
    server: str
    started: float

    def is_at(self, other: Identity) -> bool:
        """Whether both are connections of the same server."""
        return self.server == other.server and abs(self.started - other.started) <= ABOUT


def identity(server: Server, within: float) -> Identity | None:
    """Ask for it; None: the server, or what is before it, does not show it.

    Raises a MysqlError if the connection is of no more use.
    """
    try:
        rows = server.rows(_IDENTITY_MARIADB if server.flavour.mariadb else _IDENTITY, within=within)
    except (NoAnswerError, UnreachableError):
        raise
    except MysqlError:
        return None
    if len(rows) != 1:
        return None
    row = rows[0]
    connection, started, name = row.get("connection"), row.get("started"), row.get("server")
    if not isinstance(connection, int) or not isinstance(started, int | float) or not name:
        return None
    return Identity(connection, str(row.get("user")).rpartition("@")[0], str(name), started)


def is_ours(error: MysqlError) -> bool:
    """Whether it is no matter of the server: what is asked, what the account may do, who answers there."""
    by_its_kind = isinstance(error, UnknownStatementError | DeniedError) or error.state is State.UNKNOWN
    return by_its_kind or error.number in (_NO_DATABASE, READ_ONLY)
