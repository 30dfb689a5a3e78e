"""Signals of a replica on which all is well, to be changed where a test needs it so; and recorded ones."""

import ast
import re

import captured_mysql
from captured_mysql import lines
from captured_mysql import pairs as recorded
from clock import Waiting
from replication_snapshots import channel, snapshot
from stallwatch.probes.mysql.locks.metadata import Lock
from stallwatch.probes.mysql.locks.rows import Transaction
from stallwatch.probes.mysql.processes import Process
from stallwatch.probes.replication_lag.causes.case import Case
from stallwatch.probes.replication_lag.lag import Lag
from stallwatch.probes.replication_lag.model import Thread
from stallwatch.probes.replication_lag.signals import Counters, Look, Signals
from stallwatch.sources.mysql import DeniedError, MissingTableError

FLAVOURS = dict(captured_mysql.VERSIONS.values())
VERSIONS = tuple(FLAVOURS)
MYSQL_5_7, MYSQL_8_0, MYSQL, MARIADB = FLAVOURS.values()
APPLIER, RECEIVER = 12, 11  # in the process list
APPLIES = "Applying batch of row changes (update)"


def process(number=55, state="", **changes):
    """A client's connection that is asleep."""
    client = Process(number, "app", "web1:4711", "Sleep", 640.0, state)
    return client._replace(**changes)


def applier(state=APPLIES, seconds=30.0, number=APPLIER, **changes):
    """A thread that applies."""
    return Process(number, "system user", "", "Query", seconds, state)._replace(**changes)


def receiver():
    """A thread that receives."""
    return Process(RECEIVER, "system user", "", "Connect", 900.0, "Waiting for source to send event")


def transaction(number=APPLIER, **changes):
    """A transaction that has just begun; one that waits, waits for a row of its own."""
    row = "" if changes.get("waiting") is None else f"5:3:{number}"
    return Transaction(str(1000 + number), number, 0.0, None, row=row)._replace(**changes)


def lock(kind, number, scope="GLOBAL", table=""):
    """A metadata lock that this connection has."""
    return Lock(scope, table, kind, granted=True, process=number)


def awaits(kind, number=APPLIER, scope="GLOBAL", table=""):
    """A metadata lock that this connection, the applier, waits for."""
    return Lock(scope, table, kind, granted=False, process=number)


def looks(*processes, transactions=(), times=3):
    """Looks that all saw the same, and the receiver."""
    return [Look((receiver(), *processes), tuple(transactions))] * times


def counted(before=None, /, seconds=0.6, **after):
    """Counters at the beginning and at the end; where only ``after`` is given they began at 0."""
    begun = dict.fromkeys(after, 0.0) | (before or {})
    return [Counters(100.0, begun, {}), Counters(100.0 + seconds, after, {})]


def case(of=None, lag=None, trend=None, known=None, **signals):
    """A channel that is 30 s behind because its applier is slow."""
    busy = channel(applier=Thread("Yes", APPLIES, 0, ""))
    healthy = Signals(flavour=MYSQL, looks=looks(applier()), settings={"replica_parallel_workers": "4"})
    return Case(
        known or snapshot(of or busy),
        lag or Lag(seconds=30.0, high=31.0, transport=0.1, apply=29.9),
        trend,
        healthy._replace(**signals),
    )


def metrics(version):
    """The rows of a recorded INNODB_METRICS, with the columns that this version has."""
    rows = [line.split("\t") for line in lines(f"{version}_innodb_metrics.txt")]
    state = "ENABLED" if version.startswith("ma") else "STATUS"
    return [{"NAME": row[0], "COUNT": row[2], state: row[3]} for row in rows if len(row) > 3]


def seconds_of(name):
    """The recorded dictionaries of a run that was looked at every second."""
    numbers = (re.sub(r"Decimal\('([\d.]+)'\)", r"\1", line) for line in lines(name) if line.startswith("{"))
    return [ast.literal_eval(line) for line in numbers]


class RecordedServer:
    """Answers the statements of signals from recordings; what is denied needs that GRANT."""

    def __init__(self, version, denied=()):
        self.version = version
        self.flavour = FLAVOURS[version]
        self.denied = denied
        self.deadline = Waiting()
        self.local = False
        self.where = "db2:3306"
        self.asked = []

    def rows(self, sql, *_, within=None):
        self.asked.append(sql)
        assert within is not None
        privileges = {"performance_schema.": "SELECT", "information_schema.": "PROCESS"}
        if any(schema in sql and grant in self.denied for schema, grant in privileges.items()):
            raise DeniedError("db2:3306 denied it", number=1142, grant="SELECT on performance_schema.threads")
        if "SHOW GLOBAL STATUS" in sql:
            return self._variables("global_status", sql)
        if "SHOW GLOBAL VARIABLES" in sql:
            return self._variables("global_variables", sql)
        if "INNODB_METRICS" in sql:
            return [row for row in metrics(self.version) if f"'{row['NAME']}'" in sql]
        if "METADATA_LOCK_INFO" in sql:
            raise MissingTableError("db2:3306 has no table METADATA_LOCK_INFO", number=1109)
        return []

    def _variables(self, kind, sql):
        known = recorded(f"{self.version}_{kind}.txt")
        return [
            {"Variable_name": name, "Value": value} for name, value in known.items() if f"'{name}'" in sql
        ]
