"""The options of check_mysql_stalls, with its default thresholds, and how it is run."""

from __future__ import annotations

from stallwatch.frame.check import Check
from stallwatch.frame.options import mysql
from stallwatch.startup import TYPE_CHECKING

if TYPE_CHECKING:
    from argparse import Namespace
    from collections.abc import Iterator

    from stallwatch.findings import Finding
    from stallwatch.frame.run import Run

check = Check(
    "mysql_stalls",
    "Find clients whose statement or COMMIT does not end, for how long, and who or what keeps them waiting.",
)
mysql.add(check)
check.threshold(
    "stalled", unit="s", headline=True, warning="10", critical="60",
    help="time that clients have waited for one connection without a break, or at a COMMIT for something"
    " else; CRITICAL only where that is certain",
)  # fmt: skip
check.threshold(
    "user_lock", unit="s",
    help="time that one connection has blocked others by a lock of GET_LOCK() alone, without a break",
)  # fmt: skip
check.threshold(
    "transaction", unit="s", warning="1800",
    help="age of the oldest open transaction of a client that blocks no other",
)  # fmt: skip
check.threshold("timeouts", warning="0", help="row lock waits that ended with error 1205 since the last run")
check.threshold("deadlocks", help="deadlocks since the last run")
check.threshold("connections", unit="%", warning="85", help="connections in use, of max_connections")
check.threshold("waiting", help="connections that wait for a lock")
check.threshold("longest_wait", unit="s", help="time that one connection has waited for a lock")
check.keeps_state()
check.examples(
    "check_mysql_stalls -H db1 --defaults-file /etc/stallwatch/mysql.cnf",
    "check_mysql_stalls -H db1 -w 30s -c 5m --transaction-warning 2h",
    "check_mysql_stalls -S /run/mysqld/mysqld.sock --no-state -v",
)


def findings(options: Namespace, run: Run) -> Iterator[Finding]:
    """Log in and look for clients that wait."""
    from stallwatch.probes.mysql_stalls import connections, probe
    from stallwatch.sources.mysql import UnreachableError

    target = mysql.target(check, options)
    limits = {name: str(limits) for name, limits in run.thresholds.items()}
    with run.memory(target=target.where, **limits) as memory:
        try:
            server = mysql.connect(target, run)
        except UnreachableError as error:
            if not (fault := connections.refused(error, memory)):
                raise
            yield fault
            return
        with server:
            yield from probe.findings(server, run, memory)
