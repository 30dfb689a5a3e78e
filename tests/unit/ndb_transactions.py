"""An SQL node with transactions and locks for the tests of check_ndb_transactions, and its plugin."""

import runpy
from pathlib import Path

from fake_ndb import FakeNdb
from first_line import first_line, perfdata

PLUGIN = runpy.run_path(str(Path(__file__).parents[2] / "plugins" / "check_ndb_transactions"))
MAP = "information_schema.ndb_transid_mysql_connection_map"
PROCESSLIST = "information_schema.processlist"
# Of a real cluster (9.7.2): transactions of the connections 28 to 31.
HOLDER, WAITER, THIRD, FOURTH = 36084872111980560, 45092071366721538, 54099270621462530, 63106469876203522
COLUMNS = {
    "cluster_transactions": (
        "node_id", "block_instance", "transid", "state", "count_operations", "outstanding_operations",
        "inactive_seconds", "client_node_id", "client_block_ref",
    ),
    "cluster_locks": (
        "node_id", "block_instance", "tableid", "fragmentid", "rowid", "transid", "mode", "state", "detail",
        "op", "duration_millis", "lock_num", "waiting_for",
    ),
    "dict_obj_info": ("id", "type", "fq_name"),
}  # fmt: skip


class Ndb(FakeNdb):
    """An SQL node 51 with the connections 28 to 31, all idle for 15 min, and a program at node 53."""

    def __init__(self, nodes=(3, 4)):
        super().__init__(nodes)
        self.columns = dict(COLUMNS)
        self.tables |= {name: [] for name in COLUMNS}
        self.tables["dict_obj_info"] = [
            {"id": 21, "type": 2, "fq_name": "shop/def/seats"},
            {"id": 21, "type": 20, "fq_name": "ts_1"},
            {"id": 22, "type": 2, "fq_name": "shop/def/halls"},
        ]
        self.tables["processes"] = [
            {"node_id": 51, "process_name": "mysqld", "service_URI": "mysql://db1:3306/?server-id=51"},
            {"node_id": 53, "process_name": "loader", "service_URI": None},
        ]
        transactions = {28: HOLDER, 29: WAITER, 30: THIRD, 31: FOURTH}
        self.tables[MAP] = [
            {"mysql_connection_id": number, "node_id": 51, "ndb_transid": transaction + 7}
            for number, transaction in (*transactions.items(), (0, 53 << 32))
        ]
        self.tables[PROCESSLIST] = [
            {"id": number, "user": "shop", "command": "Sleep", "time": 900} for number in transactions
        ]

    def does(self, number, command, seconds, user="shop"):
        """Let a connection do something for so many seconds."""
        row = next(row for row in self.tables[PROCESSLIST] if row["id"] == number)
        row |= {"command": command, "time": seconds, "user": user}

    def transaction(self, number=HOLDER, inactive=0, operations=1, outstanding=0, client=51, block=32776):
        """One that is open."""
        state = "" if outstanding else "Started"
        row = (3, 1, number, state, operations, outstanding, inactive, client, block)
        self.tables["cluster_transactions"].append(
            dict(zip(COLUMNS["cluster_transactions"], row, strict=True))
        )

    def scan(self, number=WAITER, inactive=0, operations=0):
        """One that scans: it has a row without operations besides (9.7.2)."""
        self.transaction(number, inactive=inactive, operations=operations)
        self.transaction(number, operations=0)
        self.tables["cluster_transactions"][-1]["state"] = "Scanning"

    def lock(self, number, state, millis, node=4, row=0, table=21, fragment=3):
        """One that somebody has (H) or waits for (W)."""
        values = (node, 2, table, fragment, row, number, "X", state, "", "UPDATE", millis, 4031, None)
        self.tables["cluster_locks"].append(dict(zip(COLUMNS["cluster_locks"], values, strict=True)))

    def held(self, held=8000, waited=(1000,), row=0, table=21, by=HOLDER, waiters=(WAITER, THIRD)):
        """A row that somebody has locked on both replicas, and others wait for on the primary one."""
        self.lock(by, "H", held + 20, node=3, row=row, table=table)
        self.lock(by, "H", held, row=row, table=table)
        for number, millis in zip(waiters, waited, strict=False):
            self.lock(number, "W", millis, row=row, table=table)


class Said:
    """What a run says."""

    def __init__(self, status, output):
        self.status, self.output = status, output
        self.text, self.perfdata = first_line(output), perfdata(output)


def run(ndb, folder, *options):
    """Run the plugin, which is connected to that SQL node."""
    return Said(*PLUGIN["check"].run(PLUGIN["findings"], ["--state-dir", str(folder), *options]))
