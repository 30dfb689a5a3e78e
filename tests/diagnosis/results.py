"""What the trials of a part came to: a row for each trial and check, and the bars that are to be met."""

from statistics import fmean

import first_tries
import jmx_scoring
import locks_scoring
import ndb_scoring
import parts
import scoring
from case import KINDS
from jmx_case import CHECKS as JMX_CHECKS
from locks_case import CHECK
from ndb_case import CHECKS
from record import ALONE, OURS, WITH_SOURCE, read

NAMES = {"mysql": "MySQL", "mariadb": "MariaDB", "ndb": "NDB Cluster", "jmx": "JDK"}
ALL_OF_OURS = (*OURS, *CHECKS, CHECK, *JMX_CHECKS)
SCORINGS = {"ndb": ndb_scoring, "locks": locks_scoring, "jmx": jmx_scoring}  # not about a lag
SLOW = 6.0  # seconds of a run that takes 1 or 2 on a machine that is not busy
CALIBRATION = {"certain": 1.0, "likely": 0.8}  # how many causes of this certainty are to be right
LAG_BARS = {"mysql": 1.5, "mariadb": 5.0}  # seconds of mean error, without --source


def merged(told, before):
    """Results with the rows of a whole run before for the cases of which nothing was played here."""
    played = {row["case"] for row in told["trials"]}
    rows = [row for row in before["trials"] if row["case"] in told["cases"].keys() - played]
    trials = [*told["trials"], *rows]
    slow = [sum(both) for both in zip(told["slow"], before["slow"], strict=True)]
    again = list(dict.fromkeys([*before.get("again", ()), *sorted(played)]))
    own = own_bars(SCORINGS[told["part"]], told["cases"], trials)
    return before | {"cases": told["cases"], "trials": trials, "slow": slow, "again": again, "bars": own}


def judge(part, paths, about):
    """All that is kept of a part: the trials with their scores, and the bars."""
    cases = parts.cases(part)
    trials, versions, slow, ours = [], {}, 0, 0
    for path in paths:
        trial = read(path) if path.exists() else None
        if trial is None or trial.failed or "taken back" not in trial.events:
            continue
        case = cases[trial.case]
        versions[NAMES[trial.server]] = trial.version
        tells = getattr(case.expected, "tells", True)
        took = [run.ended - run.begun for run in trial.runs if tells and run.who in ALL_OF_OURS]
        slow, ours = slow + sum(seconds > SLOW for seconds in took), ours + len(took)
        asked = dict.fromkeys(run.who for run in trial.runs)
        trials += [row(case, trial, who) for who in asked]
    if part == first_tries.PART:
        abouts, found = first_tries.about(cases), []
    elif own := SCORINGS.get(part):
        abouts = own.about(cases)
        found = own_bars(own, abouts, trials)
    else:
        abouts = _abouts(cases)
        found = bars(abouts, trials)
    about = about | {"software": versions | about["software"], "slow": [slow, ours]}
    return {"part": part, **about, "cases": abouts, "trials": trials, "bars": found}


def _abouts(cases):
    return {
        name: {"about": case.about, "fault": case.is_fault, "strengths": list(case.strengths),
               "alone": case.expected.alone, "servers": list(case.servers)}
        for name, case in cases.items()
    }  # fmt: skip


def row(case, trial, who):
    """What one of those that were asked came to in a trial."""
    trial = first_tries.apart(trial, case.beside) if case.beside else trial
    scored = SCORINGS.get(case.part, scoring).score(
        trial, case.expected, who, is_fault=case.is_fault, every=case.every
    )
    return {
        "case": case.name, "server": trial.server, "strength": trial.strength, "who": who,
        "in_time": scored.in_time, "right": scored.right, "unhedged": scored.unhedged,
        "share": None if scored.share is None else round(scored.share, 2), "causes": scored.causes,
        "errors": list(scored.errors), "unknown": list(scored.unknown), "etas": list(scored.etas),
        "wrong": [one._asdict() for one in scored.wrong], "false": [one._asdict() for one in scored.false],
        **({"calibration": scored.calibration} if scored.calibration else {}),
    }  # fmt: skip


def judged(cases, trials, name, server):
    """The rows of a fault on a server that its cause is judged by: with --source where only that can know."""
    who = ALONE if cases[name]["alone"] else WITH_SOURCE
    return [one for one in trials if (one["case"], one["server"], one["who"]) == (name, server, who)]


