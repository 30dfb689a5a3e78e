"""The options of check_replication_lag, its default thresholds, and how it is run."""

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
    from stallwatch.probes.replication_lag.heartbeat_table import HeartbeatTable
    from stallwatch.probes.replication_lag.named_sources import Opened

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
    "replication_lag", "Report how far a replica of MySQL or MariaDB lags, whether the lag grows, and why."
)
mysql.add(check)
for _option, _which in (("--channel", "check only"), ("--ignore-channel", "ignore")):
    check.option(
        _option, type=regex, action="append", default=[], metavar="REGEX",
        help=f"{_which} channels whose whole name matches; may be given several times",
    )  # fmt: skip
check.option(
    "--not-replica", choices=["ok", "warning", "critical", "unknown"], default="unknown",
    help="state if the server is not a replica",
)  # fmt: skip
check.option(
    "--role", choices=["source", "replica"],
    help="role of this server; alerts if read_only does not fit it (default: not checked)",
)  # fmt: skip
check.option(
    "--heartbeat", type=_table, metavar="TABLE",
    help="DATABASE.TABLE with heartbeats of the source, as pt-heartbeat writes them",
)  # fmt: skip
check.option(
    "--heartbeat-server-id", type=int, metavar="ID",
    help="server_id of the heartbeats to use (default: that of the channel's source)",
)  # fmt: skip
check.option(
    "--heartbeat-zone", choices=["utc", "local"],
    help="time zone of the heartbeats (default: the one in which they are recent)",
)  # fmt: skip
check.option(
    "--source", action="append", default=[], metavar="HOST[:PORT]",
    help="also ask this source, as the same user, for transactions that are missing on the replica or that "
    "only the replica has, and whether it is behind itself; may be given several times, also for the servers "
    "above it in a chain",
)  # fmt: skip
check.option(
    "--source-group", action="append", default=[], metavar="GROUP",
    help="also ask the source of this group of the option file",
)  # fmt: skip
check.option(
    "--reference", metavar="HOST[:PORT]",
    help="healthy replica to compare with; reports what differs by a factor of three or more",
)  # fmt: skip
check.option(
    "--connecting-grace", type=duration, default="2m", metavar="TIME",
    help="report a connecting receiver as WARNING for this long, then as CRITICAL",
)  # fmt: skip
check.option(
    "--backup-grace", type=duration, default="2h", metavar="TIME",
    help="report an applier that a running backup stopped as WARNING for this long, then as CRITICAL",
)  # fmt: skip
check.option(
    "--horizon", type=duration, default=0.0, metavar="TIME",
    help="report a lag that will be CRITICAL within this time as WARNING (default: do not)",
)  # fmt: skip
check.threshold(
    "lag", unit="s", headline=True, warning="60", critical="600",
    help="replication lag, excluding the configured delay",
)  # fmt: skip
check.threshold(
    "errant", warning="0",
    help="transactions of the replica that its source does not have; without --source, those written on the "
    "replica within the last hour of checks",
)  # fmt: skip
check.threshold(
    "redo_log", unit="%", warning="90",
    help="redo log in use, of the fill level at which writers wait; read with a lag of 5 s, or with -v",
)  # fmt: skip
check.threshold(
    "innodb_status", unit="s", warning="1", critical="5",
    help="duration of SHOW ENGINE INNODB STATUS; run with a lag of 5 s, or with -v",
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
