"""What do the plugins that read ndbinfo cost, on two data nodes and on 48, and beside what is there instead?

Whole processes, arguments and verdict included, in turn in one run. The cluster of 48 data nodes is made of a
real one's tables (tests/unit/large_cluster.py) and asked over MySQL's own protocol; the one of two is asked
there and, if the tests can start one, as it is.

Nobody else's check reads ndbinfo. What comes near: the mysql client with the same statements, whose output
one would have to judge oneself; ndbinfo_select_all, which is part of NDB and needs no SQL node;
check_mysql_health, which counts data nodes by ndb_mgm, or gives one number of one statement.
"""

import contextlib
import os
import re
import statistics

from measured import Bench, ours
from medians import times
from pairs import MONITOR, PASSWORD, version
from peers import peers
from sql_stand_in import served
from starter import PATH

# isort: split
import ndb_software
import software
import sql_node
from large_cluster import TROUBLES, LargeCluster
from ndb_cluster import NdbCluster
from ndb_load import disk_table

ROUNDS = 9
NODES = 48
IN_TROUBLE = "the same in trouble"  # that is not OK: else the trouble would not be there
TIMES, MORE = 1.2, 0.02  # of the processor time of two nodes, and seconds
HIT_RATIO = (  # since each data node has started: one statement knows no interval
    "SELECT MIN(ratio) FROM (SELECT 100.0 * SUM(page_requests_direct_return) / "
    "SUM(page_requests_direct_return + page_requests_wait_io) AS ratio FROM ndbinfo.diskpagebuffer "
    "GROUP BY node_id) AS nodes"
)
WHO = {
    "@@version": "9.7.2-cluster", "@@version_comment": "Source", "@@hostname": "sql1",
    "CURRENT_USER()": "mon@%",
}  # fmt: skip
VIEWS = {  # views of ndbinfo, and what NDB itself calls the tables behind them
    "cluster_transactions": "transactions", "cluster_operations": "operations",
    "cluster_locks": "acc_operations", "server_transactions": "transactions",
    "server_operations": "operations", "server_locks": "acc_operations",
}  # fmt: skip
NO_TABLE = ("files", "config_params")  # of mysqld's own
RAW = ("check_ndb_page_buffer", "check_ndb_transactions")  # it takes some 4 s each time, whatever is asked
MANAGEMENT = {  # what ndb_mgm, which is part of NDB, says of the same
    "check_ndb_nodes": "show",
    "check_ndb_memory": "all report memoryusage",
}


class Answers:
    """What a stand-in for an SQL node says; statements on ndbinfo are noted in ``asked``."""

    def __init__(self, count):
        self.cluster = LargeCluster(count)
        self.asked = set()
        self._known = {}

    def __call__(self, sql):
        if "@@" in sql:
            return [WHO]
        if "ndbinfo." in sql:
            self.asked.add(sql)
        if sql not in self._known:  # this process is not what is measured, but it is waited for
            self._known[sql] = self.cluster.rows(sql)
        return self._known[sql]

    def later(self, trouble=None):
        """A minute goes by: every node works, or all but one have this trouble."""
        trouble(self.cluster, self.cluster.nodes[1:]) if trouble else self.cluster.work()
        self._known = {}


def check(plugin, *where):
    """One of our plugins as it is called; that a cluster has just started is not what is measured."""
    own = ("--restarted", "1s") if plugin == "check_ndb_nodes" else ()
    return ours(plugin, "-u", MONITOR, *own, *where)


def tables(statements):
    """The tables that NDB itself has for what statements ask of ndbinfo."""
    names = sorted(set(re.findall(r"\bndbinfo\.(?:ndb\$)?(\w+)", " ".join(statements))))
    return [VIEWS.get(name, name) for name in names if name not in NO_TABLE]


