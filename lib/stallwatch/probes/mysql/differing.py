"""What differs between two servers: the same numbers of both, three times as high or as low.

The method of "Optimizing your MySQL Tuning Methodology": the same numbers from a stressed server and from
one that is well, and what differs between them.
"""

from __future__ import annotations

from stallwatch.startup import NamedTuple
from stallwatch.units import say_rate, say_size

TIMES = 3  # as much, or as little
IN_WORDS = "three times"


class Quantity(NamedTuple):
    """A number of both servers; below ``least`` it is too little to matter."""

    name: str
    value: float | None
    least: float
    unit: str = ""  # "/s", " %", "B": bytes


def differ(mine: Quantity, theirs: Quantity) -> bool:
    """Whether one is at least three times the other; what is not known of both does not differ."""
    if mine.value is None or theirs.value is None:
        return False
    smaller, larger = sorted((mine.value, theirs.value))
    return larger >= mine.least and larger >= TIMES * smaller


def said(mine: Quantity, theirs: Quantity) -> str:
    """Write both: ``rows changed 300/s instead of 12/s``."""
    return f"{mine.name} {_number(mine)} instead of {_number(theirs)}"


def _number(one: Quantity) -> str:
    value = one.value or 0.0
    if one.unit == "B":
        return say_size(value)
    return say_rate(value).removesuffix("/s") + one.unit
