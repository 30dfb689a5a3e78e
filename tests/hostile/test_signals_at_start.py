"""Plugins that a signal meets while they start: one line of UNKNOWN from their first statement on."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from levels import representative
from plugin_command import AT_A_TERMINAL

ROOT = Path(__file__).parents[2]
PLUGINS = sorted((ROOT / "plugins").glob("check_*"))
TOLD = {signal.SIGINT: "interrupted", signal.SIGTERM: "terminated", signal.SIGHUP: "terminated"}
# Sends it when the plugin imports its module of that number; the first is that of the first statement.
HOOK = """import os, sys
count = None
def hook(event, _):
    global count
    if event == "cpython.run_file":
        count = 0
    elif event == "import" and count is not None:
        count += 1
        if count == {at}:
            os.kill(os.getpid(), {number})
sys.addaudithook(hook)
"""


@pytest.fixture
def run(tmp_path):
    def run(plugin, at, number, *arguments):
        (tmp_path / "sitecustomize.py").write_text(HOOK.format(at=at, number=int(number)))
        paths = os.pathsep.join([str(tmp_path), str(ROOT / "lib")])
        environment = {"PATH": "/usr/bin:/bin", "HOME": str(tmp_path), "PYTHONPATH": paths}
        environment["PYTHONDONTWRITEBYTECODE"] = "1"  # of a hook that another one of the same second replaces
        return subprocess.run(
            [*AT_A_TERMINAL, sys.executable, str(plugin), *arguments],
            capture_output=True, text=True, check=False, env=environment, timeout=60,
        )  # fmt: skip

    return run


def is_told(done, plugin, number):
    name = plugin.name.removeprefix("check_").upper()
    told = f"{name} UNKNOWN - {TOLD[number]} before the verdict\n"
    return (done.returncode, done.stdout, done.stderr) == (3, told, "")


@pytest.mark.parametrize("plugin", PLUGINS, ids=lambda path: path.name)
def test_a_signal_while_modules_are_imported_is_told(run, plugin, note):
    """At every fourth import with all cells, at some of them otherwise; until there are no more."""
    met = 0
    for at in range(2, 1000, representative(45, 4)):
        number = [*TOLD][at % len(TOLD)]
        done = run(plugin, at, number, "--version")
        if "(stallwatch " in done.stdout:
            break
        assert is_told(done, plugin, number), (at, number, done)
        met += 1
    note("counted", ("signals while a plugin starts", met))
    assert met > 0


@pytest.mark.parametrize("number", TOLD)
def test_the_first_statement_is_the_first_thing(run, number):
    """The first import is that of the first statement itself; whatever comes second is safe."""
    plugin = PLUGINS[0]
    assert is_told(run(plugin, 2, number, "--version"), plugin, number)


@pytest.mark.parametrize(
    ("program", "arguments", "told"),
    [
        ("stallwatch-discover", "mysql -H 127.0.0.1 -P 1", "DISCOVER MYSQL UNKNOWN - {} before the verdict"),
        ("stallwatch-experiment", "compare /nowhere/a /nowhere/b", "stallwatch-experiment: interrupted"),
    ],
)
def test_a_signal_while_a_program_starts_is_told(run, program, arguments, told):
    """Until there are no more imports, at some of them."""
    met = 0
    for at in range(2, 1000, representative(60, 4)):
        number = [*TOLD][at % len(TOLD)]
        done = run(ROOT / "contrib" / program, at, number, *arguments.split())
        if "127.0.0.1:1" in done.stderr or "No such file" in done.stderr:
            break
        line = told.format(TOLD[number])
        assert (done.returncode, done.stdout, done.stderr) == (3, "", f"{line}\n"), (at, number)
        met += 1
    assert met > 0


def test_a_signal_does_not_stay_blocked(tmp_path):
    """Nor for a child that a plugin starts."""
    code = """import signal
from stallwatch.frame.check import Check
from stallwatch.frame.exit import Exit
signal.pthread_sigmask(signal.SIG_BLOCK, (1, 2, 15))
Exit(str).leave(0, str(signal.pthread_sigmask(signal.SIG_BLOCK, ())))
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (0, "set()\n")


def test_whoever_loads_a_plugin_is_not_touched():
    """As contrib/generate does, and these tests."""
    code = f"""import runpy, signal
runpy.run_path({str(PLUGINS[0])!r})
print(signal.pthread_sigmask(signal.SIG_BLOCK, ()), signal.getsignal(signal.SIGTERM) is signal.SIG_DFL)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "set() True\n"
