"""How lines of check_innodb_locks are judged that were printed while a fault was there."""

from types import SimpleNamespace

import pytest

OK, WARNING, CRITICAL = range(3)
STATES = ("OK", "WARNING", "CRITICAL")
CHECK = "check_innodb_locks"
IDLE = (
    "connection 22 report@app1 blocks 2 others for 12 s (limit 5 s) on shop.orders, idle for 4 min - KILL 22"
)


@pytest.fixture(scope="module")
def bench(diagnosis_modules):
    names = ("locks_case", "locks_told", "locks_scoring", "parts", "record")
    return SimpleNamespace(**{name: diagnosis_modules(name) for name in names})


def score(bench, *runs, is_fault=True, heads=(22,), may_end=(), **expected):
    """Judge runs (at, state, words) of a trial whose fault lasts from 15 to 50 s."""
    kept = tuple(
        bench.record.Run(CHECK, at, at + 0.2, state, f"INNODB_LOCKS {STATES[state]} - {words} | waiting=3\n")
        for at, state, words in runs
    )
    events = {"injected": 15.0, "taken back": 50.0}
    tried = bench.record.Trial(
        "idle head", "mysql", "5 waiters", kept, events=events, heads=heads, may_end=may_end
    )
    expected = bench.locks_case.Expected(**{"says": "idle for"} | expected)
    return bench.locks_scoring.score(tried, expected, CHECK, is_fault=is_fault, every=5.0)


WELL = "no connection waits for a lock, 0 open transactions"
TOLD = ((17, OK, WELL), (22, WARNING, IDLE), (27, WARNING, IDLE), (32, WARNING, IDLE), (37, CRITICAL, IDLE))


def test_a_fault_that_is_told_right(bench):
    scored = score(bench, (5, OK, WELL), *TOLD)
    assert scored[:5] == (True, True, True, 1.0, {"right": 3})
    assert scored.wrong == scored.false == ()


def test_a_state_that_is_two_runs_late_is_not_in_time(bench):
    late = [(at, WARNING, IDLE) for at in (22, 27, 32, 37, 42)]
    assert score(bench, *late, (47, CRITICAL, IDLE)).in_time is False
    assert score(bench, *late[:-1], (42, CRITICAL, IDLE)).in_time is True


def test_a_state_that_is_not_true_yet_is_a_false_alarm(bench):
    assert [one.at for one in score(bench, (16, WARNING, IDLE), (27, CRITICAL, IDLE)).false] == [1, 12]


def test_another_head_is_wrong_and_certain_and_a_doubt_is_not(bench):
    other = IDLE.replace("22", "23")
    scored = score(bench, (22, WARNING, IDLE), (27, WARNING, other), (32, WARNING, other))
    assert (scored.right, [one.why for one in scored.wrong]) == (False, ["head: 23; ends: 23"] * 2)
    doubt = other.replace("blocks", "probably blocks")
    assert score(bench, (22, WARNING, IDLE), (27, WARNING, doubt), (32, WARNING, doubt)).wrong == ()


def test_what_else_may_be_ended_is_not_wrong(bench):
    both = IDLE.replace("KILL 22", "KILL 24")
    assert score(bench, (27, WARNING, both), may_end=(24,)).wrong == ()
    assert [one.why for one in score(bench, (27, WARNING, both)).wrong] == ["ends: 24"]


def test_alarms_of_healthy_things_are_false(bench):
    runs = (27, WARNING, IDLE), (32, OK, WELL)
    assert [one.at for one in score(bench, *runs, is_fault=False).false] == [12]


@pytest.mark.parametrize(
    ("text", "heads", "ends", "hedged"),
    [
        (IDLE, {22}, {22}, False),
        ("applier 9 blocks 1 other for 5 s - wait: check_replication_lag shows it", {9}, set(), False),
        ("an XA transaction without a connection blocks 2 others - end it by XA", {0}, set(), False),
        ("connections 22 and 23 wait for each other for 9 s - KILL one of 22 and 23", {22, 23}, set(), False),
        ("connections 5, 6 and 7 block 1 other, all idle - KILL 5, 6 and 7", {5, 6, 7}, {5, 6, 7}, False),
        ("connection 7 app@db probably blocks 1 other, idle - check it, then KILL 7", {7}, {7}, True),
        ("5 connections wait for up to 9 s, who blocks is not known - see below", set(), set(), False),
    ],
)  # fmt: skip
def test_what_a_line_says(bench, text, heads, ends, hedged):
    assert bench.locks_told.told(f"INNODB_LOCKS WARNING - {text}") == (heads, ends, hedged)


def test_every_case_says_what_is_true(bench):
    for name, case in bench.parts.cases("locks").items():
        assert case.about, name
        assert len(case.strengths) == 3 or not case.is_fault, name
        assert case.expected.says or not case.is_fault, name


def test_there_is_time_for_all(bench):
    """About ten minutes: servers start and heal in 5 s of a trial, on 2 processors."""
    cases = bench.parts.cases("locks").values()
    seconds = sum((case.seconds + 5) * len(case.strengths) for case in cases if "mysql" in case.servers)
    assert seconds / bench.parts.LANES["locks"] < 10 * 60
