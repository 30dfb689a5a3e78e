"""A statement that signals are made of, and what an account needs to ask it."""

from __future__ import annotations

from typing import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from stallwatch.sources.mysql.privilege import Privilege

    Row = Mapping[str, str | int | float | None]


class Statement(NamedTuple):
    """SQL with the privilege that it needs, if any."""

    sql: str
    needs: Privilege | None = None


def text(row: Row, column: str) -> str:
    """Read a text; NULL and a column that this version does not have are no text."""
    value = row.get(column)
    return "" if value is None else str(value)


def number(row: Row, column: str) -> float:
    """Read a number; NULL, what is no number and what is not there count as 0."""
    try:
        return float(row.get(column) or 0)
    except ValueError:
        return 0.0


def whole(row: Row, column: str) -> int:
    """Read a whole number, likewise."""
    return int(number(row, column))
