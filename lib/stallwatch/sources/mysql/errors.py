"""What can go wrong between us and a MySQL server: the whole server, one statement, one privilege."""

from __future__ import annotations

from stallwatch.findings import ProbeError, State

TOO_MANY = 1040  # ER_CON_COUNT_ERROR of MySQL and MariaDB: no connection is left


class MysqlError(ProbeError):
    """Something could not be had from the server; ``number`` is MySQL's own of the error, 0: it has none.

    ``said`` is the server's text as it came, to be looked at and never shown; "": see ``what``.
    """

    def __init__(self, what: str, advice: str = "", number: int = 0, said: str = "") -> None:
        super().__init__(what, advice)
        self.number = number
        self.said = said


class UnreachableError(MysqlError):
    """Nothing can be asked: the server is not there, is silent, lets nobody in, or has hung up."""

    ends_connection = True


class NotSentError(UnreachableError):
    """Nobody knows who answers in the server's place: the password was not sent, or it is not believed."""

    state = State.UNKNOWN


class NoAnswerError(MysqlError):
    """A statement took too long: the connection it was asked on is of no more use, others are.

    If the error has a number, the server itself has given up the statement, and goes on.
    ``waited`` is how many seconds it was given: what a longer silence would prove, a short one does not.
    """

    waited = 0.0

    def __init__(self, what: str, advice: str = "", number: int = 0, said: str = "") -> None:
        super().__init__(what, advice, number, said)
        self.ends_connection = not number


class NoTimeError(NoAnswerError):
    """A statement was not asked, or had no more than a moment: that shows nothing of the server."""


class DeniedError(MysqlError):
    """The user may not.

    ``grant`` is what is missing, such as ``PROCESS`` or ``SELECT on sys.metrics``, ``account`` who may not:
    ``'mon'@'%'``.
    """

    def __init__(
        self, what: str, advice: str = "", number: int = 0, grant: str = "", account: str = ""
    ) -> None:
        super().__init__(what, advice, number)
        self.grant = grant
        self.account = account


class UnknownStatementError(MysqlError):
    """The server, or its version, does not know the statement (1064)."""


class MissingTableError(MysqlError):
    """The server has no such table."""


class MissingColumnError(MysqlError):
    """An answer lacks a column: no version that is known leaves it out."""
