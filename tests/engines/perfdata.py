"""What a plugin prints, taken apart by the rules that ours follow."""

import re
from typing import NamedTuple

NUMBER = r"-?\d+(?:\.\d+)?"
ITEM = re.compile(
    rf"(?P<label>[A-Za-z0-9_.]+)=(?P<value>{NUMBER})(?P<unit>|s|B|%|c)"
    rf"(?:;(?P<warning>(?:{NUMBER})?))?(?:;(?P<critical>(?:{NUMBER})?))?(?:;0;(?P<maximum>{NUMBER}))?"
)


class Item(NamedTuple):
    """One quantity."""

    label: str
    value: float
    unit: str
    warning: float | None
    critical: float | None
    maximum: float | None = None


def split(stdout):
    """Take it apart: line 1 up to the performance data, with the blank there; that data; what is below."""
    line, _, more = stdout.removesuffix("\n").partition("\n")
    text, _, perfdata = line.partition("| ")
    return text, perfdata, more


def items(text):
    """Read the performance data of a line, which must be just like that."""
    return [_item(word) for word in text.split(" ")] if text else []


def _item(word):
    found = ITEM.fullmatch(word)
    assert found, word
    label, value, unit, *limits = found.groups()
    return Item(label, float(value), unit, *(float(limit) if limit else None for limit in limits))
