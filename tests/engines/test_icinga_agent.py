"""A check that a master orders and its agent executes: the master holds all that the plugin said there."""

import shutil
import time
from pathlib import Path

import engine_user
import pytest
from icinga import Icinga, number
from icinga_notifications import Notifications
from perfdata import items, split
from recorder import Recorder

ROOT = Path(__file__).parents[2]
CONTRIB = ROOT / "contrib" / "icinga2"
COMMANDS = CONTRIB / "stallwatch-commands.conf"
RULES = (CONTRIB / "agent.conf", CONTRIB / "ndb.conf")
LOGS = ROOT / "tests" / "recorded" / "ndb_log"
FROZEN = "E2_freeze_one_ldm_3s_idle.ndb_4_out.log"
MASTER, AGENT = "master.example", "data1.example"
OK, CRITICAL, UNKNOWN = 0, 2, 3
BY_AGENT = ("stallwatch-host", "stallwatch-ndb-log", "stallwatch-ndb-process")
ATTEMPTS = 3
ZONES = """
object Endpoint "master.example" {{ }}
object Endpoint "data1.example" {{
  {address}
}}
object Zone "master" {{ endpoints = [ "master.example" ] }}
object Zone "data1.example" {{
  endpoints = [ "data1.example" ]
  parent = "master"
}}
"""
OBJECTS = """
object Host "data1.example" {{
  check_command = "dummy"
  zone = "master"
  vars.stallwatch.data_dir = "{logs}"
  vars.stallwatch.agent = name
}}
object Service "whole logs" {{
  host_name = "data1.example"
  check_command = "ndb_log"
  command_endpoint = host_name
  zone = "master"
  enable_active_checks = false
  vars.ndb_log_log = "{logs}/*.log"
  vars.ndb_log_whole = true
  vars.ndb_log_verbose = true
  vars.ndb_log_timeout = "30s"
}}
"""


@pytest.fixture
def recorder(open_path, installed):
    """The plugins of the agent."""
    return Recorder(open_path / "recorder", installed / "lib" / "stallwatch" / "bin")


@pytest.fixture
def agent(open_path, recorder):
    """An agent that runs, and has logs of a data node."""
    logs = open_path / "logs"
    for log in sorted(LOGS.glob("E2*_out.log")):
        engine_user.copy(log, logs)
    shutil.copyfile(logs / FROZEN, logs / "ndb_4_out.log")
    agent = Icinga(
        open_path / "agent", COMMANDS, plugins=recorder.plugins, name=AGENT, zones=ZONES.format(address=""),
        authority=open_path / "authority",
    )  # fmt: skip
    with agent:
        yield agent


@pytest.fixture
def notes(open_path):
    """What the master notifies of."""
    return Notifications(open_path)


@pytest.fixture
def master(open_path, agent, notes):
    """Its master, which has no plugins; it has found the agent."""
    zones = ZONES.format(address=f'host = "127.0.0.1"\n  port = {agent.port}')
    master = Icinga(
        open_path / "master", COMMANDS, *RULES, plugins="/nowhere", name=MASTER, zones=zones,
        authority=open_path / "authority", objects=OBJECTS.format(logs=open_path / "logs") + notes.objects,
    )  # fmt: skip
    with master:
        wait_for(master, connected=True)
        yield master


def wait_for(master, *, connected):
    """Wait until the master has lost or found its agent."""
    until = time.monotonic() + 90
    while master.evaluate(f'get_object(Endpoint, "{AGENT}").connected') != connected:
        assert time.monotonic() < until
        time.sleep(0.1)


def test_the_agent_runs_the_check_and_the_master_holds_what_it_said(master, recorder):
    result = master.check(f"{AGENT}!whole logs")
    said = recorder.last(result.command)
    assert result.source == AGENT
    text, perfdata, more = split(said.stdout)
    assert more.count("\n") > 3
    assert (result.state, result.exit_status) == (said.status, said.status)
    assert (result.output, result.long_output) == (text, more)
    assert " ".join(result.performance_data) == perfdata
    assert master.numbers(f"{AGENT}!whole logs") == [number(item) for item in items(perfdata)]


def test_by_the_rules_that_are_shipped_the_agent_reads_its_logs_and_is_missed_once(master, agent, notes):
    log = master.check(f"{AGENT}!stallwatch-ndb-log")
    assert log.source == AGENT
    assert log.output.startswith("NDB_LOG "), log
    there = master.check(f"{AGENT}!stallwatch-agent")
    assert (there.state, there.source) == (OK, MASTER)
    agent.stop()
    wait_for(master, connected=False)
    gone = master.check(f"{AGENT}!stallwatch-agent")
    assert gone.state == CRITICAL
    assert gone.output.startswith(f"Zone '{AGENT}' is not connected"), gone
    for _ in range(ATTEMPTS):
        master.check(f"{AGENT}!stallwatch-agent")
        for name in BY_AGENT:  # as Icinga says by itself once it has been up for five minutes (2.13.6)
            master.api(
                "POST", "/v1/actions/process-check-result", type="Service", exit_status=UNKNOWN,
                filter=f'service.name == "{name}"', plugin_output="not connected",
            )  # fmt: skip
    assert all(master.results()[f"{AGENT}!{name}"].state == UNKNOWN for name in BY_AGENT)
    until = time.monotonic() + 90
    while not notes.told():
        assert time.monotonic() < until
        time.sleep(0.1)
    assert notes.told() == {"stallwatch-agent"}
