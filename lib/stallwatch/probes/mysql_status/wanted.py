"""What the user wants to be judged: NAME=RANGE, or NAME/NAME=RANGE, where NAME is a status variable."""

from __future__ import annotations

import re
from typing import NamedTuple

from stallwatch.probes.mysql_status.kinds import BYTES
from stallwatch.units import NotUnderstoodError, Range

_NAME = re.compile(r"[A-Za-z][\w.:-]*( [\w.:-]+)*")
_BYTES = {name.lower() for name in BYTES}


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
    """Read it, for an option."""
    quantity, equals, limit = text.partition("=")
    name, slash, per = quantity.partition("/")
    if not equals:
        raise NotUnderstoodError(f'"{text}" says not of what: write NAME=RANGE, as Threads_running=50')
    for one in (name, per) if slash else (name,):
        if not _NAME.fullmatch(one):
            raise NotUnderstoodError(f'"{one}" is no name of a status variable: write NAME=RANGE')
    return Wanted(name, per, Range(limit, "B" if name.lower() in _BYTES and not per else ""))
