"""What check_mysql_backup may be asked, with its default thresholds, and how it is run."""

from __future__ import annotations

from stallwatch.frame.check import Check
from stallwatch.frame.options import mysql
from stallwatch.frame.options.values import regex
from stallwatch.probes.mysql_backup.model import AGE, DAMAGED, FULL, MISSING, NONE, SAMPLE, SIZE_CHANGE
from stallwatch.startup import TYPE_CHECKING
from stallwatch.units import duration

if TYPE_CHECKING:
    from argparse import Namespace
    from collections.abc import Iterator

    from stallwatch.findings import Finding
    from stallwatch.frame.run import Run

# Any of these names a server to compare with; ~/.my.cnf alone does not.
_NAMES_SERVER = ("hostname", "port", "socket", "username", "defaults_file", "defaults_group")

check = Check(
    "mysql_backup",
    "Report whether the backup of a MySQL or MariaDB server is recent, finished, undamaged and complete.",
)
check.option(
    "-d", "--directory", required=True, metavar="PATH",
    help="a backup, or the directory of several, of which the newest is checked; by mydumper, mysqldump or "
    "mariadb-dump (one file, or one for each database or table), mariadb-backup or XtraBackup",
)  # fmt: skip
check.option(
    "--ignore-table", type=regex, action="append", default=[], metavar="REGEX",
    help="tables SCHEMA.TABLE that may be missing, by their whole name; may be given several times",
)  # fmt: skip
check.option(
    "--no-binlog",
    action="store_true",
    help="do not require the position in the binary log, for backups without point-in-time recovery",
)
check.option(
    "--unfinished-grace", type=duration, default="2h", metavar="TIME",
    help="check the previous backup while an unfinished one was written to within this time",
)  # fmt: skip
check.option(
    "--verify", choices=[NONE, SAMPLE, FULL], default=NONE,
    help="read the files: none, a sample (64 MiB per run), or full; later runs continue with files that "
    "have not been read yet",
)  # fmt: skip
check.option(
    "--verify-timeout", type=duration, default="40s", metavar="TIME",
    help="maximum time of --verify full, in addition to --timeout; the engine must allow both",
)  # fmt: skip
mysql.add(check)
check.threshold(
    AGE, unit="s", headline=True, warning="26h", critical="50h", help="age of the newest finished backup"
)
check.threshold(
    MISSING, critical="0", help="base tables of the server that are missing in the backup and older than it"
)
check.threshold(
    DAMAGED,
    critical="0",
    help="files that are empty, not SQL, or damaged as far as --verify has read them",
)
check.threshold(SIZE_CHANGE, unit="%", warning="-50:50", help="change of the size since the previous backup")
check.keeps_state()
check.examples(
    "check_mysql_backup -d /backup/mysql -w 26h -c 50h",
    "check_mysql_backup -d /backup/mysql -S /run/mysqld/mysqld.sock --verify sample",
    "check_mysql_backup -d /backup/mysql -H db1 --ignore-table 'cache\\..*'",
)


def findings(options: Namespace, run: Run) -> Iterator[Finding]:
    """Judge the newest backup, beside the server if one is named."""
    from stallwatch.findings import State
    from stallwatch.probes.mysql_backup import probe
    from stallwatch.probes.mysql_backup.diagnosis import Rules
    from stallwatch.probes.mysql_backup.queries import Source

    check.refuse_empty(options, "directory")
    source = None
    if any(getattr(options, name) is not None for name in _NAMES_SERVER):
        source = Source(
            lambda: mysql.connect(mysql.target(check, options), run),
            State[options.unreachable.upper()],
            options.ignore_table,
        )
    rules = Rules(options.unfinished_grace, not options.no_binlog, options.verify, options.verify_timeout)
    run.target = options.directory
    with run.memory(directory=options.directory, verify=options.verify) as memory:
        yield from probe.findings(run, options.directory, source, rules, memory)
