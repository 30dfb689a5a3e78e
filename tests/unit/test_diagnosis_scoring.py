"""How lines are judged that were printed while a fault was there, of which all is known."""

import json
from types import SimpleNamespace

import pytest

ALONE = "check_replication_lag"
OK, WARNING, CRITICAL, UNKNOWN = range(4)


@pytest.fixture(scope="module")
def bench(diagnosis_modules):
    names = ("case", "causes", "claims", "record", "scoring", "truth", "results")
    return SimpleNamespace(**{name: diagnosis_modules(name) for name in names})


def line(state, words, lag=None):
    perfdata = "" if lag is None else f" | lag={lag}s;15;120 backlog=3"
    return f"REPLICATION_LAG {('OK', 'WARNING', 'CRITICAL', 'UNKNOWN')[state]} - {words}{perfdata}\n"


def trial(bench, *runs, lags=None, events=None, delay=0.0):
    """A trial whose fault lasts from 15 to 75 s; runs are (at, state, words, lag told, true lag)."""
    kept = tuple(
        bench.record.Run(ALONE, at, at + 0.2, state, line(state, words, told), true, true)
        for at, state, words, told, true in runs
    )
    growing = [(float(at), max(0.0, at - 15.0)) for at in range(75)]
    events = {"injected": 15.0, "taken back": 75.0} | (events or {})
    return bench.record.Trial(
        "row lock", "mysql", "2 commits/s", kept, tuple(growing if lags is None else lags), events, delay
    )


def score(bench, tried, *, is_fault=True, **expected):
    expected = bench.case.Expected(**{"right": ("row lock",)} | expected if is_fault else expected)
    return bench.scoring.score(tried, expected, ALONE, is_fault=is_fault, every=10)


HELD = "replica of db1 {} s behind (commit time); cause: the applier has waited {} s for a row lock of 22"


def held(at, state=WARNING, words=HELD):
    return at, state, words.format(at - 15, at - 15), at - 15, at - 15


def test_a_fault_that_is_told_right(bench):
    tried = trial(bench, (5, OK, "replica of db1 0 s behind", 0, 0), held(25, OK), *map(held, (35, 45, 55)))
    scored = score(bench, tried)
    assert scored == bench.scoring.Score(
        in_time=True, right=True, unhedged=True, share=1.0, causes={"row lock": 3}, errors=(0, 0, 0, 0),
        unknown=(0, 4), etas=(), wrong=(), false=(),
    )  # fmt: skip


def test_a_cause_may_be_missed_once_and_not_more_often(bench):
    none = "replica of db1 {} s behind (commit time)"
    assert score(bench, trial(bench, held(25, OK, none), held(35), held(45))).right is True
    scored = score(bench, trial(bench, held(25), held(35, words=none), held(45, words=none), held(55)))
    assert (scored.right, scored.causes) == (False, {"none": 2, "row lock": 1})
    assert scored.wrong == ()


def test_a_hedged_cause_is_right_and_never_wrong_and_certain(bench):
    likely = HELD.replace("cause: ", "cause: probably ")
    scored = score(bench, trial(bench, *(held(at, words=likely) for at in (35, 45, 55))))
    assert (scored.right, scored.unhedged) == (True, False)
    slow = "replica of db1 {} s behind; cause: perhaps the receiver does not keep up"
    assert score(bench, trial(bench, *(held(at, words=slow) for at in (35, 45, 55)))).wrong == ()


def test_another_cause_is_wrong_and_certain_unless_it_is_fair(bench):
    slow = "replica of db1 {} s behind; cause: the receiver does not keep up, network or source"
    tried = trial(bench, *(held(at, words=slow) for at in (35, 45, 55)))
    scored = score(bench, tried)
    assert scored.right is False
    assert [one.why for one in scored.wrong] == ["cause: slow link"] * 3
    assert score(bench, tried, fair=("slow link",)).wrong == ()


def test_a_lag_that_is_none_though_there_is_one(bench):
    tried = trial(bench, (45, OK, "replica of db1 0 s behind (Seconds_Behind)", 0, 30))
    assert [one.why for one in score(bench, tried).wrong] == ["lag 0 s, 30 true"]
    caveat = "replica of db1 0 s behind (Seconds_Behind; a slow link would not show: give --source)"
    assert score(bench, trial(bench, (45, OK, caveat, 0, 30))).wrong == ()


