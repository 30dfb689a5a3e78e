"""The Makefile: what it passes to pytest, and what it removes."""

import os
import subprocess
from pathlib import Path

import pytest

MAKEFILE = Path(__file__).parents[2] / "Makefile"


def make(folder, *words):
    """The lines that it writes in a folder."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("MAKE", "GROUP"))}
    command = ["make", "-f", MAKEFILE, *words]
    done = subprocess.run(command, capture_output=True, text=True, check=True, cwd=folder, env=kept)
    return done.stdout.splitlines()


@pytest.mark.parametrize("target", ["test", "test-all", "durations"])
@pytest.mark.parametrize(
    ("given", "passed"),
    [
        ([], []),
        (["GROUP=host"], ["--group", "host"]),
        (["GROUP=host load"], ["--group", "host", "--group", "load"]),
        (["GROUP="], ["--group", "''"]),
    ],
    ids=str,
)
def test_each_group_is_passed_to_pytest_and_an_empty_one_too(tmp_path, target, given, passed):
    (tmp_path / ".venv").mkdir()
    for name in (".venv/ready", "setup.py", "pyproject.toml"):
        (tmp_path / name).touch()
    told = make(tmp_path, "-n", "-o", ".venv/ready", target, *given)
    [pytest_run] = [line for line in told if " -m pytest " in line]
    words = pytest_run.split()
    assert words[words.index("--group") if passed else len(words) :] == passed


def test_clean_removes_what_builds_leave_and_nothing_else(tmp_path):
    for folder in ("stallwatch-0.1.0", "dist", "build", "try", "lib/stallwatch.egg-info", "stallwatch-notes"):
        (tmp_path / folder).mkdir(parents=True)
    make(tmp_path, "clean")
    assert {path.name for path in tmp_path.iterdir()} == {"lib", "stallwatch-notes"}
    assert not any((tmp_path / "lib").iterdir())


def test_the_first_environment_says_what_it_gets_before_it_does(tmp_path):
    for name in ("setup.py", "pyproject.toml"):
        (tmp_path / name).touch()
    told = make(tmp_path, "-n", "unit")
    [size] = [number for number, line in enumerate(told) if "PyPI" in line and " MB" in line]
    assert size < min(number for number, line in enumerate(told) if " -m venv " in line)
