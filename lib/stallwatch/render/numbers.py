"""The numbers of a report side by side, with their thresholds."""

from __future__ import annotations

from stallwatch.startup import TYPE_CHECKING
from stallwatch.table import Table

if TYPE_CHECKING:
    from collections.abc import Sequence

    from stallwatch.verdict import Report


def numbers(report: Report) -> Table:
    """Return a table of the perfdata, without columns that are empty."""
    rows = tuple(
        (one.label, one.value, one.unit, str(one.warning or ""), str(one.critical or ""))
        for one in report.verdicts
        if one.label
    )
    table = Table(("number", "value", "unit", "warning", "critical"), rows, widest=None)
    told = [place for place in range(len(table.columns)) if any(row[place] != "" for row in rows)]
    return some(table, told)


def some(table: Table, places: Sequence[int]) -> Table:
    """Return a table of some of its columns."""
    pick = [tuple(row[place] for place in places) for row in (table.columns, *table.rows)]
    return table._replace(columns=tuple(map(str, pick[0])), rows=tuple(pick[1:]))
