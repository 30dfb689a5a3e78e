"""What do the plugins that read ndbinfo cost, on two data nodes and on 48, and beside what is there instead?

Whole processes, arguments and verdict included, in turn in one run. The cluster of 48 data nodes is made of a
real one's tables (tests/unit/large_cluster.py) and asked over MySQL's own protocol; the one of two is asked
there and, if the tests can start one, as it is.

Nobody else's check reads ndbinfo. What comes near: the mysql client with the same statements, whose output
one would have to judge oneself; ndbinfo_select_all, which is part of NDB and needs no SQL node;
check_mysql_health, which counts data nodes by ndb_mgm, or gives one number of one statement.
"""

import compileall
import contextlib
import os
import re
import statistics
import sys
import tempfile
import textwrap
from pathlib import Path

from measured import Starter, cost_line
from peers import peers
from sql_stand_in import served

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "tests" / "live"), str(ROOT / "tests" / "unit")]

import ndb_software  # noqa: E402 - it is there
import software  # noqa: E402
from large_cluster import TROUBLES, LargeCluster  # noqa: E402
from ndb_cluster import NdbCluster  # noqa: E402
from ndb_load import disk_table  # noqa: E402
from sql_node import MONITOR  # noqa: E402

ROUNDS, REAL_ROUNDS = 25, 7
NODES = 48
TIMES, MORE = 1.2, 0.02  # of the processor time of two nodes, and seconds
PEERS = {"check_mysql_health": ("monitoring-plugins-contrib", "libdbd-mysql-perl")}
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
PASSWORD = f"secret of {MONITOR[0]}"


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


def ours(plugin, *where):
    """One of our plugins as it is called; that a cluster has just started is not what is measured."""
    own = ("--restarted", "1s") if plugin == "check_ndb_nodes" else ()
    return [sys.executable, ROOT / "plugins" / plugin, "-u", "mon", *own, *where]


def tables(statements):
    """The tables that NDB itself has for what statements ask of ndbinfo."""
    names = sorted(set(re.findall(r"\bndbinfo\.(?:ndb\$)?(\w+)", " ".join(statements))))
    return [VIEWS.get(name, name) for name in names if name not in NO_TABLE]


