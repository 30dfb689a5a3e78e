"""What one check costs the server that it asks, as the server itself counts it."""

import time

# What a MySQL, a MariaDB counts for all of its clients, of whom only one comes while we look.
OF_ALL = {
    "Connections": "connections", "Questions": "statements", "Rows_sent": "rows_sent",
    "Rows_read": "rows_examined", "Rows_tmp_read": "rows_examined", "Created_tmp_tables": "temporary_tables",
    "Created_tmp_disk_tables": "on_disk", "Bytes_received": "bytes_received", "Bytes_sent": "bytes_sent",
}  # fmt: skip
# MySQL has neither rows nor times of all; MariaDB has times where userstat is ON.
OF_ONE = {
    "mysql": """
SELECT SUM(SUM_ROWS_SENT) AS rows_sent, SUM(SUM_ROWS_EXAMINED) AS rows_examined,
    SUM(SUM_TIMER_WAIT) / 1e12 AS seconds
FROM performance_schema.events_statements_summary_by_user_by_event_name
WHERE USER = %s AND EVENT_NAME LIKE 'statement/sql/%%'
""",
    "mariadb": "SELECT BUSY_TIME AS seconds FROM information_schema.USER_STATISTICS WHERE USER = %s",
}
LOGGED_IN = "SELECT ID FROM information_schema.PROCESSLIST WHERE USER = %s"
# Runs a plugin, and notes in the file that comes first what it does over JMX: "calls 3", "bytes_sent 1439".
NOTING = """import runpy, sys
from stallwatch.sources.jmx import rmi, wire
notes = open(sys.argv.pop(1), "a", buffering=1)
def note(owner, method, name, size):
    original = getattr(owner, method)
    def noted(self, *given):
        answer = original(self, *given)
        notes.write(f"{name} {size(given, answer)}\\n")
        return answer
    setattr(owner, method, noted)
note(wire.Wire, "__init__", "connections", lambda given, _: 1)
note(wire.Wire, "send", "bytes_received", lambda given, _: len(given[0]))
note(wire.Wire, "_received", "bytes_sent", lambda _, octets: len(octets))
note(rmi.Link, "send", "calls", lambda given, _: len(given))
sys.argv[0] = sys.argv.pop(1)
runpy.run_path(sys.argv[0], run_name="__main__")
"""


class SqlCounts:
    """Counts what one account does on a server of SQL, whose only other client is replication.

    kind   "mysql", "ndb" (the SQL node of a cluster) or "mariadb"
    """

    def __init__(self, server, kind, asked):
        self.server = server
        self.asked = asked
        self.of_one = OF_ONE["mariadb" if kind == "mariadb" else "mysql"]
        if kind == "mariadb":
            server.sql("SET GLOBAL userstat = ON")

    def run(self, home, check, *more):
        """Run a check: gives what it Said, and numbers by name."""
        with self.server.session() as sql:
            self._seen(sql)  # the first look opens tables
            first, before = self._seen(sql), self._seen(sql)
            look = {name: value - first[name] for name, value in before.items()}
            said = self.asked.run(home, check, *more)
            looks, until = 1, time.monotonic() + 60
            while (after := self._seen(sql))["logged_in"]:
                assert time.monotonic() < until, f"{check} does not log out"
                looks += 1
        counted = {name: after[name] - before[name] - looks * look[name] for name in after}
        counted["statements"] -= counted["connections"]  # each of which ends with COM_QUIT
        del counted["logged_in"]
        return said, counted

    def _seen(self, sql):
        logged_in = len(sql(LOGGED_IN, self.asked.account.user))  # first: then COM_QUIT is counted
        counts = dict.fromkeys(OF_ALL.values(), 0.0) | {"seconds": 0.0}
        for row in sql("SHOW GLOBAL STATUS"):
            if name := OF_ALL.get(row["Variable_name"]):
                counts[name] += float(row["Value"])
        for row in sql(self.of_one, self.asked.account.user):
            counts |= {name: float(value or 0) for name, value in row.items()}
        return counts | {"logged_in": logged_in}


class JmxCounts:
    """Counts what a check asks of a Java server, on our side: such a server counts nothing itself."""

    def __init__(self, asked):
        self.asked = asked

    def run(self, home, check):
        """Run a check: gives what it Said, and numbers by name."""
        notes = home / "notes"
        notes.unlink(missing_ok=True)
        said = self.asked.run(home, check, through=(NOTING, notes))
        counted = dict.fromkeys(("connections", "calls", "bytes_received", "bytes_sent"), 0)
        for line in notes.read_text().splitlines():
            name, _, number = line.partition(" ")
            counted[name] += int(number)
        return said, counted