def test_a_bound_is_right_on_its_side(bench):
    for words, told, wrong in (
        ("up to 40 s behind", 40, False), ("up to 15 s behind", 15, True),
        ("at least 15 s behind", 15, False), ("at least 50 s behind", 50, True),
    ):  # fmt: skip
        cause = f"replica of db1 {words}; cause: a row lock of connection 22"
        scored = score(bench, trial(bench, (45, WARNING, cause, told, 30)))
        assert bool(scored.wrong) is wrong, words
        assert bool(scored.errors) is wrong, words


def test_nothing_counts_before_there_is_evidence(bench):
    tried = trial(
        bench, (25, OK, "replica of db1 0 s behind", 0, 10), (55, OK, "replica of db1 0 s behind", 0, 40)
    )
    scored = score(bench, tried, evident=30.0)
    assert [one.at for one in scored.wrong] == [40.0]
    assert scored.errors == (40,)
    assert score(bench, tried, states=(WARNING,), evident=30.0).in_time is False


def test_a_state_follows_from_the_lag_with_some_room_at_the_threshold(bench):
    run = bench.record.Run(ALONE, 0, 0, 0, "", 13.0, 13.0)
    assert bench.scoring.states_of(run) == {OK, WARNING}
    assert bench.scoring.states_of(run._replace(low=20.0, high=21.0)) == {WARNING}
    assert bench.scoring.states_of(run._replace(low=200.0, high=201.0)) == {CRITICAL}
    assert bench.scoring.states_of(run._replace(low=200.0, high=201.0), delay=200.0) == {OK}


def test_who_alarms_always_is_never_in_time(bench):
    tried = trial(bench, (5, CRITICAL, "unable to get replication info", None, 0), *map(held, (35, 45, 55)))
    assert score(bench, tried).in_time is False


def test_a_direction_that_is_upside_down(bench):
    words = "replica of db1 {} s behind, catching up, done in 12 s; cause: row lock of 22"
    scored = score(bench, trial(bench, held(35), held(45, words=words)))
    assert [one.why for one in scored.wrong] == ["catching up while the lag grew"]


def test_an_end_that_is_foretold_is_compared_with_what_happened(bench):
    lags = [(float(at), max(0.0, 90.0 - at)) for at in range(75, 110)]
    words = "replica of db1 10 s behind, catching up, done in 20 s"
    tried = trial(bench, (80, OK, words, 10, 10), lags=lags)
    [(told, came)] = score(bench, tried).etas
    assert (told, came) == (20.0, pytest.approx(9, abs=1))
    early = trial(bench, (60, WARNING, words, 45, 45), lags=lags)
    assert score(bench, early).etas == ()  # the fault was taken back in between


def test_a_healthy_thing_that_alarms(bench):
    runs = [(5, OK, "fine", 0, 0), (25, WARNING, "replica of db1 30 s behind (clocks differ)", 30, 0)]
    scored = score(bench, trial(bench, *runs, lags=[(0.0, 0.0)]), is_fault=False)
    assert [one.why for one in scored.false] == ["false alarm"]
    assert [one.why for one in scored.wrong] == ["lag 30 s, 0 true"]
    allowed = score(bench, trial(bench, *runs, lags=[(0.0, 0.0)]), is_fault=False, allowed=(WARNING,))
    assert allowed.false == ()


def test_an_alarm_before_a_fault_and_long_after_it_is_false(bench):
    lags = [(float(at), 30.0 if at < 80 else 0.0) for at in range(120)]
    runs = [(at, WARNING, "replica of db1 30 s behind; cause: row lock", 30, 30) for at in (5, 40, 95, 105)]
    assert [one.at for one in score(bench, trial(bench, *runs, lags=lags)).false] == [-10, 90]


def test_what_only_the_source_knows_may_be_told_as_any_lag_since_then(bench):
    words = (
        "replica of db1: the receiver cannot connect to the source: error 2003; 30 s behind (last contact)"
    )
    tried = trial(bench, (45, CRITICAL, words, 30, 0))
    assert score(bench, tried, right=("source unreachable",), evident=1.0, unheard=True).wrong == ()
    assert score(bench, tried, right=("source unreachable",), evident=1.0).wrong != ()


