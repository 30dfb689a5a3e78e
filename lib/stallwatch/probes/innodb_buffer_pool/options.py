"""What check_innodb_buffer_pool may be asked, with its default thresholds, and how it is run."""

from __future__ import annotations

from stallwatch.frame.check import Check
from stallwatch.frame.options import mysql, sample
from stallwatch.probes.innodb_buffer_pool.model import DIRTY, MISS_RATIO
from stallwatch.startup import TYPE_CHECKING
from stallwatch.units import count

if TYPE_CHECKING:
    from argparse import Namespace
    from collections.abc import Iterator

    from stallwatch.findings import Finding
    from stallwatch.frame.run import Run

FOR_ANSWERS = 3.0  # seconds that a --sample leaves: SHOW ENGINE INNODB STATUS is asked after it

check = Check(
    "innodb_buffer_pool",
    "Report what InnoDB's buffer pool reads from disk, its free and dirty pages, and waits for free pages.",
)
mysql.add(check)
sample.add(check)
check.option(
    "--min-requests", type=count, default=1000, metavar="COUNT",
    help="skip the miss ratio if the interval has fewer page requests",
)  # fmt: skip
check.threshold(
    MISS_RATIO, unit="%", headline=True,
    help="page requests since the last run that missed the pool; WARNING at most in the first such run, "
    "with --sample, and within 30m after the server's start",
)  # fmt: skip
check.threshold("wait_free", warning="0", help="waits for a free page since the last run")
check.threshold(
    DIRTY,
    unit="%",
    help="dirty pages; without thresholds, WARNING above innodb_max_dirty_pages_pct",
)
check.threshold("pages_free", lower_is_worse=True, help="free pages; about innodb_lru_scan_depth is normal")
check.threshold(
    "innodb_status", unit="s", warning="1", critical="10", help="duration of SHOW ENGINE INNODB STATUS"
)
check.keeps_state()
check.examples(
    "check_innodb_buffer_pool -H db1 --defaults-file /etc/stallwatch/mysql.cnf",
    "check_innodb_buffer_pool -S /run/mysqld/mysqld.sock -w 1% -c 5%",
    "check_innodb_buffer_pool -H db1 --sample 5s -v",
)


def findings(options: Namespace, run: Run) -> Iterator[Finding]:
    """Log in and look at the pool, then at InnoDB's status, which may hang."""
    from contextlib import ExitStack

    from stallwatch.probes.innodb_buffer_pool import probe

    sample.refuse_what_cannot_be(check, options, FOR_ANSWERS)
    identity = {"min_requests": str(options.min_requests), **sample.limits(run)}
    target = mysql.target(check, options)
    with ExitStack() as log_in:
        with sample.memory(options, run, target=target.where, **identity) as memory:
            server = log_in.enter_context(mysql.connect(target, run))
            snapshot = probe.look(server, run, options, memory)
        yield from probe.findings(server, run, snapshot)
