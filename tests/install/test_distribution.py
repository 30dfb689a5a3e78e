"""The wheel, the sdist, the README's first minute, oldest and newest versions of what plugins stand on."""

import os
import re
import shutil
import subprocess
import zipfile
from pathlib import Path

import pytest
from conftest import PYTHON
from stranger import FENCED, section, steps

ROOT = Path(__file__).resolve().parents[2]
LOG = ROOT / "tests" / "recorded" / "ndb_log" / "E2_freeze_one_ldm_3s_idle.ndb_4_out.log"
FIRST = "Try it on your own server in one minute"
SOCKET = "/run/mysqld/mysqld.sock"
PLUGINS = {path.name for path in (ROOT / "plugins").glob("check_*")}
OF_DEBIAN_12 = ("nagiosplugin==1.3.2", "PyMySQL==1.0.2", "psutil==5.9.4")
RUN_WITH_THEM = (  # what meets these packages: report, perfdata, MySQL, processes
    "tests/unit/test_report.py", "tests/unit/test_check.py::test_output_is_utf_8_whatever_the_locale",
    "tests/unit/test_mysql_errors.py", "tests/unit/test_mysql_options.py", "tests/unit/test_mysql_skim.py",
    "tests/unit/test_mysql_hostile_bytes.py::test_a_server_that_closes_after_any_byte",
    "tests/unit/test_processes.py", "tests/unit/test_kernel.py", "tests/unit/test_host.py",
    "tests/unit/test_mysqld_process.py", "tests/recorded/test_recorded_check_replication_lag.py",
    "tests/recorded/test_recorded_ndb_log.py",
)  # fmt: skip


def run(*command, status=0, **environment):
    done = subprocess.run(
        command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False, cwd=ROOT,
        env={**os.environ, **environment},
    )  # fmt: skip
    assert done.returncode == status, done.stdout
    return done.stdout


def test_a_plugin_of_the_wheel_runs_in_a_fresh_environment(programs_of_the_wheel):
    programs = programs_of_the_wheel
    assert {path.name for path in programs.glob("check_*")} == PLUGINS
    assert "usage: stallwatch-discover mysql " in run(programs / "stallwatch-discover", "mysql", "--help")
    said = run(programs / "check_ndb_log", "--whole", "--log", LOG, status=1)
    assert said.startswith("NDB_LOG WARNING - node 4 thread 2 was stuck 2.9 s")


def test_the_sdist_makes_the_wheel_that_this_tree_makes(wheel, unpack_sdist, tmp_path):
    tree = unpack_sdist(tmp_path)
    with zipfile.ZipFile(wheel) as packed:
        modules = {name: packed.read(name) for name in packed.namelist() if name.startswith("stallwatch/")}
        scripts = {name.rpartition("/")[2] for name in packed.namelist() if ".data/scripts/" in name}
    assert modules == {str(path.relative_to(tree / "lib")): path.read_bytes() for path in modules_of(tree)}
    assert {str(path.relative_to(ROOT / "lib")) for path in modules_of(ROOT)} == modules.keys()
    assert PLUGINS | {"stallwatch-discover", "stallwatch-experiment", "stallwatchd"} == scripts


def modules_of(tree):
    return [
        path
        for path in (tree / "lib" / "stallwatch").rglob("*")
        if path.suffix == ".py" or path.name == "py.typed"
    ]


