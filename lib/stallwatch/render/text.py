"""A report for Nagios, Icinga and NRPE: the worst and the perfdata on line 1, the rest below."""

from __future__ import annotations

from stallwatch.findings import State
from stallwatch.line import LINE, shorten
from stallwatch.startup import TYPE_CHECKING
from stallwatch.units import plain
from stallwatch.words import plural

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from stallwatch.thresholds import Range
    from stallwatch.verdict import Report, Verdict

LONGEST = 160  # letters before the perfdata: a text message
SHORTEST = 40  # bytes of text that stay on line 1 beside any perfdata
# Below line 1; in bytes, so that it stays below the 65504 that NRPE 4 sends.
LONG_LINES, LONG_LINE, LONG_OUTPUT = 50, 8000, 50_000


def written(report: Report) -> str:
    """Write all of it; line 1 is at most LINE bytes long where the perfdata leaves room for that."""
    headline, *others = report.ranked
    head = f"{report.name.upper()} {headline.state.name} - "
    more, numbers = _more(others), perfdata(report)
    room = LINE - len((head + more + numbers).encode())
    if room < SHORTEST:  # the perfdata cannot be kept within the line anyhow
        room = LINE - len((head + more).encode())
    fitting = headline
    left_out: list[str] = []
    if len(head + headline.sentence + more) > LONGEST:
        from stallwatch.render.status_line import on_the_line  # takes 5 ms

        fitting, left_out = on_the_line(headline, LONGEST - len(head + more))
    said = shorten(fitting.sentence, room)
    told = [verdict for verdict in others if report.everything or verdict.to_be_told]
    lines = [f"  {line}" for line in left_out] if said == fitting.sentence else [_tagged(headline)]
    lines += _below(headline, report)
    for verdict in told:
        lines += [_tagged(verdict), *_below(verdict, report)]
    lines += _tables(report) if report.everything else []
    lines += _numbers(report) if report.numbers else []
    return "\n".join([head + said + more + numbers, *_capped(lines), *_capped(report.trace)])


def _tagged(verdict: Verdict) -> str:
    return f"[{verdict.tag}] {verdict.detail}"


def _below(verdict: Verdict, report: Report) -> list[str]:
    if not (report.everything or verdict.is_wrong):
        return []
    step = [f"  next step: {verdict.step_below}"] if verdict.step_below else []
    follows = [
        line
        for one in report.consequences(verdict)
        for line in (f"  also: {one.detail}", *(f"    {more}" for more in one.more))
    ]
    return [*step, *follows, *(f"  {line}" for line in verdict.more)]


def perfdata(report: Report) -> str:
    """Write `` | label=value[unit][;[warning][;[critical][;0;maximum]]] ...``; of ``%`` both are known.

    Not by nagiosplugin's Performance, which quotes a label with a dot and prints ranges (1.4.0).
    """
    items = []
    for verdict in report.verdicts:
        if verdict.value is not None and verdict.label:
            ends = () if verdict.most is None else ("0", plain(verdict.most))
            limits = ";".join(("", _limit(verdict.warning), _limit(verdict.critical), *ends)).rstrip(";")
            items.append(f"{verdict.label}={plain(verdict.value)}{verdict.unit}{limits}")
    return " | " + " ".join(items) if items else ""


def _tables(report: Report) -> list[str]:
    return [line for verdict in report.verdicts if verdict.table for line in verdict.table.lines()]


def _numbers(report: Report) -> list[str]:
    from stallwatch.render.numbers import numbers

    table = numbers(report)
    return table.lines() if table.rows else []


def _more(others: Iterable[Verdict]) -> str:
    problems = sum(verdict.state is not State.OK for verdict in others)
    return f" (+{plural(problems, 'more problem')})" if problems else ""


def _limit(limit: Range | None) -> str:
    return "" if limit is None or limit.plain_limit is None else plain(limit.plain_limit)


def _capped(lines: Sequence[str]) -> list[str]:
    kept: list[str] = []
    room = LONG_OUTPUT
    for line in lines[:LONG_LINES]:
        short = shorten(line, LONG_LINE)
        room -= len(short.encode()) + 1
        if room < 0:
            break
        kept.append(short)
    missing = len(lines) - len(kept)
    return [*kept, f"... and {missing} more"] if missing else kept
