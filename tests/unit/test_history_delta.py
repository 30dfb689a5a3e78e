"""What is counted between two looks, of something that may be started anew meanwhile."""

import time

import pytest
from stallwatch.deadline import Deadline
from stallwatch.findings import ProbeError
from stallwatch.history import delta
from stallwatch.history.delta import Interval, Look, NoIntervalError, between, since_last_look

NOW = 1_795_000_000.0


def look(passed, up=5000, **counts):
    """A look so many seconds after the first one."""
    return Look(int(up + passed), NOW + passed, counts)


def since(memory, *args, **counts):
    return since_last_look(memory, look(*args, **counts))


def test_the_first_look_says_so():
    with pytest.raises(NoIntervalError, match=r"^no earlier look to compare with$"):
        since({}, 0, reads=7)


def test_what_was_counted_and_how_much_that_is_per_second():
    memory = {}
    with pytest.raises(NoIntervalError):
        since(memory, 0, reads=7, writes=3)
    found = since(memory, 60.5, reads=128, writes=3)
    assert (found.seconds, found.counts, found.again) == (60.5, {"reads": 121, "writes": 0}, False)
    assert (found.rate("reads"), found.rate("writes"), found.rate("others")) == (2.0, 0.0, None)


def test_a_counter_that_began_anew_is_not_told():
    assert between(look(0, a=9, b=1), look(60, a=3, b=2)).counts == {"b": 1}
    assert between(look(0), look(60, new=3)).counts == {}


@pytest.mark.parametrize("up", [20, 6000 - 5000 + 2000])
def test_a_restart_is_no_interval(up):
    memory = {}
    with pytest.raises(NoIntervalError):
        since(memory, 0, reads=7)
    later = Look(up, NOW + 6000, {"reads": 9})
    with pytest.raises(NoIntervalError, match=r"^it has restarted since the last look$"):
        since_last_look(memory, later)
    assert since_last_look(memory, Look(up + 60, NOW + 6060, {"reads": 15})).counts == {"reads": 6}


def test_a_run_soon_after_another_is_the_same_look_again():
    memory = {}
    with pytest.raises(NoIntervalError):
        since(memory, 0, reads=0)
    since(memory, 60, reads=60)
    again = since(memory, 65, reads=600)
    assert (again.seconds, again.counts, again.again) == (65, {"reads": 600}, True)
    assert since(memory, 120, reads=660).counts == {"reads": 600}


def test_soon_after_the_first_look_that_is_compared_with():
    memory = {}
    with pytest.raises(NoIntervalError):
        since(memory, 0, reads=0)
    with pytest.raises(NoIntervalError, match="less than a second"):
        since(memory, 0.4, reads=5)
    assert since(memory, 5, reads=10) == Interval(5, {"reads": 10}, again=True)


@pytest.mark.parametrize("passed", [20, 63, 70, 3600])
def test_a_clock_of_ours_that_was_set_is_not_believed(passed):
    assert between(look(0, a=0), Look(5060, NOW + passed, {"a": 60})).seconds == 60


def test_an_answer_that_is_long_in_coming_is_no_restart():
    late = Look(8, NOW + 6, {"a": 1})  # it was up for 2 s when the first one was asked
    assert between(Look(2, NOW, {"a": 0}), late).seconds == 6
    assert between(look(0, a=0), Look(5060, NOW + 68, {"a": 1})).seconds == 60


@pytest.mark.parametrize("passed", [60, -3600])
def test_another_server_at_the_same_address_is_no_interval(passed):
    other = Look(5000 + 5 * 86400, NOW + passed, {"a": 10**12})
    with pytest.raises(NoIntervalError, match="another one answers, or a clock was set"):
        between(look(0, a=0), other)


def test_no_time_at_all_is_no_interval():
    with pytest.raises(NoIntervalError, match="no time has passed"):
        between(look(0, a=0), look(0, a=1))


@pytest.mark.parametrize(
    "kept",
    [
        {"uptime": "x", "at": 1, "counts": {}},
        {"uptime": 1, "at": 1, "counts": []},
        {"uptime": 1, "at": 1, "counts": {"a": None}},
        {"uptime": 1, "at": float("nan"), "counts": {}},
    ],
)
def test_what_is_none_of_ours_is_no_look(kept):
    with pytest.raises(NoIntervalError, match="no earlier look"):
        since(kept, 0, a=1)
    assert since(kept, 60, a=2).counts == {"a": 1}


def test_a_sample_waits_between_its_two_looks(monkeypatch):
    slept, taken = [], [look(0, a=0), look(5, a=10)]
    monkeypatch.setattr(time, "sleep", slept.append)
    assert delta.sample(lambda: taken.pop(0), 5.0, Deadline(8.0)).rate("a") == 2
    assert slept == [5.0]


def test_a_sample_without_time_for_its_second_look_is_an_error():
    with pytest.raises(ProbeError, match="no time is left for a sample"):
        delta.sample(lambda: look(0, a=0), 5.0, Deadline(0.5))
