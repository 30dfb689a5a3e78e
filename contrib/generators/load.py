"""The page on the load of a check: by hand, with tables of what was counted.

``<!-- load KIND -->``   what each check costs that kind of server, as recorded in tests/recorded/load.json
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from generators.marks import filled
from generators.plugins import ROOT, Plugin

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

PAGE = ROOT / "contrib" / "docs" / "load.md"
COUNTED = ROOT / "tests" / "recorded" / "load.json"
SQL = {
    "check": "{check}",
    "connections": "{connections}",
    "statements": "{statements}",
    "rows examined": "{rows_examined}",
    "rows sent": "{rows_sent}",
    "temporary tables": "{temporary_tables}",
    "of them on disk": "{on_disk}",
    "bytes received": "{bytes_received}",
    "bytes sent": "{bytes_sent}",
    "server's time": "{milliseconds:.1f} ms",
}
JMX = {
    "check": "{check}",
    "connections": "{connections}",
    "calls": "{calls}",
    "bytes received": "{bytes_received}",
    "bytes sent": "{bytes_sent}",
}


def files(_: list[Plugin]) -> dict[Path, str]:
    """Fill what is between its marks."""
    return {PAGE: filled(PAGE.read_text(), load=table)}


def table(kind: str) -> str:
    """Write what a check costs a server of that kind, a row each."""
    checks = json.loads(COUNTED.read_text())[kind]["checks"]
    columns = JMX if kind in ("jvm", "cassandra") else SQL
    rows = [_row(check, of["later"], columns.values()) for check, of in checks.items()]
    lines = [list(columns), ["---", *["--:"] * (len(columns) - 1)], *rows]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


def _row(check: str, cost: dict[str, float], cells: Iterable[str]) -> list[str]:
    known = {"check": f"[`{check}`]({check}.md)", "milliseconds": 1000 * cost.get("seconds", 0)}
    return [cell.format_map(known | cost) for cell in cells]
