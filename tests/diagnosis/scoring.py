"""How good what was printed is, against what was true: pure functions of a Trial and what was Expected.

A run counts from when evidence exists, and for causes from the second one after that: a check may miss
one. What is printed after the fault was taken back counts for the lag and where it goes.
"""

import re
from itertools import pairwise
from typing import NamedTuple

from case import ALARMS, CRITICAL, OK_STATE, UNKNOWN_STATE, WARNING
from causes import first_cause
from claims import ABOUT, AT_LEAST, AT_MOST, claim
from record import ALONE

WORTH = 5.0  # seconds of lag from which on a cause is looked for
NEAR = 3.0  # seconds by which a lag may be off at a threshold: MariaDB counts whole seconds
FAR, FAR_SHARE = 5.0, 0.25  # a lag that is told as certain may be off by so many seconds, or such a share
TURN = 5.0  # seconds by which the true lag has to change between two runs to contradict a trend
OVER = 2.0  # seconds of lag that are none
ENOUGH = 2 / 3  # of the runs that name the right cause first
POLLS = 2  # runs within which the right state is to be told


class Wrong(NamedTuple):
    """A line that is wrong and certain: why, when after the injection, and what it says."""

    why: str
    at: float
    line: str


class Score(NamedTuple):
    """How good one check was in a trial; None: it could not be judged.

    in_time   the right state within two runs of the evidence
    right     the right cause first, in most runs
    unhedged  most of those leave no doubt
    share     of the runs that name the right cause first
    causes    names of the causes that were told first, and how often
    errors    of the lag, in seconds, where evidence was, and after a fault; that of a healthy replica is easy
    unknown   of how many runs the lag was not told though evidence was, and of how many there are
    etas      (told, what happened) in seconds
    wrong     lines that are wrong and certain
    false     lines that alarm, and nothing is wrong
    calibration  of causes in the JSON, by certainty: how many are right, and how many there are
    """

    in_time: bool | None
    right: bool | None
    unhedged: bool | None
    share: float | None
    causes: dict
    errors: tuple
    unknown: tuple
    etas: tuple
    wrong: tuple
    false: tuple
    calibration: dict = {}  # noqa: RUF012 - never changed


def score(trial, expected, who, *, is_fault, every):
    """Judge one of those that were asked."""
    runs = trial.by(who)
    begin, end = trial.events["injected"], trial.events["taken back"]
    evidence = evident_from(trial, expected) if is_fault else begin
    can_know = expected.alone or who != ALONE
    during = [run for run in runs if can_know and _is_during(run, trial, expected, evidence)]
    named = _named(during[1:], expected) if is_fault else []
    right = [cause for cause, is_right in named if is_right]
    share = len(right) / len(named) if named and expected.right else None
    judged = [
        run for run in runs if run.begun >= end or run in during or not (is_fault or run.begun >= begin)
    ]
    causes = {}
    for cause, _ in named:
        causes[cause.name if cause else "none"] = causes.get(cause.name if cause else "none", 0) + 1
    return Score(
        in_time(trial, expected, during) if is_fault else None,
        None if share is None else share >= ENOUGH,
        None if not right else sum(not cause.hedged for cause in right) > len(right) / 2,
        share,
        causes,
        tuple(error for run in judged if (error := lag_error(run, trial, expected)) is not None),
        unknown_of(judged if expected.tells else ()),
        tuple(eta for run in runs for eta in eta_errors(run, trial)),
        tuple(wrong_and_certain(trial, expected, runs, evidence, is_fault=is_fault)),
        tuple(false_alarms(trial, expected, runs, is_fault=is_fault, every=every)),
    )


def evident_from(trial, expected):
    """From when evidence exists; None: it never did."""
    begin = trial.events["injected"]
    if "evident" in trial.events:
        return trial.events["evident"]
    if expected.evident is not None:
        return begin + expected.evident
    end = trial.events["taken back"]
    return next((at for at, lag in trial.lags if begin <= at <= end and lag - trial.delay >= WORTH), None)


def _is_during(run, trial, expected, evidence):
    """Whether evidence exists while a check runs: it is over by itself if it is the lag, and that is gone."""
    if evidence is None or not evidence <= run.begun < trial.events["taken back"]:
        return False
    lags = expected.evident is None and "evident" not in trial.events and run.low is not None
    return not lags or not expected.right or run.low - trial.delay >= WORTH


def _is_evident(run, begin, evidence, end):
    """Whether the true lag could be known: before the fault, from the evidence on, and after its end."""
    return run.begun < begin or run.begun >= end or (evidence is not None and run.begun >= evidence)


def fault_is_right(rows, strengths):
    """Whether the first cause is right at all strengths; None: not all were played, or none was judged."""
    told = {row["strength"]: row["right"] for row in rows}
    if any(right is False for right in told.values()):
        return False
    return None if len(told) < len(strengths) or None in told.values() else True


# states


def states_of(run, delay=0.0):
    """The states that are right by the true lag of a run: near a threshold, both are."""
    if run.high is None:
        return set(range(4))
    low, high = max(0.0, run.low - delay - NEAR), max(0.0, run.high - delay) + NEAR
    return {state for lag in (low, high) for state in [(lag > WARNING) + (lag > CRITICAL)]}


