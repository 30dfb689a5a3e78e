"""What does check_mysql_stalls cost on a large server: us, and the server?

10,000 connections. First nobody waits, then one of them has 100,000 row locks, then 2,000 wait for one row (a
star), at last 2,000 wait in a chain, each for a row of the one before. A quick look may have fewer of all:
CONNECTIONS=500 ROUNDS=1.
"""

import contextlib
import os
import time

import psutil
from measured import RESULTS, Bench, ours, place, rounds_of
from pairs import NAMES, PASSWORD, version

# isort: split
import pymysql
import software
from pymysql.constants import COMMAND
from replication_pair import KINDS

ROUNDS = 10
USUAL = 10_000
CONNECTIONS = USUAL if place() == RESULTS else int(os.environ.get("CONNECTIONS") or USUAL)
WAITERS, ROWS = CONNECTIONS // 5, CONNECTIONS * 10
BLOCKS = r"blocks (at least )?[\d,]+ others"
IDLE = 3.0  # seconds for which the server is looked at alone
AT_ONCE = 50  # statements that begin to wait
SETTLES = 120  # seconds in which they do
LIMITS = {False: 100, True: 500}  # ms of the server's processor time for a run, by whether anybody waits
SETTINGS = {
    "max_connections": CONNECTIONS + 100, "innodb_lock_wait_timeout": 3600, "table_open_cache": 2000,
    "innodb_buffer_pool_size": "256M",
}  # fmt: skip
NOW = "SHOW GLOBAL STATUS LIKE 'Innodb_row_lock_current_waits'"


class Crowd:
    """Clients that stay connected; what some of them began has no answer yet."""

    def __init__(self, server):
        self.server = server
        self.idle = [self._connect() for _ in range(CONNECTIONS)]
        self.taken = []  # kept: a connection that nobody refers to is closed

    def _connect(self):
        how = {"user": "root", "ssl_disabled": True, "autocommit": True}
        return pymysql.connect(unix_socket=self.server.socket, **how)

    def take(self, number):
        """Take some that have done nothing yet."""
        taken, self.idle = self.idle[:number], self.idle[number:]
        self.taken += taken
        return taken

    def star(self):
        """Let many wait for a row that one has changed. Gives who has to end it."""
        head, *others = self.take(1 + WAITERS)
        _run(head, "BEGIN", "UPDATE lab.many SET n = 1 WHERE id = 0")
        self._wait(others, ["UPDATE lab.many SET n = 2 WHERE id = 0"] * WAITERS)
        return head

    def chain(self):
        """Let each wait for the row of the one before."""
        links = self.take(1 + WAITERS)
        for row, one in enumerate(links):
            _run(one, "BEGIN", f"UPDATE lab.links SET n = 1 WHERE id = {row}")
        self._wait(links[1:], [f"UPDATE lab.links SET n = 1 WHERE id = {row}" for row in range(WAITERS)])

    def _wait(self, connections, statements):
        """Let each begin a statement that waits: not all at once, which keeps the server busy for minutes."""
        for number, (one, statement) in enumerate(zip(connections, statements, strict=True), start=1):
            _begin(one, statement)
            if number % AT_ONCE == 0 or number == len(connections):
                self.until_waiting(number)
        time.sleep(3)  # the head blocks them for so long

    def until_waiting(self, number):
        """Wait until so many connections wait for a row."""
        until = time.monotonic() + SETTLES
        while int(self.server.sql(NOW)[0]["Value"]) != number:
            if time.monotonic() > until:
                raise TimeoutError(f"not {number} connections wait")
            time.sleep(0.1)


def _run(connection, *statements):
    with connection.cursor() as cursor:
        for statement in statements:
            cursor.execute(statement)


def _begin(connection, statement):
    connection._execute_command(COMMAND.COM_QUERY, statement)  # the answer is never read


class Costs:
    """Measures one server, one situation after the other: a table with a row for each."""

    def __init__(self, bench, name, server):
        self.bench, self.name = bench, name
        self.process = psutil.Process(server.pid)
        server.account("mon", "PROCESS", "SELECT ON performance_schema.*")
        words = ("-S", server.socket, "-u", "mon", "-p", PASSWORD, "-w", "1", "-c", "2", "--no-state")
        self.command = ours("check_mysql_stalls", *words)
        self.rows = []

    def measure(self, situation, says, *, waits):
        """Measure our own cost, and what the server takes for a run beside what it takes anyway."""
        idle = self._taken(lambda: time.sleep(IDLE)) / IDLE
        begun = time.monotonic()
        commands, states = {situation: self.command}, {situation: (1, 2) if waits else (0,)}
        taken = self._taken(
            lambda: self.bench.compare(f"{self.name}", commands, ROUNDS, expected=states, says=says)
        )
        runs = rounds_of(ROUNDS) + 2  # the first one does not count, and the last one counts modules
        seconds = max(0.0, taken - idle * (time.monotonic() - begun)) / runs
        self.rows += [{**row, "server_ms": 1000 * seconds} for row in self.bench.tables.pop()["rows"]]
        what = f"{self.name}, {situation}: processor time of the server for a run"
        self.bench.budget(what, 1000 * seconds, LIMITS[waits], "ms")

    def _taken(self, work):
        def used():
            times = self.process.cpu_times()
            return times.user + times.system

        before = used()
        work()
        return used() - before

    def keep(self):
        """Keep the table."""
        title = f"{self.name}, {CONNECTIONS:,} connections"
        self.bench.tables.append({"title": title, "rounds": rounds_of(ROUNDS), "rows": self.rows})


def measure(bench, kind, server):
    """Measure all situations on a server."""
    server.sql("CREATE DATABASE lab")
    for table, rows in (("many", ROWS), ("links", WAITERS)):
        server.sql(f"CREATE TABLE lab.{table} (id INT PRIMARY KEY, n INT) ENGINE=InnoDB")
        for first in range(0, rows + 1, 10_000):
            values = ",".join(f"({number}, 0)" for number in range(first, min(first + 10_000, rows + 1)))
            server.sql(f"INSERT INTO lab.{table} VALUES {values}")
    costs = Costs(bench, NAMES[kind], server)
    crowd = Crowd(server)
    costs.measure("nobody waits", "no connection waits", waits=False)
    (holder,) = crowd.take(1)
    _run(holder, "BEGIN", "SELECT * FROM lab.many WHERE id > 0 FOR UPDATE")
    costs.measure(f"one has {ROWS:,} row locks", "no connection waits", waits=False)
    head = crowd.star()
    costs.measure(f"{WAITERS:,} wait for one row", BLOCKS, waits=True)
    _run(head, "ROLLBACK")
    crowd.until_waiting(0)
    crowd.chain()
    costs.measure(f"{WAITERS:,} wait in a chain", BLOCKS, waits=True)
    costs.keep()


def main():
    """Measure each kind of server that can be had."""
    with Bench("locks") as bench:
        for kind, server in KINDS.items():
            with contextlib.ExitStack() as running:
                try:
                    one = running.enter_context(server(bench.path(kind), **SETTINGS))
                except software.Missing as missing:
                    bench.leave_out(missing)
                    continue
                bench.software[NAMES[kind]] = version(one)
                measure(bench, kind, one)


if __name__ == "__main__":
    main()
