"""Every plugin in every state through a real Icinga, at real servers: what Icinga holds is what was said.

Icinga runs the plugins by the CheckCommands that are shipped. A plugin's output and exit status are those of
the very run that Icinga saw, so all numbers are to be equal.
"""

import itertools
import shutil
import subprocess
from pathlib import Path

import engine_user
import icinga_writers
import ndb_load
import pytest
from icinga import Icinga, number
from icinga_writers import Writers
from loopback import free_port
from perfdata import items, split
from recorder import Recorder
from replication_pair import GRANTS
from sql_node import MONITOR
from stallwatch.declared import every
from stallwatch.discovery.icinga2 import COMMANDS as RENAMED

ROOT = Path(__file__).parents[2]
COMMANDS = ROOT / "contrib" / "icinga2" / "stallwatch-commands.conf"
DUMP_OF_ALL = ROOT / "tests" / "recorded" / "mysql_backup" / "mariadb-dump" / "all.sql"
KERNELS = ROOT / "tests" / "recorded" / "bonding"
LOGS = ROOT / "tests" / "recorded" / "ndb_log"
STATES = OK, WARNING, CRITICAL, UNKNOWN = ("OK", "WARNING", "CRITICAL", "UNKNOWN")

ALWAYS = "@0:"  # a range that all numbers but negative ones are in
BUSY = "30s"  # a machine that is busy with other tests is no trouble of the servers

