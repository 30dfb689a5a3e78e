"""The page on accuracy: by hand, with what ``make diagnosis`` found (tests/diagnosis/results/PART.json).

``<!-- bars PART -->``      the bars, what was found, and whether they are met
``<!-- faults PART -->``    each fault on each server: causes, states, lag, and what other checks report
``<!-- healthy PART -->``   each healthy thing that looks like a fault: who alarms
``<!-- lag PART -->``       errors of the lag, and of when it is foretold to be over
``<!-- wrong PART -->``     lines of ours that are wrong and certain
``<!-- alarms PART -->``    lines of ours that alarm where nothing is wrong
``<!-- played PART -->``    where, when and with what it was done, and what is missing
``<!-- versions PART -->``  what other versions of the servers came to (PART-VERSION.json)
``<!-- tries PART -->``     what each case came to when it was first played, and when it was played last
"""

from __future__ import annotations

import json
import re
from statistics import fmean
from typing import TYPE_CHECKING, Any

from generators import accuracy_locks, accuracy_ndb
from generators.markdown import table
from generators.marks import filled
from generators.plugins import ROOT, Plugin

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

PAGE = ROOT / "contrib" / "docs" / "accuracy.md"
RESULTS = ROOT / "tests" / "diagnosis" / "results"
NO_TIME = "no time was left for it"
OWN_TABLES = {"ndb": accuracy_ndb, "locks": accuracy_locks, "jmx": accuracy_ndb}
NAMES = accuracy_locks.NAMES
ALL_NAMES = NAMES | {"ndb": "NDB Cluster", "jmx": "JVM"}
ALONE, WITH_SOURCE = "check_replication_lag", "check_replication_lag --source"
OURS = (ALONE, WITH_SOURCE)
WITH_CAUSES = ("check_mysql_stalls", "check_jmx_thread_pools")
PEERS = ("check_mysql_health", "pmp-check-mysql-replication-delay")
SHORT = {"check_mysql_health": "check_mysql_health", "pmp-check-mysql-replication-delay": "pmp"}
LONGEST = 300  # characters of a line
_WHERE = r"127\.0\.[01]\.\d+:\d+|/tmp/diagnosis-[^ :,]*"  # where servers were for a while

Row = dict[str, Any]


def files(_: list[Plugin]) -> dict[Path, str]:
    """Fill what is between its marks."""
    return {
        PAGE: filled(
            PAGE.read_text(),
            bars=_bars,
            faults=_faults,
            healthy=_healthy,
            lag=_lag,
            wrong=lambda part: _lines(part, "wrong"),
            alarms=lambda part: _lines(part, "false"),
            played=_played,
            versions=_versions,
            tries=_tries,
        )
    }


def results(part: str) -> dict[str, Any] | None:
    """Return what was found last; None: the part was never played whole."""
    path = RESULTS / f"{part}.json"
    found: dict[str, Any] | None = json.loads(path.read_text()) if path.exists() else None
    return found


def _missing(part: str) -> str:
    return f"`make diagnosis WHAT={part}` has not been run whole yet.\n"


def _bars(part: str) -> str:
    told = results(part)
    if told is None:
        return _missing(part)
    rows = [
        [bar["what"], written(bar["found"], bar["unit"]),
         f"at {bar['at']} {written(bar['limit'], bar['unit'])}", "yes" if bar["met"] else "**no**"]
        for bar in told["bars"]
    ]  # fmt: skip
    return table(["what", "found", "bar", "met"], rows)


def written(number: float | None, unit: str) -> str:
    """Write a number of a bar."""
    if number is None:
        return "not judged"
    return f"{100 * number:.0f} %" if unit == "%" else f"{number:g} {unit}".strip()


def _faults(part: str) -> str:
    told = results(part)
    if told is None:
        return _missing(part)
    if part in OWN_TABLES:
        return OWN_TABLES[part].faults(told)
    rows = [
        [name, NAMES[server], *_fault(about, _of(told, name, server))]
        for name, about in told["cases"].items()
        if about["fault"]
        for server in about["servers"]
    ]
    heads = [
        "fault", "server", "right cause first", "of these certain", "right state in time", "lag off by, s",
        "the same with --source", "wrong and certain", *(f"{SHORT[peer]}: state in time" for peer in PEERS),
    ]  # fmt: skip
    return table(heads, rows)


def _of(told: dict[str, Any], name: str, server: str) -> list[Row]:
    return [one for one in told["trials"] if (one["case"], one["server"]) == (name, server)]


def _by(rows: list[Row], *who: str) -> list[Row]:
    return [one for one in rows if one["who"] in who]


