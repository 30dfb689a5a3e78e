"""How lines about NDB Cluster are judged that were printed while a fault was there, of which all is known."""

import json
from types import SimpleNamespace

import pytest

OK, WARNING, CRITICAL, UNKNOWN = range(4)
STATES = ("OK", "WARNING", "CRITICAL", "UNKNOWN")
LOG = "check_ndb_log"
KILLED = "node 4 ended at 08:34:34, killed by signal 9 - look in dmesg for the out-of-memory killer"
FROZEN = (
    "node 4 all threads overslept 8 s at 08:33:33: the whole process or machine stood still:"
    " look for a paused VM, swapping, VM steal"
)


@pytest.fixture(scope="module")
def bench(diagnosis_modules):
    names = ("case", "ndb_case", "ndb_causes", "ndb_scoring", "parts", "record", "results")
    return SimpleNamespace(**{name: diagnosis_modules(name) for name in names})


def score(bench, *runs, is_fault=True, nodes=(4,), events=None, **expected):
    """Judge runs (at, state, words) of a trial whose fault lasts from 15 to 75 s."""
    kept = tuple(
        bench.record.Run(LOG, at, at + 0.2, state, f"NDB_LOG {STATES[state]} - {words} | lines=3\n")
        for at, state, words in runs
    )
    events = {"injected": 15.0, "taken back": 75.0} | (events or {})
    tried = bench.record.Trial("killed", "ndb", "idle", kept, events=events, nodes=nodes)
    told = {"told": {LOG: ("killed",)}} | expected
    return bench.ndb_scoring.score(tried, bench.ndb_case.Expected(**told), LOG, is_fault=is_fault)


def test_a_fault_that_is_told_right(bench):
    fine = (5, OK, "12 new lines of 2 logs, no thread stuck")
    scored = score(bench, fine, *((at, CRITICAL, KILLED) for at in (25, 35, 45)))
    assert scored[:5] == (True, True, True, 1.0, {"killed": 2})
    assert scored.wrong == scored.false == ()


def test_another_cause_or_another_node_is_wrong_and_certain(bench):
    other = KILLED.replace("node 4", "node 3")
    scored = score(bench, *((at, CRITICAL, words) for at in (25, 35) for words in (FROZEN, other)))
    assert scored.right is False
    assert [one.why for one in scored.wrong] == ["cause: process stood still", "node: 3"] * 2


def test_a_doubt_is_not_certain_and_what_is_fair_is_not_wrong(bench):
    doubt = "node 4 does not answer, probably a lost connection: network trouble - look at it"
    assert score(bench, (25, CRITICAL, doubt.replace("network", "probably network"))).wrong == ()
    assert score(bench, (25, CRITICAL, FROZEN), fair=("process stood still",)).wrong == ()


def printed(bench, output, state=WARNING):
    """A run that printed this while a fault was there."""
    return bench.record.Run(LOG, 25, 25.2, state, output)


def test_who_reports_is_not_the_node_that_is_meant(bench):
    def nodes(line):
        return bench.ndb_causes.first_nodes(printed(bench, line))

    assert nodes("NDB_LOG WARNING - node 3: node 4 missed heartbeat 2 at 08:32:52: look at it") == {4}
    assert nodes("NDB_LOG CRITICAL - management node 1 missed heartbeat 3 of node 4 at 10:47:16") == {4}
    assert nodes("NDB_NODES WARNING - nodes 3 and 4 restarted") == {3, 4}
    assert nodes("NDB_NODES WARNING - no arbitrator, management node 10.0.0.1:1186 is down") == set()
    assert nodes("NDB_NODES CRITICAL - cluster down: none of 2 data nodes is connected") == set()


def test_a_cause_comes_before_its_symptom_and_advice_names_none(bench):
    def name(words):
        found = bench.ndb_causes.first_cause(printed(bench, f"NDB_LOG WARNING - {words}"))
        return found and found.name

    assert name("node 3 redo buffer full 6 times, median 0.9 s: the disk cannot drain it") == "slow disk"
    assert name("node 3 redo buffer full 6 times, median 0.9 s") == "redo buffer"
    assert name("node 4 is missing, its process has ended - look for network trouble") == "node down"
    says = "node 4 is missing: the management server ndb1:1186 says that node 4 is not connected"
    assert name(says) == "node down"
    assert name('node 4 is starting ("Wait LCP to ensure durability"): wait') == "starting"
    assert name("node 4 missed heartbeat 2: look whether its machine stood still") == "missed heartbeats"
    assert name("the management server ndb1:1186 does not answer") == "management node down"
    assert name("no ndbmtd works in /d4: here runs ndbmtd 7 (an angel without its node)") == "node down"
    assert name("all is well") is None