# What brings a plugin into a state: its name, the state, and options, by the names of Icinga's variables. A
# plugin that asks a server and is in no table is here, too: well with what it declares, and unreachable.
PATIENT = {
    "warning": BUSY, "critical": BUSY, "max_warning": BUSY, "connection_warning": BUSY,
    "connection_critical": BUSY,
}  # fmt: skip
ODD = "SELECT 'größer | kleiner; 100 % <b> $HOME'"
DATABASE = (
    ("mysql_query", OK, PATIENT),
    ("mysql_query", OK, {**PATIENT, "query": ODD, "verbose": True}),
    ("mysql_query", WARNING, {**PATIENT, "rows_warning": "0"}),
    ("mysql_query", CRITICAL, {**PATIENT, "query": ODD, "expect": "größer"}),
    ("mysql_query", UNKNOWN, {"query": "DROP DATABASE lab"}),
    ("mysql_status", OK, {"set": ["none"], "include": ["Threads_.*", "Uptime"], "sample": "1s"}),
    ("mysql_status", WARNING, {"set": ["none"], "warning": ["Uptime=0"], "sample": "1s"}),
    (
        "mysql_status", CRITICAL,
        {"set": "none", "critical": ["Uptime=0", "Threads_running=0:99"], "sample": "1s"},
    ),
    ("mysql_status", UNKNOWN, {"set": ["none"], "warning": ["No_such_variable=1"], "sample": "1s"}),
    ("innodb_buffer_pool", OK, {"innodb_status_warning": BUSY, "innodb_status_critical": BUSY}),
    ("innodb_buffer_pool", WARNING, {"pages_free_warning": ALWAYS, "innodb_status_critical": BUSY}),
    ("innodb_buffer_pool", CRITICAL, {"pages_free_critical": ALWAYS}),
    ("mysql_stalls", OK, {}),
    ("mysql_stalls", WARNING, {"warning": ALWAYS}),
    ("mysql_stalls", CRITICAL, {"critical": ALWAYS}),
    ("innodb_redo_log", OK, {}),
    ("innodb_redo_log", WARNING, {"warning": ALWAYS}),
    ("innodb_redo_log", CRITICAL, {"critical": ALWAYS, "sample": "1s"}),
)  # fmt: skip
HANGING = (
    ("mysql_query", CRITICAL, {"timeout": "8s"}),
    ("mysql_status", UNKNOWN, {"timeout": "8s"}),
    ("innodb_buffer_pool", CRITICAL, {"timeout": "8s", "unreachable": "critical"}),
)
REPLICA = (
    ("replication_lag", OK, {}),
    ("replication_lag", OK, {"verbose": True, "innodb_status_warning": BUSY, "innodb_status_critical": BUSY}),
    ("replication_lag", WARNING, {"warning": ALWAYS}),
    ("replication_lag", CRITICAL, {"warning": "1", "critical": ALWAYS}),
    ("replication_lag", UNKNOWN, {"channel": ["no_such_channel"]}),
)
READS = {"sample": "2s", "confirm": 1, "min_requests": 1, "cold": "1s"}
STEADY = {
    "restarted": "1s", "thread_use_warning": "100", "thread_use_critical": "100", "overloads_warning": "1000",
    "overloads_critical": "1000", "major_faults_warning": "1000000",
}  # fmt: skip
CLUSTER = (
    ("ndb_memory", OK, {}),
    ("ndb_memory", WARNING, {"warning": "0"}),
    ("ndb_memory", CRITICAL, {"critical": "0"}),
    ("ndb_nodes", OK, STEADY),
    ("ndb_nodes", WARNING, STEADY | {"warning": ALWAYS}),
    ("ndb_nodes", CRITICAL, STEADY | {"critical": ALWAYS}),
    ("ndb_page_buffer", OK, READS | {"warning": "0:", "critical": "0:"}),
    ("ndb_page_buffer", WARNING, READS | {"warning": ALWAYS, "critical": "0:"}),
    ("ndb_page_buffer", CRITICAL, READS | {"critical": ALWAYS}),
    ("ndb_redo_buffer", OK, {"count": 2}),
    ("ndb_redo_buffer", WARNING, {"count": 2, "warning": ALWAYS}),
    ("ndb_redo_buffer", CRITICAL, {"count": 2, "critical": ALWAYS}),
    ("ndb_transactions", OK, {}),
    ("ndb_transactions", WARNING, {"transactions_warning": ALWAYS}),
    ("ndb_transactions", CRITICAL, {"transactions_critical": ALWAYS}),
)
HEAP = {
    "object": "java.lang:type=Memory",
    "attribute": "HeapMemoryUsage",
    "key": "used",
    "of": "max",
    "unit": "B",
}
JAVA = (
    ("jmx", OK, HEAP),
    ("jmx", WARNING, {**HEAP, "warning": "0%"}),
    ("jmx", CRITICAL, {**HEAP, "warning": "0%", "critical": "0%"}),
    ("jmx", UNKNOWN, {**HEAP, "attribute": "NoSuchAttribute"}),
    ("jmx", WARNING, {"quantities": ["-O", "java.lang:type=Threading", "-A", "ThreadCount", "-w", "1",
                                     "-A", "PeakThreadCount", "-O", "java.lang:type=Runtime", "-A", "Uptime",
                                     "--unit", "ms"]}),
    ("jmx_thread_pools", OK, {"warning": "10", "blocked_new_warning": "10"}),
    ("jmx_thread_pools", WARNING, {"critical": "10"}),
    ("jmx_thread_pools", CRITICAL, {"pending_critical": "0", "verbose": True}),
)  # fmt: skip
QUIET = {"whole": True, "log": "FILES/E0_start_and_100s_quiet.ndb_4_out.log"}
STUCK = {"whole": True, "log": "FILES/E2_freeze_one_ldm_3s_idle.ndb_4_out.log"}
DUMP = {"directory": "FILES/all.sql", "critical": "20000d", "warning": "20000d"}
SERVER = {"pid_file": "FILES/server.pid", "sample": "1s"}
QUIET_HOST = {
    "sample": "1s", "warning": "100", "load_warning": "1000", "memory_available_warning": "0:",
    "memory_available_critical": "0:", "swap_in_warning": "1T", "swap_in_critical": "1T",
    "steal_warning": "100", "steal_critical": "100", "network_errors_warning": "1000000",
    "network_drops_warning": "1000000",
}  # fmt: skip
HERE = (
    ("ndb_log", OK, QUIET),
    ("ndb_log", WARNING, STUCK),
    ("ndb_log", CRITICAL, STUCK | {"critical": "1", "verbose": True}),
    ("ndb_log", UNKNOWN, {"whole": True, "log": "FILES/no_such_log"}),
    ("mysql_backup", OK, DUMP),
    ("mysql_backup", WARNING, DUMP | {"warning": "0"}),
    ("mysql_backup", CRITICAL, DUMP | {"warning": "0", "critical": "0"}),
    ("mysql_backup", UNKNOWN, {"directory": "FILES/no_such_folder"}),
    ("host", OK, QUIET_HOST),
    ("host", WARNING, QUIET_HOST | {"warning": ALWAYS}),
    ("host", CRITICAL, QUIET_HOST | {"critical": ALWAYS, "confirm": 1}),
    ("host", UNKNOWN, QUIET_HOST | {"disk": ["no_such_disk"]}),
    ("bonding", CRITICAL, {"expect": ["no_such_bond=2"], "no_state": True}),
    ("mysqld_process", OK, SERVER),
    ("mysqld_process", WARNING, SERVER | {"threads_warning": "0"}),
    ("mysqld_process", CRITICAL, {"pid_file": "FILES/ended.pid"}),
    ("mysqld_process", UNKNOWN, {"data_dir": "FILES/no_such_folder"}),
)  # fmt: skip
BONDS = {
    UNKNOWN: None,
    OK: "6.1-active-backup",
    WARNING: "6.1-active-backup-one-down",
    CRITICAL: "6.1-active-backup-all-down",
}
OVER_NETWORK = {name: one.healthy for name, one in every().items() if not one.local}
UNREACHABLE = [
    (plugin, state, (HEAP if plugin == "jmx" else {}) | {"unreachable": state.lower()})
    for plugin in OVER_NETWORK
    for state in (WARNING, CRITICAL, UNKNOWN)
]


