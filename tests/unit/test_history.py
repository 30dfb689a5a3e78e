"""For how long something has been so, and what was wrong and is still to be reported."""

import json

import pytest
from stallwatch.history import Since, remember, remembered
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
