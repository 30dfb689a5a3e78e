"""A query of the user's, asked in a session of its own, in which it can do little harm."""

from __future__ import annotations

import math
import time
from typing import NamedTuple

from stallwatch.line import shorten
from stallwatch.sources.mysql import NoAnswerError
from stallwatch.units import say_duration

TYPE_CHECKING = False
if TYPE_CHECKING:
    from stallwatch.sources.mysql.server import Server

_LEAD = 0.1  # seconds that the server's own time-out is to come before ours, so that we hear of it
# MySQL's is for SELECT alone. Who waits for a lock is to give up by then, too: that is in whole seconds.
_LIMITS = "SET SESSION {of_statements}, lock_wait_timeout = {whole}, innodb_lock_wait_timeout = {whole}"
# What a function writes is refused by either of these: error 1792 (MySQL 9.7.2, MariaDB 10.11.14). Only the
# first stops CREATE TABLE, which ends a transaction; only the second a function that has undone the first.
_READ_ONLY = "SET SESSION TRANSACTION READ ONLY"
_BEGIN = "START TRANSACTION READ ONLY"


class Query(NamedTuple):
    """What is asked, in which database ("": none), and whether it may write."""

    sql: str
    database: str = ""
    writes: bool = False


class Answer(NamedTuple):
    """How long one run took, and what ``Skimmed`` tells of what came."""

    seconds: float
    rows: int | None
    first: str | None


class Session:
    """A log-in that is ready for the query; ``patience`` is how long a run may take, in seconds.

    Raises a MysqlError, as ``ask`` does.
    """

    def __init__(self, server: Server, query: Query, patience: float) -> None:
        self._server = server
        self._query = query
        self._patience = patience
        self._limit = max(patience - _LEAD, patience / 2)
        of_statements = f"max_execution_time = {1000 * self._limit:.0f}"
        if server.flavour.mariadb:
            of_statements = f"max_statement_time = {self._limit:.3f}"
        server.rows(_LIMITS.format(of_statements=of_statements, whole=math.ceil(self._limit)))
        if query.database:
            server.rows(f"USE `{query.database.replace('`', '``')}`")
        if not query.writes:
            server.rows(_READ_ONLY)

    def ask(self) -> Answer:
        """Run it once."""
        if not self._query.writes:
            self._server.rows(_BEGIN)
        begun = time.monotonic()
        skimmed = self._server.skim(self._query.sql, self._patience)
        seconds = time.monotonic() - begun
        # At the server's time-out SLEEP() answers like one that has slept, MySQL 9.7.2; so does BENCHMARK(),
        # MariaDB 10.11.14.
        if seconds >= self._limit and not self._query.writes:
            what = f"{self._server.where} ended it after {say_duration(self._limit)}"
            raise NoAnswerError(f"{what}: asked {shorten(self._query.sql, 80)}")
        return Answer(seconds, skimmed.rows, skimmed.first)

    def close(self) -> None:
        """Log out."""
        self._server.close()
