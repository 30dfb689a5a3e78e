"""One run: measure, judge by the user's ranges and by the sets, show numbers, compare with a reference."""

from __future__ import annotations

from stallwatch.findings import Fault, ProbeError, Reading, State
from stallwatch.probes.mysql.asking import Asking
from stallwatch.probes.mysql.status import variables
from stallwatch.probes.mysql_status.collect import Collector
from stallwatch.probes.mysql_status.diagnosis import Diagnosis, Streaks
from stallwatch.probes.mysql_status.kinds import COUNTER
from stallwatch.probes.mysql_status.model import Facts
from stallwatch.probes.mysql_status.sets import SETS
from stallwatch.startup import TYPE_CHECKING
from stallwatch.table import Table
from stallwatch.units import say_duration, say_rate
from stallwatch.words import listed, plural

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from typing import Any

    from stallwatch.findings import Finding
    from stallwatch.frame.run import Run
    from stallwatch.probes.mysql_status.collect import Opened
    from stallwatch.probes.mysql_status.model import Measured
    from stallwatch.probes.mysql_status.selection import Selection
    from stallwatch.sources.mysql.server import Server
    from stallwatch.table import Cell

_NAMED = 6
VARIABLES = sorted({variable for one in SETS.values() for variable in one.variables})


def findings(
    server: Server,
    run: Run,
    memory: dict[str, Any],
    chosen: Selection,
    *,
    confirm: int,
    sample: float | None = None,
    reference: Opened | None = None,
    everything: bool = False,
) -> Iterator[Finding]:
    """Judge what the server counted since the last look that ``memory`` knows of, or within a sample.

    ``confirm`` is intervals, ``sample`` seconds; ``everything`` adds the tables.
    """

    def so_far(measured: Measured) -> None:
        facts = Facts(measured, {})
        run.so_far([*Diagnosis(facts, chosen, run).by_user(), *_summary(facts)])

    collector = Collector(server, memory, chosen.kinds, sample=sample, reference=reference)
    measured = collector.server(run.deadline, so_far)
    so_far(measured)
    asking = Asking(server, run.trace)  # last: if it does not show its settings, that costs no numbers
    facts = Facts(measured, variables(asking, VARIABLES), _processors(server))
    diagnosis = Diagnosis(facts, chosen, run)
    judged = [*diagnosis.by_user(), *_summary(facts)]
    judged += diagnosis.by_sets(Streaks(memory), confirm, sampled=bool(sample))
    judged += [*_not_judged(asking, chosen), *diagnosis.asides]
    run.so_far(judged)
    yield from judged
    numbers = measured.answer.look.counts
    shown = chosen.numbers(numbers)
    yield from _numbers(measured, shown, judged)
    yield from _not_known(measured, [*shown, *diagnosis.names], sampled=bool(sample))
    yield from chosen.fitting_none(numbers)
    yield from _compared(measured, collector.reference(), chosen.compared(numbers))
    if everything:
        yield _table(measured, shown, judged)


def _not_judged(asking: Asking, chosen: Selection) -> Iterator[ProbeError]:
    """Report what has no limits, where the settings of the server are not known."""
    blind = [name for name in chosen.judged_sets if SETS[name].variables]
    if asking.failed and blind:
        what = f"not all of {', '.join(blind)} is judged, as its settings are not known: {asking.failed.what}"
        yield ProbeError(what, asking.failed.advice)


def _compared(
    measured: Measured, theirs: Measured | ProbeError | None, names: Sequence[str]
) -> Iterator[Finding]:
    if theirs:
        from stallwatch.probes.mysql_status import reference

        yield from reference.findings(measured, theirs, names)


def _processors(server: Server) -> int | None:
    """Return how many the host of the server has, if that is ours."""
    if not server.local:
        return None
    from stallwatch.sources import host

    return host.processors()


def _summary(facts: Facts) -> Iterator[Fault]:
    """Return in one line what the server is doing."""
    measured = facts.measured
    queries = measured.rate("Queries")
    clients = plural(facts.now("Threads_connected"), "client")
    what = f"{clients} connected, {plural(facts.at_work, 'thread')} at work"
    if queries is not None and measured.interval:
        asked = say_rate(queries).replace("/s", " queries/s")
        what = f"{asked} over {say_duration(measured.interval.seconds)}, {what}"
    yield Fault(State.OK, what)


def _numbers(measured: Measured, chosen: Sequence[str], judged: Sequence[Finding]) -> Iterator[Reading]:
    """Give the numbers that nobody judges, for the perfdata."""
    shown = _names(judged)
    for name in chosen:
        value = measured.value(name)
        if name not in shown and value is not None:
            yield Reading(name, value, measured.unit(name), in_table=True)


def _not_known(measured: Measured, wanted: Iterable[str], *, sampled: bool) -> Iterator[Fault]:
    """Return why there are no rates, or not all of them, those that are ``wanted`` first."""
    if not measured.interval:
        later = "" if sampled else ": rates are known from the next run on, or by --sample 5s"
        yield Fault(State.OK, f"{measured.answer.where}: {measured.why_not}{later}")
    elif withheld := [*filter(measured.is_withheld, dict.fromkeys([*wanted, *measured.fallen]))]:
        names = listed(withheld, _NAMED)
        yield Fault(State.OK, f"reset, as by FLUSH STATUS, so no rates this time: {names}")


def _table(measured: Measured, chosen: Sequence[str], judged: Sequence[Finding]) -> Reading:
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
