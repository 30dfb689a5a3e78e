"""The columns that a SELECT asks for."""

import itertools
from typing import NamedTuple

from sql_tokens import compared, parted

_AGGREGATES = {"avg", "bit_and", "bit_or", "count", "group_concat", "max", "min", "std", "sum"}


class Column(NamedTuple):
    """A column: its name in the answer; its expression as it is compared, and as it is written."""

    name: str
    compared: str
    written: str


def of(text, words, *, grouped):
    """The columns, none for all there are, and what else the words of SELECT say of the rows."""
    distinct = words[:1] and words[0].word == "distinct"
    items = parted(words[1:] if distinct else words, ",")
    kind = "distinct" if distinct else ""
    if any(not item or item[-1].text.endswith("*") for item in items):
        only = len(items) == 1 and compared(items[0]) == "*"
        return [], kind if only else compared(words)
    if not grouped and any(map(_aggregates, items)):
        kind = f"{kind} one row"
    return [_column(text, item) for item in items], kind


def _aggregates(item):
    return any(
        one.word in _AGGREGATES and following.text == "(" for one, following in itertools.pairwise(item)
    )


def _column(text, item):
    named = len(item) > 2 and item[-2].word == "as"
    words = item[:-2] if named else item
    written = text[words[0].begin : words[-1].end]
    name = item[-1].text if named else written
    if len(item) == 1:  # a column of a table
        name = name.rpartition(".")[2]
    return Column(name.strip("`"), compared(words), written)
