"""A replica that answers the statements of one look from rows that a test sets."""

from clock import Waiting
from stallwatch.sources.mysql import DeniedError, Flavour, UnknownStatementError, UnreachableError

FLAVOURS = {
    "MySQL": Flavour("MySQL", (9, 7, 2), "MySQL 9.7.2"),
    "MySQL 5.7": Flavour("MySQL", (5, 7, 42), "MySQL 5.7.42"),
    "MySQL 8.0.20": Flavour("MySQL", (8, 0, 20), "MySQL 8.0.20"),
    "MariaDB": Flavour("MariaDB", (10, 11, 19), "MariaDB 10.11.19"),
}
NOW = 1_795_000_000.0
IDLE = "Replica has read all relay log; waiting for more updates"
UUID = "b0c6f8d6-e537-11f1-b3bb-02fc00000001"


def healthy_row(name="", **columns):
    """A row of SHOW REPLICA STATUS."""
    return {
        "Channel_Name": name, "Source_Host": "db1", "Source_Port": 3306, "Source_Server_Id": 1,
        "Source_UUID": UUID, "Replica_IO_Running": "Yes", "Replica_SQL_Running": "Yes",
        "Replica_IO_State": "Waiting for source to send event", "Replica_SQL_Running_State": IDLE,
        "Seconds_Behind_Source": 0, "SQL_Delay": 0, "SQL_Remaining_Delay": None,
        "Last_IO_Errno": 0, "Last_IO_Error": "", "Last_SQL_Errno": 0, "Last_SQL_Error": "",
        "Source_Log_File": "bin.000001", "Read_Source_Log_Pos": 500,
        "Relay_Source_Log_File": "bin.000001", "Exec_Source_Log_Pos": 500, "Relay_Log_Space": 1000,
        "Retrieved_Gtid_Set": f"{UUID}:1-5", "Executed_Gtid_Set": f"{UUID}:1-5",
    } | columns  # fmt: skip


class FakeReplica:
    """Server's methods, with ``channels`` and ``receivers`` that may be changed."""

    def __init__(self, flavour="MySQL", where="db2:3306"):
        self.flavour = FLAVOURS[flavour]
        self.where = where
        self.deadline = Waiting()
        self.local = False
        self.answers_after = 0.001
        self.network_trip = 0.0
        self.now = NOW
        self.uptime = 5000
        self.read_only = None  # not told
        self.channels = {}
        self.receivers = {}
        self.workers = []
        self.processes = []
        self.denied = {}  # part of a statement -> the GRANT that is missing
        self.unknown = ()  # parts of statements that are a syntax error here
        self.failing = {}  # part of a statement -> the error that comes back
        self.lets_in_again = True
        self.asked = []

    def __enter__(self):
        return self

    def __exit__(self, *_):
        pass

    def again(self):
        if not self.lets_in_again:
            raise UnreachableError(f"{self.where} has no connection left for us (error 1226)")
        return self

    def channel(self, name="", **columns):
        """Add a healthy channel, or change one."""
        row = self.channels.setdefault(name, healthy_row(name))
        row |= columns
        self.receivers.setdefault(name, {
            "channel": name, "thread": 50, "heartbeats": 3, "last_heartbeat": 0, "heartbeat_period": 30.0,
            "queued": f"{UUID}:5", "coordinator_commit": 0, "queueing_commit": 0, "coordinator": 51,
            "contact": 1.0, "transport": 0.05,
        })  # fmt: skip
        return row

    def applies(self, name="", *, committed):
        """Let a worker of the channel apply what was committed so many seconds ago."""
        self.channel(name, Replica_SQL_Running_State="Waiting for dependent transaction to commit")
        self.workers = [one for one in self.workers if one["channel"] != name]
        self.workers.append({"channel": name, "number": 1, "thread": 60, "committed": committed})

    def later(self, seconds):
        """Let time pass, in which the sources that are heard of send something."""
        self.now += seconds
        self.uptime += seconds
        for name, row in self.channels.items():
            if row["Replica_IO_Running"] != "Yes":
                continue
            if self.receivers[name]["contact"] < seconds and isinstance(row["Read_Source_Log_Pos"], int):
                row["Read_Source_Log_Pos"] += 100
                row["Exec_Source_Log_Pos"] += 100

    def rows(self, sql, *_, within=None):
        """As Server.rows."""
        self.asked.append(sql)
        for part, grant in self.denied.items():
            if part in sql:
                error = DeniedError(f"{self.where} denied {sql[:30]}", f"GRANT {grant}")
                error.grant = grant
                raise error
        for part, failure in self.failing.items():
            if part in sql:
                raise failure
        if any(part in sql for part in self.unknown):
            raise UnknownStatementError(f"{self.where} does not know {sql}")
        return self._answer(sql)

    def _answer(self, sql):
        facts = {"now": self.now, "id": 7, "net_timeout": 60}
        if self.read_only is not None:
            facts["read_only"] = self.read_only
        answers = {
            "AS net_timeout": [facts],
            "LIKE 'Uptime'": [{"Variable_name": "Uptime", "Value": str(self.uptime)}],
            "SHOW REPLICA STATUS": list(self.channels.values()),
            "SHOW SLAVE STATUS": list(self.channels.values()),
            "SHOW ALL SLAVES STATUS": list(self.channels.values()),
            "replication_connection_status": [self._receiver(row) for row in self.receivers.values()],
            "by_worker": [self._worker(row) for row in self.workers],
            "WHERE USER = 'system user'": self.processes,
        }
        return next((rows for part, rows in answers.items() if part in sql), [])

    def _worker(self, row):
        commit = self.now - row["committed"]
        return {
            **row, "errno": 0, "error": "", "error_at": 0, "applying": f"{UUID}:5", "applying_commit": commit,
            "applying_since": self.now - 1, "applied_commit": commit - 1,
        }  # fmt: skip

    def _receiver(self, row):
        sent = self.now - row["contact"] - row["transport"]
        return {
            "now": self.now, "queued_commit": sent, "queued_sent": sent,
            "queued_at": self.now - row["contact"], **row,
        }  # fmt: skip
