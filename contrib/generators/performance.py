"""The pages on what a check costs, and on stallwatchd: by hand, with what `make bench` measured.

Marks, filled from tests/bench/results/PART.json:

``<!-- checks -->``              what each of our plugins costs, below what nothing can be cheaper than
``<!-- bench PART [TITLE] -->``  the tables of that part whose title begins so
``<!-- usage -->``               what each costs that asks no server
``<!-- spent TITLE -->``         what a check's time is spent on
``<!-- budgets -->``             every limit, what was found, and whether it was kept
``<!-- said PART -->``           the states that checks reported of the same thing
``<!-- machine -->``             where, when and with what it was measured
Those of ``capacity`` and ``growth`` are filled by the generators of these names.
"""

from __future__ import annotations

import json
import textwrap
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from generators import capacity, growth
from generators.markdown import WIDTH, table
from generators.marks import filled
from generators.plugins import ROOT, Plugin

if TYPE_CHECKING:
    from pathlib import Path

PAGE = ROOT / "contrib" / "docs" / "performance.md"
ABOUT_STALLWATCHD = ROOT / "contrib" / "docs" / "stallwatchd.md"
RESULTS = ROOT / "tests" / "bench" / "results"
# The order of limits and machines; what is not here comes last.
ORDER = (
    "floor", "startup", "usage", "spent", "mysql", "locks", "jmx", "ndb", "ndb_log", "host", "installed",
    "replication",
)  # fmt: skip
# Those that compare checks of ours: of MySQL's two kinds the first represents a check.
COMPARED = ("mysql", "jmx", "ndb", "ndb_log", "host")
BESIDE = ("python3 -I, left at once", "a raw client, python3 -I -S", "the mariadb client")  # of the floor
OVER_TLS = " over TLS"  # as rows of MySQL's are named
SECOND = 1000  # milliseconds
ROUGH = 0.001  # a limit that is so near to one of some parts is shown as that: 1/6


def files(plugins: list[Plugin]) -> dict[Path, str]:
    """Fill what is between their marks."""
    return {
        PAGE: filled(
            PAGE.read_text(),
            checks=lambda _: _checks([plugin.program for plugin in plugins]),
            bench=_bench,
            usage=lambda _: _usage(),
            spent=_spent,
            budgets=lambda _: _budgets(),
            said=_said,
            machine=lambda _: _machines(),
            capacity=capacity.part,
            growth=growth.section,
        ),
        ABOUT_STALLWATCHD: filled(ABOUT_STALLWATCHD.read_text(), capacity=capacity.part),
    }


def results(part: str) -> dict[str, Any]:
    """Return what was measured last."""
    found: dict[str, Any] = json.loads((RESULTS / f"{part}.json").read_text())
    return found


def parts() -> list[str]:
    """Name all that was measured."""
    found = sorted(path.stem for path in RESULTS.glob("*.json"))
    return [*(part for part in ORDER if part in found), *(part for part in found if part not in ORDER)]


def milliseconds(number: float) -> str:
    """Write a time as exactly as it can be read: 8.1, 123, 4,321."""
    return f"{number:.1f}" if number < SECOND / 10 else f"{number:,.0f}"


def _rounds(number: int) -> str:
    return f"{number} round{'' if number == 1 else 's'}"


def _tables(part: str, title: str = "") -> list[dict[str, Any]]:
    return [each for each in results(part)["tables"] if each["title"].startswith(title)]


def _checks(programs: list[str]) -> str:
    floor = {row["name"]: row for each in _tables("floor") for row in each["rows"]}
    rows = [row for part in COMPARED for each in _tables(part) for row in each["rows"]]
    found = {row["name"]: row for row in reversed(rows)}  # the first of a name stays
    cells = [_check(name, floor[name]) for name in BESIDE if name in floor]
    for name in (name for name in programs if name in found):
        cells.append(_check(f"[`{name}`]({name}.md)", found[name]))
        if f"{name}{OVER_TLS}" in found:
            cells.append(_check(f"the same{OVER_TLS}", found[f"{name}{OVER_TLS}"]))
    return table(["check", "ms of processor", "ms in all", "MiB", "a second, on one processor"], cells)


def _check(name: str, row: dict[str, Any]) -> list[str]:
    cost = row["processor_ms"]
    numbers = [milliseconds(cost), milliseconds(row["wall_ms"]), f"{row['memory_mib']:.0f}"]
    return [f"{name}{_status(row)}", *numbers, f"{SECOND / cost:.0f}"]


def _bench(words: str) -> str:
    part, _, title = words.partition(" ")
    if not (RESULTS / f"{part}.json").exists():
        return f"Not measured yet: `make bench WHAT={part}`.\n"
    tables = _tables(part, title)
    of_server = any("server_ms" in row for each in tables for row in each["rows"])
    last = ["ms of the server"] if of_server else ["processor, times the first", "modules"]
    rows: list[list[str]] = []
    for each in tables:
        if len(tables) > 1:
            rows.append([f"**{each['title']}**, {_rounds(each['rounds'])}", "", "", "", *("" for _ in last)])
        rows += [_row(row) for row in each["rows"]]
    first = f"{tables[0]['title']}, {_rounds(tables[0]['rounds'])}" if len(tables) == 1 else "command"
    return table([first, "ms of processor", "ms in all", "MiB", *last], rows)


