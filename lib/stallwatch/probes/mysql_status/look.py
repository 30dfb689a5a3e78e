"""One look at the status of a server."""

from __future__ import annotations

from stallwatch.probes.mysql import status
from stallwatch.probes.mysql.asking import Asking
from stallwatch.probes.mysql_status import telling
from stallwatch.probes.mysql_status.judging import Judging
from stallwatch.probes.mysql_status.lasting import Lasting
from stallwatch.probes.mysql_status.limit import Facts
from stallwatch.probes.mysql_status.looking import Looking
from stallwatch.probes.mysql_status.sets import SETS

TYPE_CHECKING = False  # typing itself costs every check 2 ms
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from stallwatch.probes.mysql_status.asked import Asked
    from stallwatch.probes.mysql_status.looking import Seen
    from stallwatch.probes.mysql_status.measured import Measured
    from stallwatch.reading import Finding
    from stallwatch.sources.mysql.server import Server

VARIABLES = sorted({variable for one in SETS.values() for variable in one.variables})


def findings(server: Server, asked: Asked, memory: dict[str, Any]) -> Iterator[Finding]:
    """Judge what the server counted since the last look that ``memory`` knows of, or within a sample."""
    variables = status.variables(Asking(server, asked.run.trace), VARIABLES)
    processors = _processors() if server.local else None

    def judged(measured: Measured, lasting: Lasting) -> list[Finding]:
        judging = Judging(Facts(measured, variables, processors), asked)
        return [*judging.by_user(), *telling.summary(measured), *judging.by_sets(lasting)]

    def known(measured: Measured) -> None:
        asked.so_far(judged(measured, Lasting({**memory})))

    looking = Looking(server, asked.reference, asked.kinds)
    if asked.sample:
        seen = looking.sample(asked.sample, asked.run.deadline, known)
    else:
        seen = looking.since_last_run(memory, known)
    first = judged(seen.server, Lasting(memory))
    yield from first
    yield from _others(seen, asked, first)


def _others(seen: Seen, asked: Asked, judged: list[Finding]) -> Iterator[Finding]:
    """Tell the numbers that nobody judges, what differs from the reference, and what is not known."""
    numbers = seen.server.told.look.counts
    chosen = asked.numbers(numbers)
    yield from telling.numbers(seen.server, chosen, judged)
    yield from telling.not_known(seen.server, sampled=bool(asked.sample))
    if seen.reference:
        from stallwatch.probes.mysql_status import comparing

        yield from comparing.findings(seen.server, seen.reference, chosen or numbers)
    if asked.everything:
        yield telling.table(seen.server, chosen, judged)


def _processors() -> int:
    from stallwatch.sources import host

    return host.processors()
