"""The wheel and the sdist, and the oldest and newest versions of what the plugins stand on."""

import os
import subprocess
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
LOG = ROOT / "tests" / "recorded" / "ndb_log" / "E2_freeze_one_ldm_3s_idle.ndb_4_out.log"
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


@pytest.mark.slow("a Debian is copied, and apt-get installs packages")
def test_it_works_with_debians_own_packages(bare_debian, tmp_path):
    debian = bare_debian.copy(tmp_path / "debian")
    debian.install("python3-nagiosplugin", "python3-pymysql", "python3-psutil")
    run("cp", "-r", ROOT / "lib", ROOT / "plugins", LOG, debian.path("/opt"))
    said = debian.run(
        "/opt/plugins/check_ndb_log", "--whole", "--log", f"/opt/{LOG.name}", status=1, PYTHONPATH="/opt/lib"
    )
    assert said.startswith("NDB_LOG WARNING - node 4 thread 2 was stuck 2.9 s")
    said = debian.run("/opt/plugins/check_mysql_query", "-S", "/none.sock", status=2, PYTHONPATH="/opt/lib")
    assert "/none.sock" in said
    asking = "/opt/plugins/check_host --sample 1s --no-state -v || true"  # whatever this host does
    assert "of memory available" in debian.run("sh", "-c", asking, PYTHONPATH="/opt/lib")
    debian.remove()
