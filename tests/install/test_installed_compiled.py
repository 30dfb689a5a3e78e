"""What make install and pip install put in place is byte-compiled: a check compiles and writes nothing."""

import tempfile
from pathlib import Path

import pytest
from tracing import RUNS, traced
from uncompiled import packages_in, uncompiled


def test_every_module_is_compiled_by_make_install(installed):
    packages = packages_in(installed / "lib/stallwatch")
    assert uncompiled(installed / "lib/stallwatch/bin/python3", packages) == []


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
