"""For how long something has been so, and what was wrong and is still to be reported."""

from __future__ import annotations

import json

import pytest
from stallwatch.history import Since, recall, remember, remembered
from stallwatch.startup import NamedTuple


def test_it_lasts_since_the_first_look_in_a_row_that_found_it():
    kept = {}
    assert Since(kept, 100.0).seconds("bond0") == 0
    assert Since(kept, 160.5).seconds("bond0") == 60.5
    assert json.dumps(kept) == '{"bond0": 100.0}'


def test_what_is_over_begins_anew():
    kept = {"bond0": 100.0, "bond1": 50.0}
    assert Since(kept, 160.0).seconds("bond0", holds=False) == 0
    assert kept == {"bond1": 50.0}
    assert Since(kept, 220.0).seconds("bond0") == 0
    assert Since(kept, 280.0).seconds("bond0") == 60


def test_what_is_not_asked_for_stays():
    kept = {"bond0": 100.0}
    Since(kept, 160.0)
    assert Since(kept, 220.0).seconds("bond0") == 120


@pytest.mark.parametrize("begun", [None, "100", [], True, float("nan"), float("inf"), 161.0])
def test_damage_and_a_clock_that_went_back_begin_at_this_look(begun):
    kept = {"bond0": begun, "bond1": 100}
    since = Since(kept, 160.0)
    assert (since.seconds("bond0"), since.seconds("bond1")) == (0, 60)
    assert kept == {"bond0": 160.0, "bond1": 100}


class Spin(NamedTuple):
    """A problem."""

    lock: str
    when: float
    times: tuple[float, ...] = ()


def test_nothing_is_remembered_at_first():
    assert remembered({}, "worst", Spin) == []


def test_what_is_remembered_is_there_at_the_next_run_in_its_order():
    memory = {"counters": {}}
    remember(memory, "worst", [Spin("b", 2.0), Spin("a", 1.5)])
    text = (
        '{"counters": {}, "worst": [{"lock": "b", "when": 2.0, "times": []}, '
        '{"lock": "a", "when": 1.5, "times": []}]}'
    )
    assert json.dumps(memory) == text
    assert [spin.lock for spin in remembered(json.loads(text), "worst", Spin)] == ["b", "a"]


@pytest.mark.parametrize("kept", [5, [5], [{}], [{"lock": "b", "when": 2.0, "news": 1}], None])
def test_damage_is_raised_and_no_ok_by_accident(kept):
    with pytest.raises(TypeError):
        remembered({"worst": kept}, "worst", Spin)


class Look(NamedTuple):
    """All that can be kept."""

    at: float
    node: int
    spin: Spin
    names: list[str]
    numbers: set[int]
    counts: dict[str, float]
    by_node: dict[int, Spin]
    pair: tuple[str, int] = ("", 0)
    known: float | None = None
    again: bool = False


def recalled(kept, shape):
    return recall(json.loads(json.dumps({"x": kept})), "x", shape)


def test_what_is_kept_is_recalled_in_its_shape():
    spin = Spin("a", 1.5, (2.0, 3))
    look = Look(1, 2, spin, ["a"], {3, 4}, {"a": 0.5}, {3: spin}, ("file", 7), 0.0, again=True)
    memory = {}
    remember(memory, "look", look)
    assert recalled(memory["look"], Look) == look
    remember(memory, "looks", {3: look, 4: look}.values())
    assert recalled(memory["looks"], list[Look]) == [look, look]


def test_what_has_a_default_may_be_missing():
    assert recalled({"lock": "a", "when": 1}, Spin) == Spin("a", 1)
    assert recalled({"lock": "a"}, Spin) is None


@pytest.mark.parametrize(
    "kept",
    [
        None, 5, "x", [], {}, [5], True, {"lock": 5, "when": 1}, {"lock": "a", "when": "1"},
        {"lock": "a", "when": None}, {"lock": "a", "when": True}, {"lock": "a", "when": 1, "news": 1},
        {"lock": "a", "when": 1, "times": 5},
        {"lock": "a", "when": 1, "times": [1, "x"]}, {"lock": "a", "when": float("nan")},
        {"lock": "a", "when": 10**400},
    ],
)  # fmt: skip
def test_damage_is_as_if_nothing_was_kept(kept):
    assert recall({"x": kept}, "x", Spin) is None
    assert recall({}, "x", Spin) is None


@pytest.mark.parametrize(
    ("shape", "kept", "found"),
    [
        (list[str], ["a", 5, None, "b"], ["a", "b"]),
        (set[int], [1, True, 2.0, "3", 10**400, 4], {1, 4}),
        (dict[int, float], {"1": 5, "x": 6, "2": None}, {1: 5}),
        (list[tuple[float, float]], [[1, 2], [1], [1, 2, 3], ["x", 2], 5], [(1, 2)]),
        (dict[str, list[float]], {"a": [1], "b": [1, "x"]}, {"a": [1]}),
        (list[str], {"a": "b"}, None),
        (dict[str, int], [["a", 1]], None),
        (tuple[float, float | None], [1, None], (1, None)),
        (int, 1.0, None),
        (float, 10**400, None),
    ],
)
def test_damaged_members_are_left_out(shape, kept, found):
    assert recall({"x": kept}, "x", shape) == found
