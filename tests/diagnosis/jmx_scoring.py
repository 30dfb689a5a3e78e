"""How good what checks of JVMs printed is: pure functions of a Trial and what was Expected.

A run counts from when evidence exists, and for causes from the second one after that. The cause is that of
the JSON; of a check that has none there, what is said first, up to the next step.
"""

import re
from fnmatch import fnmatchcase

from case import ALARMS
from causes import HEDGES
from ndb_scoring import about, calibration, measured, rights  # noqa: F401 - the same as of NDB Cluster
from scoring import ENOUGH, POLLS, Score, Wrong

RIGHT, OTHER, NOTHING = "right", "another cause", "none"  # what a run names


def score(trial, expected, who, *, is_fault, **_):
    """Judge one check."""
    runs = trial.by(who)
    begin, end = trial.events["injected"], trial.events["taken back"]
    during = [run for run in runs if begin + expected.evident <= run.begun < end]
    told = expected.told.get(who) if is_fault else None
    named = [(_name(run, told), run) for run in during[1:]] if told else []
    right = [run for name, run in named if name == RIGHT]
    share = len(right) / len(named) if named else None
    causes = {}
    for name, _run in named:
        causes[name] = causes.get(name, 0) + 1
    return Score(
        in_time=_in_time(runs, during, expected, begin) if told else None,
        right=None if share is None else share >= ENOUGH,
        unhedged=None if not right else sum(not is_hedged(run) for run in right) > len(right) / 2,
        share=share, causes=causes, errors=(), unknown=(0, 0), etas=(),
        wrong=tuple(_wrong(expected, told, runs, begin, end)) if is_fault else (),
        false=tuple(_false(runs, begin, is_fault=is_fault)),
        calibration=calibration(runs, begin, end, lambda run: _is(run, told)) if told else {},
    )  # fmt: skip


def said(run):
    """What a line says first: without name and state, and without the next step."""
    return [*run.text.split(" - "), ""][1]


def is_hedged(run):
    """Whether a run leaves room for doubt."""
    return run.cause["certainty"] != "certain" if run.cause else bool(HEDGES.search(said(run)))


def is_told(cause, told):
    """Whether a cause of the JSON is this one."""
    subject = cause.get("subject", {}).get("id") or ""
    return cause.get("kind") in told.kinds.split() and fnmatchcase(subject, told.of)


def _is(run, told):
    """Whether a run names this cause."""
    return bool(re.search(told, said(run))) if isinstance(told, str) else is_told(run.cause, told)


def _name(run, told):
    if run.status not in ALARMS:
        return NOTHING
    return RIGHT if _is(run, told) else OTHER


def _in_time(runs, during, expected, begin):
    """Whether the right state was told within two runs; one that alarms before says nothing by that."""
    if not during or any(run.status in ALARMS for run in runs if run.begun < begin):
        return None if not during else False
    return any(run.status in expected.states for run in during[:POLLS])


def _wrong(expected, told, runs, begin, end):
    """The runs that are wrong and leave no doubt."""
    for run in (run for run in runs if begin <= run.begun < end and run.status in ALARMS):
        kind = run.cause.get("kind")
        reasons = [f"cause: {kind}"] if kind in expected.wrong else []
        fair = (told and _is(run, told)) or (expected.fair and re.search(expected.fair, said(run)))
        if not reasons and not is_hedged(run) and not fair:
            reasons = [f"cause: {kind or 'another'}"]
        if reasons:
            yield Wrong(reasons[0], round(run.begun - begin, 1), run.line)


def _false(runs, begin, *, is_fault):
    """The lines that alarm where nothing is wrong: before the fault, and of healthy things."""
    for run in runs:
        if (run.begun < begin or not is_fault) and run.status in ALARMS:
            yield Wrong("false alarm", round(run.begun - begin, 1), run.line)
