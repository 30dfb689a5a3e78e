"""The words and the numbers for what was measured."""

from __future__ import annotations

from stallwatch.findings import Fault, Reading, State
from stallwatch.probes.mysql_status.kinds import COUNTER
from stallwatch.startup import TYPE_CHECKING
from stallwatch.table import Table
from stallwatch.units import say_duration, say_rate
from stallwatch.words import listed, plural

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from stallwatch.findings import Finding
    from stallwatch.probes.mysql_status.model import Facts, Measured
    from stallwatch.table import Cell

_NAMED = 6


def summary(facts: Facts) -> Iterator[Fault]:
    """Say in one line what the server is doing."""
    measured = facts.measured
    queries = measured.rate("Queries")
    clients = plural(facts.now("Threads_connected"), "client")
    what = f"{clients} connected, {plural(facts.at_work, 'thread')} at work"
    if queries is not None and measured.interval:
        asked = say_rate(queries).replace("/s", " queries/s")
        what = f"{asked} over {say_duration(measured.interval.seconds)}, {what}"
    yield Fault(State.OK, what)


def numbers(measured: Measured, chosen: Sequence[str], judged: Sequence[Finding]) -> Iterator[Reading]:
    """Give the numbers that nobody judges, for the perfdata."""
    shown = _names(judged)
    for name in chosen:
        value = measured.value(name)
        if name not in shown and value is not None:
            yield Reading(name, value, measured.unit(name), in_table=True)


def not_known(measured: Measured, wanted: Iterable[str], *, sampled: bool) -> Iterator[Fault]:
    """Say why there are no rates, or not all of them, those that are ``wanted`` first."""
    if not measured.interval:
        later = "" if sampled else ": rates are told from the next run on, or by --sample 5s"
        yield Fault(State.OK, f"{measured.answer.where}: {measured.why_not}{later}")
    elif withheld := [*filter(measured.is_withheld, dict.fromkeys([*wanted, *measured.fallen]))]:
        names = listed(withheld, _NAMED)
        yield Fault(State.OK, f"begun anew, as by FLUSH STATUS, so no rates this time: {names}")


def table(measured: Measured, chosen: Sequence[str], judged: Sequence[Finding]) -> Reading:
    """Give all that is shown as a table, what is 0 last."""
    known = [name for name in _names(judged) if measured.now(name) is not None]
    names = sorted(dict.fromkeys([*known, *chosen]), key=lambda name: not measured.value(name))
    rows = tuple(_row(measured, name) for name in names)
    what = f"{len(rows)} numbers of {len(measured.answer.look.counts)} that {measured.answer.where} has"
    columns = ("name", "kind", "value", "per_second")
    return Reading("numbers", len(rows), "", what, label="", table=Table(columns, rows))


def _row(measured: Measured, name: str) -> tuple[Cell, ...]:
    kind = measured.kind(name)
    return name, kind, measured.now(name), measured.value(name) if kind == COUNTER else None


def _names(findings: Sequence[Finding]) -> list[str]:
    return [one.name for one in findings if isinstance(one, Reading)]
