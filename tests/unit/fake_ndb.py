"""An SQL node of an NDB Cluster that answers statements on ndbinfo from rows that a test sets.

SQLite works the statements out: sums, groups and limits are the real ones. What is not standard SQL
(SHOW ...) is answered here.
"""

import re
import sqlite3

import clock
from stallwatch.deadline import Deadline
from stallwatch.sources.mysql import DeniedError, Flavour, MissingTableError, MysqlError

NOW = 1_795_000_000.0
LOST = "Got error 157 'Connection to NDB failed' from NDBINFO"
OFFLINE = (
    "'NDBINFO' has been started in offline mode since the 'NDBCLUSTER' engine is disabled or "
    "@@global.ndbinfo_offline is turned on - no rows can be returned"
)


class FakeNdb:
    """Server's methods, with ``tables`` of ndbinfo as lists of rows that may be changed.

    A table of information_schema has it in its name; to read that takes PROCESS, if ``denied`` has it.

    A healthy cluster with the data nodes 3 and 4; a test adds the tables that its probe reads.
    """

    def __init__(self, nodes=(3, 4), where="sql1:3306"):
        self.where = where
        self.flavour = Flavour("MySQL", (9, 7, 2), "MySQL 9.7.2-cluster")
        self.local = False
        self.status = {"Ndb_number_of_data_nodes": len(nodes), "Ndb_number_of_ready_data_nodes": len(nodes)}
        self.status |= {"Ndb_config_from_host": "mgm1", "Ndb_config_from_port": 1186}
        self.tables = {
            "nodes": [
                {
                    "node_id": node,
                    "uptime": 5000,
                    "status": "STARTED",
                    "start_phase": 0,
                    "config_generation": 1,
                }
                for node in nodes
            ],
            "config_nodes": [
                {"reporting_node_id": one, "node_id": node, "node_type": kind, "node_hostname": "host"}
                for one in nodes
                for node, kind in [(1, "MGM"), *((node, "NDB") for node in nodes), (51, "API")]
            ],
        }
        self.columns = {}  # table -> names, of a table without rows
        self.now = NOW
        self.takes = 0.0  # seconds that each statement on ndbinfo takes
        self.variables = {}  # of @@name
        self.notes = []  # what SHOW WARNINGS says
        self.denied = set()  # tables that the account may not read
        self.lost = 0  # how often a statement on ndbinfo fails because a data node ends meanwhile
        self.failing = {}  # part of a statement -> the error that comes back
        self.ending = {}  # part of a statement -> who ends then, see ends_before
        self.asked = []
        self.deadline = Deadline(600)  # whatever the machine does meanwhile

    def __enter__(self):
        return self

    def __exit__(self, *_):
        pass

    def close(self):
        """As the server's."""

    def node(self, node):
        """The row of a data node in ndbinfo.nodes, to be changed."""
        return next(row for row in self.tables["nodes"] if row["node_id"] == node)

    def end(self, node):
        """Let a data node be down: its rows are simply missing."""
        for table, rows in self.tables.items():
            self.columns.setdefault(table, list(rows[0]) if rows else ["node_id"])
            of = "reporting_node_id" if table in ("config_nodes", "processes", "certificates") else "node_id"
            self.tables[table] = [row for row in rows if row.get(of) != node]
        self.status["Ndb_number_of_ready_data_nodes"] -= 1

    def ends_before(self, part, node, silent=()):
        """Let a data node be down from the first statement with this in it on.

        That one has no rows of ``silent`` others, either: so it is for a moment while a node is killed.
        """
        self.ending[part] = (node, silent)

    def later(self, seconds=60):
        """Let time go by, for us and for the data nodes."""
        self.now += seconds
        for row in self.tables["nodes"]:
            row["uptime"] += seconds

    def keep_time(self, monkeypatch, seconds=8):
        """Let time go by for everybody as it does here, and begin a run that may take so many seconds."""
        clock.keep_time(monkeypatch, lambda: self.now, self.later)
        self.deadline = Deadline(seconds)

    def restart(self, node, uptime=20):
        """Let a data node have started anew so many seconds ago: its counters are up to the test."""
        self.node(node)["uptime"] = uptime

    def rows(self, sql, *arguments, within=None):
        """As the server's."""
        self.asked.append(sql)
        for part, error in self.failing.items():
            if part in sql:
                raise error
        words = sql.split()
        if words[0] == "SET":
            return []
        if words[0] == "SHOW":
            return self._shown(words)
        if "@@" in sql and "FROM" not in words:
            return [{name: self.variables[name.removeprefix("@@")] for name in words[1].split(",")}]
        if self.takes:
            self.later(self.takes)
        silent = self._end_meanwhile(sql)
        return [row for row in self._selected(sql, arguments) if row.get("node_id") not in silent]

    def _end_meanwhile(self, sql):
        """Who has no rows this once."""
        for part in [part for part in self.ending if part in sql]:
            node, silent = self.ending.pop(part)
            self.end(node)
            return silent
        return ()

    def _shown(self, words):
        if words[1] == "WARNINGS":
            return [{"Level": "Note", "Code": 1, "Message": note} for note in self.notes]
        pattern = words[-1].strip("'").rstrip("%").replace("\\", "")
        return [
            {"Variable_name": name, "Value": str(value)}
            for name, value in self.status.items()
            if name.startswith(pattern)
        ]

    def _selected(self, sql, arguments):
        for table in self.denied:
            name = table if "." in table else f"ndbinfo.{table}"
            if name in sql:
                what, on = ("PROCESS", "") if name == table else ("SELECT", name)
                grant = f"{what} on {on}" if on else what
                said = f"{self.where} denied {sql} to the user mon, who needs {grant}"
                account = "'mon'@'%'"
                advice = f"GRANT {what} ON {on or '*.*'} TO {account}"
                raise DeniedError(said, advice, 1142, grant, account)
        if self.lost:
            self.lost -= 1
            raise MysqlError(f"{self.where} says: {LOST} (error 1296): asked {sql}", "", 1296)
        with sqlite3.connect(":memory:") as database:
            database.row_factory = sqlite3.Row
            for schema in {"ndbinfo", "information_schema"}.intersection(re.findall(r"\w+", sql)):
                database.execute(f"ATTACH ':memory:' AS {schema}")
            for name, rows in self.tables.items():
                table = name if "." in name else f"ndbinfo.{name}"
                if table not in sql:
                    continue
                if rows:
                    columns = list(rows[0])
                    database.execute(f"CREATE TABLE {table} ({', '.join(columns)})")
                    places = ", ".join("?" * len(columns))
                    values = [[row[column] for column in columns] for row in rows]
                    database.executemany(f"INSERT INTO {table} VALUES ({places})", values)
                else:
                    columns = self.columns.get(name, ["node_id"])
                    database.execute(f"CREATE TABLE {table} ({', '.join(columns)})")
            try:
                found = database.execute(sql.replace("%s", "?").replace("%%", "%"), arguments).fetchall()
            except sqlite3.OperationalError as error:
                if "no such table" not in str(error):
                    raise
                what = f"{self.where} says: Table {str(error).split()[-1]!r} doesn't exist: asked {sql}"
                raise MissingTableError(what, "", 1146) from None
            finally:
                database.rollback()
        return [dict(row) for row in found]
