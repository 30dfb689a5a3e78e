"""How good what check_mysql_stalls printed is: pure functions of a Trial and what was Expected.

The fault begins with the first connection that waits ("evident"). Nobody can know of a limit before it is
passed, and for causes the second run after that counts. A state is right too late, and false too early.
"""

from statistics import fmean

from case import ALARMS, CRITICAL_STATE, WARNING_STATE
from locks_told import CERTAIN, LIKELY, told
from scoring import ENOUGH, POLLS, Score, Wrong, fault_is_right

NEAR = 2.0  # seconds: servers count whole ones, and a run takes a while
RIGHT, OTHER, NOBODY, NOTHING = "right", "another head or cause", "not known", "none"  # what a run names


def score(trial, expected, who, *, is_fault, every):
    """Judge the runs of a trial."""
    runs = trial.by(who)
    begin, end = trial.events["injected"], trial.events["taken back"]
    since = trial.events.get("evident", begin)
    warning, _ = expected.limits
    during = [run for run in runs if is_fault and since + warning <= run.begun < end]
    named = [(_name(run, trial, expected), told(run.output).certainty) for run in during[1:]]
    right = [certainty for name, certainty in named if name == RIGHT]
    share = len(right) / len(named) if named else None
    causes = {}
    for name, certainty in named:
        key = f"{name} ({certainty})" if name in (RIGHT, OTHER) else name
        causes[key] = causes.get(key, 0) + 1
    return Score(
        in_time=_in_time(runs, during, since, expected.limits, begin) if is_fault else None,
        right=None if share is None else share >= ENOUGH,
        unhedged=None if not right else right.count(CERTAIN) > len(right) / 2,
        share=share, causes=causes, errors=(), unknown=(0, 0), etas=(),
        wrong=tuple(_wrong(trial, expected, runs, begin, end)) if is_fault else (),
        false=tuple(_false(trial, expected, runs, since, every=every, is_fault=is_fault)),
    )  # fmt: skip


def _name(run, trial, expected):
    """Whether a run that alarms has the right cause: its kind, who blocks, and the rule."""
    if run.status not in ALARMS:
        return NOTHING
    found = told(run.output)
    if trial.heads and not found.heads:
        return NOBODY
    is_head = found.heads <= {*trial.heads} and bool(found.heads) == bool(trial.heads)
    is_rule = not expected.evidence or found.evidence in expected.evidence
    return RIGHT if is_head and is_rule and found.kind == expected.kind else OTHER


def _in_time(runs, during, since, limits, begin):
    """Whether both states were told within two runs of their limits; one that alarms before says nothing."""
    if not during or any(run.status in ALARMS for run in runs if run.begun < begin):
        return None if not during else False
    for state, limit in zip((WARNING_STATE, CRITICAL_STATE), limits, strict=True):
        over = [run for run in during if limit is not None and run.begun >= since + limit]
        if over and not any(state <= run.status <= CRITICAL_STATE for run in over[:POLLS]):
            return False
    return True


def _wrong(trial, expected, runs, begin, end):
    """The runs that are wrong and certain, of head or kind; and those with a next step that is wrong."""
    for run in (run for run in runs if begin <= run.begun < end and run.status in ALARMS):
        found, reasons = told(run.output), []
        others = found.heads - {*trial.heads, *trial.may_end}
        if found.certainty == CERTAIN and trial.heads and others:
            reasons.append(f"head: {min(others)}")
        elif found.certainty == CERTAIN and found.heads and found.kind != expected.kind:
            reasons.append(f"kind: {found.kind}")
        if found.evidence in expected.wrong:
            reasons.append(f"rule: {found.evidence}")
        if reasons:
            yield Wrong("; ".join(reasons), round(run.begun - begin, 1), found.summary)


def _false(trial, expected, runs, since, *, every, is_fault):
    """The lines that alarm where nothing is wrong, or more than is true: before a limit, and long after."""
    begin, end = trial.events["injected"], trial.events["taken back"]
    for run in runs:
        over = run.begun > end + POLLS * every
        if is_fault and begin <= run.begun and not over:
            passed = [limit is not None and run.ended - since >= limit - NEAR for limit in expected.limits]
            most = CRITICAL_STATE if passed[1] else WARNING_STATE if passed[0] else 0
        else:
            most = max(expected.allowed, default=0) if run.begun >= begin and not is_fault else 0
        if run.status in ALARMS and run.status > most:
            yield Wrong("false alarm", round(run.begun - begin, 1), told(run.output).summary)


# what it came to


def about(cases):
    """What is known of each case, for the results."""
    return {
        name: {"about": case.about, "fault": case.is_fault, "strengths": list(case.strengths),
               "servers": list(case.servers)}
        for name, case in cases.items()
    }  # fmt: skip


def rights(cases, trials):
    """By fault and server whether the first cause is right at all strengths; None: not known."""
    return {
        (name, server): fault_is_right(
            [row for row in trials if (row["case"], row["server"]) == (name, server)], case["strengths"]
        )
        for name, case in cases.items()
        if case["fault"]
        for server in case["servers"]
    }


def measured(cases, trials):
    """What the bars are about: shares and counts, None where nobody could judge."""
    faults = {name for name, case in cases.items() if case["fault"]}
    known = [right for right in rights(cases, trials).values() if right is not None]
    rows = [row for row in trials if row["case"] in faults]
    plain = [row["unhedged"] for row in rows if row["right"]]
    timely = [row["in_time"] for row in rows if row["in_time"] is not None]
    wrong, false = (sum(len(row[kind]) for row in trials) if trials else None for kind in ("wrong", "false"))
    shares = (fmean(values) if values else None for values in (known, plain, timely))
    return *shares, wrong, false, _likely(rows)


def _likely(rows):
    """How many of the causes that are called likely are right; None: there are none."""
    counts = [sum(row["causes"].get(f"{name} ({LIKELY})", 0) for row in rows) for name in (RIGHT, OTHER)]
    return counts[0] / sum(counts) if sum(counts) else None