def bars(cases, trials):
    """The bars, what was found, and whether they are met; what nobody could judge is not met."""
    faults = [
        (name, server) for name, about in cases.items() if about["fault"] for server in about["servers"]
    ]
    right = [
        scoring.fault_is_right(judged(cases, trials, *one), cases[one[0]]["strengths"]) for one in faults
    ]
    known = [one for one in right if one is not None]
    rows = [row for one in faults for row in judged(cases, trials, *one)]
    plain = [row["unhedged"] for row in rows if row["right"]]
    timely = [row["in_time"] for row in rows if row["in_time"] is not None]
    ours = [row for row in trials if row["who"] in OURS]
    wrong, false = (sum(len(row[name]) for row in ours) for name in ("wrong", "false"))
    alone = [row for row in ours if row["who"] == ALONE]
    counts = (wrong, false) if ours else (None, None)
    found = shared_bars(_share(known), _share(plain), _share(timely), *counts)
    for server, limit in LAG_BARS.items():
        errors = [error for row in alone if row["server"] == server for error in row["errors"]]
        mean = round(fmean(errors), 2) if errors else None
        found.append(_at_most(f"mean error of the lag, {NAMES[server]}, without --source", mean, limit, "s"))
    unknown = [sum(part) for part in zip(*(row["unknown"] for row in alone), strict=True)]
    share = unknown[0] / unknown[1] if unknown and unknown[1] else None
    found.append(_at_most("runs that know no lag", share, 0.05, "%"))
    return found


def shared_bars(right, plain, timely, wrong, false, likely=None):
    """The bars that every part has; ``likely``: how many of the causes that are called so are right."""
    calibrated = [] if likely is None else [_at_least("of the likely causes, right", likely, 0.8)]
    return [
        _at_least("faults with the right first cause at all strengths", right, 0.95),
        _at_least("of the right ones, without a hedge", plain, 0.7),
        _at_least("faults in the right state within two runs", timely, 0.95),
        _at_most("lines that are wrong and certain", wrong, 0, ""),
        _at_most("false alarms", false, 0, ""),
        *calibrated,
    ]


def own_bars(scoring_of_part, cases, trials):
    """The bars of a part that is not about a lag; how good its certainties are where causes are data."""
    found = shared_bars(*scoring_of_part.measured(cases, trials))
    calibrated = [row["calibration"] for row in trials if "calibration" in row]
    for certainty, limit in CALIBRATION.items() if calibrated else ():
        right, several = (sum(one[certainty][at] for one in calibrated) for at in (0, 1))
        share = right / several if several else None
        found.append(_at_least(f"causes that are {certainty}, and right", share, limit))
    return found


def _share(values):
    return fmean(values) if values else None


def _at_least(what, found, limit):
    return {"what": what, "found": found, "limit": limit, "at": "least", "unit": "%",
            "met": found is not None and found >= limit}  # fmt: skip


def _at_most(what, found, limit, unit):
    return {"what": what, "found": found, "limit": limit, "at": "most", "unit": unit,
            "met": found is not None and found <= limit}  # fmt: skip


def written(number, unit):
    """A number of a bar for a reader."""
    if number is None:
        return "not judged"
    return f"{100 * number:.0f} %" if unit == "%" else f"{number:g} {unit}".strip()


def said(told):
    """All of it as text."""
    lines = []
    for name, about in told["cases"].items():
        for server in KINDS:
            rows = [one for one in told["trials"] if (one["case"], one["server"]) == (name, server)]
            lines += [_said(about, one) for one in rows]
    lines += ["", "{} of {} runs took more than 6 s: they leave things out".format(*told["slow"])]
    for bar in told["bars"]:
        is_met = "met" if bar["met"] else "NOT MET"
        lines.append(
            f"{bar['what']}: {written(bar['found'], bar['unit'])},"
            f" at {bar['at']} {written(bar['limit'], bar['unit'])}: {is_met}"
        )
    return "\n".join(lines)


def _said(about, one):
    sign = {True: "yes", False: "NO", None: "-"}
    errors = one["errors"]
    lag = f"{fmean(errors):.1f} (max {max(errors):.0f})" if errors else "-"
    causes = ", ".join(f"{name} {number}" for name, number in one["causes"].items())
    text = (
        f"{one['case'][:28]:28} {one['strength'][:14]:14} {one['server']:8} {one['who'][:30]:30}"
        f" state {sign[one['in_time']]:3} cause {sign[one['right']]:3} lag {lag:14}"
        f" wrong {len(one['wrong'])} false {len(one['false'])}  [{causes}]"
    )
    more = [f"      {wrong['at']:6.1f} s  {wrong['why']}: {wrong['line'][:260]}"
            for wrong in (*one["wrong"], *one["false"]) if one["who"] in ALL_OF_OURS]  # fmt: skip
    return "\n".join([text, *more])
