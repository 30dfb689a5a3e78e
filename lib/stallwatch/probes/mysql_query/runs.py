"""Running a query several times, a moment apart."""

from __future__ import annotations

import time
from typing import NamedTuple

from stallwatch.probes.mysql_query.query import Session
from stallwatch.sources.mysql import (
    DeniedError,
    MysqlError,
    NoAnswerError,
    UnknownStatementError,
    UnreachableError,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from stallwatch.deadline import Deadline
    from stallwatch.probes.mysql_query.query import Answer, Query
    from stallwatch.sources.mysql.server import Server

ENOUGH = 2  # runs that fail: more of them would tell nothing new
_LEAST = 0.2  # seconds: with less time no other run is begun
_CLEARLY = 2  # times as long as the slowest

_NO_DATABASE, READ_ONLY = 1046, 1792


class Plan(NamedTuple):
    """How often the query is run, over how many seconds, and whether each run has a log-in of its own."""

    times: int
    spread: float
    reconnect: bool = False


class Runs:
    """What has come of them so far: ``answers``, why others ``failed``, seconds that each log-in took."""

    def __init__(self, connect: Callable[[], Server], query: Query, plan: Plan, deadline: Deadline) -> None:
        self.answers: list[Answer] = []
        self.failed: list[MysqlError] = []
        self.log_ins: list[float] = []
        self.plan = plan
        self._connect = connect
        self._query = query
        self._deadline = deadline
        # If the first does not end, a second one is to have as much time: was it an accident?
        self._patience = deadline.left() / min(plan.times, ENOUGH)
        self._session: Session | None = None

    def take(self) -> Iterator[Runs]:
        """Run it as often as there is time; tell what there is after each run."""
        begun = time.monotonic()
        try:
            for number in range(self.plan.times):
                self._wait_until(begun + self.plan.spread * number / self.plan.times)
                if number and not self._has_time():
                    return
                goes_on = self._run()
                yield self
                if not goes_on:
                    return
        finally:
            self._leave()

    def log_in_again(self) -> None:
        """See how long that takes a second time, if there is time."""
        if self._has_time():
            try:
                self._log_in().close()
            except MysqlError as error:
                self.failed.append(error)

    def _run(self) -> bool:
        """Run it once, and tell whether to go on."""
        try:
            session = self._session = self._session or self._begun()
        except MysqlError as error:
            self.failed.append(error)  # once: each wrong password brings the account nearer to being locked
            return False
        left = self._deadline.left()
        try:
            self.answers.append(session.ask())
        except NoAnswerError as error:
            self._leave()
            if left < _CLEARLY * self._slowest:
                return False  # no failure: it had hardly more time than others took
            self.failed.append(error)
        except MysqlError as error:
            self.failed.append(error)
            if isinstance(error, UnreachableError):
                self._leave()
        if self.plan.reconnect:
            self._leave()
        return len(self.failed) < ENOUGH and not any(map(is_ours, self.failed))

    def _begun(self) -> Session:
        server = self._log_in()
        try:
            return Session(server, self._query, self._patience)
        except MysqlError:
            server.close()
            raise

    def _log_in(self) -> Server:
        server = self._connect()
        self.log_ins.append(server.let_in_after)
        return server

    def _leave(self) -> None:
        if self._session:
            self._session.close()
        self._session = None

    def _wait_until(self, moment: float) -> None:
        time.sleep(max(0.0, min(moment - time.monotonic(), self._deadline.left())))

    @property
    def _slowest(self) -> float:
        return max((one.seconds for one in self.answers), default=0.0)

    def _has_time(self) -> bool:
        return self._deadline.left() > max(self._slowest, _LEAST)


def is_ours(error: MysqlError) -> bool:
    """Whether it is the check that is wrong, not the server: what it asks, or what its account may do."""
    by_its_kind = isinstance(error, UnknownStatementError | DeniedError)
    return by_its_kind or error.number in (_NO_DATABASE, READ_ONLY)