@pytest.mark.parametrize(
    ("kind", "node", "certainty", "right", "wrong", "calibration"),
    [
        ("slow_disk", "4", "certain", True, (), {"certain": [2, 2], "likely": [0, 0]}),
        ("slow_disk", "4", "likely", True, (), {"certain": [0, 0], "likely": [2, 2]}),
        ("slow_disk", "3", "certain", False, ("node: 3",) * 2, {"certain": [0, 2], "likely": [0, 0]}),
        ("redo_bursts", "4", "certain", False, ("cause: redo buffer",) * 2,
         {"certain": [0, 2], "likely": [0, 0]}),
        ("unknown", "4", "possible", False, (), {"certain": [0, 0], "likely": [0, 0]}),
    ],
)  # fmt: skip
def test_a_cause_in_the_json_is_judged_by_that(bench, kind, node, certainty, right, wrong, calibration):
    cause = {"kind": kind, "certainty": certainty, "subject": {"thing": "node", "id": node}}
    told = {"name": "x", "state": "WARNING", "summary": "words that name no cause",
            "findings": [{"state": "WARNING", "cause": cause}]}  # fmt: skip
    runs = tuple(printed(bench, json.dumps(told))._replace(begun=at) for at in (25, 35))
    events = {"injected": 15.0, "taken back": 75.0}
    tried = bench.record.Trial("slow disk", "ndb", "idle", runs, events=events, nodes=(4,))
    expected = bench.ndb_case.Expected(told={LOG: ("slow disk",)})
    scored = bench.ndb_scoring.score(tried, expected, LOG, is_fault=True)
    assert scored.right is right
    assert tuple(one.why for one in scored.wrong) == wrong
    assert scored.calibration == calibration


def test_what_heals_before_evidence_exists_is_not_judged(bench):
    runs = ((at, OK, "no thread stuck") for at in (25, 35, 45))
    scored = score(bench, *runs, (65, WARNING, KILLED), events={"evident": 60.0})
    assert (scored.in_time, scored.wrong, scored.causes) == (True, (), {})


def test_alarms_of_healthy_things_are_false_if_they_are_not_allowed(bench):
    runs = ((5, OK, "all is well"), (25, WARNING, KILLED), (35, CRITICAL, KILLED))
    scored = score(bench, *runs, is_fault=False, allowed={LOG: (WARNING,)})
    assert [one.at for one in scored.false] == [20]
    assert len(score(bench, *runs, is_fault=False).false) == 2


def test_one_that_alarms_before_there_is_a_fault_says_nothing_by_that(bench):
    scored = score(bench, (5, CRITICAL, KILLED), (25, CRITICAL, KILLED))
    assert scored.in_time is False
    assert [one.at for one in scored.false] == [-10]


def test_a_fault_counts_for_each_check_that_is_to_tell_it_if_right_at_all_strengths(bench):
    cases = {"killed": {"fault": True, "strengths": ["weak", "strong"], "checks": [LOG, "check_ndb_nodes"]}}
    row = {"case": "killed", "who": LOG, "right": True, "strength": "weak"}
    rights = bench.ndb_scoring.rights
    assert rights(cases, [row]) == {("killed", LOG): None, ("killed", "check_ndb_nodes"): None}
    assert rights(cases, [row, row | {"strength": "strong"}])["killed", LOG] is True
    assert rights(cases, [row, row | {"strength": "strong", "right": False}])["killed", LOG] is False


def test_every_case_says_what_is_true(bench):
    for name, case in bench.parts.cases("ndb").items():
        expected = case.expected
        assert case.about, name
        assert {*expected.fair}.union(*expected.told.values()) <= bench.ndb_causes.NAMES.keys(), name
        assert expected.told.keys() | expected.allowed.keys() <= {*bench.ndb_case.CHECKS}, name
        assert len(case.strengths) == 3 or not case.is_fault, name
        assert case.is_fault == bool(expected.told), name


def test_there_is_time_for_all(bench):
    """Servers start, and heal: 9.4 s for each of 30 trials on 2 processors."""
    minutes, starts = 40, 10
    seconds = sum((case.seconds + starts) * len(case.strengths) for case in bench.parts.cases("ndb").values())
    assert seconds / bench.parts.LANES["ndb"] < 60 * minutes


def test_trials_are_on_clusters_each_with_a_file_of_its_own(diagnosis_modules):
    options = SimpleNamespace(case=None, server=None, strength=None, quick=False)
    jobs = diagnosis_modules("jobs").jobs("ndb", options)
    assert {job.server for job in jobs} == {"ndb"}
    assert len({job.path for job in jobs}) == len(jobs)


def test_cases_that_were_not_played_here_keep_their_results(bench):
    def row(case, wrong=()):
        return {"case": case, "who": "check_ndb_log", "strength": "x", "right": True, "unhedged": True,
                "in_time": True, "wrong": list(wrong), "false": []}  # fmt: skip

    about = {"fault": True, "strengths": ["x"], "checks": ["check_ndb_log"]}
    cases = {"mended": about, "as before": about}
    here = {"part": "ndb", "cases": cases, "trials": [row("mended")], "slow": [1, 7]}
    old = [row("mended", ["a line"]), row("as before"), row("a case of the past")]
    before = {"day": "2026-11-24", "slow": [2, 90], "again": ["as before"], "trials": old}
    told = bench.results.merged(here, before)
    assert [(one["case"], one["wrong"]) for one in told["trials"]] == [("mended", []), ("as before", [])]
    assert told["again"] == ["as before", "mended"]
    assert told["slow"] == [3, 97]
    assert told["day"] == "2026-11-24"
    assert all(bar["met"] for bar in told["bars"])
