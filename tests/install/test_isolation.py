"""What an installed plugin loads, whatever user, home, working directory and variables it is run with."""

import os
import re
import subprocess
import sysconfig
import tempfile
from pathlib import Path

import pytest
import software
from installing import installable
from making import ROOT

NOBODY = 65534
LOG = ROOT / "tests" / "recorded" / "ndb_log" / "E2_freeze_one_ldm_3s_idle.ndb_4_out.log"
NOWHERE = ("-H", "127.0.0.1", "-P", "9")
RUNS = {  # with what it takes to import all that a plugin of that source does
    "check_ndb_log": ("--whole", "--log", "{log}"),
    "check_mysql_status": (*NOWHERE, "--no-state"),
    "check_jmx": (
        *NOWHERE,
        "-O",
        "java.lang:type=Memory",
        "-A",
        "HeapMemoryUsage",
        "-K",
        "used",
        "--no-state",
    ),
    "check_mysqld_process": ("--no-state",),
    "check_host": ("--sample", "1s", "--no-state"),
    "check_mysql_backup": ("--directory", "{log}", "--no-state"),
}
MODULES = (
    "json", "re", "argparse", "typing", "nagiosplugin", "pymysql", "psutil", "stallwatch", "jmxquery",
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


@pytest.fixture
def strace():
    """The program that tells every call of the kernel."""
    with installable():
        return software.program("strace", "strace")


def traced(strace, installed, plugin, folder):
    """What it says there, every path that it names to the kernel, and every file that it opens or runs."""
    log = installed / "ndb_4_out.log"
    log.write_bytes(LOG.read_bytes())
    trace = folder / "trace"
    trace.touch()
    trace.chmod(0o666)
    becoming = {"user": NOBODY, "group": NOBODY, "extra_groups": []} if os.geteuid() == 0 else {}
    arguments = [word.format(log=log) for word in RUNS[plugin]]
    given = [word for name, value in variables(folder).items() for word in ("-E", f"{name}={value}")]
    done = subprocess.run(
        [strace, "-f", "-qq", "-y", "-s", "4096", "-e", "trace=%file", "-o", trace, *given,
         installed / "lib/stallwatch/bin" / plugin, *arguments],
        stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False, cwd=folder,
        env={"PATH": "/usr/bin:/bin"}, **becoming,
    )  # fmt: skip
    if "ptrace" in done.stderr.lower():
        pytest.skip(f"nothing may be traced here: {done.stderr.strip()}")
    calls = trace.read_text()
    named = re.findall(r'^\d+ +\w+\((?:AT_FDCWD[^,]*, )?"([^"]+)"', calls, re.MULTILINE)
    opened = re.findall(r"^\d+ +open\w*\((?!.*O_PATH).* = \d+<(.+)>$", calls, re.MULTILINE)
    executed = re.findall(r'^\d+ +execve\("([^"]+)".* = 0$', calls, re.MULTILINE)
    return done, named, opened + executed


@pytest.mark.parametrize("plugin", RUNS)
def test_a_plugin_loads_nothing_but_what_is_installed_and_what_is_roots(strace, installed, hostile, plugin):
    done, named, opened = traced(strace, installed, plugin, hostile)
    assert done.stderr == ""
    assert "taken" not in done.stdout
    assert done.stdout.startswith(plugin.removeprefix("check_").upper() + " ")
    assert [path for path in named if path.startswith(str(hostile)) or path[0] != "/"] == []
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