def in_time(trial, expected, during):
    """Whether the right state was told within two runs; by the lag, from when that is over a threshold.

    One that alarms before there is a fault says nothing by that.
    """
    if during and any(run.status for run in trial.by(during[0].who) if run.begun < trial.events["injected"]):
        return False
    if expected.states is not None:
        first = during[:POLLS]
        return None if not first else any(run.status in expected.states for run in first)
    over = [run for run in during if OK_STATE not in states_of(run, trial.delay)]
    if not over:
        return None
    return any(run.status in states_of(run, trial.delay) for run in over[:POLLS])


def false_alarms(trial, expected, runs, *, is_fault, every):
    """The lines that alarm where nothing is wrong: before the fault, of healthy things, and long after it.

    UNKNOWN is none of them: it counts among the runs that know no lag.
    """
    begin, end = trial.events["injected"], trial.events["taken back"]
    over = next((at for at, lag in trial.lags if at >= end and lag - trial.delay < OVER), None)
    for run in runs:
        before = run.begun < begin
        after = over is not None and run.begun > over + POLLS * every
        allowed = expected.allowed if not is_fault and not before else ()
        if (before or after or not is_fault) and run.status in ALARMS and run.status not in allowed:
            yield Wrong("false alarm", round(run.begun - begin, 1), run.line)


# causes


def _named(runs, expected):
    """The first cause of each run, and whether it is right."""
    named = [first_cause(run.text) for run in runs]
    return [(cause, bool(cause) and cause.name in expected.right) for cause in named]


def wrong_and_certain(trial, expected, runs, evidence, *, is_fault):
    """The lines that are wrong and leave no doubt."""
    begin, end = trial.events["injected"], trial.events["taken back"]
    usual = {claim(run.output).side for run in runs if run.begun < begin}
    for before, run in pairwise([None, *runs]):
        known = _is_evident(run, begin, evidence, end)
        during = is_fault and _is_during(run, trial, expected, evidence)
        lasts = during if is_fault else run.begun >= begin
        reasons = [
            *(_wrong_cause(run, expected) if during else ()),
            *(_wrong_lag(run, trial, expected, usual) if known else ()),
            *(_wrong_trend(before, run) if before else ()),
            *(f"says {words}" for words in expected.wrong if lasts and re.search(words, run.text)),
        ]
        if reasons:
            yield Wrong("; ".join(reasons), round(run.begun - begin, 1), run.line)


def _wrong_cause(run, expected):
    cause = first_cause(run.text)
    fair = {*expected.right, *expected.fair}
    if cause and expected.right and not cause.hedged and cause.name not in fair:
        yield f"cause: {cause.name}"


def _truth(run, trial, expected):
    """The least and the most that may be told of the lag; None: nothing is known."""
    if run.high is None:
        return None
    low, high = max(0.0, run.low - trial.delay), max(0.0, run.high - trial.delay)
    begin = trial.events["injected"]
    if expected.unheard and run.begun >= begin:
        low, high = 0.0, max(high, run.ended - begin + NEAR)
    return low, high


def _wrong_lag(run, trial, expected, usual):
    """Why the lag is wrong and certain. ``usual``: a doubt that stands in each healthy line, too, is none."""
    told, truth = claim(run.output), _truth(run, trial, expected)
    if told.lag is None or truth is None or run.status == UNKNOWN_STATE:
        return
    low, high = truth
    slack = max(FAR, FAR_SHARE * high)
    open_sides = {told.side} - ({ABOUT} & usual)
    too_high = not open_sides & {AT_MOST, ABOUT} and told.lag > high + slack
    too_low = not open_sides & {AT_LEAST, ABOUT} and told.lag < low - slack
    if too_high or too_low:
        yield f"lag {told.lag:.0f} s, {low:.0f} true"


def _wrong_trend(before, run):
    told = claim(run.output).trend
    if not told or run.high is None or before.high is None:
        return
    grew = run.low - before.high > TURN, before.low - run.high > TURN
    if told < 0 and grew[0]:
        yield "catching up while the lag grew"
    if told > 0 and grew[1]:
        yield "falling behind while the lag shrank"


# numbers


def lag_error(run, trial, expected):
    """How far the lag that was told is from the truth; None: none was told, or nothing is known."""
    told, truth = claim(run.output), _truth(run, trial, expected)
    if told.lag is None or truth is None:
        return None
    low, high = truth
    error = max(low - told.lag, told.lag - high, 0.0)
    bounded = (told.side == AT_MOST and told.lag > high) or (told.side == AT_LEAST and told.lag < low)
    return None if bounded else round(error, 2)


def unknown_of(runs):
    """Of how many runs the lag was not told, and how many there are."""
    return sum(claim(run.output).lag is None for run in runs), len(runs)


def eta_errors(run, trial):
    """(told, what happened) for each end or crossing that a line foretells, if nothing came between."""
    limits = {"warning": WARNING, "critical": CRITICAL}
    for name, told in claim(run.output).etas.items():
        now = run.ended
        later = [(at, lag - trial.delay) for at, lag in trial.lags if at >= now]
        is_there = (
            (lambda lag: lag < OVER) if name == "done" else (lambda lag, name=name: lag >= limits[name])
        )
        came = next((at for at, lag in later if is_there(lag)), None)
        event = next((at for at in sorted(trial.events.values()) if at > now), None)
        if came is not None and (event is None or came <= event):
            yield told, round(came - now, 1)