def test_the_sdist_has_all_that_is_kept_here(unpack_sdist, tmp_path):
    tree = unpack_sdist(tmp_path)
    kept = subprocess.run(
        ["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=False
    ).stdout.split("\n")
    if not any(kept):
        pytest.skip("this tree is not one of git's: nothing tells which files are kept")
    missing = {name for name in kept if (ROOT / name).is_file() and not (tree / name).is_file()}
    assert {name for name in missing if not name.startswith((".ci/", ".gitignore"))} == set()
    assert os.access(tree / "contrib" / "debian" / "build-deb", os.X_OK)


@pytest.mark.only_in_all_cells
@pytest.mark.slow("pip installs an environment, in which pytest runs")
def test_it_works_with_what_debian_12_has(wheel, fresh_environment, tmp_path, tmp_path_factory):
    programs = fresh_environment(
        tmp_path,
        wheel,
        *OF_DEBIAN_12,
        "jmxquery==0.6.0",
        "pytest>=8",
        "hypothesis>=6.100",
        "jsonschema>=4.18",
    )
    short = tmp_path_factory.mktemp("o")  # the path of a socket is 107 bytes at most
    said = run(
        programs / "python", "-m", "pytest", "-q", f"--basetemp={short}", *RUN_WITH_THEM,
        PYTHONDONTWRITEBYTECODE="1",
    )  # fmt: skip
    assert " passed" in said


@pytest.fixture
def first_minute(running_server):
    """A MariaDB where nobody waits, the README's steps by their kind, and what it says that a step prints."""
    server = running_server("mariadb")
    server.revive()
    debian, pip = steps(FIRST)[:2], steps(FIRST)[2:]
    assert [len(debian), len(pip)] == [2, 2]
    return server, debian, pip, FENCED.findall(section(FIRST))[0][1]


@pytest.mark.slow("pip makes an environment")
def test_it_is_tried_with_pip_in_a_tree_where_nothing_is_left(first_minute, unpack_sdist, tmp_path):
    server, _, lines, expected = first_minute
    tree = unpack_sdist(tmp_path)
    shutil.rmtree(tree / "lib/stallwatch.egg-info")  # it is of the sdist, not of a checkout
    before = {path.relative_to(tree) for path in tree.rglob("*")}
    lines = "\n".join(lines).replace("python3 -m venv", f"{PYTHON} -m venv").replace(SOCKET, server.socket)
    said = run("sh", "-ec", f"cd {tree}\n{lines}", STATE_DIRECTORY=str(tmp_path / "state"))
    assert said.partition(" | ")[0] == expected.strip()
    left = {path.relative_to(tree) for path in tree.rglob("*")} - before
    assert {path.parts[0] for path in left} == {"try"}


@pytest.mark.slow("a Debian is copied, and apt-get installs packages")
def test_it_works_with_debians_own_packages(first_minute, bare_debian, tmp_path):
    server, (packages, line), _, expected = first_minute
    debian = bare_debian.copy(tmp_path / "debian")
    debian.install(*re.fullmatch("apt install (.+)", packages)[1].split())
    run("cp", "-r", ROOT / "lib", ROOT / "plugins", LOG, debian.path("/opt"))
    debian.path(SOCKET).parent.mkdir()
    os.link(server.socket, debian.path(SOCKET))
    assert debian.run("sh", "-ec", f"cd /opt\n{line}").partition(" | ")[0] == expected.strip()
    said = debian.run(
        "/opt/plugins/check_ndb_log", "--whole", "--log", f"/opt/{LOG.name}", status=1, PYTHONPATH="/opt/lib"
    )
    assert said.startswith("NDB_LOG WARNING - node 4 thread 2 was stuck 2.9 s")
    said = debian.run("/opt/plugins/check_mysql_query", "-S", "/none.sock", status=2, PYTHONPATH="/opt/lib")
    assert "/none.sock" in said
    memory = "/opt/plugins/check_jmx -P 9 -O java.lang:type=Memory -A HeapMemoryUsage -K used --no-state"
    said = debian.run(*memory.split(), status=3, PYTHONPATH="/opt/lib")
    assert "localhost:9 refused the connection" in said  # by RMI, which needs no package
    said = debian.run(*memory.split(), "--via", "jmxquery", status=3, PYTHONPATH="/opt/lib")
    assert said == "JMX UNKNOWN - the Python module jmxquery is missing: pip install jmxquery\n"
    asking = "/opt/plugins/check_host --sample 1s --no-state -v || true"  # whatever this host does
    assert "of memory available" in debian.run("sh", "-c", asking, PYTHONPATH="/opt/lib")
    debian.remove()
