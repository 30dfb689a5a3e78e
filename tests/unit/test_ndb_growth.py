"""Within which bound what checkpoints empty will be full."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from stallwatch.probes.ndbinfo.growth import of_logs, say_full

NOW = 1_795_000_000.0
MINUTE = 60.0


def bound(*used, every=MINUTE, uptime=1e6, total=100):
    """What the last of these looks says."""
    memory = {}
    for number, one in enumerate(used):
        found = of_logs(memory, NOW + number * every).full_within("redo_space/3", one, total, uptime)
    return found


def test_one_look_tells_nothing():
    assert bound(50) is None


def test_two_looks_have_one_pace():
    assert bound(40, 50) == (300, 300)
    assert bound(39, 49) is None  # less than half full
    assert say_full((300, 300)) == "full in 5 min"


def test_three_looks_have_a_fastest_and_a_slowest():
    assert bound(40, 50, 55) == (270, 540)
    assert say_full((270, 540)) == "full in 4 min 30 s to 9 min"


@pytest.mark.parametrize(
    ("between", "said"),
    [((600, 1500), "10 to 25 min"), ((50, 180), "50 s to 3 min"), ((20, 45), "20 to 45 s"),
     ((3000, 7200), "50 min to 2 h"), ((90, 150), "1 min 30 s to 2 min 30 s")],
)  # fmt: skip
def test_a_bound_is_said_in_few_words(between, said):
    assert say_full(between) == f"full in {said}"


def test_what_a_checkpoint_has_emptied_begins_anew():
    assert bound(70, 90, 20) is None
    assert bound(70, 90, 40, 51) == pytest.approx((267.3, 267.3), abs=0.1)
    assert bound(50, 50) is None


def test_noise_is_no_forecast():
    assert bound(500, 509, total=1000) is None  # less than 1 % of the whole
    assert bound(500, 700, 705, total=1000) is None  # hardly any more
    assert bound(50, 52, 54, 54) is None  # it has stopped


def test_what_is_full_or_far_away_is_none():
    assert bound(90, 100) is None
    assert bound(1, 98) is None  # in 1 s: as good as full
    assert bound(50, 60, every=3600) is None  # in 4 h: a checkpoint comes before


def test_looks_before_a_start_of_the_node_do_not_count():
    assert bound(40, 50, uptime=30) is None


def test_runs_right_after_one_another_are_no_forecast():
    assert bound(60, 61, 62, every=5) is None
    assert bound(*range(40, 60), every=10) is not None


@given(st.lists(st.tuples(st.integers(1, 400), st.floats(0, 100)), max_size=30))
def test_any_history_gives_a_bound_or_none(steps):
    memory, now = {}, NOW
    for passed, used in steps:
        now += passed
        found = of_logs(memory, now).full_within("redo_space/3", used, 100, 1e6)
        assert found is None or 0 < found[0] <= found[1] <= 10 * found[0]
