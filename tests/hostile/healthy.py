"""Where each plugin finds all well: at servers of the whole run, and in files of this host."""

import re
from functools import cache

from replication_pair import GRANTS
from server_process import ServerProcess
from sql_node import MONITOR
from subjects import DECLARED, HERE, JMX, LOG, MYSQL, NDB, SECRET, Place

# What is as it should be on a machine of tests, and alerts: a busy one, a cluster that has just started and
# reads what that takes, a server that opens tables for all tests.
CALM = {name: one.healthy.options for name, one in DECLARED.items()}
# What each says there, whatever else.
SAID = {name: one.healthy.says for name, one in DECLARED.items()}


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
