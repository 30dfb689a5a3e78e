"""What an installed plugin loads, whatever user, home, working directory and variables it is run with."""

import sysconfig
import tempfile
from pathlib import Path

import pytest
from making import ROOT
from tracing import RUNS, traced

MODULES = (
    "json", "re", "argparse", "typing", "nagiosplugin", "pymysql", "stallwatch", "jmxquery", "psutil",
    "sitecustomize", "usercustomize",
)  # fmt: skip
SYSTEM = ("/usr/", "/lib", "/etc/", "/proc/", "/sys/", "/dev/")  # root's own, and the kernel's


@pytest.fixture
def hostile():
    """A folder in which everything is that Python might take for its own, for everybody to read."""
    with tempfile.TemporaryDirectory() as name:  # pytest's own are private
        home = Path(name)
        packages = home / f".local/lib/python{sysconfig.get_python_version()}/site-packages"
        packages.mkdir(parents=True)
        for folder in (home, packages):
            for module in MODULES:
                (folder / f"{module}.py").write_text("raise SystemExit('taken')\n")
            (folder / "taken.pth").write_text("import sys; sys.exit('taken')\n")
        (home / "pyvenv.cfg").write_text("home = /nowhere\n")
        home.chmod(0o755)
        yield home


def variables(folder):
    """All that Python could listen to, and that leads there.

    PYTHONEXECUTABLE is none of them: CPython 3.11.2 follows it even with -I, as the loader does LD_PRELOAD.
    """
    return {
        "HOME": str(folder), "PATH": f".::{folder}:/usr/bin:/bin", "PYTHONPATH": str(folder),
        "PYTHONHOME": str(folder), "PYTHONSTARTUP": f"{folder}/json.py", "PYTHONINSPECT": "1",
        "PYTHONUSERBASE": f"{folder}/.local", "PYTHONWARNINGS": "error,always::json.Taken",
        "PYTHONBREAKPOINT": "json.taken", "PYTHONPLATLIBDIR": str(folder), "PYTHONPYCACHEPREFIX": str(folder),
        "PYTHONVERBOSE": "1", "PYTHONDEVMODE": "1",
    }  # fmt: skip


@pytest.mark.parametrize("plugin", RUNS)
def test_a_plugin_loads_nothing_but_what_is_installed_and_what_is_roots(strace, installed, hostile, plugin):
    done, named, opened, _ = traced(strace, installed, plugin, hostile, **variables(hostile))
    assert done.stderr == ""
    assert "taken" not in done.stdout
    assert done.stdout.startswith(plugin.removeprefix("check_").upper() + " ")
    state = f"{hostile}/.local/state/stallwatch"  # whether it is there; nothing is loaded from it
    assert [path for path in named if path.startswith(str(hostile)) or path[0] != "/"] in ([], [state])
    assert len(opened) > len(RUNS)
    assert [path for path in opened if not path.startswith((str(installed), *SYSTEM))] == []


def test_every_program_is_started_isolated(installed):
    programs = list((installed / "lib/stallwatch/bin").iterdir())
    scripts = [path for path in programs if path.read_bytes()[:2] == b"#!"]
    assert {path.name for path in scripts} >= {path.name for path in (ROOT / "plugins").glob("check_*")}
    first = f"#!{installed}/lib/stallwatch/bin/python3 -I"
    assert {path.name: path.read_text().splitlines()[0] for path in scripts} == {
        path.name: first for path in scripts
    }
