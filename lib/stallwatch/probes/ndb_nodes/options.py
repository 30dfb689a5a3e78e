"""What check_ndb_nodes may be asked, with its default thresholds, and how it is run."""

from __future__ import annotations

from stallwatch.frame.check import Check
from stallwatch.frame.options import mysql
from stallwatch.startup import TYPE_CHECKING
from stallwatch.units import NotUnderstoodError, duration

if TYPE_CHECKING:
    from argparse import Namespace
    from collections.abc import Iterator

    from stallwatch.findings import Finding
    from stallwatch.frame.run import Run


_LARGEST_ID = 255


def place(text: str) -> tuple[str, int]:
    """Read HOST[:PORT] of a management server; argparse names this function if it refuses ``text``."""
    from stallwatch.frame.options.values import port
    from stallwatch.sources.ndb_mgm import PORT

    host, given = mysql.host_and_port(text)
    return host, port(given) if given else PORT


def node_id(text: str) -> int:
    """Read the number of a node; argparse names this function if it refuses ``text``."""
    if not (text.isascii() and text.isdecimal() and 0 < int(text[:6]) <= _LARGEST_ID):
        raise NotUnderstoodError(f'"{text}" is not a number from 1 to {_LARGEST_ID}')
    return int(text)


check = Check(
    "ndb_nodes",
    "Report data nodes of an NDB Cluster that are down or starting, and their links and threads.",
)
mysql.add(check, unreachable="critical")
check.option(
    "--management", type=place, metavar="HOST[:PORT]",
    help="ask this management server about nodes that do not answer the SQL node "
    "(default: the one that the SQL node knows, port 1186)",
)  # fmt: skip
check.option(
    "--expect-api", type=node_id, action="append", default=[], metavar="ID",
    help="SQL, API or management node that is to be connected; may be given several times "
    "(default: SQL and management nodes that were connected for 10 min)",
)  # fmt: skip
check.option(
    "--forget-api", type=node_id, action="append", default=[], metavar="ID",
    help="do not expect this node any more; may be given several times",
)  # fmt: skip
check.option(
    "--restarted", type=duration, default="10m", metavar="TIME",
    help="warn of a data node that has started within this time",
)  # fmt: skip
check.option(
    "--starting-grace", type=duration, default="2h", metavar="TIME",
    help="a data node that is starting, or being shut down in order, is missing after this time",
)  # fmt: skip
check.option(
    "--arbitrator-grace", type=duration, default="5m", metavar="TIME",
    help="trouble with the arbitrator is a WARNING for this time, then CRITICAL",
)  # fmt: skip
check.threshold("nodes_missing", headline=True, critical="0", help="data nodes that are missing")
check.threshold("nodes_starting", warning="0", help="data nodes that are starting")
check.threshold(
    "api_nodes_missing", warning="0",
    help="nodes (SQL, API, management) that are expected and not connected to the data nodes",
)  # fmt: skip
check.threshold(
    "generations", unit="s", warning="30m",
    help="time for which data nodes run with different generations of the configuration",
)  # fmt: skip
check.threshold(
    "thread_use", unit="%", warning="85", critical="95",
    help="time that the busiest thread works, over up to 400 s",
)  # fmt: skip
check.threshold(
    "overloads", warning="0", critical="10",
    help="overloads of links between data nodes per minute; critical the second interval in a row",
)  # fmt: skip
check.threshold(
    "reconnects", warning="0",
    help="links between data nodes that reconnected since the last run, although no node has restarted",
)  # fmt: skip
check.threshold("major_faults", warning="100", help="major page faults of a data node per minute")
check.threshold(
    "certificate", unit="s", warning="30d:", critical="7d:", lower_is_worse=True,
    help="time until the first TLS certificate of a data node expires",
)  # fmt: skip
check.keeps_state()
check.examples(
    "check_ndb_nodes -H sql1 --defaults-file /etc/stallwatch/mysql.cnf",
    "check_ndb_nodes -H sql1 --management mgm1:1186 --restarted 1h",
    "check_ndb_nodes -S /run/mysqld/mysqld.sock --starting-grace 4h",
)


def findings(options: Namespace, run: Run) -> Iterator[Finding]:
    """Log in at the SQL node and judge all data nodes.

    An SQL node that answers, but cannot show how its cluster is, is UNKNOWN: --unreachable is not about that.
    """
    from stallwatch.findings import ProbeError, State
    from stallwatch.probes.ndb_nodes import probe
    from stallwatch.probes.ndbinfo.queries import Ndbinfo
    from stallwatch.sources.mysql import DeniedError, MissingTableError, MysqlError

    target = mysql.target(check, options)
    sql_host = "127.0.0.1" if target.socket else target.host
    with run.memory(target=target.where) as memory, mysql.connect(target, run) as server:
        try:
            yield from probe.findings(Ndbinfo(server, run.deadline), options, run, memory, sql_host)
        except (DeniedError, MissingTableError) as error:
            error.state = State.UNKNOWN
            raise
        except ProbeError as error:
            if not isinstance(error, MysqlError):
                error.state = State.UNKNOWN
            raise
