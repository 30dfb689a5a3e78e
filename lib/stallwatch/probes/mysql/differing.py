"""What stands out between two servers: the same numbers of both, three times as high or as low.

The method of "Optimizing your MySQL Tuning Methodology": the same numbers from a stressed server and from
one that is well, and what differs between them.
"""

from __future__ import annotations

from typing import NamedTuple

from stallwatch.units import say_count

TIMES = 3  # as much, or as little
IN_WORDS = "three times"


class Quantity(NamedTuple):
    """A number of both servers; below ``least`` it is too little to matter."""

    name: str
    value: float | None
    least: float
    unit: str = ""


def differ(mine: Quantity, theirs: Quantity) -> bool:
    """Whether one is at least three times the other; what is not known of both does not differ."""
    if mine.value is None or theirs.value is None:
        return False
    smaller, larger = sorted((mine.value, theirs.value))
    return larger >= mine.least and larger >= TIMES * smaller


def said(mine: Quantity, theirs: Quantity) -> str:
    """Say both: ``rows changed 300/s instead of 12/s``."""
    ours, its = (f"{_number(one.value or 0.0)}{one.unit}" for one in (mine, theirs))
    return f"{mine.name} {ours} instead of {its}"


def _number(value: float) -> str:
    return say_count(value) if value >= 100 else f"{value:.2g}"  # noqa: PLR2004
