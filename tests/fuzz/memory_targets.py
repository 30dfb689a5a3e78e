"""What checks remember between runs: state files with any content, and memories of any shape."""

import json
import os
import shutil
from copy import deepcopy
from functools import cache
from unittest import mock

import mysql_targets
from choices import Choices, changed_json, seeds
from fuzzing import Target, WrongError
from host_targets import DIVIDER, HOST_FILES, PROCESS_FILES, _written, bonds, hosts, one_process
from plugin_runs import NOW, RECORDED, clock, said
from recorded_jvm import RecordedJvm
from scratch import empty, file
from stallwatch.deadline import Deadline
from stallwatch.frame.state import decoded
from stallwatch.frame.state import memory as state
from stallwatch.sources import kernel, processes, recording

IDENTITY = {"name": "check", "target": "db1:3306"}
LATER = 60.0  # seconds between two looks
GAUGE = {"a:type=b": {"Value": 7, "Max": 9}, "java.lang:type=Runtime": {"StartTime": 1, "Uptime": 60_000}}
ATTRIBUTES = (
    "-P",
    "7199",
    "-O",
    "a:type=b",
    "-A",
    "Value",
    "--rate",
    "-O",
    "a:type=b",
    "-A",
    "Max",
    "--delta",
)


def a_state_file(octets):
    """A state file with any content: what is kept then is read by the next run, or the loss is told."""
    folder = empty("state")
    problems = []
    with state(IDENTITY, str(folder), Deadline(10), problems) as values:
        values["a"] = 1
    (path,) = folder.glob("*.json")
    path.write_bytes(octets)
    with state(IDENTITY, str(folder), Deadline(10), problems) as values:
        if not isinstance(values, dict):
            raise WrongError("a memory that is none")
        lost = bool(problems)
        values["b"] = 2
    after = []
    with state(IDENTITY, str(folder), Deadline(10), after) as values:
        if after or values.get("b") != 2:
            raise WrongError("a memory that is not kept")
    return "lost" if lost else "value"


# A scene gives what one look of a plugin comes to, with a memory, the first one or a later one.


def _host(memory, number):
    folder = empty("proc")
    look = next(one for one in hosts() if DIVIDER * 2 in one).split(DIVIDER * 2)[min(number, 1)]
    _written(folder, HOST_FILES, look)
    with mock.patch.object(kernel, "PLACE", str(folder)):
        return said("check_host", [], memory)


def _bonding(memory, number):
    folder = empty("bonds")
    (folder / "bond0").write_bytes(bonds()[number])
    with mock.patch.object(kernel, "BONDS", str(folder)), mock.patch.object(kernel, "_NET", "/nowhere"):
        return said("check_bonding", [], memory)


def _process(memory, number):
    folder = empty("proc")
    (folder / "4711" / "task").mkdir(parents=True)
    _written(folder / "4711", PROCESS_FILES, one_process()[1].split(DIVIDER * 2)[min(number, 1)])
    up = 10_000.0 + LATER * number
    with (
        mock.patch.object(kernel, "PLACE", str(folder)),
        mock.patch.object(processes, "_now", return_value=up),
    ):
        return said("check_mysqld_process", [], memory)


