"""Where each plugin finds all well: at servers of the whole run, and in files of this host."""

import re
from functools import cache

from load_checks import SLOW
from replication_pair import GRANTS
from server_process import ServerProcess
from sql_node import MONITOR
from subjects import DECLARED, HERE, JMX, LOG, MYSQL, NDB, SECRET, Place

ANYTHING = "~:"
# What is as it should be on a machine of tests, and alerts: a busy one, a cluster that has just started and
# reads what that takes, a server that opens tables for all tests. Bytes_sent is told for sane().
CALM = {
    "host": tuple(
        f"--{name}={ANYTHING}"
        for name in (
            "warning", "load-warning", "steal-warning", "steal-critical", "disk-busy-warning",
            "disk-busy-critical", "disk-await-warning", "disk-await-critical", "memory-available-warning",
            "memory-available-critical", "swap-in-warning", "swap-in-critical", "network-errors-warning",
            "network-drops-warning",
        )
    ),
    "innodb_buffer_pool": ("--warning=~:", "--critical=~:"),
    "mysql_status": ("--include", "Bytes_sent", "--exclude", "Opened_.*"),
    "mysql_query": ("--count", "2", "--spread", "0s", *SLOW),
    "ndb_nodes": ("--restarted", "0s", "--generations-warning=~:"),
    "mysqld_process": ("--major-faults-warning=~:",),
    **{name: one.healthy.options for name, one in DECLARED.items()},
}  # fmt: skip
SAID = {  # what each says there, whatever else
    "replication_lag": "0 s behind",
    "mysql_status": "connected, ",
    "mysql_query": "of 2 runs",
    "innodb_buffer_pool": " of 32 MiB free",
    "innodb_redo_log": "of the stall point in 5 samples",
    "ndb_nodes": "2 data nodes",
    "ndb_memory": "data memory at most",
    "ndb_redo_buffer": "2 samples",
    "ndb_transactions": "open transaction",  # or "no open transactions": the SQL node has one now and then
    "jmx": "Memory HeapMemoryUsage used",
    "jmx_thread_pools": "no pool of a kind that is known",
    "ndb_log": "no thread stuck",
    "mysql_backup": "backup of 20",
    "mysqld_process": "sleep ",
    "host": "load ",
    "bonding": "bond0 active-backup over eth0, 2 of 2 links up",
    **{name: one.healthy.says for name, one in DECLARED.items()},
}


MOST_SENT = 1_000_000  # bytes per second, by a server that is asked by nobody but plugins


def sane(outcome):
    """Assert that it tells no number that cannot be: less than nothing, or the count of days for a rate."""
    for item in outcome.line.partition(" | ")[2].split():
        value = float(re.search(r"=(-?[\d.]+)", item)[1])
        assert value >= 0 or "slope=" in item or ".delta=" in item, outcome
        assert value < MOST_SENT or not item.startswith("Bytes_sent="), outcome


class Health:
    """Gives a plugin, with options that keep it calm, and the Place where all is well.

    ``fixture`` gets a fixture of the whole run, so that only the servers that are asked for are started. What
    is in ``folder`` anybody can read.
    """

    def __init__(self, fixture, folder):
        self._fixture = fixture
        self._folder = folder
        self._places = cache(self._place)
        self._sleeper = []

    def __call__(self, subject):
        given = self._of_a_sleeper() if subject.plugin == "mysqld_process" else subject.arguments
        calm = subject._replace(arguments=(*given, *CALM.get(subject.plugin, ())))
        return calm, self._places(subject.source)

    def _of_a_sleeper(self):
        if not self._sleeper:
            self._sleeper.append(ServerProcess(["sleep", "infinity"], self._folder / "log"))
        path = self._folder / "pid"
        path.write_text(f"{self._sleeper[0].family[0].pid}\n")
        return ("--pid-file", str(path), "--program", "sleep")

    def stop(self):
        """End what we have started."""
        for process in self._sleeper:
            process.stop()

    def _place(self, source):
        if source == MYSQL:
            pair = self._fixture("running_pair")("mariadb")
            pair.heal()
            return _mysql(pair.replica, GRANTS[pair.kind])
        if source == NDB:
            cluster = self._fixture("running_ndb")
            cluster.heal()
            return _mysql(cluster.sql_node, [MONITOR[1]])
        if source == JMX:
            jvm = self._fixture("jvm_variant")("password")
            return Place(jvm.host, jvm.port, jvm.user, jvm.password)
        assert source in (LOG, HERE)
        return Place()


def _mysql(server, grants):
    account = server.account("hostile", *grants)
    with server.session() as sql:
        sql("SET sql_log_bin = 0")
        sql(f"ALTER USER {account.user}@'%%' IDENTIFIED BY %s", SECRET)
    return Place(server.host, server.port, account.user)
