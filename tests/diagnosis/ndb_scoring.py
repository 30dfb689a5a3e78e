"""How good what checks of NDB Cluster printed is: pure functions of a Trial and what was Expected.

A run counts from when evidence exists, and for causes from the second one after that. What is wrong and
certain is so from the injection on. One that names the right cause of the wrong node is wrong.
"""

import re
from statistics import fmean

from case import ALARMS
from ndb_causes import first_cause, first_nodes
from scoring import ENOUGH, POLLS, Score, Wrong

CERTAINTIES = ("certain", "likely")


def score(trial, expected, who, *, is_fault, **_):
    """Judge one check."""
    runs = trial.by(who)
    begin, end = trial.events["injected"], trial.events["taken back"]
    evidence = trial.events.get("evident", begin + expected.evident) if is_fault else begin
    during = [run for run in runs if evidence <= run.begun < end]
    told = expected.told.get(who, ()) if is_fault else ()
    named = [(_alarm(run), run) for run in during[1:]] if told else []

    def is_right(run):
        cause = _alarm(run)
        return bool(cause) and cause.name in told and _is_right_node(run, trial)

    right = [cause for cause, run in named if is_right(run)]
    share = len(right) / len(named) if named else None
    causes = {}
    for cause, _ in named:
        name = cause.name if cause else "none"
        causes[name] = causes.get(name, 0) + 1
    return Score(
        in_time=_in_time(runs, during, expected, begin) if told else None,
        right=None if share is None else share >= ENOUGH,
        unhedged=None if not right else sum(not cause.hedged for cause in right) > len(right) / 2,
        share=share,
        causes=causes,
        errors=(), unknown=(0, 0), etas=(),
        wrong=tuple(_wrong(trial, expected, who, runs)) if is_fault else (),
        false=tuple(_false(expected, who, runs, begin, is_fault=is_fault)),
        calibration=calibration(runs, begin, end, is_right) if told else {},
    )  # fmt: skip


def calibration(runs, begin, end, is_right):
    """By certainty how many of the causes in the JSON of a fault's runs are right, and how many there are."""
    found = {}
    for certainty in CERTAINTIES:
        during = (run for run in runs if begin <= run.begun < end and run.status in ALARMS)
        those = [run for run in during if run.cause.get("certainty") == certainty]
        found[certainty] = [sum(map(is_right, those)), len(those)]
    return found


def _alarm(run):
    """The cause that a run that alarms names."""
    return first_cause(run) if run.status in ALARMS else None


def _in_time(runs, during, expected, begin):
    """Whether the right state was told within two runs; one that alarms before says nothing by that."""
    if not during or any(run.status in ALARMS for run in runs if run.begun < begin):
        return None if not during else False
    return any(run.status in expected.states for run in during[:POLLS])


def _is_right_node(run, trial):
    nodes = first_nodes(run)
    return not trial.nodes or not nodes or bool(nodes & set(trial.nodes))


def _wrong(trial, expected, who, runs):
    """The lines that are wrong and leave no doubt."""
    begin, end = trial.events["injected"], trial.events["taken back"]
    fair = {*expected.told.get(who, ()), *expected.fair}
    for run in (run for run in runs if begin <= run.begun < end):
        cause = _alarm(run)
        reasons = []
        if cause and not cause.hedged and cause.name not in fair:
            reasons.append(f"cause: {cause.name}")
        if cause and not _is_right_node(run, trial):
            reasons.append(f"node: {min(first_nodes(run))}")
        reasons += [f"says {words}" for words in expected.wrong if re.search(words, run.text)]
        if reasons:
            yield Wrong("; ".join(reasons), round(run.begun - begin, 1), run.line)


def _false(expected, who, runs, begin, *, is_fault):
    """The lines that alarm where nothing is wrong: before the fault, and of healthy things."""
    allowed = expected.allowed.get(who, ())
    for run in runs:
        before = run.begun < begin
        if (before or not is_fault) and run.status in ALARMS and (before or run.status not in allowed):
            yield Wrong("false alarm", round(run.begun - begin, 1), run.line)


# what it came to


def about(cases):
    """What is known of each case, for the results."""
    return {
        name: {"about": case.about, "fault": case.is_fault, "strengths": list(case.strengths),
               "checks": list(case.expected.told), "servers": list(case.servers)}
        for name, case in cases.items()
    }  # fmt: skip


def rights(cases, trials):
    """By fault and check whether the first cause is right at all strengths; None: not known."""
    found = {}
    for name, case in cases.items():
        for check in case["checks"] if case["fault"] else ():
            rows = [row for row in trials if (row["case"], row["who"]) == (name, check)]
            told = {row["strength"]: row["right"] for row in rows}
            is_whole = len(told) == len(case["strengths"]) and None not in told.values()
            found[name, check] = False if False in told.values() else True if is_whole else None
    return found


def measured(cases, trials):
    """What the bars are about: shares and counts, None where nobody could judge."""
    faults = {name for name, case in cases.items() if case["fault"]}
    known = [right for right in rights(cases, trials).values() if right is not None]
    rows = [row for row in trials if row["case"] in faults]
    plain = [row["unhedged"] for row in rows if row["right"]]
    timely = [row["in_time"] for row in rows if row["in_time"] is not None]
    wrong, false = (sum(len(row[kind]) for row in trials) if trials else None for kind in ("wrong", "false"))
    return *(fmean(values) if values else None for values in (known, plain, timely)), wrong, false