def _fault(about: dict[str, Any], rows: list[Row]) -> list[str]:
    """Return the cells of one fault on one server; "-" where nothing was judged."""
    judged = _by(rows, _judged_by(about))
    right = [row["right"] for row in judged if row["right"] is not None]
    certain = [row["unhedged"] for row in judged if row["right"]]
    cause = _count(right) + ("" if about["alone"] or not right else " (with --source)")
    wrong = sum(len(row["wrong"]) for row in _by(rows, *OURS))
    return [
        cause, _count(certain), _count(_known(judged, "in_time")),
        _errors(_by(rows, ALONE)), _errors(_by(rows, WITH_SOURCE)), str(wrong) if judged else "-",
        *(_count(_known(_by(rows, peer), "in_time")) for peer in PEERS),
    ]  # fmt: skip


def _known(rows: list[Row], name: str) -> list[bool]:
    return [row[name] for row in rows if row[name] is not None]


def _count(values: list[bool]) -> str:
    return f"{sum(values)} of {len(values)}" if values else "-"


def _errors(rows: list[Row]) -> str:
    errors = [error for row in rows for error in row["errors"]]
    return f"{fmean(errors):.1f}, at most {max(errors):.0f}" if errors else "-"


def _healthy(part: str) -> str:
    told = results(part)
    if told is None:
        return _missing(part)
    if part in OWN_TABLES:
        return OWN_TABLES[part].healthy(told)
    rows = []
    for name, about in told["cases"].items():
        for server in (server for server in about["servers"] if not about["fault"]):
            of = _of(told, name, server)
            alarms = [str(sum(len(row["false"]) for row in _by(of, who))) if _by(of, who) else "-"
                      for who in (*OURS, *PEERS)]  # fmt: skip
            rows.append([name, NAMES[server], *alarms, _errors(_by(of, ALONE))])
    heads = ["nothing is wrong", "server", "alarms", "with --source", *SHORT.values(), "lag off by, s"]
    return table(heads, rows)


def _lag(part: str) -> str:
    told = results(part)
    if told is None:
        return _missing(part)
    rows = []
    for server, name in NAMES.items():
        for who in (*OURS, *PEERS):
            of = [row for row in told["trials"] if (row["server"], row["who"]) == (server, who)]
            errors = [error for row in of for error in row["errors"]]
            etas = [eta for row in of for eta in row["etas"]]
            unknown, runs = (sum(row["unknown"][place] for row in of) for place in (0, 1))
            rows.append([who, name, str(len(errors)), f"{fmean(errors):.1f}" if errors else "-",
                         f"{max(errors):.0f}" if errors else "-", f"{unknown} of {runs}",
                         str(len(etas)), _off(etas)])  # fmt: skip
    heads = [
        "check",
        "server",
        "runs",
        "lag off by, s: mean",
        "at most",
        "no lag reported",
        "ends foretold",
        "off by",
    ]
    return table(heads, rows)


def _off(etas: list[list[float]]) -> str:
    """Return by which share of the remaining time the foretold ends are off, on average."""
    if not etas:
        return "-"
    return f"{100 * fmean(abs(said - came) / max(came, 5.0) for said, came in etas):.0f} %"


def _lines(part: str, kind: str) -> str:
    told = results(part)
    if told is None:
        return _missing(part)
    alike: dict[tuple[str, ...], list[tuple[Row, dict[str, Any]]]] = {}
    order = list(told["cases"])
    ours = [row for row in told["trials"] if row["who"] not in PEERS]
    for row in sorted(ours, key=lambda row: (order.index(row["case"]), row["server"], row["who"])):
        for line in row[kind]:
            key = (row["case"], row["server"], row["who"], re.sub(r"\d+", "", line["why"]))
            alike.setdefault(key, []).append((row, line))
    rows = [_line(*found[0], len(found)) for found in alike.values()]
    heads = ["case", "server", "lines", "s after it began", "why", "what the first of them says"]
    return table(heads, rows) if rows else "None.\n"


def _line(row: Row, line: dict[str, Any], number: int) -> list[str]:
    case = f"{row['case']}, {row['strength']}" if row["strength"] else row["case"]
    known = {ALONE: "", WITH_SOURCE: " (--source)", "check_mysql_stalls": ""}
    who = known.get(row["who"], f" ({row['who']})")
    text = re.sub(_WHERE, "db1", line["line"].partition(" | ")[0]).partition(" - ")
    said = f"{text[0].rpartition(' ')[2]} - {text[2]}"[:LONGEST]
    numbers = [str(number), f"{line['at']:.0f}"]
    return [f"{case}{who}", ALL_NAMES[row["server"]], *numbers, line["why"], _plain(said)]


def _plain(text: str) -> str:
    """Write a text into a cell as it is."""
    return re.sub(r"([\\|*_`<\[])", r"\\\1", text)


