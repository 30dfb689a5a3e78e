"""A report for a person: aligned, in lines that the terminal has room for, coloured if that was asked for."""

from __future__ import annotations

import os
import re
import textwrap

from stallwatch.findings import State
from stallwatch.render.numbers import numbers, some
from stallwatch.startup import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator

    from stallwatch.table import Table
    from stallwatch.verdict import Report, Verdict

_INDENT, _COLUMN = "  ", " " * 12  # of a state and of a table; of what is said beside the state
_NARROWEST = 40  # columns
_GAP = 2  # columns between those of a table
_COLORS = {State.OK: "32", State.WARNING: "33", State.CRITICAL: "1;31", State.UNKNOWN: "35"}
_TITLE = "1"  # bold
# The blank of "114 s": no line ends there. Texts of findings have no other no-break space.
_BEFORE_UNIT = re.compile(r"(?<=\d) (?=%|(?:min|[mu]?s|[hd]|[KMGTP]?i?B)\b)")
_NO_BREAK = "\N{NO-BREAK SPACE}"


class Screen(NamedTuple):
    """Where it is read."""

    columns: int = 0  # 0: lines are left whole
    color: bool = False

    @classmethod
    def of(cls, columns: int, color: str) -> Screen:
        """Understand ``--color``: never, always, or auto: on a terminal whose user does not refuse them."""
        refused = os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb"
        width = max(columns, _NARROWEST) if columns else 0
        return cls(width, color == "always" or (color == "auto" and columns > 0 and not refused))

    def painted(self, text: str, code: str) -> str:
        """Give it in a colour, if that is wanted."""
        return f"\x1b[{code}m{text}\x1b[0m" if self.color else text

    def wrapped(self, begin: str, text: str) -> str:
        """Break ``text`` behind ``begin`` into lines that begin below its own begin."""
        if not self.columns:
            return begin + text
        gap = " " * len(begin)
        whole = _BEFORE_UNIT.sub(_NO_BREAK, text)
        lines = textwrap.wrap(whole, self.columns - len(gap), break_long_words=False, break_on_hyphens=False)
        return begin + f"\n{gap}".join(lines).replace(_NO_BREAK, " ")


def written(report: Report, screen: Screen) -> str:
    """Write all findings, the worst first, then the tables."""
    lines = [f"{report.name} is {screen.painted(report.state.name, _COLORS[report.state])}"]
    for verdict in report.ranked:
        lines += _told(verdict, screen, why=report.everything)
        lines += (screen.wrapped(_COLUMN + "also: ", one.detail) for one in report.consequences(verdict))
    tables = [verdict.table for verdict in report.verdicts if verdict.table]
    for table in [*tables, numbers(report)] if report.everything else tables:
        lines += _blocks(table, screen) if table.rows else ()
    return "\n".join([*lines, *([""] if report.trace else []), *report.trace])


def _told(verdict: Verdict, screen: Screen, *, why: bool) -> Iterator[str]:
    """Return it with the evidence and the next step; of what is OK the evidence at most, if ``why``."""
    what = screen.wrapped(_COLUMN, verdict.what or "no details")
    yield _INDENT + screen.painted(verdict.tag, _COLORS[verdict.state]) + what[len(_INDENT + verdict.tag) :]
    wrong = verdict.is_wrong
    if verdict.why and (wrong or why or verdict.has_cause):
        yield screen.wrapped(_COLUMN + "why:  ", verdict.why)
    if step := verdict.advice if wrong else verdict.step_below if why else "":
        yield screen.wrapped(_COLUMN + "do:   ", step)
    if wrong or why:
        yield from (screen.wrapped(_COLUMN + "more: ", line) for line in verdict.more)


def _blocks(table: Table, screen: Screen) -> Iterator[str]:
    """Write a table below an empty line; one too wide in parts, of which each has the first column."""
    room = screen.columns - len(_INDENT) if screen.columns else 0
    for part in _parts(table, room):
        title, *rows = part.lines()
        yield ""
        yield _INDENT + screen.painted(title, _TITLE)
        yield from (_INDENT + row for row in rows)


def _parts(table: Table, room: int) -> Iterator[Table]:
    widths = table.widths()
    chosen: list[int] = []
    taken = 0
    for place, width in enumerate(widths):
        if room and len(chosen) > 1 and taken + width > room:
            yield some(table, chosen)
            chosen, taken = [0], widths[0] + _GAP
        chosen.append(place)
        taken += width + _GAP
    yield some(table, chosen)
