"""A log-in at a server, of which statements are asked."""

from __future__ import annotations

from contextlib import contextmanager

from stallwatch.deadline import TimeUpError
from stallwatch.line import Forms, shorten
from stallwatch.sources import recording
from stallwatch.sources.mysql import no_answer, no_log_in, rows
from stallwatch.sources.mysql.connection import Connection
from stallwatch.sources.mysql.errors import MysqlError, NoAnswerError, UnreachableError
from stallwatch.sources.mysql.facts import Facts
from stallwatch.sources.mysql.flavour import flavour
from stallwatch.startup import TYPE_CHECKING
from stallwatch.startup.sockets import socket
from stallwatch.units import say_duration

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Self

    from stallwatch.deadline import Deadline
    from stallwatch.sources.mysql.connection import Skimmed
    from stallwatch.sources.mysql.log_in import Known
    from stallwatch.sources.mysql.process_here import ProcessHere
    from stallwatch.sources.mysql.rows import Value
    from stallwatch.sources.mysql.target import Target

_WHO = ("@@version", "@@version_comment", "@@hostname", "CURRENT_USER()")
_SESSION = (
    "SET NAMES utf8mb4, autocommit = 1, time_zone = '+00:00', lock_wait_timeout = 1, "
    "wait_timeout = {idle:.0f}, {statements}"
)
_SLOW = 0.5  # seconds to log in, on this host
_GONE = 5  # seconds beyond our time before a server logs us out