class Bench:
    """Commands beside each other, and what they cost."""

    def __init__(self, starter, paths, folder, home):
        self.starter = starter
        self.paths = paths
        self.folder = folder
        self.home = home  # of NDB Cluster, if it is here

    def state(self, name):
        """Options with a folder of its own for what a plugin remembers."""
        return ("--state-dir", os.path.join(self.folder, name))

    def client(self, statements, *where):
        """The mysql client that asks the same, if it is here."""
        if not self.home:
            return {}
        program = os.path.join(self.home, "bin", "mysql")
        text = "; ".join(statements)
        return {"mysql client": [program, "--no-defaults", "-umon", f"-p{PASSWORD}", *where, "-Be", text]}

    def compare(self, title, rounds, commands, between=lambda: None):
        """Run each in turn, many times; the others are set against the first. Gives all costs."""
        costs = {name: [] for name in commands}
        for _ in range(rounds):
            between()
            for name, command in commands.items():
                costs[name].append(self.starter.cost(command))
        print(f"\n{title}, medians of {rounds}")
        first, *_ = costs.values()
        for name, each in costs.items():
            print(cost_line(name, each, first))
        return costs

    def large(self):
        """Two data nodes beside 48. Gives the statements that each plugin asks of ndbinfo."""
        return {plugin: self._large(plugin, trouble) for plugin, trouble in TROUBLES.items()}

    def _large(self, plugin, trouble):
        few, many, bad = clusters = Answers(2), Answers(NODES), Answers(NODES)
        names = ("2 data nodes", f"{NODES} data nodes", "the same in trouble")

        def later():
            few.later()
            many.later()
            bad.later(trouble)

        with contextlib.ExitStack() as running:
            ports = [running.enter_context(served(cluster)) for cluster in clusters]
            commands = {}
            for name, port in zip(names, ports, strict=True):
                commands[name] = ours(plugin, "-H", "127.0.0.1", "-P", port, *self.state(f"{plugin} {name}"))
            for _ in range(2):  # what is remembered, and then all that is asked
                for command in commands.values():
                    self.starter.cost(command)
                later()
            asked = sorted(many.asked)
            commands |= self.client(asked, "-h127.0.0.1", f"-P{ports[1]}")
            costs = self.compare(f"{plugin}, {len(asked)} statements on ndbinfo", ROUNDS, commands, later)
        small, *large = (statistics.median(one.processor for one in costs[name]) for name in names)
        limit = TIMES * small + MORE
        verdict = "kept" if max(large) <= limit else "NOT KEPT"
        print(f"  {NODES} data nodes may take {TIMES} x {small:.3f} s + {MORE} s = {limit:.3f} s: {verdict}")
        return asked

    def real(self, cluster, asked):
        """A cluster of two data nodes as it is."""
        socket = ("-S", cluster.sql_node.socket)
        raw = [*cluster.start_of("ndbinfo_select_all"), f"--ndb-connectstring={cluster.connectstring}"]
        for plugin, statements in asked.items():
            commands = {plugin: ours(plugin, *socket, *self.state("real"))}
            commands |= self.client(statements, *socket)
            commands["ndbinfo_select_all"] = [*raw, *tables(statements)]
            commands |= self.health(plugin, cluster)
            self.compare(f"{plugin} on a real cluster of two data nodes", REAL_ROUNDS, commands)
            self.tell({plugin: commands[plugin], **self.health(plugin, cluster)})

    def tell(self, commands):
        """Print what checks say."""
        answer = os.path.join(self.folder, "answer")
        for name, command in commands.items():
            status = self.starter.cost(command, output=answer).status
            text = " ".join(Path(answer).read_text(errors="replace").split())
            line = f"{name}, exit status {status}: {text}"
            print(textwrap.fill(line, 110, initial_indent="  ", subsequent_indent="    "))

    def health(self, plugin, cluster):
        """What check_mysql_health has that comes near, if it is here."""
        path = self.paths.get("check_mysql_health")
        if path and plugin == "check_ndb_nodes":
            where = ("--hostname", "127.0.0.1", "--port", cluster.port)
            return {"check_mysql_health by ndb_mgm": [path, "--mode", "cluster-ndbd-running", *where]}
        if path and plugin == "check_ndb_page_buffer":
            account = ("--username", "mon", "--password", PASSWORD)
            words = ["--mode", "sql", "--name", HIT_RATIO, "--name2", "hit_ratio", "--warning", "99.5:"]
            where = ("--socket", cluster.sql_node.socket)
            return {"check_mysql_health, one number": [path, *words, *where, *account]}
        return {}


def main():
    """Print all tables."""
    compileall.compile_dir(ROOT / "lib", quiet=1)  # as it is installed
    paths = peers(PEERS)
    with contextlib.ExitStack() as running:
        folder = running.enter_context(tempfile.TemporaryDirectory(prefix="bench-"))
        os.environ["HOME"] = folder  # no ~/.my.cnf
        os.environ["STALLWATCH_MYSQL_PASSWORD"] = PASSWORD
        try:
            home = ndb_software.home()
        except software.Missing as missing:
            print(f"left out, the mysql client and the real cluster: {missing}")
            home = None
        else:
            os.environ["PATH"] += f":{home}/bin"  # where check_mysql_health finds ndb_mgm
        bench = Bench(running.enter_context(Starter()), paths, folder, home)
        asked = bench.large()
        if home:
            cluster = running.enter_context(NdbCluster(os.path.join(folder, "ndb"), sql=True))
            cluster.sql_node.account(*MONITOR)
            disk_table(cluster.sql_node)
            bench.real(cluster, asked)


if __name__ == "__main__":
    main()
