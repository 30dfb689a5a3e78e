"""MySQL, Percona Server and MariaDB: statements, asked over their own protocol, each answered in time.

``connect`` returns a log-in; every failure is a ``MysqlError``, a sentence for a person.
"""

from __future__ import annotations

from stallwatch import withheld
from stallwatch.sources.mysql.errors import (
    DeniedError,
    MissingColumnError,
    MissingTableError,
    MysqlError,
    NoAnswerError,
    NoTimeError,
    UnknownStatementError,
    UnreachableError,
)
from stallwatch.sources.mysql.flavour import Flavour
from stallwatch.sources.mysql.target import Target, Tls
from stallwatch.startup import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable
    from contextlib import AbstractContextManager

    from stallwatch.deadline import Deadline
    from stallwatch.memory import Memory
    from stallwatch.sources.mysql.log_in import Known
    from stallwatch.sources.mysql.rows import Value as Value
    from stallwatch.sources.mysql.server import Server as Server

__all__ = [
    "DeniedError",
    "Flavour",
    "MissingColumnError",
    "MissingTableError",
    "MysqlError",
    "NoAnswerError",
    "NoTimeError",
    "Target",
    "Tls",
    "UnknownStatementError",
    "UnreachableError",
    "connect",
]


def connect(
    target: Target,
    deadline: Deadline,
    known: Known | None,
    trace: Callable[[str], None] = lambda _: None,
) -> Server:
    """Log in at ``target``, for a ``with`` statement; ``trace`` gets the way. Raises UnreachableError.

    Texts of the server with the password in them are withheld from then on. ``known`` has what the server
    showed at first, see ``Run.known_server``; with None each log-in is a first use.
    """
    withheld.keep(target.password)
    from stallwatch.sources.mysql.server import Server

    return Server(target, deadline, trace, known or _nothing)


def _nothing(*_: object, **__: object) -> AbstractContextManager[Memory]:
    from contextlib import nullcontext

    from stallwatch.memory import Memory

    return nullcontext(Memory())
