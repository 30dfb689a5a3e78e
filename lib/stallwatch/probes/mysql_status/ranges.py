"""Ranges that the user gives for status variables: NAME=RANGE, or NAME/NAME=RANGE for a ratio."""

from __future__ import annotations

import re

from stallwatch.startup import NamedTuple
from stallwatch.thresholds import Range
from stallwatch.units import NotUnderstoodError

_NAME = r"[A-Za-z][\w.:-]*( [\w.:-]+)*"


class Wanted(NamedTuple):
    """A range for a status variable, or for the ratio of two; in the user's spelling."""

    name: str
    per: str  # "": it is no ratio
    limit: Range

    @property
    def quantity(self) -> str:
        """What is judged, whatever the spelling."""
        return f"{self.name}/{self.per}".lower()

    def __str__(self) -> str:
        return f"{self.quantity}={self.limit}"


def wanted(text: str) -> Wanted:
    """Read NAME=RANGE, or NAME/NAME=RANGE, where NAME is a status variable."""
    quantity, equals, limit = text.partition("=")
    name, slash, per = quantity.partition("/")
    if not equals:
        raise NotUnderstoodError(f'"{text}" says not of what: write NAME=RANGE, as Threads_running=50')
    for one in (name, per) if slash else (name,):
        if not re.fullmatch(_NAME, one):
            raise NotUnderstoodError(f'"{one}" is no name of a status variable: write NAME=RANGE')
    return Wanted(name, per, Range(limit, "B" if not per and _is_in_bytes(name) else ""))


def _is_in_bytes(name: str) -> bool:
    from stallwatch.probes.mysql_status.kinds import BYTES

    return name.lower() in map(str.lower, BYTES)
