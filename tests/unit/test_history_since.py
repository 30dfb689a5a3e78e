"""For how long something has been so."""

import json

import pytest
from stallwatch.history.since import Since


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
