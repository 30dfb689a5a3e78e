"""A real MySQL NDB Cluster for the tests: one management node, two data nodes, and an SQL node if wanted.

    with NdbCluster(folder, sql=True) as cluster:
        cluster.freeze(4, "ldm", seconds=3)
        print(cluster.out_log(4))
        for node in cluster.changing(DiskPageBufferMemory="64M"):
            print(node, "is down, ndbinfo shows", cluster.sql_node.data_nodes())

Everything listens on loopback, lives in one folder, and ends with the process that started it.

By hand: .venv/bin/python tests/live/ndb_cluster.py [--folder DIR] [--set DataMemory=200M ...]
runs until it is interrupted, and prints ports and the rest as a line of JSON.
"""

import argparse
import contextlib
import json
import os
import re
import signal
import subprocess
import tempfile
import time
from typing import NamedTuple

import ndb_software
import thread_control
from loopback import free_port
from ndb_configuration import DATA_NODES, MANAGEMENT, SETTINGS, SQL_NODES, configuration, host_of
from server_process import LOGS, ServerProcess
from slow_disk import slow_disk
from sql_node import MONITOR, SqlNode

BOOT = 300  # seconds; it takes 10 on an idle machine


class Thread(NamedTuple):
    """A thread of a data node: its number in the node's log, its number in the kernel, and what it does."""

    number: int
    tid: int
    role: str


