"""What check_mysql_query may be asked, with its default thresholds, and how it is run."""

from __future__ import annotations

import math

from stallwatch.frame.check import Check
from stallwatch.frame.options import mysql
from stallwatch.frame.options.sql import sql, sql_file
from stallwatch.startup import TYPE_CHECKING
from stallwatch.units import NotUnderstoodError, count, duration

if TYPE_CHECKING:
    from argparse import Namespace
    from collections.abc import Iterator

    from stallwatch.findings import Finding
    from stallwatch.frame.run import Run

_MOST = 1000
_SPREAD = "1s"


def _runs(text: str) -> int:
    number = count(text)
    if number > _MOST:
        raise NotUnderstoodError(f'"{text}" is more than {_MOST}')
    return number


check = Check(
    "mysql_query",
    "Report whether a MySQL or MariaDB server answers a query, how fast, and whether the answer is right.",
)
mysql.add(check, unreachable="critical")
check.keeps_state("the certificate of the first log-in, if it is not verified,")
check.option("-q", "--query", type=sql, metavar="SQL", help="statement to run (default: SELECT 1)")
check.option("-f", "--query-file", metavar="FILE", help="file with the statement to run")
check.option("-D", "--database", metavar="NAME", help="database of tables that are named without one")
check.option(
    "--count", type=_runs, default="20", metavar="COUNT",
    help="number of runs; a single slow or failed run of several is a WARNING at most, except for "
    "--max-critical; the p95 of 20 runs excludes the slowest",
)  # fmt: skip
check.option(
    "--spread", type=duration, default=_SPREAD, metavar="TIME",
    help="start the runs within this time, at most half of --timeout",
)  # fmt: skip
check.option(
    "--reconnect",
    action="store_true",
    help="open a new connection for each run, as an application without persistent connections does",
)
check.option(
    "--expect",
    metavar="TEXT",
    help="expected first column of the first row; anything else is CRITICAL",
)
check.option(
    "--allow-writes",
    action="store_true",
    help="accept a statement that may write; each run changes data, and may continue after the check has "
    "ended. Without this option no table is changed, and only functions that are known to only read are "
    "called, and stored functions: grant the account only what the query needs",
)
check.threshold(
    "p95", unit="s", headline=True, warning="250ms", critical="1s",
    help="time that 95 % of the runs do not exceed, for the query and all its rows (one million rows cost "
    "0.3 s on this host); a run may take half of --timeout, or the time of the critical limits",
)  # fmt: skip
check.threshold("max", unit="s", warning="1s", help="time of the slowest run")
check.threshold(
    "connection", unit="s", warning="250ms", critical="1s",
    help="time to connect and log in, including TLS; p95 of several",
)  # fmt: skip
check.threshold("rows", help="rows of the answer")
check.examples(
    "check_mysql_query -H db1 --defaults-file /etc/stallwatch/mysql.cnf",
    'check_mysql_query -H db1 -D shop -q "SELECT open FROM state" --expect yes',
    "check_mysql_query -H db1 -f /etc/stallwatch/typical.sql --reconnect -w 250ms",
)


def findings(options: Namespace, run: Run) -> Iterator[Finding]:
    """Run the query, and report the result."""
    from stallwatch.findings import State
    from stallwatch.probes.mysql_query import probe
    from stallwatch.probes.mysql_query.collect import Plan
    from stallwatch.probes.mysql_query.queries import Query

    check.refuse_empty(options, "query_file")
    if options.query and options.query_file is not None:
        check.parser.error("--query and --query-file: which of them?")
    if options.spread > options.timeout / 2 and options.spread != duration(_SPREAD):
        check.parser.error("--spread is to be half of --timeout at most")
    spread = min(options.spread, options.timeout / 2)  # a short --timeout alone is no mistake
    statement = _statement(options, run)
    target = mysql.target(check, options)
    yield from probe.findings(
        run,
        lambda until: mysql.connect(target, run, until),
        Query(statement or "SELECT 1", options.database or "", options.allow_writes, bool(statement)),
        Plan(options.count, spread, options.reconnect, _longest(run)),
        probe.Rules(lambda name, value: run.alerts(name, value, State.CRITICAL), options.expect),
    )


def _statement(options: Namespace, run: Run) -> str | None:
    """Give the statement of the user, if there is one; end with a usage error if it is refused."""
    statement: str | None = options.query
    if options.query_file is not None:
        run.deadline.doing = f"reading {options.query_file}"
        try:
            statement = sql_file(options.query_file)
        except NotUnderstoodError as error:
            check.parser.error(f"--query-file {error}")
    if statement and not options.allow_writes:
        from stallwatch.probes.mysql_query.read_only import refusal

        if why := refusal(statement, options.timeout / 2):
            check.parser.error(f"the query is refused: {why}; --allow-writes lets it through")
    return statement


def _longest(run: Run) -> float:
    """Return the longest time that a run may take without being critical, if there is a limit."""
    limits = [limit.end for name in ("p95", "max") if (limit := run.thresholds[name]["critical"])]
    return max(filter(math.isfinite, limits), default=0.0)
