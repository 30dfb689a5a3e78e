"""What do checks of MySQL, its replication, process and backups cost beside what there is instead?

On the healthy replica of a pair of MariaDB and of one of MySQL that the tests start.
"""

import subprocess
import time

from measured import Bench, ours
from pairs import MONITOR, NAMES, PASSWORD, pairs
from peers import peers

# isort: split
import software

# At most so many times the processor time of check_mysql_health in that mode.
LIMITS = {
    "check_replication_lag": ("slave-lag", 1.3),
    "check_mysql_status": ("threads-connected", 0.9),
    "check_mysql_query": ("sql", 0.9),
    "check_innodb_redo_log": ("log-waits", 0.9),
    "check_innodb_buffer_pool": ("bufferpool-hitrate", 0.9),
}
PAUSES = {  # seconds between rounds: log-waits divides by the whole seconds since its last run, and 0 ends it
    "check_innodb_redo_log": 1.1,
}
ONE = "SELECT 1"
PEERS = ("check_mysql", "check_mysql_query", "check_mysql_health", "pmp-check-mysql-replication-delay",
         "pmp-check-mysql-status", "pt-heartbeat", "check_procs", "check_file_age")  # fmt: skip
HEARTBEAT = (  # a table of pt-heartbeat's, and what its --update writes
    "CREATE TABLE lab.heartbeat (ts VARCHAR(26) NOT NULL, server_id INT UNSIGNED NOT NULL PRIMARY KEY)",
    "INSERT INTO lab.heartbeat (ts, server_id) VALUES (DATE_FORMAT(NOW(6), '%Y-%m-%dT%T.%f'), 1)",
)


class Commands:
    """What is asked of one server of a pair: ours, and what comes near it."""

    def __init__(self, pair, server, paths):
        self.pair = pair
        self.server = server
        self.paths = paths
        self.login = ("-S", self.server.socket, "-u", MONITOR)

    def groups(self, backup):
        """Commands by the plugin that they are beside, each by its name."""
        other = {  # MariaDB 10.11 has no TLS by default
            f"check_replication_lag over {'TLS' if self.pair.kind == 'mysql' else 'TCP'}": ours(
                "check_replication_lag", "-H", self.server.host, "-P", self.server.port, "-u", MONITOR
            )
        }
        return {
            "check_replication_lag": {**self.ask("check_replication_lag"), **other, **self.lag()},
            "check_mysql_status": {**self.ask("check_mysql_status"), **self.status()},
            "check_mysql_query": {
                **self.ask("check_mysql_query", "--query", ONE, "--count", "1"),
                **self.known("check_mysql_query (monitoring-plugins)", "-q", ONE, "-s", *self.c_login()),
                **self.health("sql", "--name", ONE),
            },
            "check_innodb_redo_log": {**self.ask("check_innodb_redo_log"), **self.health("log-waits")},
            "check_innodb_buffer_pool": {
                **self.ask("check_innodb_buffer_pool"),
                **self.health("bufferpool-hitrate", "--warning", "0:", "--critical", "0:"),
            },
            "check_mysqld_process": {
                "check_mysqld_process": ours("check_mysqld_process", "--pid-file", self.server.path("pid")),
                **self.known("check_procs", "-m", "RSS", "-C", self.server.program()[0].rpartition("/")[2]),
            },
            "check_mysql_backup": {
                "check_mysql_backup": ours("check_mysql_backup", "-d", backup),
                **self.known("check_file_age", "-w", "90000", "-c", "180000", "-f", backup),
            },
        }

    def ask(self, plugin, *words):
        """One of ours that asks the server."""
        return {plugin: ours(plugin, *self.login, *words)}

    def known(self, name, *words):
        """A peer, if it is here; what stands in brackets is for the reader."""
        program = name.partition(" (")[0]
        return {name: [self.paths[program], *words]} if program in self.paths else {}

    def c_login(self):
        """How programs of the monitoring plugins log in, after their option for the socket."""
        return self.server.socket, "-u", MONITOR, "-p", PASSWORD

    def health(self, mode, *words):
        """One mode of check_mysql_health."""
        login = ("--socket", self.server.socket, "--username", MONITOR, "--password", PASSWORD)
        kept = ("--statefilesdir", self.server.path("health"))
        found = self.known("check_mysql_health", "--mode", mode, *login, *kept, *words)
        return {f"{name} {mode}": command for name, command in found.items()}

    def lag(self, schema="lab", source=1):
        """Who tells how far a replica is behind; in which schema that source has its heartbeats."""
        limits = ("-w", "30", "-c", "600")
        beat = ("--check", "--no-version-check", "-D", schema, "--master-server-id", source)
        return {
            **self.health("slave-lag", "--warning", "30", "--critical", "600"),
            **self.known(
                "pmp-check-mysql-replication-delay", *limits, "-S", self.server.socket, "-l", MONITOR,
                "-p", PASSWORD,
            ),
            **self.known("pt-heartbeat", *beat, "-S", self.server.socket, "-u", "root"),
            **self.known("check_mysql", *limits, "-S", "-s", *self.c_login()),
        }  # fmt: skip

    def status(self):
        """Who tells what a server counts."""
        pmp = ("-x", "Threads_connected", "-w", "40", "-S", self.server.socket, "-l", MONITOR, "-p", PASSWORD)
        return {
            **self.health("threads-connected"),
            **self.known("pmp-check-mysql-status", *pmp),
            **self.known("check_mysql", "-s", *self.c_login()),
        }


def compare(bench, where, plugin, commands):
    """Measure one of ours and what comes near it."""
    pause = PAUSES.get(plugin, 0)
    return bench.compare(f"{where}: {plugin}", commands, between=lambda: time.sleep(pause))


def budgets(bench, where, costs):
    """Beside check_mysql_health."""
    for plugin, (mode, limit) in LIMITS.items():
        peer = f"check_mysql_health {mode}"
        bench.hold(f"{plugin} on {where}, of {peer}", costs[plugin], plugin, peer, limit)


def dump(server, path):
    """Make a backup of a server."""
    program = software.program("mariadb-dump", "mariadb-client")
    command = [program, "--no-defaults", "-S", server.socket, "-u", "root", "--databases", "lab"]
    with open(path, "w", encoding="utf-8") as file:
        subprocess.run(command, check=True, stdout=file)


def main():
    """Measure each kind of server."""
    with Bench("mysql", STALLWATCH_MYSQL_PASSWORD=PASSWORD) as bench:
        paths = peers(bench, *PEERS)
        left_out = dict(NAMES)
        for pair, where in pairs(bench):
            del left_out[pair.kind]
            for statement in HEARTBEAT:
                pair.source.sql(statement)
            pair.catch_up()
            backup = bench.path(f"{pair.kind}.sql")
            dump(pair.source, backup)
            groups = Commands(pair, pair.replica, paths).groups(backup)
            costs = {plugin: compare(bench, where, plugin, commands) for plugin, commands in groups.items()}
            budgets(bench, where, costs)
        for name in left_out.values():
            for plugin, (mode, limit) in LIMITS.items():
                what = f"{plugin} on {name}, of check_mysql_health {mode}"
                bench.budget_left_out(what, limit, f"there is no {name}")


if __name__ == "__main__":
    main()
