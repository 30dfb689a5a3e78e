"""How many checks a second does an engine sustain with stallwatchd, beside the same plugins without, and C?

A real Icinga runs each plugin by itself and behind the stub, a real Nagios by itself and by its worker: each
at the highest rate that it sustains (capacity.py says how that is found; here in at most 5 trials of 3
intervals), then at 80 % of it, for the time that a check takes. The engine, stallwatchd and the servers share
this machine. Of one row it is also seen what becomes of it while 16 checks always wait for a server that says
nothing. Memory is the proportional share (PSS) of all processes of stallwatchd.
"""

import contextlib
import socket
import subprocess
import threading
from pathlib import Path
from types import SimpleNamespace

import psutil
from capacity import GUESS, left_out_if_it_fails, our_words, sustained, their_words
from measured import Bench
from pairs import MONITOR, PASSWORD, version
from peers import peers

# isort: split
import capacity_search
import capacity_trial
import engine_user
import sql_node
import warm_daemon
from capacity_engines import EACH, ENGINES, BusyNagios
from capacity_trial import Trials
from copies import installed
from jvm import Jvm
from ndb_cluster import NdbCluster
from replication_pair import Pair
from server_process import ServerProcess

WARM = ", stallwatchd"  # how a command is called that it runs
WORKER = "Nagios with its worker"
LAG, JMX, NDB = "check_replication_lag", "check_jmx", "check_ndb_memory"
TRIED = {  # minutes each
    "Icinga": (LAG, LAG + WARM, JMX, JMX + WARM),
    "Nagios": (LAG + WARM, JMX + WARM),
}
ALL = len(list(warm_daemon.PLUGINS.glob("check_*")))  # that the worker registers
EASY = 0.8  # of what is sustained
HUNG, BESIDE = 16, 250  # checks that always wait for a server, and others a second beside them, at most
TOO_MANY = {False: 120, True: 900}  # checks a second, of Python that starts anew, of others


class Front:
    """The worker of the Nagios that runs now: a server whose processor time counts."""

    process = SimpleNamespace(family=())


def nagios_with(daemon, front):
    """A kind of Nagios that has a worker. It counts its own workers only: here what it writes.

    It begins once the worker has registered: what it has to start itself until then would take seconds.
    """

    class WithWorker(BusyNagios):
        more = "process_performance_data=1\nexecute_service_checks=0\n"

        def start(self):
            super().start()
            plugins = ("--nagios", str(self.path("rw", "nagios.qh")), "--plugins", str(daemon.folder / "bin"))
            command, user = [*daemon.command, *plugins], engine_user.becoming()
            front.process = ServerProcess(command, self.folder / "front", **user)
            warm_daemon.soon(lambda: self.path("nagios.log").read_text().count("bin/check_") >= ALL)
            self.order("START_EXECUTING_SVC_CHECKS")

        def stop(self, grace=None):
            super().stop(grace)
            front.process.stop(grace=5)

        def done(self):
            with contextlib.suppress(FileNotFoundError):
                return self.path("service-perfdata").read_bytes().count(b"\n")
            return 0

    return WithWorker


def memory(daemon, front):
    """MiB of stallwatchd and of the front, in their proportional share."""
    found = 0
    for process in [*daemon.process.family, *front.process.family]:
        with contextlib.suppress(psutil.Error):
            found += process.memory_full_info().pss
    return round(found / (1 << 20), 1)


@contextlib.contextmanager
def hung(daemon):
    """Meanwhile so many checks wait for a server that says nothing, each until its time is up, and again."""
    ends = threading.Event()
    with socket.create_server(("127.0.0.1", 0), backlog=512) as silent:
        port = str(silent.getsockname()[1])
        stub = str(daemon.stubs / "check_mysql_query")
        command = [stub, "-H", "127.0.0.1", "-P", port, "-u", MONITOR, "--no-state", "-t", "8s"]

        def ask():
            while not ends.is_set():
                subprocess.run(
                    command, env=daemon.environment(), stdout=subprocess.DEVNULL, check=False,
                    **engine_user.becoming(),
                )  # fmt: skip

        asking = [threading.Thread(target=ask) for _ in range(HUNG)]
        for one in asking:
            one.start()
        try:
            yield
        finally:
            ends.set()
            for one in asking:
                one.join()


