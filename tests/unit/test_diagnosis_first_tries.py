"""What the cases that were written by the sheets alone expect, and that their first result stays."""

import json
from types import SimpleNamespace

import pytest

CHECK = "check_mysql_stalls"


@pytest.fixture(scope="module")
def bench(diagnosis_modules):
    names = ("first_tries", "locks_told", "parts", "record")
    return SimpleNamespace(**{name: diagnosis_modules(name) for name in names})


def test_ten_cases_say_what_is_true_at_one_strength(bench):
    from stallwatch.causes import Kind

    cases = bench.parts.cases("first-tries")
    assert len(cases) == 10
    assert sum(not case.is_fault for case in cases.values()) == 2
    assert cases.keys().isdisjoint([*bench.parts.cases("locks"), *bench.parts.cases("jmx")])
    kinds = {kind.value for kind in Kind}
    for name, about in bench.first_tries.about(cases).items():
        assert about["about"], name
        assert len(about["strengths"]) == 1, name
        assert not about["fault"] or kinds & {*about["expected"].replace(":", "").split()}, name


def finding(state, kind, head, **more):
    subject = {"thing": "connection", "id": head}
    cause = {"kind": kind, "subject": subject, "certainty": "certain", "evidence": None}
    return {"state": state, "cause": cause} | more


def trial(bench, *findings):
    """One run, of a fault of connection 22 beside one of connection 30."""
    output = json.dumps({"name": "mysql_stalls", "state": "CRITICAL", "summary": "", "findings": findings})
    run = bench.record.Run(CHECK, 20.0, 20.2, 2, output)
    events = {"injected": 15.0, "taken back": 50.0}
    return bench.record.Trial("a", "mysql", "b", (run,), events=events, heads=(22,), may_end=(30,))


BESIDE = SimpleNamespace(part="locks", expected=SimpleNamespace(kind="row_lock"))


@pytest.mark.parametrize(
    ("other", "status", "kind"),
    [
        (finding("CRITICAL", "row_lock", "30"), 1, "table_lock"),  # it is right
        (finding("CRITICAL", "user_lock", "30"), 2, "user_lock"),  # of another kind
        (finding("CRITICAL", "row_lock", "31"), 2, "row_lock"),  # of another connection
        (finding("CRITICAL", "lock_timeouts", None, explained_by=0), 1, "table_lock"),
    ],
)
def test_only_what_is_right_about_the_fault_beside_is_left_out(bench, other, status, kind):
    tried = trial(bench, finding("WARNING", "table_lock", "22"), other)
    [run] = bench.first_tries.apart(tried, BESIDE).runs
    assert (run.status, bench.locks_told.told(run.output).kind) == (status, kind)


def test_the_first_result_stays(bench, tmp_path):
    path = tmp_path / "a.jsonl"
    events = [{"event": "injected", "at": 15.0}, {"event": "taken back", "at": 50.0}, {"truths": []}]
    run = trial(bench, finding("WARNING", "table_lock", "22")).runs[0]._asdict()
    lines = [{"case": "a", "server": "mysql", "strength": "b"}, run, *events]
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    row = {"case": "a", "server": "mysql", "who": CHECK}
    told = {"day": "2026-11-28", "time": "20:00", "machine": {"load before": 1.0}}
    [first] = bench.first_tries.with_first(told | {"trials": [row | {"right": False}]}, [path], ())["first"]
    assert (first["right"], first["said"][0]["at"], first["said"][0]["causes"][0]["kind"]) == (
        False, 5.0, "table_lock",
    )  # fmt: skip
    again = bench.first_tries.with_first(told | {"trials": [row | {"right": True}]}, [path], [first])
    assert again["first"] == [first]
