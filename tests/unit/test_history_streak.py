"""N bad looks in a row."""

import json

import pytest
from stallwatch.history.delta import LEAST
from stallwatch.history.streak import Streaks, lasts, twice

NOW = 1_795_000_000.0
DAMAGE = [None, 5, "x", [], {"3": "2"}, {"3": -1}, {"3": 0}, {"3": True}, {"3": 1.5}, {"3": None}]


def test_a_streak_grows_look_by_look_and_ends_with_a_good_one():
    memory = {}
    for length in (1, 2, 3):
        streaks = Streaks(memory, "low")
        streaks.add(3)
        assert (streaks.of(3), streaks.of("3"), streaks.of(4)) == (length, length, 0)
    Streaks(memory, "low").end(3)
    assert memory == {"low": {}}


def test_it_is_kept_by_name_in_the_order_of_the_names():
    memory = {"low": {"4": 1, "3": 2}, "else": 1}
    streaks = Streaks(memory, "low", [3, 4])
    streaks.add(4)
    streaks.add(5)
    assert json.dumps(memory) == '{"low": {"3": 2, "4": 2, "5": 1}, "else": 1}'


def test_who_is_away_keeps_a_streak_and_who_is_no_more_does_not():
    memory = {"low": {"3": 2, "4": 1}}
    assert Streaks(memory, "low", [3]).of(3) == 2
    assert memory == {"low": {"3": 2}}


def test_the_same_look_again_neither_counts_nor_ends_anything():
    memory = {"low": {"3": 2, "4": 1}}
    streaks = Streaks(memory, "low", again=True)
    streaks.add(3)
    streaks.end(4)
    streaks.add(5)
    assert (streaks.of(3), streaks.of(4), streaks.of(5)) == (2, 1, 0)
    assert memory == {"low": {"3": 2, "4": 1}}


@pytest.mark.parametrize("kept", DAMAGE)
def test_damage_is_no_streak(kept):
    memory = {"low": kept}
    streaks = Streaks(memory, "low")
    assert streaks.of(3) == 0
    streaks.add(3)
    assert memory == {"low": {"3": 1}}


def test_what_is_bad_at_two_looks():
    memory = {}
    assert twice(memory, "full", {3, 4}, NOW) == set()
    assert twice(memory, "full", {4, 5}, NOW + 60) == {4}
    assert json.dumps(memory) == '{"full": {"at": 1795000060.0, "numbers": [4, 5], "before": [3, 4]}}'
    assert twice(memory, "full", {3}, NOW + 120) == set()


def test_a_look_that_comes_soon_is_compared_with_the_one_before():
    memory = {}
    twice(memory, "full", {3}, NOW)
    assert twice(memory, "full", {3}, NOW + LEAST - 1) == set()
    twice(memory, "full", set(), NOW + 60)
    kept = json.dumps(memory)
    assert twice(memory, "full", {3, 4}, NOW + 60 + LEAST - 1) == {3}
    assert json.dumps(memory) == kept
    assert twice(memory, "full", {3}, NOW + 60 + LEAST) == set()


def test_a_clock_that_was_set_back_makes_another_look():
    memory = {}
    twice(memory, "full", {3}, NOW)
    assert twice(memory, "full", {3}, NOW - 3600) == {3}
    assert memory["full"]["at"] == NOW - 3600


@pytest.mark.parametrize(
    "kept", [*DAMAGE, {"at": "x", "numbers": [3]}, {"at": NOW, "numbers": 3}, {"at": NOW, "numbers": ["3"]}]
)
def test_damage_is_as_if_nothing_had_been_bad(kept):
    memory = {"full": kept}
    assert twice(memory, "full", {3}, NOW + 60) == set()
    assert twice(memory, "full", {3}, NOW + 120) == {3}


def test_what_has_no_number_lasts_if_it_was_bad_at_the_look_before():
    memory = {}
    looks = [(0, True), (60, True), (61, True), (120, False), (180, True)]
    assert [lasts(memory, "full", NOW + at, is_bad=bad) for at, bad in looks] == [
        False,
        True,
        True,
        False,
        False,
    ]
    assert memory["full"] == {"at": NOW + 180, "numbers": [0], "before": []}
