"""What check_jmx remembers from run to run, where the server's clock cannot be had or the state is odd."""

import math

import pytest
from stallwatch.history.delta import NoIntervalError
from stallwatch.probes.jmx import changes as changes_of_runs
from stallwatch.sources.jmx.errors import NoSuchBeanError


class Reader:
    """Has a JVM's clock, or none."""

    def __init__(self, start=1000, uptime=60_000):
        self.times = {"StartTime": start, "Uptime": uptime}

    def value(self, bean, attribute):
        if self.times["StartTime"] is None:
            raise NoSuchBeanError(f"there is no MBean {bean}")
        return self.times[attribute]


def run(memory, number, *, only_grows=True, **clock):
    """Look once: what a number has changed by, and in how many seconds."""
    changes = changes_of_runs.Changes(memory, Reader(**clock))
    try:
        return changes.since("x", number, only_grows=only_grows), changes.seconds
    except NoIntervalError as error:
        return str(error)
    finally:
        changes.keep()


def test_a_change_is_measured_by_the_uptime_of_the_jvm():
    memory = {}
    assert run(memory, 5) == "this is the first look"
    assert run(memory, 12, uptime=62_500) == (7, 2.5)
    assert run(memory, 12, uptime=63_500) == (0, 1.0)


@pytest.mark.parametrize("absurd", [math.inf, -math.inf, math.nan])
@pytest.mark.parametrize("time", ["start", "uptime"])
def test_a_clock_that_shows_no_number_is_not_used(absurd, time, monkeypatch):
    monkeypatch.setattr(changes_of_runs.time, "time", lambda: 1e9)
    changes = changes_of_runs.Changes({}, Reader(**{time: absurd}))
    assert (changes.seconds, changes.restarted) == (0, False)
    assert changes_of_runs.now(Reader(**{time: absurd})) == 1e9


def test_a_jvm_that_started_anew_begins_anew():
    memory = {}
    run(memory, 5)
    assert run(memory, 9, start=2000, uptime=1000) == "the JVM has restarted since the last look"
    assert run(memory, 10, start=2000, uptime=2000) == (1, 1.0)


def test_what_a_number_was_before_is_known_where_its_change_is():
    def before(memory, **clock):
        changes = changes_of_runs.Changes(memory, Reader(**clock))
        changes.note("x", 5)
        told = changes.before("x"), changes.seconds
        changes.keep()
        return told

    memory = {}
    assert before(memory) == (None, 0)
    assert before(memory, uptime=60_900) == (None, 0)
    assert before(memory, uptime=62_000) == (5, 2.0)
    assert before(memory, uptime=62_500) == (5, 2.5)
    assert before(memory, uptime=61_000) == (None, -1.0)
    assert before(memory, start=2000, uptime=1000) == (None, 0)
    assert before(memory, start=2000, uptime=2000) == (5, 1.0)


def test_two_looks_at_once_are_one():
    memory = {}
    run(memory, 5)
    assert run(memory, 6, uptime=60_900) == "only 900 ms have passed since the first look"
    assert run(memory, 7, uptime=61_000) == (2, 1.0)
    assert run(memory, 8, uptime=61_000) == (3, 1.0)
    assert run(memory, 9, uptime=61_500) == (4, 1.5)
    assert run(memory, 9, uptime=62_000) == (2, 1.0)


def test_what_is_reset_stays_so_in_a_look_at_once():
    memory = {}
    run(memory, 5)
    run(memory, 9, uptime=61_000)
    assert run(memory, 3, uptime=61_500) == "it was reset, from 5 to 3"
    assert run(memory, 4, uptime=63_000) == "it was reset, from 9 to 4"
    assert run(memory, 6, uptime=64_000) == (2, 1.0)


def test_nothing_is_compared_with_a_look_before_a_restart():
    memory = {}
    run(memory, 5)
    run(memory, 9, uptime=61_000)
    run(memory, 1, start=2000, uptime=1000)
    assert run(memory, 2, start=2000, uptime=1500) == "only 500 ms have passed since the first look"


def test_other_texts_make_another_key():
    keys = [changes_of_runs.key(*parts) for parts in (("a/b",), ("a", "b"), ('a","b',), ("a", "", "b"))]
    assert len(set(keys)) == len(keys)


def test_only_a_counter_is_reset_when_it_goes_back():
    memory = {}
    run(memory, 5)
    assert run(memory, 3, uptime=61_000) == "it was reset, from 5 to 3"
    assert run(memory, 1, uptime=62_000, only_grows=False) == (-2, 1.0)


def test_without_the_clock_of_a_jvm_ours_has_to_do(monkeypatch):
    memory, clock = {}, iter([100.0, 103.0, 90.0, 91.0])
    monkeypatch.setattr(changes_of_runs.time, "time", lambda: next(clock))
    run(memory, 5, start=None)
    assert run(memory, 8, start=None) == (3, 3.0)
    assert run(memory, 9, start=None) == "the clock has gone back since the last look"
    assert run(memory, 10, start=None) == (1, 1.0)


@pytest.mark.parametrize(
    "memory",
    [
        {"start": 1000, "last": {"at": "x", "numbers": {"x": 1}}},
        {"start": 1000, "last": {"at": 50, "numbers": []}},
        {"start": 1000, "last": {"at": 50, "numbers": {"x": "1"}}},
        {"start": 1000, "last": {"at": 50, "numbers": {"x": None}}},
        {"start": 1000, "last": {"at": float("nan"), "numbers": {"x": 1}}},
    ],
)
def test_a_memory_that_makes_no_sense_is_none(memory):
    assert isinstance(run(memory, 5), str)
    assert run(memory, 7, uptime=61_000)[0] == 2


@pytest.mark.parametrize(
    ("before", "why"),
    [
        (None, "only 0 s have passed since the first look"),
        ({"at": None, "numbers": {"x": 1}}, "only 0 s have passed since the first look"),
        ({"at": 61, "numbers": {"x": 1}}, "the clock has gone back since the last look"),
    ],
)
def test_a_look_before_that_makes_no_sense_is_none(before, why):
    memory = {"start": 1000, "last": {"at": 60, "numbers": {"x": 1}}, "before": before}
    assert run(memory, 5) == why
    assert run(memory, 7, uptime=61_000) == (6, 1.0)
