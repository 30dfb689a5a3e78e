"""A row of an answer, by the names of its columns."""

from __future__ import annotations

from stallwatch.sources.mysql.errors import MissingColumnError
from stallwatch.startup import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any, NoReturn

    from stallwatch.sources.mysql.connection import Value


class Row(dict[str, "Value"]):
    """A row: ``row[column]`` raises MissingColumnError where the server has left that column out.

    ``row.get(column)`` is for a column that only some versions have.
    """

    __slots__ = ("asked",)
    asked: tuple[str, str]  # of whom, and the statement for a sentence

    def __missing__(self, column: str) -> NoReturn:
        where, shortly = self.asked
        raise MissingColumnError(
            f"{where} answered without the column {column}: asked {shortly}",
            "check which server or proxy answers there, and its version",
        )


def rows(columns: Iterable[str], values: list[Any], where: str, shortly: str) -> list[dict[str, Value]]:
    """Make rows of the lists of ``values``, in their place: never is there all of it twice.

    The statement was asked ``where`` and is written ``shortly`` in a sentence.
    """
    columns, asked = list(columns), (where, shortly)
    for number, those in enumerate(values):
        row = values[number] = Row(zip(columns, those, strict=True))
        row.asked = asked
    return values