class Commands:
    """What is asked, and what comes near it."""

    def __init__(self, bench, paths, home):
        self.bench = bench
        self.paths = paths
        self.home = home  # of NDB Cluster, if it is here

    def state(self, name):
        """Options with a folder of its own for what a plugin remembers."""
        return ("--state-dir", self.bench.path(name))

    def client(self, statements, *where):
        """The mysql client that asks the same, if it is here."""
        if not self.home:
            return {}
        program = os.path.join(self.home, "bin", "mysql")
        login = ("--no-defaults", f"-u{MONITOR}", f"-p{PASSWORD}")
        return {"mysql client, the same statements": [program, *login, *where, "-Be", "; ".join(statements)]}

    def real(self, plugin, statements, cluster):
        """One plugin on a cluster as it is, and what comes near."""
        where = ("-S", cluster.sql_node.socket)
        commands = {plugin: check(plugin, *where, *self.state("real"))}
        commands |= self.client(statements, *where)
        place = f"--ndb-connectstring={cluster.connectstring}"
        if plugin in RAW:
            program = "ndbinfo_select_all"
            commands[program] = [*cluster.start_of(program), place, *tables(statements)]
        if plugin in MANAGEMENT:
            asked = MANAGEMENT[plugin]
            commands[f"ndb_mgm -e '{asked}'"] = [*cluster.start_of("ndb_mgm"), place, "-e", asked]
        return commands | self.health(plugin, cluster)

    def health(self, plugin, cluster):
        """What check_mysql_health has that comes near, if it is here."""
        path = self.paths.get("check_mysql_health")
        if path and plugin == "check_ndb_nodes":
            where = ("--hostname", "127.0.0.1", "--port", cluster.port)
            words = ["env", f"PATH={self.home}/bin:{PATH}", path]  # it calls ndb_mgm
            return {
                "check_mysql_health cluster-ndbd-running": [*words, "--mode", "cluster-ndbd-running", *where]
            }
        if path and plugin == "check_ndb_page_buffer":
            account = ("--username", MONITOR, "--password", PASSWORD)
            words = ["--mode", "sql", "--name", HIT_RATIO, "--name2", "hit_ratio", "--warning", "50:"]
            where = ("--critical", "1:", "--socket", cluster.sql_node.socket)
            return {"check_mysql_health sql, one number": [path, *words, *where, *account]}
        return {}


def two_and_many(bench, given, plugin, trouble):
    """Two data nodes beside 48. Gives the statements that the plugin asks of ndbinfo."""
    few, many, bad = clusters = Answers(2), Answers(NODES), Answers(NODES)
    names = (f"{plugin}, 2 data nodes", f"{NODES} data nodes", IN_TROUBLE)

    def later():
        few.later()
        many.later()
        bad.later(trouble)

    with contextlib.ExitStack() as running:
        ports = [running.enter_context(served(cluster)) for cluster in clusters]
        commands = {}
        for name, port in zip(names, ports, strict=True):
            commands[name] = check(plugin, "-H", "127.0.0.1", "-P", port, *given.state(f"{plugin} {name}"))
        for _ in range(2):  # what is remembered, and then all that is asked
            for command in commands.values():
                bench.starter.cost(command)
            later()
        asked = sorted(many.asked)
        commands |= given.client(asked, "-h127.0.0.1", f"-P{ports[1]}")
        title = f"{NODES} data nodes: {plugin}, {len(asked)} statements on ndbinfo"
        costs = bench.compare(title, commands, ROUNDS, later, expected={IN_TROUBLE: (1, 2)})
    two, *large = names
    limit = TIMES * _seconds(costs[two]) + MORE
    for name in large:
        what = f"{plugin}, {name} ({TIMES} x 2 data nodes + 20 ms)"
        ratio = times(costs[name], costs[two])
        bench.budget(what, 1000 * _seconds(costs[name]), 1000 * limit, "ms", ratio)
    return asked


def _seconds(costs):
    return statistics.median(one.processor for one in costs)


def main():
    """Measure stand-ins of 2 and 48 data nodes, and a cluster of two as it is."""
    with Bench("ndb", STALLWATCH_MYSQL_PASSWORD=PASSWORD) as bench, contextlib.ExitStack() as running:
        paths = peers(bench, "check_mysql_health")
        try:
            home = ndb_software.home()
        except software.Missing as missing:
            bench.leave_out(f"the mysql client and the real cluster: {missing}")
            home = None
        given = Commands(bench, paths, home)
        asked = {plugin: two_and_many(bench, given, plugin, trouble) for plugin, trouble in TROUBLES.items()}
        if home:
            cluster = running.enter_context(NdbCluster(bench.path("ndb"), sql=True))
            cluster.sql_node.account(*sql_node.MONITOR)
            bench.software["NDB Cluster"] = version(cluster.sql_node)
            disk_table(cluster.sql_node)
            for plugin, statements in asked.items():
                commands = given.real(plugin, statements, cluster)
                bench.compare(f"a real cluster of two: {plugin}", commands, ROUNDS)


if __name__ == "__main__":
    main()
