"""One run: measure, judge by the user's ranges and by the sets, compare with a reference."""

from __future__ import annotations

from stallwatch.findings import ProbeError
from stallwatch.probes.mysql.asking import Asking
from stallwatch.probes.mysql.status import variables
from stallwatch.probes.mysql_status import messages
from stallwatch.probes.mysql_status.collect import Collector
from stallwatch.probes.mysql_status.diagnosis import Diagnosis, Streaks
from stallwatch.probes.mysql_status.model import Facts
from stallwatch.probes.mysql_status.sets import SETS
from stallwatch.startup import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from typing import Any

    from stallwatch.findings import Finding
    from stallwatch.frame.run import Run
    from stallwatch.probes.mysql_status.collect import Opened
    from stallwatch.probes.mysql_status.model import Measured
    from stallwatch.probes.mysql_status.selection import Selection
    from stallwatch.sources.mysql.server import Server

VARIABLES = sorted({variable for one in SETS.values() for variable in one.variables})


def findings(
    server: Server,
    run: Run,
    memory: dict[str, Any],
    chosen: Selection,
    *,
    confirm: int = 3,
    sample: float | None = None,
    reference: Opened | None = None,
    everything: bool = False,
) -> Iterator[Finding]:
    """Judge what the server counted since the last look that ``memory`` knows of, or within a sample.

    ``confirm`` is intervals, ``sample`` seconds; ``everything`` adds the tables.
    """

    def so_far(measured: Measured) -> None:
        facts = Facts(measured, {})
        run.so_far([*Diagnosis(facts, chosen, run).by_user(), *messages.summary(facts)])

    collector = Collector(server, memory, chosen.kinds, sample=sample, reference=reference)
    measured = collector.server(run.deadline, so_far)
    so_far(measured)
    asking = Asking(server, run.trace)  # last: that it does not say how it is set up costs no numbers
    facts = Facts(measured, variables(asking, VARIABLES), _processors() if server.local else None)
    diagnosis = Diagnosis(facts, chosen, run)
    judged = [*diagnosis.by_user(), *messages.summary(facts)]
    judged += diagnosis.by_sets(Streaks(memory), confirm, sampled=bool(sample))
    judged += [*_not_judged(asking, chosen), *diagnosis.asides]
    run.so_far(judged)
    yield from judged
    numbers = measured.answer.look.counts
    shown = chosen.numbers(numbers)
    yield from messages.numbers(measured, shown, judged)
    yield from messages.not_known(measured, [*shown, *diagnosis.names], sampled=bool(sample))
    yield from chosen.fitting_none(numbers)
    yield from _compared(measured, collector.reference(), chosen.compared(numbers))
    if everything:
        yield messages.table(measured, shown, judged)


def _not_judged(asking: Asking, chosen: Selection) -> Iterator[ProbeError]:
    """Say of what there are no limits, where the server does not say how it is set up."""
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


def _processors() -> int:
    from stallwatch.sources import host

    return host.processors()
