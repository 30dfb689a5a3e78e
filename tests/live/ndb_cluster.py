"""A real MySQL NDB Cluster for the tests: one management node, two data nodes, room for two SQL nodes.

    with NdbCluster(folder) as cluster:
        cluster.freeze(4, "ldm", seconds=3)
        print(cluster.out_log(4))

Everything listens on loopback, lives in one folder, and ends with the process that started it.
"""

import contextlib
import os
import re
import subprocess
import time
from typing import NamedTuple

import ndb_software
import thread_control
from loopback import free_port
from ndb_configuration import DATA_NODES, MANAGEMENT, SETTINGS, configuration
from server_process import ServerProcess

BOOT = 120  # seconds; it takes 10 on an idle machine


class Thread(NamedTuple):
    """A thread of a data node: its number in the node's log, its number in the kernel, and what it does."""

    number: int
    tid: int
    role: str


class NdbCluster:
    """A cluster in a folder. Settings of the data nodes may be added or changed."""

    def __init__(self, folder, **settings):
        self.folder = os.path.abspath(folder)
        self.home = ndb_software.home()
        self.settings = SETTINGS | settings
        self.servers = {}
        self.port = free_port()

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
        except BaseException:
            self.stop()
            raise

    def stop(self):
        """End every process of the cluster, at once: what they hold is thrown away."""
        with contextlib.ExitStack() as each:
            while self.servers:
                each.callback(self.servers.popitem()[1].stop)

    def start_management(self, *options):
        """Start the management node, and wait until it answers."""
        with open(self.path("config.ini"), "w") as file:
            file.write(configuration(self.folder, self.port, self.settings))
        folder = self.path(MANAGEMENT)
        command = (
            f"--config-file={self.path('config.ini')}", f"--configdir={folder}", "--bind-address=127.0.0.1",
            f"--ndb-nodeid={MANAGEMENT}", "--nodaemon", *options,
        )  # fmt: skip
        self._launch(MANAGEMENT, "ndb_mgmd", *command)
        self._wait(MANAGEMENT, lambda: self.status(DATA_NODES[0]), 30)

    def start_node(self, node, *options):
        """Start a data node: an angel, which starts the node proper. Does not wait for it."""
        if node in self.servers:
            self.servers.pop(node).stop()
        self._launch(
            node, "ndbmtd", f"--ndb-nodeid={node}", f"--ndb-connectstring={self.connectstring}", "--nodaemon",
            *options,
        )  # fmt: skip

    def _launch(self, node, program, *options):
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
        return f"127.0.0.1:{self.port}"

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

    def _wait(self, node, ready, seconds):
        """Wait for something; the node whose process must live meanwhile is the one to blame."""
        until = time.monotonic() + seconds
        while not ready():
            if time.monotonic() > until or not self.servers[node].family:
                with open(self.out_log(node), errors="replace") as log:
                    raise TimeoutError(f"node {node} is not ready:\n" + "".join(log.readlines()[-20:]))
            time.sleep(0.3)

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

    def kill_child(self, node):
        """Kill the data node proper, as the kernel does when memory runs out: the angel starts it again."""
        self.child(node).kill()

    def restart(self, node):
        """Order a restart of the node, and wait until it is started again."""
        answer = self.mgm(f"{node} restart")
        self.wait_for(node)
        return answer

    def shut_down(self, node):
        """Order the node to stop: it ends, and so does its angel."""
        answer = self.mgm(f"{node} stop")
        self.servers[node].wait(60)
        return answer

    def kill_management(self):
        """Kill the management node, the arbitrator; start_management() brings it back."""
        self.servers.pop(MANAGEMENT).stop()
