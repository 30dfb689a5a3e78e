"""The options of check_ndb_transactions, with its default thresholds, and how it is run."""

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
    "ndb_transactions",
    "Find transactions of an NDB Cluster that are open without activity, and who waits for whose lock.",
)
mysql.add(check)
check.threshold(
    "inactive", unit="s", headline=True, warning="300",
    help="time that an open transaction has asked nothing of the data nodes",
)  # fmt: skip
check.threshold(
    "lock_held", unit="s", warning="5", help="time that a row has been locked that somebody waits for"
)
check.threshold(
    "lock_wait", unit="s", warning="5",
    help="time that somebody has waited for a lock; ends with TransactionDeadlockDetectionTimeout",
)  # fmt: skip
check.threshold("transactions", help="open transactions")
check.threshold("operations", help="operations in all open transactions")
check.threshold("largest", help="operations in the largest transaction, which may have 32768 by default")
check.keeps_state()
check.examples(
    "check_ndb_transactions -H sql1 --defaults-file /etc/stallwatch/mysql.cnf",
    "check_ndb_transactions -H sql1 -w 1m -c 10m --lock-held-critical 1m",
    "check_ndb_transactions -H sql1 --largest-warning 25000 -v",
)


def findings(options: Namespace, run: Run) -> Iterator[Finding]:
    """Log in and judge all open transactions."""
    from stallwatch.probes.ndb_transactions import probe
    from stallwatch.probes.ndbinfo.queries import Ndbinfo

    target = mysql.target(check, options)
    with run.memory(target=target.where) as memory, mysql.connect(target, run) as server:
        ndbinfo = Ndbinfo(server, run.deadline)
        yield from probe.findings(ndbinfo, run, memory, everything=bool(options.verbose))