def variables(words):
    """Options of a command line, "--name", "value" or "--name=value", by the names of Icinga's variables."""
    parts = [part for word in words for part in (word.split("=", 1) if word.startswith("--") else [word])]
    names = [name.removeprefix("--").replace("-", "_") for name in parts[::2]]
    return dict(zip(names, parts[1::2], strict=True))


def in_no_table(source, *tables):
    """A case for each plugin that asks this source and is in none of the tables: all is well."""
    named = {plugin for table in tables for plugin, *_ in table}
    return tuple(
        (plugin, OK, variables((*healthy.arguments, *healthy.options)))
        for plugin, healthy in OVER_NETWORK.items()
        if healthy.source == source and plugin not in named
    )


DATABASE += in_no_table("mysql", DATABASE, REPLICA)
CLUSTER += in_no_table("ndb", CLUSTER)
JAVA += in_no_table("jmx", JAVA)
WITH_BONDS = """#!{python}
import runpy
from stallwatch.sources import kernel
kernel.BONDS = "{bonds}"
runpy.run_path("{plugin}", run_name="__main__")
"""
OBJECTS = 'object Host "server" {\n  check_command = "dummy"\n  address = "127.0.0.1"\n}\n'


class Engine:
    """A running Icinga, the plugins that it runs, and the listeners that it writes to."""

    def __init__(self, folder, icinga, recorder, writers):
        self.folder = folder
        self.icinga = icinga
        self.recorder = recorder
        self.writers = writers
        self.number = itertools.count()

    def run(self, cases, **everywhere):
        """Let it check them all; what it holds of each is what the plugin said."""
        services = {f"{case[0]}_{next(self.number)}": case for case in cases}
        for name, case in services.items():
            self._add(name, *case, everywhere)
        results = self.icinga.check_all([f"server!{name}" for name in services])
        runs = {name: self.recorder.last(results[f"server!{name}"].command) for name in services}
        said = {name: (STATES[run.status], run.stderr) for name, run in runs.items()}
        assert said == {name: (state, "") for name, (_, state, _) in services.items()}, runs
        for name, run in runs.items():
            self._holds(name, results[f"server!{name}"], run)

    def _add(self, name, plugin, _, options, everywhere):
        command = RENAMED.get(plugin, plugin)
        given = {"timeout": BUSY} | everywhere | options
        variables = {f"{command}_{option}": self._value(value) for option, value in given.items()}
        self.icinga.add(f"server!{name}", command, variables)

    def _value(self, value):
        """A value as Icinga reads it, who takes $...$ for a variable."""
        if isinstance(value, list):
            return [self._value(one) for one in value]
        if isinstance(value, str):
            return value.replace("$", "$$").replace("FILES", str(self.folder))
        return value

    def _holds(self, name, result, said):
        text, perfdata, more = split(said.stdout)
        assert (result.state, result.exit_status) == (said.status, said.status)
        assert (result.output, result.long_output) == (text, more)
        assert " ".join(result.performance_data) == perfdata
        meant = items(perfdata)
        assert self.icinga.numbers(f"server!{name}") == [number(item) for item in meant]
        self._wrote(name, meant)
        written = icinga_writers.of_file(self.icinga, f"server!{name}")
        assert (written["SERVICEPERFDATA"], written["SERVICESTATE"]) == (perfdata, STATES[said.status])

    def _wrote(self, name, meant):
        command = self.icinga.evaluate(f'get_service("server", "{name}").check_command')
        lines = {
            "graphite": [line for item in meant for line in icinga_writers.graphite(item)],
            "influxdb": [icinga_writers.influxdb(item) for item in meant],
        }
        starts = {
            "graphite": f"icinga2.server.services.{name}.{command}.perfdata.",
            "influxdb": f"{command},hostname=server,service={name},metric=",
        }
        for to, start in starts.items():
            written = self.writers.written(to, start, len(lines[to]))
            assert sorted(written) == sorted(start + line for line in lines[to])


