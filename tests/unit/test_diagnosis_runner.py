"""How the bench of diagnosis plays trials: which, side by side, and to an end whatever happens."""

import json
import sys
import time
from types import SimpleNamespace

import pytest

LANE = """
import json, sys, time
for line in sys.stdin:
    asked = json.loads(line)
    if asked["case"] == "hangs":
        time.sleep(600)
    if asked["case"] == "dies":
        sys.exit(3)
    with open(asked["path"], "a") as file:
        file.write(asked["case"])
    print(json.dumps({"failed": "no server" if asked["case"] == "fails" else ""}), flush=True)
"""


@pytest.fixture(scope="module")
def bench(diagnosis_modules):
    names = ("case", "jobs", "lanes", "polling", "record")
    return SimpleNamespace(**{name: diagnosis_modules(name) for name in names})


@pytest.fixture
def play(bench, tmp_path, monkeypatch):
    """Play cases of these names, of no length: gives what failed by name, and the folder of what was kept."""
    (tmp_path / "lane.py").write_text(LANE)
    monkeypatch.setattr(bench.lanes, "PROGRAM", tmp_path / "lane.py")
    monkeypatch.setattr(bench.lanes, "KEPT", tmp_path)
    monkeypatch.setattr(bench.lanes, "SPARE", 8.0)
    monkeypatch.setattr(bench.lanes, "GRACE", 0.1)

    def play(*names, minutes=1.0, seconds=0.0):
        case = SimpleNamespace(seconds=seconds, heavy="heavy" in names[-1])
        jobs = [
            SimpleNamespace(
                part="any", server="mysql", strength="", name=name, path=tmp_path / f"{name}.jsonl",
                case=SimpleNamespace(**vars(case), name=name),
            )
            for name in names
        ]  # fmt: skip
        return bench.lanes.play(jobs, minutes, 1)

    return play


def test_trials_are_played_one_after_the_other_and_what_fails_is_told(play, tmp_path, capsys):
    assert play("one", "fails", "two") == {"fails": "no server"}
    assert (tmp_path / "one.jsonl").read_text() == "one"
    assert "3/3  two" in capsys.readouterr().out


def test_a_lane_that_hangs_or_dies_is_replaced(play, tmp_path):
    assert play("hangs", "dies", "two") == {"hangs": "it did not end in time", "dies": "the lane ended"}
    assert (tmp_path / "two.jsonl").exists()


def test_what_there_is_no_time_for_is_not_begun(play, tmp_path):
    assert play("one", minutes=0.5, seconds=60.0) == {"one": "no time was left for it"}
    assert not (tmp_path / "one.jsonl").exists()


def options(**told):
    return SimpleNamespace(**{"case": None, "server": None, "strength": None, "quick": False} | told)


def test_those_that_need_a_processor_are_all_played(play, tmp_path):
    assert play("heavy", "also heavy") == {}
    assert (tmp_path / "heavy.jsonl").exists()


def test_a_quick_look_plays_the_middle_strength_of_each_case_which_also_come_first(bench):
    whole, quick = (
        bench.jobs.jobs("replication", options()),
        bench.jobs.jobs("replication", options(quick=True)),
    )
    assert len({(job.case.name, job.server) for job in whole}) == len(quick)
    assert whole[: len(quick)] == quick
    lengths = [(job.case.fresh, job.case.seconds) for job in quick]  # who needs own servers, and the longest
    assert lengths == sorted(lengths, reverse=True)
    [row_lock] = bench.jobs.jobs("replication", options(quick=True, case=["row lock"], server=["mysql"]))
    assert row_lock.strength == "2 commits/s"


def test_each_trial_is_kept_in_a_file_of_its_own(bench):
    found = bench.jobs.jobs("replication", options())
    assert len({job.path for job in found}) == len(found)


SAYS = 'echo "OK - x | lag=1s"; echo noise >&2; exit 1'


def test_checks_run_side_by_side_when_they_are_due_and_one_that_hangs_is_ended(bench, tmp_path, monkeypatch):
    monkeypatch.setattr(bench.polling, "PATIENCE", 4.0)
    commands = {
        "says": ["sh", "-c", SAYS],
        "hangs": [sys.executable, "-c", "import time; time.sleep(60)"],
    }
    with (
        bench.record.Recorder(tmp_path / "a", {}) as recorder,
        bench.polling.Polls(commands, {}, recorder, 1.0) as polls,
    ):
        polls.go_on(2.0)
    told = [(run.who, run.status, run.output) for run in recorder.runs]
    # The second look was due while the first one still waited: it is left out.
    assert told == [("says", 1, "OK - x | lag=1s\n"), ("hangs", 3, "(it did not end within 4.0 s)\n")]
    lines = [json.loads(line) for line in (tmp_path / "a").read_text().splitlines()]
    assert [line.get("who") for line in lines] == [None, "says", "hangs"]


def test_what_is_done_meanwhile_may_take_as_long_and_its_error_is_told(bench, tmp_path):
    with (
        bench.record.Recorder(tmp_path / "a", {}) as recorder,
        bench.polling.Polls({"says": [sys.executable, "-c", ""]}, {}, recorder, 0.5) as polls,
    ):
        done = []
        polls.go_on(1.2, meanwhile=lambda: done.append(time.sleep(0.6)))
        assert done
        assert recorder.runs
        with pytest.raises(ZeroDivisionError):
            polls.go_on(0.1, meanwhile=lambda: 1 / 0)
