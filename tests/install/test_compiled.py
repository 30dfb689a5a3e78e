"""All modules that are installed are byte-compiled: a check compiles none, and writes nothing there."""

import shutil
import tempfile
from pathlib import Path

import pytest
from tracing import LOG, RUNS, traced
from uncompiled import asking, uncompiled

HOME = "/usr/lib/stallwatch"
PACKAGES = {"jmxquery", "nagiosplugin", "psutil", "pymysql", "stallwatch"}
READ_ONLY = """
mount --bind / /mnt
mount --bind /proc /mnt/proc
mount -o remount,bind,ro /mnt
exec chroot /mnt runuser -u nagios -- "$@"
"""


def packages_in(environment):
    """The folder of packages of a virtual environment, with all that are needed in it."""
    [packages] = environment.glob("lib/python3.*/site-packages")
    assert {path.parent.name for path in packages.glob("*/__init__.py")} >= PACKAGES
    return packages


def test_every_module_is_compiled_by_make_install(installed):
    packages = packages_in(installed / "lib/stallwatch")
    assert uncompiled(installed / "lib/stallwatch/bin/python3", packages) == []


def test_every_module_is_compiled_in_the_package(monitored_debian):
    packages_in(monitored_debian.path(HOME))
    assert monitored_debian.run(*asking(f"{HOME}/bin/python3", f"{HOME}/lib"), user="nagios") == ""


def test_every_module_is_compiled_by_pip(programs_of_the_wheel):
    packages = packages_in(programs_of_the_wheel.parent)
    assert uncompiled(programs_of_the_wheel / "python", packages) == []


@pytest.fixture
def anywhere():
    """A folder for everybody to read."""
    with tempfile.TemporaryDirectory() as name:  # pytest's own are private
        Path(name).chmod(0o755)
        yield Path(name)


@pytest.mark.parametrize("plugin", RUNS)
def test_a_check_compiles_nothing_and_writes_nothing(strace, installed, anywhere, plugin):
    trace = traced(strace, installed, plugin, anywhere)
    assert trace.done.stderr == ""
    assert len([path for path in trace.opened if path.endswith(".pyc")]) > 10
    assert [path for path in trace.opened if path.endswith(".py")] == []
    assert [call for call in trace.changing if '"/dev/null"' not in call] == []


def test_nagios_needs_no_file_system_to_write_to(debian):
    shutil.copy(LOG, debian.path("/tmp/ndb_4_out.log"))
    check = (f"{HOME}/bin/check_ndb_log", "--whole", "--log", "/tmp/ndb_4_out.log")
    said = debian.run("sh", "-ec", READ_ONLY, "sh", *check, status=1)
    assert said.startswith("NDB_LOG WARNING - node 4 thread 2 was stuck 2.9 s")
    said = debian.run("sh", "-ec", READ_ONLY, "sh", "touch", "/tmp/it", status=1)
    assert "Read-only file system" in said
