"""Ask one thing after the other, and live with a refusal: what cannot be found out costs nothing else."""

from __future__ import annotations

import time
from functools import partial

from stallwatch.findings import ProbeError
from stallwatch.sources.mysql import DeniedError, MissingTableError, MysqlError
from stallwatch.sources.mysql.privilege import Privilege
from stallwatch.startup import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from typing import Any, TypeVar

    from stallwatch.deadline import Deadline
    from stallwatch.sources.mysql.server import Server

    Row = Mapping[str, str | int | float | None]
    AnyRow = TypeVar("AnyRow", bound=Row)
    Found = TypeVar("Found")
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
_NO_COLUMN = 1054  # ER_BAD_FIELD_ERROR: a version whose table shows less


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


class Refusal(NamedTuple):
    """Something that could not be found out, and why."""

    about: str
    error: ProbeError
    evidence: bool  # it only explains: the verdict is about other things
    asked: bool = True  # False: it was left out, as there was no time, or after the connection was lost

    @property
    def of_version(self) -> bool:
        """Whether this version of the server does not have it."""
        number = self.error.number if isinstance(self.error, MysqlError) else 0
        return isinstance(self.error, MissingTableError) or number == _NO_COLUMN


class Inquiry:
    """Does one step after the other while there is time, and keeps what is ``refused``.

    A step asks and returns the answer, or raises a ProbeError. After one that ends the connection, which is
    ``lost`` then, nothing more is asked. After each step, ``failed`` is why there is no answer.

    ``slowest`` is how many seconds a step has taken; errors of the classes ``ending`` are raised.
    """

    def __init__(
        self, deadline: Deadline, slowest: float = 0.0, ending: tuple[type[ProbeError], ...] = ()
    ) -> None:
        self.refused: list[Refusal] = []
        self.lost: ProbeError | None = None
        self.failed: ProbeError | None = None
        self._deadline = deadline
        self._slowest = slowest
        self._ending = ending

    def ask(
        self, about: str, step: Callable[[], Found], *, evidence: bool = False, takes: float | None = None
    ) -> Found | None:
        """Return what ``step`` finds out; None: it was refused, or there was no time for it.

        ``about`` is what that is, as "how full the redo log is"; ``takes`` how many seconds it takes, by
        default as many as the slowest until now. Raises TimeUpError if there is no time, as we lost it, for
        what the verdict is about.
        """
        if not self.lost and self._deadline.left() > (self._slowest if takes is None else takes):
            return self.understand(about, step, evidence=evidence)
        if not (self.lost or evidence):
            self._deadline.must_have_had_time()
        self.failed = self.lost or ProbeError(self._deadline.short(), "raise --timeout")
        self.refused.append(Refusal(about, self.failed, evidence, asked=False))
        return None

    def understand(self, about: str, step: Callable[[], Found], *, evidence: bool = False) -> Found | None:
        """Do the same without asking the server anything: there is always time for that."""
        begun, self.failed = time.monotonic(), None
        try:
            return step()
        except self._ending:
            raise
        except ProbeError as error:
            self.failed = error
            self.lost = error if error.ends_connection else self.lost
            self.refused.append(Refusal(about, error, evidence))
        finally:
            self._slowest = max(self._slowest, time.monotonic() - begun)
        return None

    def must_have_answered(self, but: tuple[type[ProbeError], ...] = ()) -> None:
        """Raise why the last step was refused, if it was, unless that is one of ``but``."""
        if self.failed and not isinstance(self.failed, but):
            raise self.failed


class Asking(Inquiry):
    """A server that is asked for rows, none of which are worth losing the others.

    What it denies or does not have is left out, shown once, and not asked again. What is switched off has
    not ``failed``.
    """

    def __init__(self, server: Server, trace: Callable[[str], None]) -> None:
        super().__init__(server.deadline)
        self.server = server
        self.missing: dict[str, str] = {}  # a sentence for each GRANT that is missing
        self._trace = trace
        self._useless: dict[str, ProbeError] = {}
        self._switched_off: set[Privilege] = set()

    def switch_off(self, needs: Privilege) -> None:
        """Ask nothing more that needs this: it would show nothing, and nobody misses it."""
        self._switched_off.add(needs)

    def rows(self, statement: Statement, *arguments: object, columns: Sequence[str] = ()) -> list[Row]:
        """Ask; return no rows where the answer is denied, missing, too slow, or lacks ``columns``."""
        sql, needs = statement
        off = needs in self._switched_off
        self.failed = None if off else self.lost or self._useless.get(sql)
        if off or self.failed:
            return []
        ask = partial(self.server.rows, sql, *arguments, within=LONGEST)
        found = self.understand(sql, lambda: [*having(ask(), *columns)])
        error = self.failed
        if error and not self.lost:
            self._useless[sql] = error
        if isinstance(error, DeniedError):
            # Ours is one for a whole schema, the server's for each of its tables.
            grant, shows = (needs.mysql, needs.shows) if needs else (error.grant, "part of it")
            self.missing.setdefault(grant, f"{shows} (needs {grant})")
        elif error:
            self._trace(f"left out: {error.what}")
        return [*found] if found else []
