"""How lines of checks of JVMs are judged that were printed while a fault was there."""

from types import SimpleNamespace

import pytest

OK, WARNING, CRITICAL = range(3)
STATES = ("OK", "WARNING", "CRITICAL")
CHECK = "check_jmx_thread_pools"
FULL = "orders: 2 threads wait for a connection, 4 of 4 in use, probably slow SQL or leaks - check it"
EMPTY = "orders: 2 threads wait for a connection, the pool is unable to open new ones - check that it answers"


@pytest.fixture(scope="module")
def bench(diagnosis_modules):
    names = ("jmx_case", "jmx_scoring", "parts", "record")
    return SimpleNamespace(**{name: diagnosis_modules(name) for name in names})


def score(bench, *runs, is_fault=True, **expected):
    """Judge runs (at, state, words) of a trial whose fault lasts from 10 to 30 s."""
    kept = tuple(
        bench.record.Run(
            CHECK, at, at + 0.2, state, f"JMX_THREAD_POOLS {STATES[state]} - {words} | pools=1\n"
        )
        for at, state, words in runs
    )
    tried = bench.record.Trial(
        "full", "jmx", "5 waiters", kept, events={"injected": 10.0, "taken back": 30.0}
    )
    expected = bench.jmx_case.Expected(**{"told": {CHECK: "probably slow SQL"}} | expected)
    return bench.jmx_scoring.score(tried, expected, CHECK, is_fault=is_fault)


def test_the_right_cause_from_the_second_run_on(bench):
    found = score(bench, (5, OK, "1 pool"), (12, OK, "1 pool"), (16, CRITICAL, FULL), (20, CRITICAL, FULL))
    assert (found.in_time, found.right, found.unhedged) == (True, True, False)
    assert not found.wrong
    assert not found.false


def test_another_cause_that_leaves_no_doubt_is_wrong_and_certain(bench):
    found = score(bench, (12, CRITICAL, EMPTY), (16, CRITICAL, EMPTY))
    assert found.right is False
    assert [one.why for one in found.wrong] == ["cause: another"] * 2


def test_words_that_are_wrong_are_so_with_a_doubt_too(bench):
    found = score(bench, (12, CRITICAL, FULL), wrong=("slow SQL",), told={CHECK: "unable to open"})
    assert [one.why for one in found.wrong] == ["says slow SQL"]


def test_a_next_step_that_begins_with_check_is_no_doubt(bench):
    found = score(bench, (12, CRITICAL, EMPTY), (16, CRITICAL, EMPTY), told={CHECK: "unable to open"})
    assert (found.right, found.unhedged) == (True, True)


def test_an_alarm_before_the_fault_is_false_and_no_state_in_time(bench):
    found = score(bench, (5, CRITICAL, FULL), (12, CRITICAL, FULL), (16, CRITICAL, FULL))
    assert found.in_time is False
    assert len(found.false) == 1


def test_each_alarm_of_a_healthy_thing_is_false(bench):
    found = score(bench, (12, WARNING, FULL), (16, OK, "1 pool"), is_fault=False)
    assert len(found.false) == 1
    assert found.right is None


def test_every_case_says_what_is_true(bench):
    for name, case in bench.parts.cases("jmx").items():
        assert case.about, name
        assert len(case.strengths) == 3 or not case.is_fault, name
        assert case.expected.told or not case.is_fault, name


def test_there_is_time_for_all(bench):
    """Servers start, and end: 10 s for each trial on 2 processors."""
    cases = bench.parts.cases("jmx").values()
    whole = sum((case.seconds + 10) * len(case.strengths) for case in cases)
    quick = sum(case.seconds + 10 for case in cases)
    assert whole / bench.parts.LANES["jmx"] < 10 * 60
    assert quick / bench.parts.QUICK_LANES["jmx"] < 3 * 60
