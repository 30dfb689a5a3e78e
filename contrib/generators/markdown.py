"""Tables as Markdown has them."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

WIDTH = 116  # of a paragraph
NUMBER = re.compile(r"(?!\d{4}-\d\d-)-?\d|$")  # what begins so, and is no date, is read from its right end


def table(heads: list[str], rows: Iterable[list[str]]) -> str:
    """Write a table: its first column and columns of words at the left, columns of numbers at the right."""
    lines = list(rows)
    columns = list(zip(*lines, strict=True))[1:]
    sides = ["--:" if any(column) and all(map(NUMBER.match, column)) else "---" for column in columns]
    return "".join(f"| {' | '.join(line)} |\n" for line in [heads, ["---", *sides], *lines])
