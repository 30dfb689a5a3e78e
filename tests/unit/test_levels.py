"""What a run of the tests says at its start and its end, and which runs it refuses."""

import json
import os
import subprocess
import sys
from pathlib import Path

import levels
import pytest

ROOT = Path(__file__).parents[2]


def said(*command):
    """The lines of a command in this tree, with its exit status."""
    ours = ("PYTEST", "MAKE", "GROUP")
    kept = {name: value for name, value in os.environ.items() if not name.startswith(ours)}
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=ROOT, env=kept)
    return done.returncode, (done.stdout + done.stderr).strip().splitlines()


def collected(*options):
    return said(sys.executable, "-m", "pytest", "-q", "--collect-only", *options)


def test_a_group_says_its_time_first_and_what_was_not_run_last():
    status, lines = collected("--group", "host")
    assert status == 0
    assert lines[0].startswith("groups: host (the representative part); workers: 1, about ")
    assert [line for line in lines if line.startswith("not run: ")] == lines[-1:]
    assert lines[-1].startswith("not run: the groups unit, replication, ")


@pytest.mark.parametrize("asked", [["tests/unit/test_groups.py"], ["-k", "no_such_test"]], ids=str)
def test_a_part_that_is_no_group_has_no_time(asked):
    _, lines = collected(*asked, *(["--group", "host"] if "-k" in asked else []))
    assert not [line for line in lines if line.startswith("groups: ")]


def test_what_computes_is_expected_to_take_longer_on_a_slower_machine(monkeypatch):
    monkeypatch.setattr(levels, "pace", lambda: 140)
    measured = {"unit/test_levels.py": 3.0, "live/test_live_host.py": 5.0}
    slower = {"unit/test_levels.py": 6.0, "live/test_live_host.py": 5.0}
    assert levels.scaled(measured, {levels.PACE: 70}) == slower
    assert levels.scaled(measured, {}) == measured


def test_the_pace_of_the_machine_is_written_with_the_durations_and_is_none_of_them(monkeypatch, tmp_path):
    monkeypatch.setattr(levels, "DURATIONS", tmp_path / "durations.json")
    (tmp_path / "durations.json").write_text(json.dumps({levels.PACE: 70, "unit/test_levels.py": 3.0}))
    assert levels.known_durations() == {"unit/test_levels.py": 3.0}
    assert levels.pace() > 0


@pytest.mark.parametrize("name", ["defs", ""])
def test_a_group_that_is_none_stops_the_run_and_the_groups_are_named(name):
    status, lines = collected("--group", "host", "--group", name)
    sentence = f"ERROR: GROUP={name!r}: no such group; groups: {', '.join(levels.GROUPS)}"
    assert (status, lines[:1]) == (4, [sentence])


def test_a_module_that_is_in_no_group_stops_the_run_at_once(monkeypatch, tmp_path):
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "elsewhere" / "test_x.py").touch()
    monkeypatch.setattr(levels, "TESTS", tmp_path)
    with pytest.raises(pytest.UsageError, match=r"tests/elsewhere/test_x\.py is in no group: add it to"):
        levels.modules()
