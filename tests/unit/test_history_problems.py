"""What was wrong and is still to be reported."""

import json

import pytest
from stallwatch.history.problems import remember, remembered
from stallwatch.startup import NamedTuple


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


def test_a_field_that_an_earlier_version_did_not_have_is_as_its_default():
    assert remembered({"worst": [{"lock": "b", "when": 2.0}]}, "worst", Spin) == [Spin("b", 2.0)]


@pytest.mark.parametrize("kept", [5, [5], [{}], [{"lock": "b", "when": 2.0, "news": 1}], None])
def test_damage_is_raised_and_no_ok_by_accident(kept):
    with pytest.raises(TypeError):
        remembered({"worst": kept}, "worst", Spin)
