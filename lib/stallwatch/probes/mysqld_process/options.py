"""What check_mysqld_process may be asked, with its default thresholds, and how it is run."""

from __future__ import annotations

from stallwatch.frame.check import Check
from stallwatch.frame.options import mysql, sample
from stallwatch.frame.options.values import port
from stallwatch.startup import TYPE_CHECKING

if TYPE_CHECKING:
    from argparse import Namespace
    from collections.abc import Iterator

    from stallwatch.findings import Finding
    from stallwatch.frame.run import Run

_WAYS = ("pid_file", "listens", "data_dir")

check = Check(
    "mysqld_process",
    "Report what the process of a MySQL or MariaDB server, an NDB data node or a JVM uses.",
)
about = "process whose id is in this file (default: the only one of its name on this host)"
check.option("--pid-file", metavar="FILE", help=about)
check.option("--listens", type=port, metavar="PORT", help="process that listens on this TCP port")
about = "process that works in this directory; the log of a data node there names its threads"
check.option("--data-dir", metavar="DIR", help=about)
about = (
    "process of this name, for example java; may be given several times "
    "(default: mysqld, mariadbd, ndbmtd, ndbd)"
)
check.option("--program", action="append", default=[], metavar="NAME", help=about)
sample.add(check)
about = (
    "ask the server, too, for read_buffer_size and names of threads; default if a connection option is given"
)
check.option("--mysql", action="store_true", help=about)
mysql.add(check)
about = "processor time, of one processor: 200 % are two processors"
check.threshold("cpu", unit="%", headline=True, help=about)
check.threshold("system", unit="%", help="system time, of one processor")
check.threshold("busiest_thread", unit="%", help="processor time of the busiest thread")
about = "minor page faults per second, without a read from disk"
check.threshold("minor_faults", help=about)
about = (
    "major page faults per second, which read from disk; "
    "the default alerts only if memory of a server or data node is swapped out"
)
check.threshold("major_faults", warning="10", help=about)
check.threshold("resident_memory", unit="B", help="resident memory")
check.threshold("swapped_memory", unit="B", help="memory that is swapped out")
check.threshold("threads", help="number of threads")
check.threshold("uptime", unit="s", help="time since the start of the process")
about = "open descriptors, of its limit; by default CRITICAL in the second run in a row"
check.threshold("descriptors", unit="%", warning="80", critical="90", help=about)
check.keeps_state()
check.examples(
    "check_mysqld_process",
    "check_mysqld_process --pid-file /run/mysqld/mysqld.pid -w 400%",
    "check_mysqld_process --listens 3306 --defaults-file /etc/stallwatch/mysql.cnf",
    "check_mysqld_process --data-dir /var/lib/mysql-cluster --program ndbmtd -v",
    "check_mysqld_process --program java --listens 7199",
)


def findings(options: Namespace, run: Run) -> Iterator[Finding]:
    """Find the process and look at it."""
    from stallwatch.probes.mysqld_process import probe
    from stallwatch.probes.mysqld_process.choosing import Wanted
    from stallwatch.probes.mysqld_process.model import PROGRAMS

    sample.refuse_what_cannot_be(check, options)
    _refuse_two_ways(options)
    programs = tuple(options.program) or PROGRAMS
    wanted = Wanted(programs, options.pid_file, options.listens, options.data_dir)
    where = server = None
    if options.mysql or mysql.are_given(options):
        from stallwatch.probes.mysqld_process.queries import QueriedServer

        target = mysql.target(check, options)
        where = target.where
        server = QueriedServer(lambda: mysql.connect(target, run), run.trace)
    with sample.memory(options, run, target=where, **wanted._asdict()) as memory:
        try:
            yield from probe.findings(wanted, server, options, run, memory)
        finally:
            if server:
                server.close()
    if server and server.lost:  # now that this look is remembered
        raise server.lost


def _refuse_two_ways(options: Namespace) -> None:
    """Refuse what names two processes, or none."""
    given = [f"--{way.replace('_', '-')}" for way in _WAYS if getattr(options, way) is not None]
    if len(given) > 1:
        check.parser.error(f"{' and '.join(given)} name a process each: give one of them")
    check.refuse_empty(options, "pid_file", "data_dir", "program")
    for path in (name for name in options.program if "/" in name):
        check.parser.error(f"--program {path} is a path: give the name alone, {path.rpartition('/')[2]}")
