"""The options of check_ndb_memory, with its default thresholds, and how it is run."""

from __future__ import annotations

from stallwatch.frame.check import Check
from stallwatch.frame.options import mysql
from stallwatch.startup import TYPE_CHECKING
from stallwatch.units import duration

if TYPE_CHECKING:
    from argparse import Namespace
    from collections.abc import Iterator

    from stallwatch.findings import Finding
    from stallwatch.frame.run import Run

check = Check(
    "ndb_memory",
    "Report how full the memory and the tablespaces of an NDB Cluster are, and when writes will fail.",
)
mysql.add(check)
check.option(
    "--horizon", type=duration, default=0.0, metavar="TIME",
    help="warn of data memory, index memory or a tablespace that will be full within this time at the rate "
    "seen over half of it (default: do not)",
)  # fmt: skip
check.threshold(
    "data_memory", unit="%", headline=True, warning="80", critical="90",
    help="DataMemory of the data node that has used most of it: inserts fail at 95 %, unless MinFreePct is "
    "set",
)  # fmt: skip
check.threshold(
    "index_memory", unit="%", warning="80", critical="90", help="IndexMemory, which NDB 7.5 and older have"
)
check.threshold(
    "long_message_buffer", unit="%", warning="50", critical="80",
    help="LongMessageBuffer: a data node without any left ends; critical from the second look in a row on",
)  # fmt: skip
check.threshold(
    "undo_space", unit="%", warning="70", critical="85",
    help="undo log of disk tables, without the third that is kept free (NDB 8.0 and later); critical from "
    "the second look in a row on",
)  # fmt: skip
check.threshold(
    "tablespace", unit="%", warning="80", critical="90",
    help="extents of the fullest tablespace, of those that tables can have: needs PROCESS",
)  # fmt: skip
check.keeps_state()
check.examples(
    "check_ndb_memory -H sql1 --defaults-file /etc/stallwatch/mysql.cnf",
    "check_ndb_memory -S /run/mysqld/mysqld.sock -w 70% -c 85% --horizon 1d",
)


def findings(options: Namespace, run: Run) -> Iterator[Finding]:
    """Log in and judge all data nodes and tablespaces."""
    from stallwatch.probes.ndb_memory import probe
    from stallwatch.probes.ndbinfo.queries import Ndbinfo

    horizon, target = options.horizon, mysql.target(check, options)
    with (
        run.memory(target=target.where, horizon=horizon) as memory,
        mysql.connect(target, run) as server,
    ):
        yield from probe.findings(Ndbinfo(server, run.deadline), run, memory, horizon)
