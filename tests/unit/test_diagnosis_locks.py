"""How runs of check_mysql_stalls are judged that were made while a fault was there."""

import json
from types import SimpleNamespace

import pytest

OK, WARNING, CRITICAL = range(3)
STATES = ("OK", "WARNING", "CRITICAL")
CHECK = "check_mysql_stalls"


def found(kind="row_lock", head="22", certainty="certain", evidence="idle_client", thing="connection"):
    """A finding's cause, as the JSON has it."""
    return {
        "kind": kind, "subject": {"thing": thing, "id": head}, "certainty": certainty, "evidence": evidence
    }  # fmt: skip


IDLE, WELL = found(), None


@pytest.fixture(scope="module")
def bench(diagnosis_modules):
    names = ("locks_case", "locks_told", "locks_scoring", "parts", "record")
    return SimpleNamespace(**{name: diagnosis_modules(name) for name in names})


def printed(state, cause, *others):
    """What a run printed: a finding of this state with its cause, then others."""
    first = {"state": STATES[state], **({"cause": cause} if cause else {})}
    return json.dumps({"summary": f"it is {STATES[state]}", "findings": [first, *others]}) + "\n"


def score(bench, *runs, is_fault=True, heads=(22,), may_end=(), **expected):
    """Judge runs (at, state, cause) of a trial whose fault lasts from 15 to 50 s."""
    kept = tuple(
        bench.record.Run(CHECK, at, at + 0.2, state, printed(state, cause)) for at, state, cause in runs
    )
    events = {"injected": 15.0, "taken back": 50.0}
    tried = bench.record.Trial(
        "idle head", "mysql", "5 waiters", kept, events=events, heads=heads, may_end=may_end
    )
    expected = bench.locks_case.Expected(**{"kind": "row_lock"} | expected)
    return bench.locks_scoring.score(tried, expected, CHECK, is_fault=is_fault, every=5.0)


TOLD = ((17, OK, WELL), (22, WARNING, IDLE), (27, WARNING, IDLE), (32, WARNING, IDLE), (37, CRITICAL, IDLE))


def test_a_fault_that_is_told_right(bench):
    scored = score(bench, (5, OK, WELL), *TOLD)
    assert scored[:5] == (True, True, True, 1.0, {"right (certain)": 3})
    assert scored.wrong == scored.false == ()


def test_a_state_that_is_two_runs_late_is_not_in_time(bench):
    late = [(at, WARNING, IDLE) for at in (22, 27, 32, 37, 42)]
    assert score(bench, *late, (47, CRITICAL, IDLE)).in_time is False
    assert score(bench, *late[:-1], (42, CRITICAL, IDLE)).in_time is True


def test_a_state_that_is_not_true_yet_is_a_false_alarm(bench):
    assert [one.at for one in score(bench, (16, WARNING, IDLE), (27, CRITICAL, IDLE)).false] == [1, 12]


@pytest.mark.parametrize(
    ("other", "why"),
    [
        (found(head="23"), "head: 23"),
        (found("metadata_lock"), "kind: metadata_lock"),
        (found(head=None), "head: 0"),
        (found(evidence="applier"), "rule: applier"),
        (found(evidence="applier", certainty="likely"), "rule: applier"),
        (found(head="23", certainty="likely"), ""),
        (found("metadata_lock", certainty="possible"), ""),
    ],
)
def test_what_is_wrong_and_certain_and_what_is_only_in_doubt(bench, other, why):
    scored = score(bench, (22, WARNING, IDLE), (27, WARNING, other), evidence=IDLES, wrong=("applier",))
    assert (scored.right, [one.why for one in scored.wrong]) == (False, [why] if why else [])


IDLES = ("idle_client",)


@pytest.mark.parametrize(
    ("cause", "heads", "names"),
    [
        (IDLE, (22,), "right (certain)"),
        (IDLE, (22, 23), "right (certain)"),  # the first of several
        (found(certainty="likely"), (22,), "right (likely)"),
        (found(evidence="working_client"), (22,), "another head or cause (certain)"),
        (found("slow_disk"), (22,), "another head or cause (certain)"),
        (found("unknown", None, "possible", None, "server"), (22,), "not known"),
        (found(head=None), (0,), "right (certain)"),
        (found(thing="server", head=None), (), "right (certain)"),
    ],
)
def test_what_a_run_names(bench, cause, heads, names):
    scored = score(bench, (22, WARNING, IDLE), (27, WARNING, cause), heads=heads, evidence=IDLES)
    assert scored.causes == {names: 1}


def test_what_else_may_be_ended_is_not_wrong(bench):
    other = found(head="24")
    assert score(bench, (27, WARNING, other), may_end=(24,)).wrong == ()
    assert [one.why for one in score(bench, (27, WARNING, other)).wrong] == ["head: 24"]


def test_alarms_of_healthy_things_are_false(bench):
    runs = (27, WARNING, IDLE), (32, OK, WELL)
    assert [one.at for one in score(bench, *runs, is_fault=False).false] == [12]


def test_the_first_problem_counts_and_no_consequence(bench):
    timeouts = {"state": "CRITICAL", "cause": found("lock_timeouts"), "explained_by": 0}
    other = {"state": "WARNING", "cause": found(head="30")}
    told = bench.locks_told.told(printed(CRITICAL, IDLE, timeouts, other))
    assert told == ("row_lock", frozenset({22}), "certain", "idle_client", "it is CRITICAL")
    assert bench.locks_told.told("(it did not end within 20 s)\n").heads == frozenset()


@pytest.mark.parametrize(
    ("causes", "share"),
    [
        ({"right (likely)": 4, "another head or cause (likely)": 1, "right (certain)": 5}, 0.8),
        ({"right (certain)": 5, "not known": 1}, None),
    ],
)
def test_how_many_of_the_likely_ones_are_right_is_measured(bench, causes, share):
    row = {"case": "x", "server": "mysql", "strength": "a", "right": True, "unhedged": True, "in_time": True,
           "wrong": [], "false": [], "causes": causes}  # fmt: skip
    cases = {"x": {"fault": True, "servers": ["mysql"], "strengths": ["a"]}}
    assert bench.locks_scoring.measured(cases, [row])[-1] == share


def test_every_case_says_what_is_true(bench):
    for name, case in bench.parts.cases("locks").items():
        assert case.about, name
        assert len(case.strengths) == 3 or not case.is_fault, name
        assert case.expected.kind or not case.is_fault, name


def test_there_is_time_for_all(bench):
    """About ten minutes: servers start and heal in 5 s of a trial, on 2 processors."""
    cases = bench.parts.cases("locks").values()
    seconds = sum((case.seconds + 5) * len(case.strengths) for case in cases if "mysql" in case.servers)
    assert seconds / bench.parts.LANES["locks"] < 10 * 60