class NdbCluster:
    """A cluster in a folder. Settings of the data nodes may be added or changed.

    Nodes that are ``apart`` have an address of loopback each.
    """

    kind = "ndb"

    def __init__(self, folder, *, sql=False, apart=False, **settings):
        self.folder = os.path.abspath(folder)
        self.home = ndb_software.home()
        self.first = SETTINGS | settings
        self.settings = dict(self.first)
        self.servers = {}
        self.apart = apart
        self.host = host_of(MANAGEMENT, apart=apart)
        self.port = free_port()
        self.sql_node = self._sql_node() if sql else None

    def __enter__(self):
        self.start()
        return self

    def __exit__(self, *_):
        self.stop()

    # starting and stopping

    def start(self):
        """Start all nodes, with empty file systems, and wait until they are started."""
        for node in (MANAGEMENT, *DATA_NODES, "tls"):
            os.makedirs(self.path(node), exist_ok=True)
        try:
            self.start_management("--initial")
            for node in DATA_NODES:
                self.start_node(node, "--initial")
            for node in DATA_NODES:
                self.wait_for(node)
            if self.sql_node:
                self.sql_node.start()
                self.sql_node.wait_for(DATA_NODES)
        except BaseException:
            self.stop()
            raise

    def stop(self):
        """End every process of the cluster, at once: what they hold is thrown away."""
        with contextlib.ExitStack() as each:
            while self.servers:
                each.callback(self.servers.popitem()[1].stop)
            if self.sql_node:
                each.callback(self.sql_node.stop)

    def start_management(self, *options):
        """Start the management node, and wait until it answers and has found the data nodes that run."""
        with open(self.path("config.ini"), "w") as file:
            file.write(configuration(self.folder, self.port, self.settings, apart=self.apart))
        folder = self.path(MANAGEMENT)
        LOGS[self.cluster_log] = None
        command = (
            f"--config-file={self.path('config.ini')}", f"--configdir={folder}",
            f"--bind-address={self.host}", f"--ndb-nodeid={MANAGEMENT}", "--nodaemon", *options,
        )  # fmt: skip
        self._launch(MANAGEMENT, "ndb_mgmd", *command)
        self._wait(MANAGEMENT, lambda: self.status(DATA_NODES[0]), 90)
        for node in filter(self.runs, DATA_NODES):
            self._wait(node, lambda node=node: self.status(node) != "not connected", 90)

    def start_node(self, node, *options):
        """Start a data node: an angel, which starts the node proper. Does not wait for it."""
        self._launch(
            node, "ndbmtd", f"--ndb-nodeid={node}", f"--ndb-connectstring={self._from(node)}", "--nodaemon",
            *options,
        )  # fmt: skip

    def _sql_node(self):
        number = SQL_NODES[0]
        return SqlNode(self.path(number), number, self._from(number), self.path("tls"))

    def _from(self, node):
        """How a node connects to the management node: from its own address."""
        bound = f"bind-address={host_of(node, apart=True)}," if self.apart else ""
        return bound + self.connectstring

    def _launch(self, node, program, *options):
        if node in self.servers:  # it has ended, or is to
            self.servers.pop(node).stop()
        command = [*self.start_of(program), *options]
        self.servers[node] = ServerProcess(command, self.out_log(node), cwd=self.folder)

    # asking

    def path(self, *parts):
        """A path below the cluster's folder."""
        return os.path.join(self.folder, *map(str, parts))

    def program(self, name):
        """The path of one of the cluster's programs."""
        return os.path.join(self.home, "bin", name)

    def start_of(self, program):
        """How a call of one of the cluster's programs starts: with nobody's defaults and certificates."""
        return [self.program(program), "--no-defaults", f"--ndb-tls-search-path={self.path('tls')}"]

    @property
    def connectstring(self):
        """Where the management node listens."""
        return f"{self.host}:{self.port}"

    @property
    def cluster_log(self):
        """The path of the cluster log."""
        return self.path(MANAGEMENT, f"ndb_{MANAGEMENT}_cluster.log")

    def out_log(self, node):
        """The path of a data node's own log, or of what the management node prints."""
        return self.path(node, f"ndb_{node}_out.log")

    def mgm(self, command, seconds=120):
        """What the management client prints for a command such as "4 status"."""
        call = [*self.start_of("ndb_mgm"), f"--ndb-connectstring={self.connectstring}"]
        call += ["--connect-retries=1", "--connect-retry-delay=1", "-e", command]
        done = subprocess.run(
            call, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
            timeout=seconds, check=False,
        )  # fmt: skip
        return done.stdout

    def status(self, node):
        """A node's state in the management node's words: "started", "not connected", …; None: no answer."""
        found = re.search(rf"^Node {node}: ([a-z ]+?) *(?:\(|$)", self.mgm(f"{node} status"), re.MULTILINE)
        return found[1] if found else None

    def wait_for(self, node, status="started", seconds=BOOT):
        """Wait until the management node says that of the node."""
        self._wait(node, lambda: self.status(node) == status, seconds)

    def wait_for_arbitrator(self):
        """Wait until the data nodes have one: without, the second one ends as well if one does."""
        if self.sql_node:
            self._wait(MANAGEMENT, self.sql_node.has_arbitrator, 90)

    def _wait(self, node, ready, seconds):
        """Wait for something; the node whose process must live meanwhile is the one to blame."""
        until = time.monotonic() + seconds
        while not ready():
            if time.monotonic() > until or not self.servers[node].family:
                with open(self.out_log(node), errors="replace") as log:
                    raise TimeoutError(f"node {node} is not ready:\n" + "".join(log.readlines()[-20:]))
            time.sleep(0.3)

    def runs(self, node):
        """Whether the management node's or the data node's process does."""
        return node in self.servers and bool(self.servers[node].family)

    def angel(self, node):
        """The process that watches over the data node, a psutil.Process."""
        return self.servers[node].family[0]

    def child(self, node):
        """The data node proper, a psutil.Process."""
        return self.servers[node].family[1]

    def threads(self, node):
        """The node's threads, from the lines of its last start-up."""
        with open(self.out_log(node)) as log:
            lines = re.findall(r" thr: (\d+) tid: (\d+) \((\w+)\)", log.read())
        running = {str(thread.id) for thread in self.child(node).threads()}
        return sorted(Thread(int(number), int(tid), role) for number, tid, role in lines if tid in running)

    def thread(self, node, role):
        """The first of the node's threads with that role: main, rep, recv or ldm."""
        return next(thread for thread in self.threads(node) if thread.role == role)

    # trouble

    def freeze(self, node, role, seconds):
        """Freeze one thread of the node. False if the node died of it (beyond 18 s the watchdog kills it)."""
        return thread_control.freeze(self.thread(node, role).tid, seconds)

    def spin(self, node, role, seconds):
        """Let one thread of the node compute in user space. False if the node died of it."""
        return thread_control.spin(self.thread(node, role).tid, seconds)

    def loop_in_system_calls(self, node, role, seconds):
        """Let one thread of the node keep the kernel busy. False if the node died of it."""
        return thread_control.loop_in_system_calls(self.thread(node, role).tid, seconds)

    def freeze_process(self, node, seconds):
        """Stop all of the node. Beyond 20 s the other node declares it dead, and it ends when it wakes up."""
        thread_control.stop_process(self.child(node).pid, seconds)

    def slow_disk(self, rate, *nodes):
        """A context in which the data nodes, or these, write so many octets per second at most, together.

        May raise Missing.
        """
        processes = [process for node in nodes or DATA_NODES for process in self.servers[node].family]
        return slow_disk(processes, self.folder, rate)

    def kill_child(self, node):
        """Kill the data node proper, as the kernel does when memory runs out: the angel starts it again."""
        self.child(node).kill()

    def restart(self, node):
        """Order a restart of the node, and wait until it is started again."""
        answer = self.mgm(f"{node} restart")
        self.wait_for(node)
        return answer

    def shut_down(self, node):
        """Order the node to stop: it ends, and so does its angel. start_again() brings it back."""
        answer = self.mgm(f"{node} stop")
        self.servers[node].wait(60)
        self._wait(MANAGEMENT, lambda: self.status(node) == "not connected", 90)
        return answer

    def kill(self, node):
        """Kill a node for good, its angel first. start_again() brings it back, or start_management()."""
        self.servers.pop(node).stop()

    def kill_management(self):
        """Kill the management node, the arbitrator; start_management() brings it back."""
        self.kill(MANAGEMENT)

    def start_again(self, *nodes):
        """Start data nodes with the data they had, and wait until the SQL node shows all of them."""
        for node in nodes:
            self.start_node(node)
        for node in nodes:
            self.wait_for(node)
        if self.sql_node:
            self.sql_node.wait_for(DATA_NODES)

    def shut_down_all(self):
        """Order the data nodes and the management node to stop; the SQL node stays. start_all_again()."""
        answer = self.mgm("shutdown")
        for server in self.servers.values():
            server.wait(60)
        return answer

    def start_all_again(self):
        """Start the management node and the data nodes, with the data they had."""
        self.start_management()
        self.start_again(*DATA_NODES)

    def changing(self, **settings):
        """Change settings by a rolling restart: gives each data node while it is down, then starts it.

        for node in cluster.changing(RedoBuffer="8M"):
            look()
        """
        self.settings |= settings
        self.kill_management()  # in order it takes 12 s
        self.start_management("--reload")
        self.wait_for_arbitrator()
        for node in DATA_NODES:
            self.shut_down(node)
            yield node
            self.start_again(node)

    def change(self, **settings):
        """Change settings by a rolling restart."""
        for _ in self.changing(**settings):
            pass

    def heal(self, seconds=BOOT):
        """Undo all trouble that tests make, and wait until all nodes are started and the SQL node says so.

        ``seconds`` is for how long each data node may take.
        """
        if not self.runs(MANAGEMENT):
            self.start_management()
        for node in DATA_NODES:
            if not self.runs(node):
                self.start_node(node)
        for node in DATA_NODES:
            self.wait_for(node, seconds=seconds)
        if self.sql_node:
            self.sql_node.heal(DATA_NODES)
        self.wait_for_arbitrator()
        if self.settings != self.first:
            self.settings = dict(self.first)
            self.change()