def _played(part: str) -> str:
    told = results(part)
    if told is None:
        return _missing(part)
    about = told["machine"]
    where = "{processor}, {processors} processors, {memory}, {kernel}, Python {Python}".format_map(about)
    when = f"{told['day']} {told['time']} UTC, in {told['minutes']:.0f} minutes"
    with_ = ", ".join(f"{name} {version}" for name, version in told["software"].items())
    what = {"ndb": "clusters", "jmx": "applications"}.get(told.get("part", ""), "pairs of each kind")
    beside = f"{told['lanes']} {what} side by side; load before: {about['load before']}"
    lines = [
        f"{when}; {beside}. On {where}. With {with_}.",
        _slow(*told["slow"]),
        *_sentence("Played again later, each after a change to it or to the check", told.get("again", ())),
        *_sentence("Could not be had", told["left_out"]),
        *_sentence("Trials that are missing", _missing_trials(told["failed"])),
    ]
    return "\n\n".join(lines) + "\n"


def _versions(part: str) -> str:
    rows = []
    for path in sorted(RESULTS.glob(f"{part}-*.json")):
        told = json.loads(path.read_text())
        ours = _by(told["trials"], *OURS)
        faults = [row for row in ours if told["cases"][row["case"]]["fault"] and _judges(told, row)]
        healthy = {(row["case"], row["strength"]) for row in ours if not told["cases"][row["case"]]["fault"]}
        wrong, false = (sum(len(row[name]) for row in ours) for name in ("wrong", "false"))
        servers = {name: version for name, version in told["software"].items() if name in NAMES.values()}
        rows.append([
            ", ".join(map(" ".join, servers.items())), _count(_known(faults, "right")),
            _count([row["unhedged"] for row in faults if row["right"]]), _count(_known(faults, "in_time")),
            _errors(_by(ours, ALONE)), str(wrong), f"{false} in {len(healthy)}", told["day"],
        ])  # fmt: skip
    heads = [
        "server", "right cause first", "of these certain", "right state in time", "lag off by, s",
        "wrong and certain", "false alarms, in healthy cases", "day",
    ]  # fmt: skip
    return table(heads, rows) if rows else "No other version has been tried yet.\n"


def _tries(part: str) -> str:
    told = results(part)
    if told is None:
        return _missing(part)
    rows = []
    for name, about in told["cases"].items():
        for server in about["servers"]:
            first, now = (
                [row for row in told[of] if (row["case"], row["server"]) == (name, server)]
                for of in ("first", "trials")
            )
            rows.append([
                name, about["about"], f"{ALL_NAMES[server]}: {'; '.join(about['strengths'])}",
                _plain(about["expected"]) or "no alarm", _tried(first, fault=about["fault"]),
                _tried(now, fault=about["fault"]),
            ])  # fmt: skip
    heads = ["case", "what happens", "server: how much; what else at the same time", "expected",
             "when first tried", "now"]  # fmt: skip
    when = {f"{row['day']} {row['time']} UTC, load {row['load']}, rules of commit {row['commit'][:8]}"
            for row in told["first"]}  # fmt: skip
    return table(heads, rows) + "\n" + "\n\n".join(_sentence("First played", sorted(when))) + "\n"


def _tried(rows: list[Row], *, fault: bool) -> str:
    """Return what the check that has causes came to in a trial."""
    row = next((row for row in rows if row["who"] in WITH_CAUSES), None)
    if row is None:
        return "not played"
    found = []
    if fault and not row["right"]:
        causes = ", ".join(f"{name} {number}" for name, number in row["causes"].items())
        found.append(f"**not right**: {causes}")
    elif fault:
        found.append("right, certain" if row["unhedged"] else "right, probably")
    found += ["**state late or too low**"] if row["in_time"] is False else []
    for kind, what in (("wrong", "wrong and certain"), ("false", "false alarms")):
        found += [f"**{what}: {len(row[kind])}**"] if row[kind] else []
    return "; ".join(found) or "no alarm"


def _judges(told: dict[str, Any], row: Row) -> bool:
    """Whether the cause of a fault is judged by this row: with --source where only that can know."""
    return bool(row["who"] == _judged_by(told["cases"][row["case"]]))


def _judged_by(about: dict[str, Any]) -> str:
    """Name the run that the cause of a fault is judged by."""
    return ALONE if about["alone"] else WITH_SOURCE


def _missing_trials(failed: dict[str, str]) -> list[str]:
    """Name those that failed; those without time are only counted."""
    late = sum(why == NO_TIME for why in failed.values())
    told = [f"{name} ({why})" for name, why in failed.items() if why != NO_TIME]
    return [*told, *([f"{late} for which no time was left"] if late else [])]


def _slow(number: int, runs: int) -> str:
    """Return how busy the machine was: then the check leaves things out, to end in time."""
    share = 100 * number / runs if runs else 0
    return f"{number} of {runs:,} runs ({share:.0f} %) took more than 6 s, because the machine was busy."


def _sentence(what: str, things: Iterable[str]) -> list[str]:
    known = "; ".join(things)
    return [f"{what}: {known}."] if known else []
