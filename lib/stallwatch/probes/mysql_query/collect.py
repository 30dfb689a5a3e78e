"""The runs of a query, a moment apart: as many as are wanted, as long as there is time."""

from __future__ import annotations

import time

from stallwatch.deadline import Deadline
from stallwatch.probes.mysql_query.queries import LEAD, Answer, Session, is_ours
from stallwatch.sources.mysql import MysqlError, NoAnswerError, UnreachableError
from stallwatch.startup import TYPE_CHECKING, NamedTuple
from stallwatch.units import say_duration

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from stallwatch.probes.mysql_query.queries import Query
    from stallwatch.sources.mysql.server import Server

ENOUGH = 2  # runs that fail: more of them would show nothing new
_LEAST = 0.2  # seconds: with less time no other run is begun
_CLEARLY = 2  # times as long as the slowest
_MORE = 1.1  # times a limit is seen to be more
_TO_END = 0.5  # seconds that are kept for ending a run that gets no answer, at most a tenth of --timeout


class Plan(NamedTuple):
    """How often the query is run, over how many seconds, and whether each run has a log-in of its own.

    ``needs`` are the seconds that a run is to have, if there are so many, to be seen to exceed a limit.
    """

    times: int
    spread: float
    reconnect: bool = False
    needs: float = 0.0


class Left(NamedTuple):
    """A run that may go on at the server: its connection there (0: not known), and why it was not ended."""

    connection: int
    why: str


class Runs:
    """What has come of them so far: ``answers``, why others ``failed``, seconds that each log-in took.

    ``log_in_failed`` is why there was no second log-in, if one was looked at; ``hangs`` whether the last run
    failed with all the time that was left; ``left`` are runs without an answer that may go on.
    """

    def __init__(
        self, connect: Callable[[Deadline], Server], query: Query, plan: Plan, deadline: Deadline
    ) -> None:
        self.answers: list[Answer] = []
        self.failed: list[MysqlError] = []
        self.log_ins: list[float] = []
        self.log_in_failed: MysqlError | None = None
        self.hangs = False
        self.left: list[Left] = []
        self.query = query
        self.plan = plan
        self._connect = connect
        self._deadline = deadline
        self._to_end = min(_TO_END, deadline.seconds / 10)
        self._patience = self._waited = 0.0
        self._session: Session | None = None
        deadline.farewells.append(self._end_what_runs)

    def take(self) -> Iterator[None]:
        """Run it as often as there is time; stop for a moment after each run."""
        begun = time.monotonic()
        try:
            for number in range(self.plan.times):
                self._wait_until(begun + self.plan.spread * number / self.plan.times)
                if number and not self._has_time():
                    return
                goes_on = self._run()
                yield
                if not goes_on:
                    return
        finally:
            if not (self._session and self._session.runs_since):  # or else the farewell ends what runs
                self._leave()

    def log_in_again(self) -> None:
        """See how long that takes a second time, if there is time."""
        if self._has_time():
            try:
                self._log_in().close()
            except MysqlError as error:
                self.log_in_failed = error

    def _run(self) -> bool:
        """Run it once, and return whether to go on."""
        begun, left = self._deadline.clock(), self._time_left()
        try:
            session = self._session = self._session or self._begun()
            self.answers.append(session.ask(self._time_left()))
        except MysqlError as error:
            waited = self._deadline.clock() - begun
            self._waited = max(waited, self._waited)
            if isinstance(error, NoAnswerError | UnreachableError):
                self._give_up()
            if isinstance(error, NoAnswerError) and left < _CLEARLY * self._slowest:
                self.answers.append(Answer(waited, cut=True))
                return False  # no failure: it had hardly more time than others took
            self.failed.append(error)
            self.hangs = waited >= self._patience and not self._has_time()
            return self._may_go_on(error)
        if self.plan.reconnect:
            self._leave()
        return True

    def _may_go_on(self, error: MysqlError) -> bool:
        if not self.log_ins:
            return False  # each wrong password brings the account nearer to being locked
        if self.query.writes and isinstance(error, NoAnswerError):
            return False  # it may be under way still
        return len(self.failed) < ENOUGH and not is_ours(error)

    def _begun(self) -> Session:
        server = self._log_in()
        self._patience = self._patience or self._time_for_a_run()
        try:
            return Session(server, self.query, self._patience)
        except MysqlError:
            server.close()
            raise

    def _time_for_a_run(self) -> float:
        """Return its patience: if the first run does not end, a second has as much, or was it an accident?"""
        left = self._time_left()
        share = self._deadline.left() / min(self.plan.times, ENOUGH) - self._to_end
        return min(left, max(share, _LEAST, self.plan.needs * _MORE + 2 * LEAD))

    def _log_in(self) -> Server:
        server = self._connect(self._deadline)
        self.log_ins.append(server.let_in_after)
        return server

    def _leave(self) -> None:
        if self._session:
            self._session.close()
        self._session = None

    def _give_up(self) -> None:
        """Leave, and see that the server does not go on with the query."""
        if not (session := self._session):
            return
        session.close()
        since = session.runs_since
        if since is not None and (why := self._end(session, since, self._deadline.part(self._to_end))):
            self.left.append(Left(session.identity.connection if session.identity else 0, why))
        self._session = None  # not before: whoever ends this run meanwhile has the statement ended

    def _end(self, session: Session, since: float, deadline: Deadline) -> str:
        """End the statement of a session on the server; return why it may still run, "" if it does not."""
        if self.query.writes:
            return "a statement that may write is not ended"
        if (fastest := min(self.log_ins)) > self._to_end:
            return f"another connection to end it takes too long: {say_duration(fastest)}"
        from stallwatch.probes.mysql_query.kill import Running, end

        return end(self._connect, Running(self.query.sql, session.identity, since), deadline)

    def _end_what_runs(self) -> None:
        """See that the server does not go on with the query of a run that somebody ends, if there is time."""
        session, time_left = self._session, self._deadline.until_end()
        since = session.runs_since if session else None
        if session and since is not None and time_left > 0:
            self._end(session, since, Deadline(min(self._to_end, time_left)))

    def _time_left(self) -> float:
        """Seconds that a run may still take."""
        return max(0.0, self._deadline.left() - self._to_end)

    def _wait_until(self, moment: float) -> None:
        self._deadline.rest(min(moment - time.monotonic(), self._deadline.left()))

    @property
    def _slowest(self) -> float:
        return max((one.seconds for one in self.answers), default=0.0)

    def _has_time(self) -> bool:
        """Whether another run may end; after a single one it is tried anyhow: was that an accident?"""
        least = self._slowest if len(self.answers) >= ENOUGH else self._waited / _CLEARLY
        return self._time_left() > max(least, _LEAST)