def _usage() -> str:
    tables = _tables("usage")
    rows = [
        [row["name"], *(milliseconds(each["rows"][place]["processor_ms"]) for each in tables)]
        for place, row in enumerate(tables[0]["rows"])
    ]
    heads = [f"ms of processor, {_rounds(tables[0]['rounds'])}", *(each["title"] for each in tables)]
    return table(heads, rows)


def _spent(title: str) -> str:
    [of] = [each for each in _tables("spent") if each["title"] == title]
    rows = [[row["name"], f"{row['processor_ms']:.1f}", _modules(row)] for row in of["rows"]]
    first, second, third = of["dearest"]
    text = [f"Of the standard library `{first}`, `{second}` and `{third}` cost most."]
    text += [f"The kernel took {of['kernel']:.0%} of the whole{_calls(of['calls'])}."]
    less = f"{of['without_site']:.1f} ms less" if of["without_site"] > 0 else "as much"
    text += [f"Without site (`-S`) it would cost {less}."]
    text += [f"The clock made it {of['clock']:.2f} times as dear."]
    heads = [f"{title}, {_rounds(of['rounds'])}", "ms of processor", "modules"]
    return f"{table(heads, rows)}\n{textwrap.fill(' '.join(text), WIDTH)}\n"


def _calls(calls: dict[str, int] | None) -> str:
    if not calls:  # no strace there
        return ""
    return f" for {calls['all']:,} system calls, of which {calls['files']:,} look for files and read them"


def _row(row: dict[str, Any]) -> list[str]:
    return [
        f"{row['name']}{_status(row)}",
        milliseconds(row["processor_ms"]),
        milliseconds(row["wall_ms"]),
        f"{row['memory_mib']:.0f}",
        *_beside(row),
    ]


def _beside(row: dict[str, Any]) -> list[str]:
    """Return what comes after a command's own cost: what it cost the server, or how it compares."""
    if "server_ms" in row:
        return [milliseconds(row["server_ms"])]
    return ["" if row["times"] is None else f"{row['times']:.2f}", _modules(row)]


def _status(row: dict[str, Any]) -> str:
    return "" if row["status"] is None else f" (exit status {row['status']})"


def _modules(row: dict[str, Any]) -> str:
    return "" if row["modules"] is None else str(row["modules"])


def _budgets() -> str:
    rows = [
        [one["what"], _found(one), _limit(one["limit"], one["unit"]), _kept(one)]
        for part in parts()
        for one in results(part)["budgets"]
    ]
    return table(["what", "found", "may be", "kept"], rows)


def _found(budget: dict[str, Any]) -> str:
    found, unit, times = budget["found"], budget["unit"], budget.get("times")
    if found is None:
        return ""
    written = f"{found:.3f} times" if unit == "times" else f"{found:.1f} {unit}"
    return written if times is None else f"{written}, {times:.2f} times"


def _limit(limit: float, unit: str) -> str:
    if unit != "times":
        return f"{limit:.1f} {unit}"
    part = Fraction(limit).limit_denominator(20)
    return (
        str(part)
        if part.numerator == 1 < part.denominator and abs(part - limit) < ROUGH
        else f"{limit:g} times"
    )


def _kept(budget: dict[str, Any]) -> str:
    if budget["found"] is None:
        return f"not judged: {budget['why']}"
    return "yes" if budget["kept"] else "**no**"


def _said(part: str) -> str:
    rows = []
    for where, situations in results(part)["said"].items():
        rows.append([f"**{where}**", *["" for _ in next(iter(situations.values()))]])
        rows += [[situation, *states.values()] for situation, states in situations.items()]
    names = next(iter(next(iter(results(part)["said"].values())).values()))
    return table(["situation", *names], rows)


def _machines() -> str:
    rows = []
    found: dict[str, list[str]] = {}  # parts by the machine that they were measured on
    for part in parts():
        of = results(part)
        found.setdefault(_machine(of["machine"]), []).append(part)
        when, load = f"{of['day']} {of['time']}", str(of["machine"]["load before"])
        versions = ", ".join(f"{name} {version}" for name, version in of["software"].items())
        rows.append([part, when, load, _range(of["tables"]), versions, "; ".join(of["left_out"])])
    where = [text if len(found) == 1 else f"{', '.join(names)}: {text}" for text, names in found.items()]
    heads = ["part", "when, UTC", "load before", "rounds", "with", "left out"]
    return "\n".join([*(f"{line}.\n" for line in where), table(heads, rows)])


def _machine(about: dict[str, Any]) -> str:
    return "{processor}, {processors} processors, {memory}, {kernel}, Python {Python}".format_map(about)


def _range(tables: list[dict[str, Any]]) -> str:
    rounds = [each["rounds"] for each in tables if each.get("rounds")]
    return " to ".join(dict.fromkeys([str(min(rounds)), str(max(rounds))])) if rounds else ""