CAUSES = {
    "63 s behind (commit time); cause: the applier has waited 13 s for a row lock of connection 22; also disk"
    " sda is 99 % busy: let it commit, or KILL 22": ("row lock", False),
    "the applier stopped with error 1062: Duplicate entry; 3 s behind; also disk sda is 98 % busy": (
        "applier failed", False,
    ),
    "no event or heartbeat for 46 s: look at the network: is it up?": ("link silent", False),
    "30 s behind (clocks differ by 30 s, or all comes late); cause: the receiver does not keep up, network or"
    " source (transport 30 of 30 s)": ("slow link", False),
    "0 s behind (Seconds_Behind; a slow link would not show: give --source)": (None, None),
    "9 s behind; cause: the moon is full": ("other", False),
    "lags 63 s (limit 60 s), probably a row lock - KILL 22": ("row lock", True),
    "lags 63 s (limit 60 s) and grows 1 s/s, the applier has waited 13 s for a row lock of connection"
    " 22 - KILL 22 or let it commit": ("row lock", False),
    "lags 3 s, the applier stopped with error 1062: Duplicate entry - compare that row": (
        "applier failed", False,
    ),
    "lags up to 46 s, no event or heartbeat for 46 s - see whether db1 and the link to it are up": (
        "link silent", False,
    ),
    "lags 0 s, delayed by 1 h as configured": ("intended delay", False),
    "9 s behind; cause: table a.b likely has no usable key: 9 rows are read": ("table without key", True),
    "the source refuses the receiver: error 1045, Access denied for user; 0 s behind": (
        "login refused", False,
    ),
    "the receiver cannot connect to the source: error 2003: Can't connect; 3 s behind": (
        "source unreachable", False,
    ),
}  # fmt: skip


@pytest.mark.parametrize("text", CAUSES)
def test_the_first_cause_of_a_line(bench, text):
    cause = bench.causes.first_cause(f"replica of db1:3306 {text}")
    assert (cause and cause.name, cause and cause.hedged) == CAUSES[text]


@pytest.mark.parametrize(
    ("output", "lag", "side", "trend", "etas"),
    [
        ("OK - 0 s behind | lag=0s;60;600 seconds_behind=0s", 0.0, "", 0, {}),
        ("OK - up to 12 s behind (last contact) | lag=12.4s;60;600", 12.4, "at most", 0, {}),
        ("WARNING - 63 s behind, falling behind 1 s/s, CRITICAL in 8 min 57 s; cause | lag=63s", 63.0, "", 1,
         {"critical": 537.0}),
        ("WARNING - 20 s behind, catching up, done in 1 min 25 s; cause | lag=20s;10;600", 20.0, "", -1,
         {"done": 85.0}),
        ("UNKNOWN - lag not known", None, "about", 0, {}),
        (("WARNING - replica of db1 lags 63 s (limit 60 s) and grows 1 s/s, row lock | lag=63s;60;600\n"
          "  CRITICAL in 8 min 57 s if it goes on so"), 63.0, "", 1, {"critical": 537.0}),
        ("OK - replica of db1 lags 20 s, catching up, done in 17 min | lag=20s", 20.0, "", -1,
         {"done": 1020.0}),
        ("WARNING - replica of db1 lags up to 51 s, no event | lag=51s;60", 51.0, "at most", 0, {}),
        ("WARNING - replica of db1 lags at least 51 s (limit 9 s) | lag=51s;9", 51.0, "at least", 0, {}),
        ("OK - db1 lags 0 s | lag=0s\n[OK] db1: a slow link would not show: look", 0.0, "about", 0, {}),
        ("CRITICAL - replica of db1, lag unknown (Seconds_Behind is NULL), stopped", None, "about", 0, {}),
        ("OK 3 seconds of replication delay | replication_delay=3;15;120;0;", 3.0, "", 0, {}),
        ("OK - Slave is 4 seconds behind master | 'slave_lag'=4;15;120", 4.0, "", 0, {}),
    ],
)  # fmt: skip
def test_what_a_line_claims(bench, output, lag, side, trend, etas):
    assert bench.claims.claim(output) == (lag, side, trend, etas)


def test_the_true_lag_is_the_age_of_the_oldest_commit_that_is_missing(bench):
    committed = [(1, 10.0), (2, 11.0), (3, 12.0)]
    seen = [bench.truth.Seen(10.4, 10.5, 1), bench.truth.Seen(14.0, 14.1, 2), bench.truth.Seen(15.0, 15.1, 3)]
    assert bench.truth.true_lag(committed, seen, 9.0) is None
    assert bench.truth.true_lag(committed, seen, 10.9) == (0.0, 0.0)
    assert bench.truth.true_lag(committed, seen, 13.0) == (1.0, 2.0)  # the second one came at some time
    assert bench.truth.true_lag(committed, seen, 16.0) == (0.0, 0.0)
    assert bench.truth.lag_within(committed, seen, 12.5, 14.5) == (0.0, 3.0)


