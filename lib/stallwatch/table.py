"""Many numbers side by side, for people and for programs."""

from __future__ import annotations

from typing import NamedTuple

from stallwatch.line import shorten
from stallwatch.units import plain

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    Cell = str | float | None  # None: not known

_WIDEST = 60  # bytes of a text


class Table(NamedTuple):
    """Rows of texts and numbers; a column has only texts or only numbers, as far as they are known."""

    columns: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]

    def said(self, say: Callable[[str], str]) -> Table:
        """Give the same with every text as ``say`` makes it."""
        rows = (tuple(say(cell) if isinstance(cell, str) else cell for cell in row) for row in self.rows)
        return Table(self.columns, tuple(rows))

    def by_column(self) -> list[dict[str, Cell]]:
        """Give the rows by the names of their columns."""
        return [dict(zip(self.columns, row, strict=True)) for row in self.rows]

    def lines(self) -> list[str]:
        """Write it: texts to the left, numbers to the right, below the names of the columns."""
        columns = (_padded(name, cells) for name, *cells in zip(self.columns, *self.rows, strict=True))
        return ["  ".join(row).rstrip() for row in zip(*columns, strict=True)]


def _padded(name: str, cells: list[Cell]) -> list[str]:
    written = [name, *map(_written, cells)]
    width = max(map(len, written))
    text = any(isinstance(cell, str) for cell in cells)
    return [cell.ljust(width) if text else cell.rjust(width) for cell in written]


def _written(cell: Cell) -> str:
    return "-" if cell is None else shorten(cell, _WIDEST) if isinstance(cell, str) else plain(cell)
