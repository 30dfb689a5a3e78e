"""What plugins remember, damaged in one place at a time: each value in it becomes another one."""

import json
import re
from copy import deepcopy
from functools import partial

import memory_targets
import mysql_targets
import pytest
from fuzzing import WrongError
from levels import representative
from plugin_runs import NOW, RECORDED, clock, said
from scratch import file
from stallwatch.deadline import Deadline
from stallwatch.frame.state import memory as state

ODD = (
    10**30, 10**300, -(10**300), 1e308, -1.0, 1.5, True, None, "x", "9" * 400, "", [], {}, [[[]]], {"a": 1},
)  # fmt: skip
NO_NUMBERS = ("9" * 400, "-" + "9" * 400, "9" * 5000, "1e400", "NaN", "Infinity", "-Infinity")
LOGS = sorted((RECORDED / "ndb_log").glob("*.log"))
ALIKE = 4  # keys of one dictionary that are tried, of those that differ by more than their numbers


def of_log(path, memory, number):
    """A log of which one half is read after the other."""
    text = path.read_bytes()
    log = file(path.name.partition(".")[2], text[: len(text) // (2 - number)] if number < 2 else text)
    return said("check_ndb_log", ["--log", log, "--hold", "100000d", "--backup-age", "1d"], memory)


def scene(of, memory):
    """Two looks that begin with this memory."""
    with clock(NOW + 2 * memory_targets.LATER) as now:
        for number in (1, 2):
            of(memory, number)
            now.sleep(memory_targets.LATER)


def recorded(run, statements, memory):
    again = deepcopy(run) | {"began": run["began"] + memory_targets.LATER}
    mysql_targets.recorded_runs([again], statements, memory)


def scenes():
    """By name: what is remembered, as JSON, and what runs the plugin with a memory."""
    return {one.__name__: (memory_targets._first(one), partial(scene, one)) for one in memory_targets.SCENES}


def logs():
    found = {}
    for path in representative(LOGS[::30], LOGS[::15]):
        look, memory = partial(of_log, path), {}
        with clock():
            look(memory, 0)
        found[path.stem] = json.dumps(memory), partial(scene, look)
    return found


def servers():
    """Of each plugin the recording in which it ran most often."""
    most = {}
    for recording in mysql_targets._recordings():
        for name in {one["plugin"] for one in recording["runs"]}:
            runs = [one for one in recording["runs"] if one["plugin"] == name]
            most[name] = max(most.get(name, ([], None)), (runs, recording), key=lambda one: len(one[0]))
    return {
        name: (
            json.dumps(memory_targets._kept(recording, name)),
            partial(recorded, runs[-1], recording["statements"]),
        )
        for name, (runs, recording) in most.items()
    }


def captured():
    found = {}
    for at, (name, _) in enumerate(mysql_targets.CAPTURED):
        if at not in representative((0, 2, 3), range(len(mysql_targets.CAPTURED))):
            continue
        choice = bytes([0, at, 0, 2]) + b"\0\0\0\1" * 2
        kept = memory_targets._of_captured(choice)
        found[f"{name} {at}"] = kept, partial(mysql_targets.captured_runs, choice)
    return found


def places(value, path=()):
    """Where there is a value; of those that are alike only the first ones."""
    yield path
    parts = []
    if isinstance(value, dict | list):
        parts = [*(value.items() if isinstance(value, dict) else enumerate(value))]
    shapes = {re.sub(r"\d+", "0", str(key)): (key, part) for key, part in reversed(parts)}
    for key, part in [*shapes.values()][-ALIKE if len(shapes) > 5 * ALIKE else 0 :]:
        yield from places(part, (*path, key))


def changed(memory, path, odd):
    """The memory, and in that place something odd."""
    holder = whole = [json.loads(memory)]
    key = 0
    for part in path:
        holder, key = holder[key], part
    holder[key] = deepcopy(odd)
    return whole[0]


@pytest.mark.slow("with all cells, each place gets each odd value")
@pytest.mark.parametrize("family", [scenes, logs, servers, captured])
def test_any_value_in_what_is_remembered_may_be_another_one(family, note):
    """``said`` raises WrongError for an internal error. Each place gets one odd value, with all cells all."""
    tried, failed = 0, {}
    for name, (memory, run) in family().items():
        for number, path in enumerate(places(json.loads(memory))):
            for odd in representative((ODD[number % len(ODD)],), ODD):
                damaged = changed(memory, path, odd)
                if not isinstance(damaged, dict):
                    continue
                tried += 1
                try:
                    run(damaged)
                except WrongError as error:
                    failed.setdefault(str(error).partition("\n")[0], (name, path, str(odd)[:20]))
    note("counted", ("values in what is remembered", tried))
    assert not failed, "\n".join(f"{name}: {of}" for name, of in failed.items())
    assert tried > 40


IDENTITY = {"name": "check", "target": "db1"}


@pytest.mark.parametrize("number", NO_NUMBERS)
def test_a_number_that_is_none_is_told_once(tmp_path, number):
    problems = []
    with state(IDENTITY, str(tmp_path), Deadline(10), problems) as values:
        values["at"] = 7
    (path,) = tmp_path.glob("*.json")
    path.write_text(path.read_text().replace("7}", f"{number}}}"))
    for told in (
        f"the memory of earlier runs is lost and this run counts as the first: {path} is damaged",
        None,
    ):
        problems = []
        with state(IDENTITY, str(tmp_path), Deadline(10), problems) as values:
            values["at"] = values.get("at", 0) + 1
        assert next((one.what for one in problems), None) == told
    with state(IDENTITY, str(tmp_path), Deadline(10), problems) as values:
        assert values == {"at": 2}


@pytest.mark.parametrize("kept", [2**64, -(10**37), 10**300, 0.5, -1e308])
def test_large_numbers_are_kept(tmp_path, kept):
    problems = []
    with state(IDENTITY, str(tmp_path), Deadline(10), problems) as values:
        values["at"] = kept
    with state(IDENTITY, str(tmp_path), Deadline(10), problems) as values:
        assert values == {"at": kept if abs(kept) < 1e39 else float(kept)}
    assert problems == []


@pytest.mark.parametrize("kept", [float("nan"), float("-inf")])
def test_what_is_no_number_is_not_written(tmp_path, kept):
    problems = []
    with state(IDENTITY, str(tmp_path), Deadline(10), problems) as values:
        values["at"] = kept
    (problem,) = problems
    assert problem.what == "this run cannot be remembered: there is a number in it that is none"