def test_what_was_kept_is_read_again_also_if_it_was_ended(bench, tmp_path):
    head = {"case": "row lock", "server": "mysql", "strength": "weak", "begun": 0.0}
    with bench.record.Recorder(tmp_path / "a", head) as recorder:
        recorder.run(bench.record.Run(ALONE, 1.0, 2.0, 0, "OK"))
        recorder.event("injected")
        ended = bench.record.read(tmp_path / "a")
        recorder.add(truths=[[0.0, 0.5]], lags=[[1.0, 0.2]], delay=10.0)
    whole = bench.record.read(tmp_path / "a")
    assert ended.failed == "it did not end in time"
    assert (whole.failed, whole.delay, whole.lags, list(whole.events)) == (
        "",
        10.0,
        ((1.0, 0.2),),
        ["injected"],
    )
    assert whole.by(ALONE) == [bench.record.Run(ALONE, 1.0, 2.0, 0, "OK", 0.0, 0.5)]


def row(**told):
    usual = {"case": "row lock", "server": "mysql", "strength": "weak", "who": ALONE, "in_time": True,
             "right": True, "unhedged": True, "errors": [0.5], "unknown": [0, 5], "wrong": [], "false": [],
             "etas": [],             "share": 1.0, "causes": {}}  # fmt: skip
    return usual | told


CASES = {"row lock": {"fault": True, "strengths": ["weak", "strong"], "alone": True, "servers": ["mysql"]}}


def test_a_fault_is_right_only_if_it_is_at_all_strengths(bench):
    weak, strong = row(), row(strength="strong")
    right = bench.scoring.fault_is_right
    assert right([weak, strong], ["weak", "strong"]) is True
    assert right([weak, strong | {"right": False}], ["weak", "strong"]) is False
    assert right([weak], ["weak", "strong"]) is None
    assert right([weak | {"right": False}], ["weak", "strong"]) is False


def test_bars_that_nobody_could_judge_are_not_met(bench):
    assert not any(bar["met"] for bar in bench.results.bars(CASES, []))
    told = bench.results.bars(CASES, [row(), row(strength="strong", unhedged=False, wrong=[{}])])
    met = {bar["what"]: bar["met"] for bar in told}
    assert met["faults with the right first cause at all strengths"]
    assert not met["of the right ones, without a hedge"]
    assert not met["lines that are wrong and certain"]
    assert met["false alarms"]


@pytest.fixture(scope="module")
def all_cases(diagnosis_modules):
    return diagnosis_modules("parts").cases("replication")


def test_every_case_says_what_is_true(bench, all_cases):
    for name, case in all_cases.items():
        assert case.about, name
        assert {*case.expected.right, *case.expected.fair} <= bench.causes.CAUSES.keys(), name
        assert len(case.strengths) == 3 or not case.is_fault, name
        assert case.is_fault or not case.expected.right, name


def test_there_is_time_for_all(all_cases):
    lanes, minutes, starts = 5, 40, 15
    seconds = sum((case.seconds + starts) * len(case.strengths) for case in all_cases.values())
    assert seconds / lanes < 60 * minutes


def test_what_is_kept_can_be_read_by_anybody(bench, tmp_path):
    with bench.record.Recorder(tmp_path / "a", {"case": "ü"}) as recorder:
        recorder.event("injected")
    first, _ = (tmp_path / "a").read_text().splitlines()
    assert json.loads(first) == {"case": "ü"}


def test_a_doubt_that_stands_in_each_healthy_line_too_is_none(bench):
    caveat = "replica of db1 0 s behind (Seconds_Behind; a slow link would not show: give --source)"
    tried = trial(bench, (5, OK, caveat, 0, 0), (45, OK, caveat, 0, 30))
    assert [one.why for one in score(bench, tried).wrong] == ["lag 0 s, 30 true"]


def test_a_line_counts_once_however_wrong_it_is(bench):
    words = "replica of db1 90 s behind; cause: the receiver does not keep up"
    [wrong] = score(bench, trial(bench, (45, WARNING, words, 90, 30))).wrong
    assert wrong.why == "cause: slow link; lag 90 s, 30 true"


def test_a_fault_that_ends_by_itself_is_judged_while_it_lasts(bench):
    none = (55, OK, "replica of db1 0 s behind", 0, 0)
    scored = score(bench, trial(bench, held(25, OK), held(35), held(45), none))
    assert (scored.share, scored.wrong, scored.unknown) == (1.0, (), (0, 3))


def test_what_the_replica_alone_cannot_know_is_not_judged_of_it(bench):
    tried = trial(
        bench, (5, OK, "0 s behind", 0, 0), (45, OK, "0 s behind", 0, 30), (55, OK, "0 s behind", 0, 40)
    )
    scored = score(bench, tried, alone=False)
    assert (scored.in_time, scored.right, scored.unknown, scored.errors) == (None, None, (0, 0), ())
    assert len(scored.wrong) == 2  # it says 0 without a doubt