def about(cluster):
    """What one must know to ask the cluster."""
    sql = cluster.sql_node
    return {
        "folder": cluster.folder,
        "management": {"port": cluster.port, "cluster_log": cluster.cluster_log},
        "data_nodes": {
            node: {"log": cluster.out_log(node), "data": cluster.path(node), "pid": cluster.child(node).pid}
            for node in DATA_NODES
        },
        "sql_node": {
            "socket": sql.socket,
            "port": sql.port,
            "host": sql.host,
            "pid": sql.pid,
            "log": sql.log,
        },
        "root": {"user": "root", "password": ""},
        "account": sql.account(*MONITOR)._asdict(),
    }


def main():
    """Run one in the foreground."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--folder", help="where it lives; without it, a folder that goes with it")
    parser.add_argument("--set", action="append", default=[], metavar="NAME=VALUE", help="of the data nodes")
    options = parser.parse_args()
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    with contextlib.suppress(KeyboardInterrupt), contextlib.ExitStack() as each:
        folder = options.folder or each.enter_context(tempfile.TemporaryDirectory(prefix="ndb-"))
        settings = dict(one.split("=", 1) for one in options.set)
        cluster = each.enter_context(NdbCluster(folder, sql=True, **settings))
        print(json.dumps(about(cluster)), flush=True)  # noqa: T201
        signal.pause()


if __name__ == "__main__":
    main()
