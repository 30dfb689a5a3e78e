"""What engines sustain: from tests/bench/results capacity.json, without stallwatchd, and warm.json, with it.

``sustained``  how many checks a second of each command, and what each costs
``said``       what that comes to, what of it is the start, and what the next factor would need
``beyond``     what becomes of an engine that is asked for more
``fork``       what checks would cost that need no start
``warm``       what engines sustain with stallwatchd, beside the same plugins without it and one in C
``hung``       what becomes of them while other checks wait for servers that hang
``warm-in-short``  the same in a sentence
``site``       what a large site needs, with and without it
"""

from __future__ import annotations

import json
import math
import textwrap
from typing import Any

from generators.markdown import WIDTH, table
from generators.plugins import ROOT

RESULTS = ROOT / "tests" / "bench" / "results"
PARTS = ("engine", "check", "server")  # that a check's processor time is spent in
NOTHING = "python3 -I -S, left at once"
EXAMPLE, SERVICES, MINUTE = "check_replication_lag", 1000, 60
WARM, SITE = ", stallwatchd", 20_000  # how a row of its checks is called; services of a large site
EASY = 0.8  # of what is sustained

Rows = dict[str, dict[str, Any]]  # of one engine, by command


def part(words: str) -> str:
    """Write the part of that name."""
    return {
        "sustained": _sustained,
        "said": _said,
        "beyond": _beyond,
        "fork": _fork,
        "warm": _warm,
        "hung": _hung,
        "warm-in-short": _warm_in_short,
        "site": _site,
    }[words]()


