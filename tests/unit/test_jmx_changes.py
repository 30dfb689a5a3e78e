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
    """Look once: what a number has changed by, and in how many seconds; None: that is not known."""
    changes = changes_of_runs.Changes(memory, Reader(**clock))
    try:
        return changes.since("x", number, only_grows=only_grows), changes.seconds
    except NoIntervalError:
        return None
    finally:
        changes.keep()


def test_a_change_is_measured_by_the_uptime_of_the_jvm():
    memory = {}
    assert run(memory, 5) is None
    assert run(memory, 12, uptime=82_500) == (7, 22.5)
    assert run(memory, 12, uptime=97_500) == (0, 15.0)


@pytest.mark.parametrize("absurd", [math.inf, -math.inf, math.nan])
@pytest.mark.parametrize("time", ["start", "uptime"])
def test_a_clock_that_shows_no_number_is_not_used(absurd, time, monkeypatch):
    monkeypatch.setattr(changes_of_runs.time, "time", lambda: 1e9)
    changes = changes_of_runs.Changes({}, Reader(**{time: absurd}))
    assert (changes.seconds, changes.restarted) == (0, False)
    assert changes_of_runs.now(Reader(**{time: absurd})) == 1e9


@pytest.mark.parametrize(
    ("start", "uptime", "restarted_for"),
    [(2000, 1000, 1.0), (2000, 90_000, 90.0), (500, 90_000, None), (1000, 30_000, None)],
)
def test_a_jvm_of_another_start_begins_anew(start, uptime, restarted_for):
    memory = {}
    run(memory, 5)
    changes = changes_of_runs.Changes(memory, Reader(start, uptime))
    assert (changes.restarted, changes.restarted_for, changes.seconds) == (True, restarted_for, 0)
    assert (changes.last("x"), changes.before("x")) == (5, None)
    assert run(memory, 9, start=start, uptime=uptime) is None
    assert run(memory, 10, start=start, uptime=uptime + 20_000) == (1, 20.0)


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
    assert before(memory, uptime=80_000) == (5, 20.0)
    assert before(memory, uptime=81_000) == (5, 21.0)
    assert before(memory, start=2000, uptime=1000) == (None, 0)
    assert before(memory, start=2000, uptime=3000) == (5, 2.0)


def test_two_looks_at_once_are_one():
    memory = {}
    run(memory, 5)
    assert run(memory, 6, uptime=60_900) is None
    assert run(memory, 7, uptime=61_000) == (2, 1.0)
    assert run(memory, 8, uptime=75_000) == (3, 15.0)
    assert run(memory, 9, uptime=76_000) == (4, 16.0)
    assert run(memory, 9, uptime=90_000) == (1, 15.0)


def test_what_is_reset_stays_so_in_a_look_at_once():
    memory = {}
    run(memory, 5)
    run(memory, 9, uptime=75_000)
    assert run(memory, 3, uptime=76_000) is None
    assert run(memory, 4, uptime=95_000) is None
    assert run(memory, 6, uptime=110_000) == (2, 15.0)


def test_other_texts_make_another_key():
    keys = [changes_of_runs.key(*parts) for parts in (("a/b",), ("a", "b"), ('a","b',), ("a", "", "b"))]
    assert len(set(keys)) == len(keys)


def test_only_a_counter_is_reset_when_it_goes_back():
    memory = {}
    run(memory, 5)
    assert run(memory, 3, uptime=75_000) is None
    assert run(memory, 1, uptime=90_000, only_grows=False) == (-2, 15.0)


def test_without_the_clock_of_a_jvm_ours_has_to_do(monkeypatch):
    memory, clock = {}, iter([100.0, 120.0, 90.0, 91.0])
    monkeypatch.setattr(changes_of_runs.time, "time", lambda: next(clock))
    run(memory, 5, start=None)
    assert run(memory, 8, start=None) == (3, 20.0)
    assert run(memory, 9, start=None) is None  # the clock was set back
    assert run(memory, 10, start=None) == (1, 1.0)


LAST = {"uptime": 60, "at": 60, "counts": {"x": 1}, "start": 1000}


@pytest.mark.parametrize(
    "memory",
    [
        {"last": "x"},
        *({"last": LAST | damage} for damage in (
            {"at": "x"}, {"counts": []}, {"counts": None}, {"at": math.nan}, {"y": 1})),
    ],
)  # fmt: skip
def test_a_memory_that_makes_no_sense_is_none(memory):
    assert run(memory, 5) is None
    assert run(memory, 7, uptime=61_000) == (2, 1.0)


@pytest.mark.parametrize("before", [None, LAST | {"at": None}, LAST | {"uptime": 61}])
def test_a_look_before_that_makes_no_sense_is_none(before):
    memory = {"last": LAST, "before": before}
    assert run(memory, 5) is None
    assert run(memory, 7, uptime=75_000) == (6, 15.0)
