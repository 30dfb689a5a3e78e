"""One look at the status of a server."""

from __future__ import annotations

from stallwatch.findings import ProbeError
from stallwatch.probes.mysql import status
from stallwatch.probes.mysql.asking import Asking
from stallwatch.probes.mysql_status import telling
from stallwatch.probes.mysql_status.judging import Judging
from stallwatch.probes.mysql_status.lasting import Lasting
from stallwatch.probes.mysql_status.limit import Facts
from stallwatch.probes.mysql_status.looking import Sample, SinceLastRun
from stallwatch.probes.mysql_status.sets import SETS
from stallwatch.startup import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from stallwatch.findings import Finding
    from stallwatch.probes.mysql_status.asked import Asked
    from stallwatch.probes.mysql_status.measured import Measured
    from stallwatch.sources.mysql.server import Server

VARIABLES = sorted({variable for one in SETS.values() for variable in one.variables})


def findings(server: Server, asked: Asked, memory: dict[str, Any]) -> Iterator[Finding]:
    """Judge what the server counted since the last look that ``memory`` knows of, or within a sample."""

    def known(measured: Measured) -> None:
        facts = Facts(measured, {})
        asked.so_far([*Judging(facts, asked).by_user(), *telling.summary(facts)])

    looking: SinceLastRun | Sample
    if asked.sample:
        looking = Sample(server, asked.reference, asked.kinds, asked.sample)
        measured = looking.server(asked.run.deadline, known)
    else:
        looking = SinceLastRun(server, asked.reference, asked.kinds, memory)
        measured = looking.server()
    known(measured)
    asking = Asking(server, asked.run.trace)  # last: that it does not say how it is set up costs no numbers
    facts = Facts(measured, status.variables(asking, VARIABLES), _processors() if server.local else None)
    judging = Judging(facts, asked)
    judged = [*judging.by_user(), *telling.summary(facts), *judging.by_sets(Lasting(memory))]
    judged += [*_not_judged(asking, asked), *judging.asides]
    asked.so_far(judged)
    yield from judged
    yield from _others(measured, asked, judging.names, judged)
    yield from _compared(measured, looking.reference(), asked)
    if asked.everything:
        yield telling.table(measured, asked.numbers(measured.told.look.counts), judged)


def _not_judged(asking: Asking, asked: Asked) -> Iterator[ProbeError]:
    """Say of what there are no limits, where the server does not say how it is set up."""
    blind = [name for name in asked.judged_sets if SETS[name].variables]
    if asking.failed and blind:
        what = f"not all of {', '.join(blind)} is judged, as its settings are not known: {asking.failed.what}"
        yield ProbeError(what, asking.failed.advice)


def _others(measured: Measured, asked: Asked, limited: list[str], judged: list[Finding]) -> Iterator[Finding]:
    """Tell the numbers that nobody judges, and what is not known."""
    numbers = measured.told.look.counts
    chosen = asked.numbers(numbers)
    yield from telling.numbers(measured, chosen, judged)
    yield from telling.not_known(measured, [*chosen, *limited], sampled=bool(asked.sample))
    yield from asked.fitting_none(numbers)


def _compared(measured: Measured, reference: Measured | ProbeError | None, asked: Asked) -> Iterator[Finding]:
    if reference:
        from stallwatch.probes.mysql_status import comparing

        yield from comparing.findings(measured, reference, asked.compared(measured.told.look.counts))


def _processors() -> int:
    from stallwatch.sources import host

    return host.processors()
