"""Run plugins as an engine runs them, check_ndb_log unless another one is named."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from forked import Forks
from ndb_log_service import NOBODY, PLUGIN, Log, Said

PLUGINS = Path(__file__).parents[2] / "plugins"
TIMEOUT = 120  # seconds for one run


@pytest.fixture
def tmp_path(open_path):
    """A folder of the test that other users get to."""
    return open_path


@pytest.fixture(scope="session")
def forks():
    """Run plugins without starting an interpreter for each run."""
    with Forks() as forks:
        yield forks


@pytest.fixture
def new_interpreter():
    """Needed by tests in which each run of a plugin starts an interpreter, as it does for an engine."""


@pytest.fixture
def run_plugin(request, tmp_path, forks):
    """Run a plugin, given its path and its arguments, and give what subprocess.run gives."""

    def run_plugin(path, *arguments, env, cwd=None, fork=True, **settings):
        words = [str(path), *map(str, arguments)]
        if fork and "new_interpreter" not in request.fixturenames:
            return forks(words, tmp_path, env, cwd or Path.cwd(), TIMEOUT)
        settings = {"timeout": TIMEOUT, "errors": "replace", "env": env, "cwd": cwd, **settings}
        command = [sys.executable, *words]
        return subprocess.run(command, capture_output=True, text=True, check=False, **settings)

    return run_plugin


@pytest.fixture
def call(tmp_path, run_plugin):
    """Call a plugin by its name: gives its exit status and output, which is all that it says."""

    def call(name, *arguments):
        env = {"PATH": "/usr/bin:/bin", "HOME": str(tmp_path), "STATE_DIRECTORY": str(tmp_path / "state")}
        done = run_plugin(PLUGINS / name, *arguments, env=env)
        assert done.stderr == ""
        return done.returncode, done.stdout

    return call


@pytest.fixture
def check(tmp_path, run_plugin):
    """Run the plugin with a state directory of its own and nothing else to lean on.

    With settings of subprocess.run, the run starts an interpreter.
    """
    clean = {"PATH": "/usr/bin:/bin", "LC_ALL": "C", "HOME": str(tmp_path / "home")}

    def run(*arguments, state=True, **settings):
        home = ["--state-dir", tmp_path / "state"] if state else []
        where = {"cwd": tmp_path, "env": clean, "fork": not settings}
        return Said.of(run_plugin(PLUGIN, *arguments, *home, **{**where, **settings}))

    def start(*arguments):
        return subprocess.Popen(
            [sys.executable, str(PLUGIN), *map(str, arguments), "--state-dir", str(tmp_path / "state")],
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=clean, cwd=tmp_path,
        )  # fmt: skip

    run.start = start
    run.states = lambda: sorted((tmp_path / "state").glob("*.json"))
    return run


@pytest.fixture
def log(tmp_path):
    """The out log of data node 4, not there yet."""
    return Log(tmp_path / "ndb_4_out.log")


@pytest.fixture
def peer(tmp_path):
    """The out log of data node 3."""
    return Log(tmp_path / "ndb_3_out.log")


@pytest.fixture
def cluster(tmp_path):
    """The cluster log that management node 1 writes."""

    class ClusterLog(Log):
        def say(self, text, ago=0.0, level="INFO", source="MgmtSrvr"):
            super().say(text, ago, level, source)

    return ClusterLog(tmp_path / "ndb_1_cluster.log")


@pytest.fixture
def watched(check, log):
    """The log of node 4 after a first run, on which it was quiet."""
    log.say("Operations=0", 10)
    assert check("--log", log).status == 0
    return log


@pytest.fixture
def watched_cluster(check, cluster):
    """The cluster log after a first run, on which it was quiet."""
    cluster.say("Node 3: Local checkpoint 51 started.", 10)
    assert check("--log", cluster).status == 0
    return cluster


@pytest.fixture
def stranger():
    """The settings with which a child is another user."""
    return {} if os.geteuid() else {"user": NOBODY, "group": NOBODY, "extra_groups": []}
