"""The numbers in rows of ndbinfo, all of whose columns may be NULL."""

from __future__ import annotations

from stallwatch.findings import ProbeError
from stallwatch.probes.mysql.statement import meant
from stallwatch.startup import TYPE_CHECKING

if TYPE_CHECKING:
    from stallwatch.probes.ndbinfo.asking import Row


def number(row: Row, column: str) -> float:
    """Give a number; raises a ProbeError where there is none, as from a server that is damaged or no NDB."""
    value = row[column]
    if isinstance(value, int | float) and meant(value) is not None:
        return value
    raise ProbeError(
        f"ndbinfo tells no number as {column}, but {value!r}: {row}", "is that server's ndbinfo intact?"
    )


def whole(row: Row, column: str) -> int:
    """Give a whole number; raises likewise."""
    return int(number(row, column))
