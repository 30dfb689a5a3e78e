"""One look at a server by way of a query: its runs, and what is told of them."""

from __future__ import annotations

import math

from stallwatch.probes.mysql_query.query import Query
from stallwatch.probes.mysql_query.runs import Plan, Runs
from stallwatch.probes.mysql_query.telling import CONNECTION, MAX, P95, Telling
from stallwatch.startup import TYPE_CHECKING

if TYPE_CHECKING:
    from argparse import Namespace
    from collections.abc import Callable, Iterator

    from stallwatch.findings import Finding
    from stallwatch.frame.deadline import Deadline
    from stallwatch.frame.run import Run
    from stallwatch.sources.mysql import Server


def look(
    run: Run, connect: Callable[[Deadline], Server], statement: str | None, options: Namespace
) -> Iterator[Finding]:
    """Run the query (None: SELECT 1) as the options of check_mysql_query say, and tell what came of it.

    ``connect`` logs in, to ask until a deadline; raises UnreachableError.
    """

    def is_critical(name: str, value: float) -> bool:
        limit = run.thresholds[name]["critical"]
        return limit is not None and limit.alerts(value)

    query = Query(statement or "SELECT 1", options.database or "", options.allow_writes)
    plan = Plan(options.count, options.spread, options.reconnect, _longest(run))
    told = Telling(options.expect, is_critical, given=statement is not None, sql=query.sql)

    runs = Runs(connect, query, plan, run.deadline)
    for _ in runs.take():
        run.so_far(told.readings(runs))
    if len(runs.log_ins) == 1 and is_critical(CONNECTION, runs.log_ins[0]):
        runs.log_in_again()
    yield from told.findings(runs)


def _longest(run: Run) -> float:
    """Tell the longest time that a run may take without being critical, if there is a limit."""
    limits = [limit.end for name in (P95, MAX) if (limit := run.thresholds[name]["critical"])]
    return max(filter(math.isfinite, limits), default=0.0)