def _rows(title: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = next(
        each["rows"] for each in _measured()["tables"] if each["title"] == title
    )
    return found


def _measured(part: str = "capacity") -> dict[str, Any]:
    found: dict[str, Any] = json.loads((RESULTS / f"{part}.json").read_text())
    return found


def _engines(part: str = "capacity") -> dict[str, Rows]:
    return {
        each["title"]: {row["name"]: row for row in each["rows"]}
        for each in _measured(part)["tables"]
        if each["title"] not in ("beyond", "fork")
    }


def _sustained() -> str:
    engines = _engines()
    heads = ["command", *(head for name in engines for head in (f"{name}: a second", "busy", "ms each"))]
    lines = []
    for name in dict.fromkeys(name for rows in engines.values() for name in rows):
        cells = [cell for rows in engines.values() for cell in _cells(rows.get(name))]
        lines.append([f"`{name}`", *cells])
    return table(heads, lines)


def _cells(row: dict[str, Any] | None) -> tuple[str, str, str]:
    """Write what an engine sustains of a command; None: it could not be tried, and is left out below."""
    return ("", "", "") if row is None else (_rate(row), f"{row['busy']:.0%}", _cost(row))


def _rate(row: dict[str, Any]) -> str:
    number = _number(row["asked"])
    if not row["sustained"]:
        return f"not even {number}"
    return number if row["sure"] else f"some {number}"


def _cost(row: dict[str, Any]) -> str:
    return " + ".join(f"{row[which]:.1f}" for which in PARTS)


def _said() -> str:
    """Write a paragraph each: an example, the start, the next factor, what else the machine did."""
    engines = _engines()
    said = [
        *(f"**{name}.** {_example(rows)}" for name, rows in engines.items() if EXAMPLE in rows),
        f"**What a check costs** is mostly its start. {_starts(engines)}",
        f"**The next factor** needs checks that are not started. {_next(engines)}",
        _disturbed(engines),
    ]
    return "\n".join(f"{textwrap.fill(one, WIDTH, break_on_hyphens=False)}\n" for one in said)


def _example(rows: Rows) -> str:
    """Write what many services come to."""
    row, processors = rows[EXAMPLE], _measured()["machine"]["processors"]
    rate = SERVICES / MINUTE
    spent = sum(row[which] for which in PARTS)
    return (
        f"{SERVICES:,} services that are checked every minute are {rate:.0f} checks a second. Where each is "
        f"`{EXAMPLE}`, at {spent:.0f} ms in all, that is {rate * spent / 1000 / processors:.0%} of these "
        f"{processors} processors; what is sustained is {_rate(row)} a second, "
        f"{MINUTE * row['asked']:,.0f} services a minute."
    )


def _starts(engines: dict[str, Rows]) -> str:
    """Write how much of a check its start is, and what bounds all that is started."""
    shares = [f"{1 - row['loaded'] / row['anew']:.0%} of `{row['name']}`" for row in _rows("fork")]
    most = [f"{_rate(rows[NOTHING])} with {name}" for name, rows in engines.items() if NOTHING in rows]
    return (
        f"It takes {_listed(shares)}: that much less does a check cost where everything is loaded "
        f"already. Of an interpreter that does nothing there are {_listed(most)} a second, and of no "
        "check in Python more, as long as one is started for each."
    )


def _next(engines: dict[str, Rows]) -> str:
    """Write what there would be time for; what nobody runs cannot be measured with an engine."""
    said = []
    for name, rows in engines.items():
        sketched = [
            (row["name"], _more(rows[row["name"]], row)) for row in _rows("fork") if row["name"] in rows
        ]
        said.append(f"{_listed([f'{more:.1f} times the `{check}`' for check, more in sketched])} with {name}")
    return (
        "In children of a process that has everything loaded there would be processor time for "
        f"{', for '.join(said)}. This is reckoned from the tables here. What stays instead is measured: "
        "[with stallwatchd](#with-stallwatchd)."
    )


def _more(row: dict[str, Any], sketch: dict[str, Any]) -> float:
    """How many times as many there is time for if only engine, server and what is not the start remain."""
    saved: float = row["check"] * (1 - sketch["loaded"] / sketch["anew"])
    whole: float = sum(row[which] for which in PARTS)
    return whole / (whole - saved)


def _listed(words: list[str]) -> str:
    """Write a list as people read it: 1, 2 and 3."""
    *first, last = words
    return f"{', '.join(first)} and {last}" if first else last


def _disturbed(engines: dict[str, Rows]) -> str:
    """Write how much of the machine was taken by what does not belong to the trials."""
    processors = _measured()["machine"]["processors"]
    found = [row for rows in engines.values() for row in rows.values()]
    spent = [row["done"] * sum(row[which] for which in PARTS) / 1000 / processors for row in found]
    share = max(0.0, *(row["busy"] - own for row, own in zip(found, spent, strict=True)))
    return (
        f"At most {share:.0%} of the processors' time was spent on something else: the rest of the machine, "
        "and what read the clocks."
    )


def _beyond() -> str:
    heads = ["engine", "checks at once", "asked for, a second", "done", "busy"]
    lines = []
    for row in _rows("beyond"):
        bound = str(row["at_once"]) if row["at_once"] else "all that are due"
        lines.append([row["name"], bound, _number(row["asked"]), _number(row["done"]), f"{row['busy']:.0%}"])
    return table(heads, lines)


def _fork() -> str:
    heads = ["ms of processor", "started anew", "in a child that has all loaded", "a child that does nothing"]
    lines = [
        [f"`{row['name']}`", *(f"{row[which]:.1f}" for which in ("anew", "loaded", "empty"))]
        for row in _rows("fork")
    ]
    return table(heads, lines)


def _warm() -> str:
    """Write what each engine sustains of each command, how slow checks are at 80 % of it, and the memory."""
    heads = ["engine", "command", "a second", "busy", "ms each", "99 of 100 within, at 80 %", "memory"]
    lines = []
    for each in _measured("warm")["tables"]:
        for row in each["rows"]:
            name = f"`{row['name']}`".replace(f"{WARM}`", f"`{WARM}")
            memory = f"{row['memory']:.0f} MiB" if "memory" in row else ""
            slow = f"{1000 * row['slow']:.0f} ms"
            lines.append([each["title"], name, _rate(row), f"{row['busy']:.0%}", _cost(row), slow, memory])
    return table(heads, lines)


def _warm_in_short() -> str:
    """Write how much more there is of one command."""
    icinga, nagios = (_engines("warm")[name] for name in ("Icinga", "Nagios"))
    said = (
        f"On {_measured('warm')['machine']['processors']} processors, servers included, Icinga sustained "
        f"{_rate(icinga[EXAMPLE + WARM])} `{EXAMPLE}` a second behind the stub and {_rate(icinga[EXAMPLE])} "
        f"without it; Nagios with the worker {_rate(nagios[EXAMPLE + WARM])} "
        "([all figures](performance.md#with-stallwatchd))."
    )
    return textwrap.fill(said, WIDTH, break_on_hyphens=False) + "\n"


def _hung() -> str:
    """Write what becomes of checks while others wait for servers that hang."""
    said = [
        f"Beside {beside['hung']} checks that always waited for a server that does not answer, "
        f"{each['title']} ran {beside['done']:.0f} `{row['name'].removesuffix(WARM)}` a second "
        f"({beside['asked']:.0f} were due): 99 of 100 within {1000 * beside['slow']:.0f} ms."
        for each in _measured("warm")["tables"]
        for row in each["rows"]
        if (beside := row.get("beside"))
    ]
    return textwrap.fill(" ".join(said) or "Not measured yet.", WIDTH, break_on_hyphens=False) + "\n"


def _site() -> str:
    """Write how many pollers like this machine a large site needs."""
    engines = _engines("warm")
    rate = SITE / MINUTE
    about = (
        f"{SITE:,} services that are checked every minute are {rate:.0f} checks a second. Where each is "
        f"`{EXAMPLE}`, and {EASY:.0%} of what is sustained is used, that takes:"
    )
    said = []
    ways = {"Icinga": (EXAMPLE, EXAMPLE + WARM), "Nagios": (EXAMPLE + WARM,)}
    for engine, name in ((engine, name) for engine, names in ways.items() for name in names):
        if row := engines.get(engine, {}).get(name):
            pollers = math.ceil(rate / (EASY * row["asked"]))
            how = "with stallwatchd" if name.endswith(WARM) else "without it"
            where = "endpoint" if engine == "Icinga" else "poller"
            said.append(f"\n- {engine} {how}: {pollers} {where}{'s' * (pollers > 1)} like this machine")
    return f"{textwrap.fill(about, WIDTH, break_on_hyphens=False)}\n{''.join(said)}\n"


def _number(number: float) -> str:
    """Write it as exactly as it is known: 3.2, 45, 610."""
    return f"{number:.0f}" if number >= 10 else f"{number:.1f}"  # noqa: PLR2004
