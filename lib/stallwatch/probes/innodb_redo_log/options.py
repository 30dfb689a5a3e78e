"""What check_innodb_redo_log may be asked, with its default thresholds, and how it is run."""

from __future__ import annotations

from stallwatch.frame.check import Check
from stallwatch.frame.options import mysql, sample
from stallwatch.startup import TYPE_CHECKING

if TYPE_CHECKING:
    from argparse import Namespace
    from collections.abc import Iterator

    from stallwatch.findings import Finding
    from stallwatch.frame.run import Run

check = Check(
    "innodb_redo_log",
    "Report how near InnoDB's redo log is to the point at which writers wait, and whether they did.",
)
mysql.add(check)
sample.add(check)
check.threshold(
    "redo_log", unit="%", headline=True, warning="95",
    help="checkpoint age, the highest of five samples, of the age at which writers wait; by default also a "
    "log that is beyond the async point in all of them",
)  # fmt: skip
check.threshold(
    "waits", critical="0",
    help="times that writers waited for space in the redo log since the last run, by what the server counts",
)  # fmt: skip
check.threshold(
    "standing", critical="0",
    help="samples that stood at that point, where the server does not count waits; a WARNING at most in the "
    "first of several runs",
)  # fmt: skip
check.threshold(
    "redo_time", unit="s", lower_is_worse=True,
    help="time in which writes at the rate since the last run fill it",
)  # fmt: skip
check.keeps_state()
check.examples(
    "check_innodb_redo_log -H db1 --defaults-file /etc/stallwatch/mysql.cnf",
    "check_innodb_redo_log -S /run/mysqld/mysqld.sock --redo-time-warning 30m:",
    "check_innodb_redo_log -H db1 --waits-critical 100 --waits-warning 0",
)


def findings(options: Namespace, run: Run) -> Iterator[Finding]:
    """Log in and look at the redo log."""
    from stallwatch.probes.innodb_redo_log import probe

    sample.refuse_what_cannot_be(check, options)
    target = mysql.target(check, options)
    with (
        sample.memory(options, run, target=target.where, **sample.limits(run)) as memory,
        mysql.connect(target, run) as server,
    ):
        yield from probe.findings(server, run, memory, options.sample)
