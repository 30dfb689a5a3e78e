"""Many numbers side by side, for people and for programs."""

from __future__ import annotations

from stallwatch.line import shorten
from stallwatch.startup import TYPE_CHECKING, NamedTuple
from stallwatch.units import is_number, plain

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    Cell = str | float | None  # None: not known

_WIDEST = 60  # bytes of a text


class Table(NamedTuple):
    """Rows of texts and numbers; a column has only texts or only numbers, as far as they are known."""

    columns: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]
    widest: int | None = _WIDEST  # bytes of a text; None: texts are whole

    def said(self, say: Callable[[str], str]) -> Table:
        """Give the same with every text passed through ``say``; NaN and infinity are not known."""
        columns, *rows = (tuple(_said(cell, say) for cell in row) for row in (self.columns, *self.rows))
        return self._replace(columns=tuple(map(str, columns)), rows=tuple(rows))

    def by_column(self) -> list[dict[str, Cell]]:
        """Give the rows by the names of their columns."""
        return [dict(zip(self.columns, row, strict=True)) for row in self.rows]

    def lines(self) -> list[str]:
        """Write it: texts to the left, numbers to the right, below the names of the columns."""
        columns = (_padded(written, cells) for written, cells in self._columns())
        return ["  ".join(row).rstrip() for row in zip(*columns, strict=True)]

    def widths(self) -> list[int]:
        """Return how wide each column is."""
        return [max(map(len, written)) for written, _ in self._columns()]

    def _columns(self) -> Iterator[tuple[list[str], list[Cell]]]:
        """Give each column, from its name on, as it is written, and its cells."""
        for name, *cells in zip(self.columns, *self.rows, strict=True):
            yield [name, *(_written(cell, self.widest) for cell in cells)], cells


def _padded(written: list[str], cells: list[Cell]) -> list[str]:
    width = max(map(len, written))
    text = any(isinstance(cell, str) for cell in cells)
    return [cell.ljust(width) if text else cell.rjust(width) for cell in written]


def _said(cell: Cell, say: Callable[[str], str]) -> Cell:
    if isinstance(cell, str):
        return say(cell)
    return cell if is_number(cell) else None


def _written(cell: Cell, widest: int | None) -> str:
    if isinstance(cell, str):
        return shorten(cell, widest) if widest else cell
    return "-" if cell is None else plain(cell)