@pytest.fixture(scope="module")
def engine(installed):
    with engine_user.open_folder() as folder, Writers() as writers:
        recorder = Recorder(folder / "recorder", installed / "lib" / "stallwatch" / "bin")
        objects = OBJECTS + writers.objects
        with Icinga(folder / "icinga", COMMANDS, plugins=recorder.plugins, objects=objects) as icinga:
            writers.wait_for(icinga)
            yield Engine(folder, icinga, recorder, writers)


def option_file(engine, account):
    """An option file that the user may read that plugins run as, and nobody else."""
    path = engine.folder / f"{account.user}.cnf"
    path.write_text(f'[client]\nuser="{account.user}"\npassword="{account.password}"\n')
    path.chmod(0o600)
    engine_user.give(path)
    return str(path)


def test_every_plugin_is_here_in_every_state():
    tables = [*DATABASE, *REPLICA, *CLUSTER, *JAVA, *HERE, *UNREACHABLE]
    here = {(plugin, state) for plugin, state, _ in tables} | {("bonding", state) for state in BONDS}
    plugins = {path.name.removeprefix("check_") for path in (ROOT / "plugins").iterdir()}
    assert here == {(plugin, state) for plugin in plugins for state in STATES}


@pytest.mark.slow("Icinga and a server start")
def test_a_database(engine, running_server):
    server = running_server("mariadb")
    server.revive()
    account = server.account("mon", *GRANTS["mariadb"])
    at = {"port": server.port, "defaults_file": option_file(engine, account)}
    engine.run(DATABASE, **at)
    server.suspend()
    try:
        engine.run(HANGING, **at)
    finally:
        server.resume()


def test_a_replica(engine, running_pair):
    pair = running_pair("mariadb")
    pair.heal()
    at = {"port": pair.replica.port, "defaults_file": option_file(engine, pair.monitor)}
    engine.run(REPLICA, **at)
    try:
        pair.replica.stop_replication()
        engine.run([("replication_lag", CRITICAL, {})], **at)
    finally:
        pair.heal()


@pytest.mark.slow("a data node stops and starts")
def test_a_cluster(engine, ndb):
    node = ndb.sql_node
    at = {"port": node.port, "defaults_file": option_file(engine, node.account(*MONITOR))}
    ndb_load.disk_table(node)
    with ndb_load.random_reads(node, readers=1):
        engine.run(CLUSTER, **at)
    ndb.kill(4)
    node.wait_for([3])
    engine.run([("ndb_nodes", CRITICAL, {})], **at)


def test_a_jvm(engine, changeable_jvm):
    pool = "org.apache.cassandra.metrics:type=ThreadPools,path=internal,scope=MemtableFlushWriter,name={}"
    for name, value in {"ActiveTasks": 1, "MaxPoolSize": 2, "PendingTasks": 3}.items():
        changeable_jvm.bean(pool.format(name), {"Value": value})
    for name, value in {"CurrentlyBlockedTasks": 1, "TotalBlockedTasks": 5}.items():
        changeable_jvm.bean(pool.format(name), {"Count": value})
    engine.run(JAVA, port=changeable_jvm.port)


def test_what_is_on_this_host(engine, running_server):
    server = running_server("mariadb")
    server.revive()
    for log in (QUIET["log"], STUCK["log"]):
        engine_user.copy(LOGS / Path(log).name, engine.folder)
    engine_user.copy(DUMP_OF_ALL, engine.folder)
    with subprocess.Popen(["true"]) as ended:
        ended.wait()
    for name, pid in (("server", server.pid), ("ended", ended.pid)):
        (engine.folder / f"{name}.pid").write_text(f"{pid}\n")
    engine.run(HERE)


def test_bonds_of_recorded_kernels(engine, installed):
    """Bonds can be had only where the kernel has them."""
    plugin = installed / "lib" / "stallwatch" / "bin" / "check_bonding"
    bonds, stand_in = engine.folder / "bonding", engine.folder / plugin.name
    stand_in.write_text(WITH_BONDS.format(python=plugin.parent / "python3", bonds=bonds, plugin=plugin))
    stand_in.chmod(0o755)
    engine.recorder.record(stand_in)
    for state, kernel in BONDS.items():
        if kernel:
            shutil.copytree(KERNELS / kernel, bonds, dirs_exist_ok=True)
        engine.run([("bonding", state, {"verbose": True, "no_state": True})])
    engine.recorder.record(plugin)


def test_a_server_that_does_not_answer(engine):
    engine.run(UNREACHABLE, port=free_port())
