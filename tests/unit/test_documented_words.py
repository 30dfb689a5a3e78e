"""The sheets' own words against the code's: limits in "States", what a line says in "What to do"."""

import ast
import re
import runpy
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SHEETS = sorted((ROOT / "contrib" / "docs").glob("check_*.md"))
NUMBER = re.compile(r"\d+(?:\.\d+)?(?:e-?\d+)?")
SIZES = {"": [1], "%": [1], "s": [1e-6, 1e-3, 1, 60, 3600, 86400], "B": [1, 1 << 10, 1 << 20, 1 << 30]}
# What stands in a sheet for what varies: N, FILE, "..." and the like.
VARIES = re.compile(
    r"\bN/s|\b(?:is|are|has|have|was|\d+|[A-Z]|[A-Z]{4,}(?!_))\b(?! ENGINE| INNODB)"
    r"|`[^`]*`|\.\.\.|[\",;:()/%]"
)
# Said, but put together from parts by the code.
IN_PARTS = {
    "buffer pool load", "buffer pool dump or load", "no mysqld runs on this host",
    "processes run on this host", "not for the user nagios to see", "it waits for the order to start",
    "the TLS certificate of node", "undo log of node", "transactions here that",
    "its process runs here", "its angel may start it again", "its start waits for node",
    "started without node", "the receiver reconnected", "heartbeats of nodes",
}  # fmt: skip


def part(sheet, heading):
    """What stands below a heading of a sheet."""
    return re.search(rf"^## {heading}\n(.*?)(?=^## |\Z)", sheet.read_text(), re.MULTILINE | re.DOTALL)[1]


@pytest.mark.parametrize("sheet", SHEETS, ids=lambda sheet: sheet.stem)
def test_every_limit_stands_under_states(sheet):
    states = [float(number) for number in NUMBER.findall(part(sheet, "States"))]
    check = runpy.run_path(str(ROOT / "plugins" / sheet.stem))["check"]
    for name, limits in check.limits.items():
        for option in limits.values():
            for number in map(float, NUMBER.findall(str(option.default or ""))):
                ways = [number / size for size in SIZES[check.units[name]]]
                near = [one for one in states for way in ways if one == pytest.approx(way)]
                assert near or not number, f"{option.option_strings[-1]} {option.default}"


def texts(tree):
    """All texts of a module, with a blank line where something is put in."""
    for node in ast.walk(tree):
        if isinstance(node, ast.JoinedStr):
            yield "".join(one.value if isinstance(one, ast.Constant) else "\0" for one in node.values)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield re.sub(r"\{\w*\}", "\0", node.value)


@pytest.fixture(scope="module")
def sayings():
    """All that the plugins can say, or have said of what is recorded."""
    modules = [*(ROOT / "lib").rglob("*.py"), *(ROOT / "plugins").glob("check_*")]
    said = [text for module in modules for text in texts(ast.parse(module.read_text()))]
    said += [file.read_text() for file in (ROOT / "tests" / "recorded").rglob("expected/*.txt")]
    said += [file.read_text() for file in (ROOT / "tests" / "recorded" / "documented").glob("*.txt")]
    return "\n".join(said).lower()


def quotes(sheet):
    """The longest runs of words of what a line says, one of each alternative."""
    header, _, *rows = part(sheet, "What to do").strip().splitlines()
    for row in rows if header.startswith("| it says |") else ():
        said = row.split("|")[1].strip() if row.startswith("| ") else ""
        for alternative in re.split(r", (?=[a-zA-Z])", said):
            runs = [run.strip() for run in VARIES.split(alternative)]
            longest = max(runs, key=lambda run: len(run.split()))
            if len(longest.split()) > 1 and longest not in IN_PARTS:
                yield longest


@pytest.mark.parametrize("sheet", SHEETS, ids=lambda sheet: sheet.stem)
def test_what_a_line_says_is_said(sheet, sayings):
    assert [quote for quote in quotes(sheet) if quote.lower() not in sayings] == []
