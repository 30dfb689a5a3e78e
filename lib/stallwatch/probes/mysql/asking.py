"""Asking a server for signals: what it denies or does not have is left out, shown once."""

from __future__ import annotations

from stallwatch.sources.mysql import DeniedError, MysqlError, NoAnswerError, UnreachableError
from stallwatch.sources.mysql.privilege import Privilege
from stallwatch.startup import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from typing import Any, TypeVar

    from stallwatch.sources.mysql.server import Server

    Row = Mapping[str, str | int | float | None]
    AnyRow = TypeVar("AnyRow", bound=Row)
    One = TypeVar("One")

# What an account needs to see more of a server than its status variables and settings.
PROCESS = Privilege("PROCESS", "PROCESS", "other connections, transactions, row locks, how InnoDB is")
PERFORMANCE_SCHEMA = Privilege(
    "SELECT ON performance_schema.*",
    "SELECT ON performance_schema.*",
    "commit times, who holds locks, which programs are connected",
)

LONGEST = 2.0  # seconds: limit for one signal
_MOST = 1e20


class Statement(NamedTuple):
    """SQL with the privilege that it needs, if any."""

    sql: str
    needs: Privilege | None = None


def having(rows: list[AnyRow], *columns: str) -> list[AnyRow]:
    """Get the rows of a verdict, of which each has the same columns; raises MissingColumnError.

    What is read by ``text``, ``number`` and ``whole`` without it may not be there.
    """
    for row in rows[:1]:
        for column in columns:
            row[column]
    return rows


def text(row: Row, column: str) -> str:
    """Read a text; NULL and a column that this version does not have are no text."""
    value = row.get(column)
    return "" if value is None else str(value)


def meant(value: object) -> float | None:
    """Read a number that a server can mean, which counts to 2^64; None: it is none, or nan, or 1e300."""
    try:
        number = float(str(value))
    except ValueError:
        return None
    return number if abs(number) < _MOST else None


def number(row: Row, column: str) -> float:
    """Read a number; NULL, what is none that a server can mean and what is not there count as 0."""
    return meant(row.get(column)) or 0.0


def whole(row: Row, column: str) -> int:
    """Read a whole number, likewise."""
    return int(number(row, column))


_READ: dict[str, Callable[[Row, str], Any]] = {
    "str": text,
    "int": whole,
    "float": number,
    "bool": lambda row, column: bool(whole(row, column)),
    "int | None": lambda row, column: whole(row, column) or None,
    "float | None": lambda row, column: number(row, column) or None,
}


def record(row: Row, shape: type[One], **given: object) -> One:
    """Read the columns that are called as the fields of a NamedTuple and not ``given``, by their types.

    What may be None is None for 0, too: ids and moments. What is not there counts as NULL.
    """
    fields = shape.__annotations__.items()
    return shape(**{name: _READ[of](row, name) for name, of in fields if name not in given}, **given)


class Asking:
    """A server that is asked for signals, none of which is worth losing the others.

    After each statement, ``failed`` is why there is no answer; None: there is one, or it is switched off.
    """

    def __init__(self, server: Server, trace: Callable[[str], None]) -> None:
        self.server = server
        self.missing: dict[str, str] = {}  # a sentence for each GRANT that is missing
        self._trace = trace
        self._useless: dict[str, MysqlError] = {}
        self._switched_off: set[Privilege] = set()
        self.lost: MysqlError | None = None  # what ended the connection
        self.failed: MysqlError | None = None

    @property
    def is_connected(self) -> bool:
        """Whether anything more can be asked."""
        return self.lost is None

    def switch_off(self, needs: Privilege) -> None:
        """Ask nothing more that needs this: it would show nothing, and nobody misses it."""
        self._switched_off.add(needs)

    def rows(self, statement: Statement, *arguments: object, columns: Sequence[str] = ()) -> list[Row]:
        """Ask; return no rows where the answer is denied, missing, too slow, or lacks ``columns``."""
        off = statement.needs in self._switched_off
        self.failed = None if off else self.lost or self._useless.get(statement.sql)
        if off or self.failed:
            return []
        try:
            return [*having(self.server.rows(statement.sql, *arguments, within=LONGEST), *columns)]
        except DeniedError as error:
            # Ours is one for a whole schema, the server's for each of its tables.
            grant, shows = (one.mysql, one.shows) if (one := statement.needs) else (error.grant, "part of it")
            self.missing.setdefault(grant, f"{shows} (needs {grant})")
            self._useless[statement.sql] = self.failed = error
        except (NoAnswerError, UnreachableError) as error:
            self.failed = error
            if isinstance(error, NoAnswerError) and error.number:  # the server stopped it, and goes on
                self._useless[statement.sql] = error
            else:
                self.lost = error  # this connection still waits for the answer
        except MysqlError as error:
            self._trace(f"left out: {error.what}")
            self._useless[statement.sql] = self.failed = error
        return []
