"""How what checks of JVMs printed while a fault was there is judged."""

import json
from types import SimpleNamespace

import pytest

OK, WARNING, CRITICAL = range(3)
STATES = ("OK", "WARNING", "CRITICAL")
CHECK, OTHER = "check_jmx_thread_pools", "check_jmx collecting"
HELD, HELD_FOR_SURE = ("connections_held", "likely"), ("connections_held", "certain")
EMPTY = ("no_new_connections", "certain")


@pytest.fixture(scope="module")
def bench(diagnosis_modules):
    names = ("jmx_case", "jmx_scoring", "parts", "record", "results")
    return SimpleNamespace(**{name: diagnosis_modules(name) for name in names})


def output(state, cause, subject="HikariCP/orders", follows=None):
    """What --output json prints of a pool."""

    def finding(of, **more):
        known = {"kind": of[0], "certainty": of[1], "subject": {"id": subject}} if of else None
        return {
            "state": STATES[state],
            "what": "orders: 2 threads wait",
            **({"cause": known} if known else {}),
            **more,
        }

    findings = [finding(follows, explained_by=1)] if follows else []
    findings.append(finding(cause))
    told = {
        "name": "jmx_thread_pools",
        "state": STATES[state],
        "summary": "orders: 2 threads wait",
        "findings": findings,
    }
    return json.dumps(told)


def score(bench, *runs, is_fault=True, who=CHECK, **expected):
    """Judge runs (at, state, output) of a trial whose fault lasts from 10 to 30 s."""
    kept = tuple(
        bench.record.Run(who, at, at + 0.2, state, of if isinstance(of, str) else output(state, of))
        for at, state, of in runs
    )
    tried = bench.record.Trial(
        "full", "jmx", "5 waiters", kept, events={"injected": 10.0, "taken back": 30.0}
    )
    told = {CHECK: bench.jmx_case.Told("connections_held", of="HikariCP/*")}
    expected = bench.jmx_case.Expected(**{"told": told} | expected)
    return bench.jmx_scoring.score(tried, expected, who, is_fault=is_fault)


def test_the_right_cause_from_the_second_run_on(bench):
    found = score(bench, (5, OK, None), (12, OK, None), (16, CRITICAL, HELD), (20, CRITICAL, HELD))
    assert (found.in_time, found.right, found.unhedged) == (True, True, False)
    assert found.calibration == {"certain": [0, 0], "likely": [2, 2]}
    assert not found.wrong
    assert not found.false


def test_a_cause_that_is_certain_is_no_doubt(bench):
    found = score(bench, (12, CRITICAL, HELD_FOR_SURE), (16, CRITICAL, HELD_FOR_SURE))
    assert (found.right, found.unhedged) == (True, True)


def test_another_cause_that_leaves_no_doubt_is_wrong_and_certain(bench):
    found = score(bench, (12, CRITICAL, EMPTY), (16, CRITICAL, EMPTY))
    assert found.right is False
    assert [one.why for one in found.wrong] == ["cause: no_new_connections"] * 2
    assert found.calibration["certain"] == [0, 2]


def test_the_cause_of_another_pool_is_another_one(bench):
    runs = [(at, CRITICAL, output(CRITICAL, HELD_FOR_SURE, "HikariCP/orders")) for at in (12, 16)]
    found = score(bench, *runs, told={CHECK: bench.jmx_case.Told("connections_held", of="*/stock")})
    assert (found.right, len(found.wrong)) == (False, 2)


def test_what_follows_from_a_cause_is_not_the_first(bench):
    runs = [(at, CRITICAL, output(CRITICAL, HELD, follows=EMPTY)) for at in (12, 16)]
    assert score(bench, *runs).right is True


def test_a_cause_that_is_wrong_is_so_with_a_doubt_too(bench):
    found = score(bench, (12, CRITICAL, HELD), wrong=("connections_held",), told={})
    assert [one.why for one in found.wrong] == ["cause: connections_held"]


def test_a_check_without_causes_is_judged_by_its_words_up_to_the_next_step(bench):
    runs = [
        (at, WARNING, "JMX WARNING - collecting CollectionTime 500 ms/s - check it | a=1") for at in (12, 16)
    ]
    found = score(bench, *runs, who=OTHER, told={OTHER: "CollectionTime"})
    assert (found.right, found.unhedged, found.wrong) == (True, True, ())


def test_an_alarm_before_the_fault_is_false_and_no_state_in_time(bench):
    found = score(bench, (5, CRITICAL, HELD), (12, CRITICAL, HELD), (16, CRITICAL, HELD))
    assert found.in_time is False
    assert len(found.false) == 1


def test_each_alarm_of_a_healthy_thing_is_false(bench):
    found = score(bench, (12, WARNING, HELD), (16, OK, None), is_fault=False)
    assert len(found.false) == 1
    assert found.right is None


def test_certain_causes_are_to_be_right_all_of_the_time_and_likely_ones_mostly(bench):
    rows = [{"case": "x", "who": CHECK, "strength": "", "right": True, "unhedged": True, "in_time": True,
             "wrong": [], "false": [], "calibration": {"certain": [9, 10], "likely": [4, 5]}}]  # fmt: skip
    cases = {"x": {"fault": True, "checks": [CHECK], "strengths": [""]}}
    bars = bench.results.own_bars(bench.jmx_scoring, cases, rows)[-2:]
    assert [(bar["found"], bar["limit"], bar["met"]) for bar in bars] == [(0.9, 1.0, False), (0.8, 0.8, True)]


def test_every_case_says_what_is_true(bench):
    from stallwatch.causes import Kind

    kinds = {kind.value for kind in Kind}
    for name, case in bench.parts.cases("jmx").items():
        assert case.about, name
        assert len(case.strengths) == 3 or not case.is_fault, name
        assert case.expected.told or not case.is_fault, name
        told = case.expected.told.get(CHECK)
        assert kinds.issuperset((told.kinds.split() if told else []) + [*case.expected.wrong]), name


def test_there_is_time_for_all(bench):
    """Servers start, and end: 10 s for each trial on 2 processors."""
    cases = bench.parts.cases("jmx").values()
    whole = sum((case.seconds + 10) * len(case.strengths) for case in cases)
    quick = sum(case.seconds + 10 for case in cases)
    assert whole / bench.parts.LANES["jmx"] < 10 * 60
    assert quick / bench.parts.QUICK_LANES["jmx"] < 3 * 60
