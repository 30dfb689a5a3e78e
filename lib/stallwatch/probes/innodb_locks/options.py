"""The options of check_innodb_locks, with its default thresholds, and how it is run."""

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
    "innodb_locks",
    "Find who blocks whom by locks of rows and tables, who waits at a COMMIT, and for how long.",
)
mysql.add(check)
check.threshold(
    "blocked", unit="s", headline=True, warning="10", critical="60",
    help="time that one connection has blocked others without a break, or waited for no lock, as at a COMMIT;"
    " CRITICAL only where that is certain",
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
check.threshold("waiting", help="connections that wait for a lock")
check.threshold("longest_wait", unit="s", help="time that one connection has waited for a lock")
check.keeps_state()
check.examples(
    "check_innodb_locks -H db1 --defaults-file /etc/stallwatch/mysql.cnf",
    "check_innodb_locks -H db1 -w 30s -c 5m --transaction-warning 2h",
    "check_innodb_locks -S /run/mysqld/mysqld.sock --no-state -v",
)


def findings(options: Namespace, run: Run) -> Iterator[Finding]:
    """Log in and look at all locks that somebody waits for."""
    from stallwatch.probes.innodb_locks import probe

    target = mysql.target(check, options)
    limits = {name: str(limits) for name, limits in run.thresholds.items()}
    with run.memory(target=target.where, **limits) as memory, mysql.connect(target, run) as server:
        yield from probe.findings(server, run, memory)
