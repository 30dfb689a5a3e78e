"""One run of the check: ask the query as often as is wanted, judge the answers, say it."""

from __future__ import annotations

from stallwatch.probes.mysql_query import messages
from stallwatch.probes.mysql_query.collect import Runs
from stallwatch.probes.mysql_query.model import CONNECTION
from stallwatch.startup import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from stallwatch.findings import Finding
    from stallwatch.frame.deadline import Deadline
    from stallwatch.frame.run import Run
    from stallwatch.probes.mysql_query.collect import Plan
    from stallwatch.probes.mysql_query.diagnosis import Rules
    from stallwatch.probes.mysql_query.queries import Query
    from stallwatch.sources.mysql import Server


def findings(
    run: Run, connect: Callable[[Deadline], Server], query: Query, plan: Plan, rules: Rules
) -> Iterator[Finding]:
    """Ask the query; ``connect`` logs in, to ask until a deadline. Raises UnreachableError."""
    runs = Runs(connect, query, plan, run.deadline)
    for _ in runs.take():
        run.so_far(messages.numbers(runs, rules))
    if len(runs.log_ins) == 1 and rules.is_critical(CONNECTION, runs.log_ins[0]):
        runs.log_in_again()
    yield from messages.all_of_it(runs, rules)
