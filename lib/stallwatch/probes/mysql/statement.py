"""A statement that signals are made of, and what an account needs to ask it."""

from __future__ import annotations

from stallwatch.startup import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import TypeVar

    from stallwatch.sources.mysql.privilege import Privilege

    Row = Mapping[str, str | int | float | None]
    AnyRow = TypeVar("AnyRow", bound=Row)

_MOST = 1e20


class Statement(NamedTuple):
    """SQL with the privilege that it needs, if any."""

    sql: str
    needs: Privilege | None = None


def having(rows: list[AnyRow], *columns: str) -> list[AnyRow]:
    """Give the rows of a verdict, of which each has the same columns; raises MissingColumnError.

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