def _log(memory, number):
    text = (RECORDED / "ndb_log" / "E2_freeze_one_ldm_3s_idle.ndb_4_out.log").read_bytes()
    path = _growing(text[: len(text) // 2] if not number else text)
    return said("check_ndb_log", ["--log", path], memory)


def _cluster_log(memory, number):
    text = (RECORDED / "ndb_log" / "R3_redo_throttled_abort.ndb_4_out.log").read_bytes()
    return said(
        "check_ndb_log", ["--log", _growing(text[: 30_000 * (number + 1)]), "--hold", "100000d"], memory
    )


def _growing(text):
    return file("ndb_4_out.log", text)


def _pools(memory, number):
    names = ("cassandra-2.1.22-requests-blocked", "kafka-3.9.0", "tomcat-10.1.34-no-connection-free")
    path = RECORDED / "jmx_thread_pools" / f"{names[number % 3]}.json"
    with recording.use(RecordedJvm.load(path)):
        return said("check_jmx_thread_pools", ["-P", "7199", "-t", "10m"], memory)


def _attributes(memory, number):
    with recording.use(RecordedJvm(GAUGE)):
        return said("check_jmx", [*ATTRIBUTES], memory)


def _backup(memory, number):
    folder = empty("backup") / "2026-11-20"
    shutil.copytree(
        RECORDED / "mysql_backup" / "mydumper-0.10-mariadb", folder, copy_function=shutil.copyfile
    )
    for path in folder.iterdir():
        os.utime(path, (NOW - 9000, NOW - 9000))
    return said("check_mysql_backup", ["-d", str(folder), "--verify", "sample"], memory)


SCENES = (_host, _bonding, _process, _log, _cluster_log, _pools, _attributes, _backup)


@cache
def _first(scene):
    """What is remembered after two looks, which changes when it is looked at again."""
    memory = {}
    with clock() as now:
        for number in range(2):
            scene(memory, number)
            now.sleep(LATER)
    return json.dumps(memory)


def _as_read(memory):
    """What ``state`` makes of it: a file with a number that is none is damaged."""
    try:
        read = decoded(json.dumps(memory).encode())
    except ValueError:
        return {}
    return read if isinstance(read, dict) else {}


def remembered(octets):
    """A memory that was damaged, and the looks that begin with it, until it is healed."""
    choices = Choices(octets)
    scene = choices.one(SCENES)
    memory = _as_read(changed_json(json.loads(_first(scene)), choices))
    came_to = "nothing"
    with clock(NOW + 2 * LATER) as now:
        for number in (1, 2):
            came_to = scene(memory, number)
            memory = json.loads(json.dumps(memory))
            now.sleep(LATER)
    return came_to


@cache
def _of_recorded(number):
    """What is remembered after the runs of a plugin in a recording."""
    recorded = mysql_targets._recordings()[number]
    return [(name, json.dumps(_kept(recorded, name))) for name in {one["plugin"] for one in recorded["runs"]}]


def _kept(recorded, name):
    memory = {}
    runs = [deepcopy(one) for one in recorded["runs"] if one["plugin"] == name]
    mysql_targets.recorded_runs(runs, recorded["statements"], memory)
    return memory


def remembered_of_servers(octets):
    """The same of plugins that ask replicas and clusters: the last run that was recorded is run again."""
    choices = Choices(octets)
    number = choices.below(len(mysql_targets._recordings()))
    recorded = mysql_targets._recordings()[number]
    name, kept = choices.one(sorted(_of_recorded(number)))
    memory = _as_read(changed_json(json.loads(kept), choices))
    runs = [deepcopy(one) for one in recorded["runs"] if one["plugin"] == name][-1:]
    runs = [one | {"began": one["began"] + LATER * later} for later in (1, 2) for one in deepcopy(runs)]
    return mysql_targets.recorded_runs(runs, recorded["statements"], memory)


@cache
def _of_captured(at):
    memory = {}
    mysql_targets.captured_runs(at, memory)
    return json.dumps(memory)


def remembered_of_variables(octets):
    """The same of plugins that compare what a server counts."""
    choices = Choices(octets)
    at = bytes([0, choices.below(len(mysql_targets.CAPTURED)), 0, choices.below(4)]) + b"\0\0\0\1" * 2
    return mysql_targets.captured_runs(at, _as_read(changed_json(json.loads(_of_captured(at)), choices)))


def state_files():
    """State files as they are, of this version and of another."""
    values = [{"a": 1}, {}, {"b": [1.5, None, {"c": "d"}]}, []]
    return [json.dumps({"version": 1, "identity": IDENTITY, "values": one}).encode() for one in values] + [
        b"",
        b"{}",
        b"[" * 2000,
        b"null",
        json.dumps({"version": 2, "identity": IDENTITY, "values": {}}).encode(),
    ]


OF_STATE = (
    b'"values": ',
    b'"version": 1',
    b"NaN",
    b"Infinity",
    b"[[[[",
    b"1e999",
    b"\\ud800",
    b"9" * 400,
    b"9" * 5000,
)
STATES = frozenset({"OK", "UNKNOWN"})
TARGETS = {
    "state_file": Target(a_state_file, state_files, (), OF_STATE, 500, frozenset({"value", "lost"})),
    "memory": Target(remembered, lambda: seeds(150, 40), (), (), 150, STATES),
    "memory_of_servers": Target(remembered_of_servers, lambda: seeds(150, 40), (), (), 60, STATES),
    "memory_of_variables": Target(
        remembered_of_variables, lambda: seeds(150, 40), (), (), 20, frozenset({"OK"})
    ),
}
