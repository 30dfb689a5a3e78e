"""What check_ndb_page_buffer may be asked, with its default thresholds, and how it is run."""

from __future__ import annotations

from stallwatch.frame.check import Check
from stallwatch.frame.options import mysql, sample
from stallwatch.startup import TYPE_CHECKING
from stallwatch.units import count, duration

if TYPE_CHECKING:
    from argparse import Namespace
    from collections.abc import Iterator

    from stallwatch.findings import Finding
    from stallwatch.frame.run import Run

check = Check(
    "ndb_page_buffer",
    "Report how often data nodes of NDB Cluster find pages of tables on disk in DiskPageBufferMemory.",
)
mysql.add(check)
sample.add(check)
check.option(
    "--confirm", type=count, default=3, metavar="COUNT",
    help=sample.CONFIRM,
)  # fmt: skip
check.option(
    "--min-requests", type=count, default=1000, metavar="COUNT",
    help="do not judge a node with fewer requests in the interval",
)  # fmt: skip
check.option(
    "--cold", type=duration, default="30m", metavar="TIME",
    help="report WARNING at most for this long after the start of a node",
)  # fmt: skip
check.threshold(
    "hit_ratio", unit="%", headline=True, warning="99.5:", critical="95:", lower_is_worse=True,
    help="requests that found their page in memory, of those that did and those that waited",
)  # fmt: skip
check.keeps_state()
check.examples(
    "check_ndb_page_buffer -H sql1 --defaults-file /etc/stallwatch/mysql.cnf",
    "check_ndb_page_buffer -S /run/mysqld/mysqld.sock -w 99: -c 90: --confirm 5",
    "check_ndb_page_buffer -H sql1 --sample 5s -v",
)


def findings(options: Namespace, run: Run) -> Iterator[Finding]:
    """Log in and judge all data nodes."""
    from stallwatch.probes.ndb_page_buffer import probe
    from stallwatch.probes.ndb_page_buffer.diagnosis import Rules
    from stallwatch.probes.ndbinfo.queries import Ndbinfo

    sample.refuse_what_cannot_be(check, options)
    meant = {"confirm": options.confirm, "min_requests": options.min_requests, "cold": options.cold}
    identity = {name: str(value) for name, value in {**meant, **run.thresholds["hit_ratio"]}.items()}
    rules = Rules(run.is_problem, **meant)
    target = mysql.target(check, options)
    with (
        sample.memory(options, run, target=target.where, **identity) as memory,
        mysql.connect(target, run) as server,
    ):
        yield from probe.findings(Ndbinfo(server, run.deadline), options, run, rules, memory)