class Server:
    """A log-in at one server. Close it, or use it in a ``with`` statement.

    ``where`` is its address, ``deadline`` that of all it is asked, ``flavour`` whose MySQL it is, ``local``
    whether it runs on this host, ``let_in_after`` the seconds that it took to connect and log in, TLS
    included; ``answers_after`` are those from its greeting until it has let us in and answered two trivial
    statements.
    """

    def __init__(
        self, target: Target, deadline: Deadline, trace: Callable[[str], None], known: Known
    ) -> None:
        self.where = target.where
        self._recorded = recording.log_in("mysql", target.where)
        self._known = known
        self.deadline = deadline
        self._target = target
        self._trace = trace
        self._account = ""
        begun = deadline.clock()
        self._connection = self._unconnected()
        recording.answer(self._recorded, recording.LOG_IN, self._connect)
        self.let_in_after = deadline.clock() - begun
        if self._connection.own_address and self.let_in_after > _SLOW:
            self._connection.watch()
        deadline.farewells.append(self._connection.close)
        try:
            self._introduce_itself()
            self._set_up()
            self.answers_after = deadline.clock() - self._connection.greeted_at
        except MysqlError as error:
            self._connection.close()
            raise UnreachableError(error.what, error.advice, error.number) from None
        spent = say_duration(deadline.clock() - begun)
        in_tls = " in TLS" * bool(self._connection.ssl)
        trace(f"logged in at {self.where}{in_tls} as {self._account}: {self.flavour.text}, in {spent}")

    def _unconnected(self, *, prove: bool = False) -> Connection:
        return Connection(self._target, self.deadline, self._known, self.deadline.keep, prove=prove)

    def _connect(self) -> None:
        self.deadline.doing = f"connecting to {self.where}"
        try:
            if not self._logs_in():
                self._connection = self._unconnected(prove=True)
                self._logs_in(prove=True)
        finally:
            self.deadline.doing = ""

    def _logs_in(self, *, prove: bool = False) -> bool:
        """Log in; False if the server may prove that the certificate, which was refused, is its own."""
        deadline, begun, connection = self.deadline, self.deadline.clock(), self._connection
        try:
            connection.open_up()
        except TimeUpError:
            self._must_not_be_stopped(connection)
            raise
        except Exception as failure:  # noqa: BLE001 - PyMySQL raises whatever nonsense leads it to
            if not prove and connection.can_prove_itself(Facts(failure).tls):
                return False
            spent, whole = deadline.clock() - begun, deadline.seconds
            seconds = whole if spent > whole / 2 else round(spent, 1)
            raise no_log_in.reason(failure, connection, self._target, seconds) from None
        return True

    def _must_not_be_stopped(self, connection: Connection) -> None:
        """Raise UnreachableError if its process shows why it is silent, however little time it had."""
        connection.watch()
        if why := connection.why_late():
            what = Forms(f"{why.what} ({self.where} has not answered)", why.what)
            raise UnreachableError(what, why.advice) from None

    def _introduce_itself(self) -> None:
        """Learn whose MySQL it is, who we are there, and whether it runs here."""
        sql = f"SELECT {', '.join(_WHO)}"
        told = [str(value) for one in self.rows(sql) for value in one.values()]
        if len(told) != len(_WHO):
            raise UnreachableError(f"{self.where} does not name its version: asked {sql}")
        version, comment, host, self._account = told
        self.flavour = flavour(version, comment)
        # What answers at an address of ours may be a tunnel or a container: there the name is another one.
        own = self._connection.own_address and host == socket.gethostname()
        self.local = bool(self._target.socket) or own

    def _set_up(self) -> None:
        """Let the server end what we no longer wait for, show times in UTC, and leave no transaction open.

        It logs us out, too, when this host is gone without a word: it would wait for us for 8 hours.
        """
        left = max(0.001, self.deadline.left())  # 0 would be for ever
        self.rows(_SESSION.format(statements=self.flavour.statement_limit(left), idle=left + _GONE))

    @property
    def process(self) -> ProcessHere | None:
        """The server's process, where it is on this host: it is watched from now on, or is already."""
        self._connection.watch()
        return self._connection.here

    @property
    def network_trip(self) -> float:
        """How long the kernels take for a round trip, in seconds, whatever the server does; 0: not known."""
        return self._connection.network_trip()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Log out; once is enough."""
        self._connection.close()

    def again(self) -> Server:
        """Log in once more, for what may hang; raises UnreachableError."""
        return Server(self._target, self.deadline, self._trace, self._known)

    def rows(self, sql: str, *arguments: object, within: float | None = None) -> list[dict[str, Value]]:
        """Ask a statement, ``%s`` in it being the ``arguments``; wait at most ``within`` seconds.

        Where there are arguments, ``%%`` is a per cent sign. Give the rows by the names of the columns:
        integers are int, other numbers float, all else is text, times as the server writes them, in UTC.
        ``row[column]`` raises MissingColumnError. Raises a MysqlError; after a NoAnswerError this connection
        may be of no more use.
        """
        asked = self._connection.filled(sql, arguments) if arguments else sql
        with self._waiting(sql) as told:
            ask, question = self._connection.ask, (sql, *arguments)
            names, values = recording.answer(self._recorded, question, ask, asked, within)
            found = rows.by_column(names, values, self.where, shorten(" ".join(sql.split()), 80))
            told(len(found))
        return found

    def skim(self, sql: str, within: float | None = None) -> Skimmed:
        """Ask a statement whose answer may be of any length, of which next to nothing is kept.

        Raises a MysqlError, as ``rows`` does.
        """
        with self._waiting(sql) as told:
            skim = self._connection.skim
            skimmed: Skimmed = recording.answer(self._recorded, (sql,), skim, sql, within)
            told(skimmed.rows or 0)
        return skimmed

    @contextmanager
    def _waiting(self, sql: str) -> Iterator[Callable[[int], None]]:
        """Return what is waited for, and how many rows came of it in what time; explain what goes wrong."""
        clock = self.deadline.clock
        begun = clock()

        def told(rows: int) -> None:
            spent = say_duration(clock() - begun)
            self._trace(f"{self.where}: {rows} rows in {spent}: {' '.join(sql.split())}")

        self.deadline.doing = f"waiting for {self.where}: asked {shorten(sql, 80)}"
        try:
            yield told
        except TimeUpError:
            self._must_not_be_stopped(self._connection)
            raise
        except Exception as failure:  # noqa: BLE001 - PyMySQL raises whatever nonsense leads it to
            raise self._explained(failure, sql, clock() - begun) from None
        finally:
            self.deadline.doing = ""

    def _explained(self, failure: Exception, sql: str, waited: float) -> MysqlError:
        one = self._connection
        asked = no_answer.Asked(sql, self.where, one.user_name, self._account, waited, one.why_late)
        error = no_answer.reason(failure, asked)
        if isinstance(error, NoAnswerError):  # also where the server ended it: it was to do so in what we had
            self.deadline.must_have_had_time()
        if error.ends_connection:
            self._connection.close()
        self._trace(error.what)
        return error
