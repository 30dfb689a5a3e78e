"""Rows and columns of an answer: their values in a packet, each behind its length, and rows by name."""

from __future__ import annotations

from stallwatch.sources.mysql.errors import MissingColumnError
from stallwatch.startup import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from typing import Any, NoReturn

    Value = str | int | float | None

_NULL = 251
_OCTETS_OF_LENGTH = {252: 2, 253: 3, 254: 8}  # of a value that is longer than 250


def values(octets: bytes, begins: int, ends: int, read: Sequence[Callable[[bytes], Any]]) -> list[Any]:
    """Read a row, each value as ``read`` returns it; IndexError, KeyError or ValueError: it is none."""
    row: list[Any] = []
    at = begins
    for one in read:
        length = octets[at]
        at += 1
        if length == _NULL:
            row.append(None)
            continue
        if length > _NULL:
            size = _OCTETS_OF_LENGTH[length]
            length = int.from_bytes(octets[at : at + size], "little")
            at += size
        row.append(one(octets[at : at + length]))
        at += length
    if at != ends:
        raise ValueError(at)
    return row


def text(octets: bytes) -> str:
    """Read text; what is no UTF-8 is shown as a question mark in a diamond."""
    return octets.decode(errors="replace")


def column(octets: bytes, begins: int, ends: int) -> tuple[str, int]:
    """Read the description of a column: its name, and its type as a ``FIELD_TYPE``; errors as ``values``.

    It is like a row: catalogue, schema, table (here, there), name (here, there), and 12 bytes, of which the
    7th is the type (MySQL: Source Code Documentation, column definition of the text protocol).
    """
    row = values(octets, begins, ends, (len, len, len, len, text, len, bytes))
    if None in row:
        raise ValueError(row)
    return row[4], row[6][6]


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


def by_column(columns: Iterable[str], values: list[Any], where: str, shortly: str) -> list[dict[str, Value]]:
    """Make rows of the lists of ``values``, in their place: never is there all of it twice.

    The statement was asked ``where`` and is written ``shortly`` in a sentence.
    """
    columns, asked = list(columns), (where, shortly)
    for number, those in enumerate(values):
        row = values[number] = Row(zip(columns, those, strict=True))
        row.asked = asked
    return values
