"""What check_replication_lag may be asked, with its default thresholds, and how it is run."""

from __future__ import annotations

from stallwatch.frame.check import Check
from stallwatch.frame.options import mysql
from stallwatch.frame.options.values import regex
from stallwatch.startup import TYPE_CHECKING
from stallwatch.units import duration

if TYPE_CHECKING:
    from argparse import Namespace
    from collections.abc import Iterator

    from stallwatch.findings import Finding
    from stallwatch.frame.run import Run
    from stallwatch.probes.replication_lag.collect import Opened
    from stallwatch.probes.replication_lag.heartbeat_table import HeartbeatTable

# What changes the meaning of what is remembered.
_MEANING = (
    "channel",
    "ignore_channel",
    "heartbeat",
    "heartbeat_server_id",
    "heartbeat_zone",
    "source",
    "source_group",
)


def _table(text: str) -> HeartbeatTable:
    """Read the name of a heartbeat table."""
    from stallwatch.probes.replication_lag.heartbeat_table import table

    return table(text)


check = Check(
    "replication_lag", "Tell how far a replica of MySQL or MariaDB is behind, where that is going, and why."
)
mysql.add(check)
for _option, _which in (("--channel", "judge only"), ("--ignore-channel", "do not judge")):
    check.option(
        _option, type=regex, action="append", default=[], metavar="REGEX",
        help=f"{_which} channels whose whole name fits; may be given several times",
    )  # fmt: skip
check.option(
    "--not-replica", choices=["ok", "warning", "critical", "unknown"], default="unknown",
    help="the state if the server is no replica",
)  # fmt: skip
check.option(
    "--heartbeat", type=_table, metavar="TABLE",
    help="DATABASE.TABLE that the source writes the time to, as pt-heartbeat does",
)  # fmt: skip
check.option(
    "--heartbeat-server-id", type=int, metavar="ID",
    help="take the row that this server writes (default: the one of the channel's source)",
)  # fmt: skip
check.option(
    "--heartbeat-zone", choices=["utc", "local"],
    help="whether it writes UTC or local time (default: what makes sense)",
)  # fmt: skip
check.option(
    "--source", action="append", default=[], metavar="HOST[:PORT]",
    help="ask the source, too, as the same user: what is missing here, what is here that should not be; "
    "may be given several times",
)  # fmt: skip
check.option(
    "--source-group", action="append", default=[], metavar="GROUP",
    help="the same, with what this group of the option file says",
)  # fmt: skip
check.option(
    "--reference", metavar="HOST[:PORT]",
    help="a healthy replica to compare with: say what differs by three times or more",
)  # fmt: skip
check.option(
    "--connecting-grace", type=duration, default="2m", metavar="TIME",
    help="a receiver that is connecting is a WARNING for this time, then CRITICAL",
)  # fmt: skip
check.option(
    "--backup-grace", type=duration, default="2h", metavar="TIME",
    help="an applier that a running backup has stopped is a WARNING for this time, then CRITICAL",
)  # fmt: skip
check.option(
    "--horizon", type=duration, default=0.0, metavar="TIME",
    help="warn of a lag that will be CRITICAL within this time (default: do not)",
)  # fmt: skip
check.threshold(
    "lag", unit="s", headline=True, warning="60", critical="600",
    help="time that a channel is behind, without its intended delay",
)  # fmt: skip
check.threshold(
    "errant", warning="0", help="transactions that the replica has and its source has not: with --source"
)
check.threshold(
    "redo_log", unit="%", warning="90",
    help="redo log, of the point where writers stall; looked at when there is lag, or with -v",
)  # fmt: skip
check.threshold(
    "innodb_status", unit="s", warning="1", critical="5",
    help="time that SHOW ENGINE INNODB STATUS takes; asked when there is lag, or with -v",
)  # fmt: skip
check.keeps_state()
check.examples(
    "check_replication_lag -H replica1 --defaults-file /etc/stallwatch/mysql.cnf",
    "check_replication_lag -S /run/mysqld/mysqld.sock -w 5m -c 1h --horizon 2h",
    "check_replication_lag -H replica1 --source db1 --heartbeat percona.heartbeat",
)


def findings(options: Namespace, run: Run) -> Iterator[Finding]:
    """Log in and judge every channel; the state file is free while causes are searched for."""
    from contextlib import ExitStack

    from stallwatch.probes.replication_lag import gtid
    from stallwatch.probes.replication_lag.probe import Probe

    def opened(place: str | None, group: str | None = None) -> Opened:
        target = mysql.other(check, options, place, group)
        return lambda: mysql.connect_besides(target, run)

    sources = [*map(opened, options.source), *(opened(None, group) for group in options.source_group)]
    reference = opened(options.reference) if options.reference else None
    meant = {name: str(getattr(options, name)) for name in _MEANING}
    target = mysql.target(check, options)
    with ExitStack() as log_in:
        log_in.callback(gtid.forget)
        with run.memory(target=target.where, **meant) as memory:
            probe = Probe(log_in.enter_context(mysql.connect(target, run)), options, run)
            probe.judge(memory, sources)
        yield from probe.findings(reference)