def row(trials, kind, name, command, also):
    """What is sustained, and how long a check takes at 80 % of that."""
    print(f"{kind}, {name}", flush=True)
    at_once = 16 if kind == "Icinga" else 0
    fast = also is not dict or name == "check_mysql"
    flooded = trials.run(kind, command, TOO_MANY[fast], at_once, patient=True)
    print(f"  {flooded.asked:7.1f} a second: {flooded}", flush=True)
    found = sustained(trials, kind, command, GUESS * flooded.done)
    easy = trials.run(kind, command, EASY * found["asked"], at_once)
    return {"name": name, **found, "slow": easy.slow, **also()}


class Tables:
    """The rows of each engine, filled row by row."""

    def __init__(self, bench, trials, daemon, front, cold):
        self.bench, self.trials, self.daemon, self.cold = bench, trials, daemon, cold
        self._memory = {"also": lambda: {"memory": memory(daemon, front)}}
        self.rows = {}

    def add(self, kind, name, words):
        """Measure a plugin of ours with an engine: with stallwatchd if the name says so."""
        plugin = name.removesuffix(WARM)
        if plugin == name:
            self._row(kind, kind, name, [str(self.cold / name), *words])
        elif kind == "Icinga":
            self._row(kind, kind, name, [str(self.daemon.stubs / plugin), *words], **self._memory)
        else:
            self._row(kind, WORKER, name, [str(self.daemon.folder / "bin" / plugin), *words], **self._memory)

    def add_peer(self, kind, name, command):
        """Measure another plugin."""
        self._row(kind, kind, name, command)

    def _row(self, kind, engine, name, command, also=dict):
        with left_out_if_it_fails(self.bench, f"{engine}, {name}"):
            found = row(self.trials, engine, name, command, also)
            self.rows.setdefault(kind, []).append(found)
            if (engine, name) == (WORKER, LAG + WARM):
                with hung(self.daemon):
                    rate = min(BESIDE, EASY * found["asked"])
                    beside = self.trials.run(engine, command, rate, 0)
                found["beside"] = {"hung": HUNG, **beside.kept()}


def option_file(folder, server):
    """Options of a plugin that asks this SQL node."""
    path = Path(folder, "ndb.cnf")
    path.write_text(f"[client]\nuser={MONITOR}\npassword={PASSWORD}\n")
    engine_user.give(folder)
    login = ("-H", server.host, "-P", str(server.port), "--defaults-file", str(path))
    return (*login, "--state-dir", f"{folder}/{EACH}")


def measure(bench):
    """Fill the tables: what asks MariaDB and a JVM, and then, as data nodes are never idle, NDB Cluster."""
    wanted = peers(bench, "check_mysql", "icinga2", "nagios4")
    engines = [kind for kind in TRIED if ENGINES[kind].program_name in wanted]
    cold = installed(bench.path("today")) / "bin"
    place = {"python": cold / "python3", "program": cold / "stallwatchd", "plugins": cold}
    with warm_daemon.running(bench.path("warm"), **place, **engine_user.becoming()) as daemon:
        front = Front()
        ENGINES[WORKER] = nagios_with(daemon, front)
        trials = Trials(bench.folder, [daemon, front])
        tables = Tables(bench, trials, daemon, front, cold)
        with (
            Pair(bench.path("pair"), "mariadb", replica={"max_connections": 1000}) as pair,
            Jvm(bench.path("jvm")) as jvm,
        ):
            bench.software["MariaDB"] = version(pair.replica)
            trials.servers = [daemon, front, pair.replica, pair.source, jvm]
            words = our_words(pair, jvm, bench.path("asked"))
            for kind in engines:
                tables.add_peer(
                    kind, "check_mysql", [wanted["check_mysql"], *their_words(pair)["check_mysql"]]
                )
                for name in TRIED[kind]:
                    tables.add(kind, name, words[name.removesuffix(WARM)])
        with left_out_if_it_fails(bench, NDB), NdbCluster(bench.path("ndb"), sql=True) as cluster:
            cluster.sql_node.account(*sql_node.MONITOR)
            bench.software["NDB Cluster"] = version(cluster.sql_node)
            nodes = [SimpleNamespace(process=process) for process in cluster.servers.values()]
            trials.servers = [daemon, front, cluster.sql_node, *nodes]
            asks = option_file(bench.path("asked"), cluster.sql_node)
            for kind in engines:
                tables.add(kind, NDB + WARM, asks)
        bench.tables += [{"title": kind, "rows": rows} for kind, rows in tables.rows.items()]


def main():
    """Measure it all."""
    capacity_search.TRIALS, capacity_trial.INTERVALS = 5, 3
    with Bench("warm") as bench:
        engine_user.reachable(bench.folder)
        measure(bench)


if __name__ == "__main__":
    main()
