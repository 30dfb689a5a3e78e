"""Whoever upgrades sees no difference in output, exit status, state files, options and labels.

recording.py has recorded what the plugins of an earlier commit did in several runs after each other;
scenarios.py describes the runs. Each run is repeated here, and finds the state file that the earlier commit
left in the run before. So an old state file must be understood, and the new one must be as the earlier commit
would have written it. The help and the declared options and labels are compared as well.

All plugins are run. These only in part, as nothing here stands in for the rest:

- check_mysql_query: the log-in and a refusal. The time of a query is that of a real server.
- check_jmx and check_jmx_thread_pools: from the answers of a JVM on. Its protocol (RMI, TLS, jmxquery) is
  tested by tests/unit/test_jmx_*.py, on recorded bytes, and by tests/live.
- The plugins of MySQL and NDB: from the answers to statements on. The log-in is that of check_mysql_query.
- check_host and check_ndb_redo_buffer: without the disks below a --data-dir.

Of recordings with a single run tests/recorded compares the output, which may not change here, either.
"""

import json
import os
import re
import shlex
import sys
from pathlib import Path

import pytest
from playing import Player
from recording import (
    DECLARED,
    EXPECTED,
    HELP,
    RUNS,
    declared,
    expected,
    help_of,
    replayed,
    shortened,
)  # fmt: skip

ROOT = Path(__file__).parents[2]
SCENARIOS = sorted(path.stem for path in RUNS.glob("*.json"))
PLUGINS = sorted(path.name for path in (ROOT / "plugins").glob("check_*"))
# Keys of state files that were added since then, which an older version leaves alone: name and reason.
ADDED: dict = {}


def stored(path):
    return json.loads(path.read_text())


@pytest.fixture(scope="module")
def play():
    """Run plugins of this tree."""
    with Player(ROOT) as player:
        yield player


@pytest.fixture(scope="module")
def scenarios(play):
    return play.scenarios()


def without_added(new, old):
    """JSON without the keys that were added."""
    if isinstance(new, dict) and isinstance(old, dict):
        return {
            key: without_added(one, old.get(key))
            for key, one in new.items()
            if key in old or key not in ADDED
        }
    if isinstance(new, list) and isinstance(old, list) and len(new) == len(old):
        return [without_added(*both) for both in zip(new, old, strict=True)]
    return new


def differences(new, old, place=""):
    """A sentence for each place in JSON at which there is something else than was there."""
    if isinstance(new, dict) and isinstance(old, dict):
        for key in sorted(new.keys() | old.keys()):
            if key not in new or key not in old:
                yield f"{place}/{key} is {'missing' if key in old else 'new'}"
            else:
                yield from differences(new[key], old[key], f"{place}/{key}")
    elif isinstance(new, list) and isinstance(old, list) and len(new) == len(old):
        for number, both in enumerate(zip(new, old, strict=True)):
            yield from differences(*both, f"{place}/{number}")
    elif type(new) is not type(old) or new != old:
        yield f"{place} is {new!r}, was {old!r}"


@pytest.mark.parametrize("name", SCENARIOS)
def test_a_run_behind_one_of_then_is_as_it_was(name, play, scenarios):
    recorded = stored(RUNS / f"{name}.json")
    for number, words, step, before, after in replayed(recorded, scenarios[name]):
        answer = play(name, number, words, before)
        which = f"run {number} of {name}, {step['command']}"
        assert answer["output"].splitlines(keepends=True) == step["output"], which
        assert answer["status"] == step["status"], which
        left = {file: without_added(one, after.get(file)) for file, one in answer["state"].items()}
        assert [*differences(left, after)] == [], f"the state, {which}"


def test_the_commands_are_those_of_then(scenarios):
    """Else a scenario and its recording are of different things."""
    assert sorted(scenarios) == SCENARIOS
    for name, scenario in scenarios.items():
        for number, words, step, *_ in replayed(stored(RUNS / f"{name}.json"), scenario):
            assert step["command"] == shlex.join([*scenario["commands"][number], *words])
            assert "internal error" not in "".join(step["output"]), name


def test_every_plugin_is_run():
    commands = {step["command"].split()[0] for path in RUNS.glob("*.json") for step in stored(path)}
    assert sorted(commands) == PLUGINS


def test_what_was_recorded_names_no_place_and_is_small():
    files = [*RUNS.glob("*.json"), HELP, DECLARED, EXPECTED]
    assert sum(path.stat().st_size for path in files) < 580_000
    for path in files:
        text = path.read_text()
        assert "/tmp/" not in text, path.name
        assert f'"{os.uname().nodename}"' not in text, path.name
        assert Path("/proc/sys/kernel/random/boot_id").read_text().strip() not in text, path.name


@pytest.fixture(scope="module")
def now():
    """What the plugins of this tree declare."""
    return declared(ROOT)


def test_no_plugin_has_come_or_gone(now):
    assert sorted(now) == sorted(stored(DECLARED))


@pytest.mark.parametrize("plugin", PLUGINS)
def test_options_have_the_names_defaults_and_metavars_of_then(plugin, now):
    assert now[plugin]["options"] == stored(DECLARED)[plugin]["options"]


@pytest.mark.parametrize("plugin", PLUGINS)
def test_perfdata_have_the_labels_of_then(plugin, now):
    assert now[plugin]["labels"] == stored(DECLARED)[plugin]["labels"]


@pytest.mark.skipif(sys.version_info >= (3, 13), reason="argparse of Python 3.13 lays out the help otherwise")
@pytest.mark.parametrize("plugin", PLUGINS)
def test_the_help_is_that_of_then(plugin):
    pieces, then = help_of(ROOT / "plugins" / plugin), stored(HELP)[plugin]
    assert list(pieces) == list(then)
    other = {flags: piece for flags, piece in pieces.items() if shortened(piece.encode()) != then[flags]}
    assert other == {}


def test_what_recordings_are_expected_to_give_is_what_they_gave_then():
    """A recording that was made anew may give something else."""
    now, then = expected(ROOT), stored(EXPECTED)
    other = {
        name
        for name, both in then.items()
        if name not in now or (now[name] != both and re.sub(".* of ", "", now[name]) == both.split(" of ")[1])
    }
    assert other == set()
