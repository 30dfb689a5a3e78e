"""The page on the architecture: by hand, with what the code's own imports and a recording show.

``<!-- components -->``          each component, its size, and which components it imports
``<!-- datum FILE RUN -->``      the moments of the oldest transaction in hand, as that run read them

The picture is made anew, too.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from generators.architecture_plot import picture
from generators.components import Component, Layout, about, layout
from generators.imports import imports, modules
from generators.markdown import table
from generators.marks import filled
from generators.plugins import ROOT, Plugin

if TYPE_CHECKING:
    from pathlib import Path

DOCS = ROOT / "contrib" / "docs"
PAGE, PICTURE = DOCS / "architecture.md", DOCS / "architecture.svg"
RECEIVER = "replication_connection_status"
WORKERS = "replication_applier_status_by_worker"


def files(_: list[Plugin]) -> dict[Path, str]:
    """Draw the picture, and fill what is between the marks of the page."""
    known = modules()
    found = imports(known)
    counted = layout(known, found)
    marks = {"components": lambda _: components(counted), "datum": datum}
    return {PICTURE: picture(counted), PAGE: filled(PAGE.read_text(), **marks)}


def components(counted: Layout) -> str:
    """Write a row for each component."""
    rows = [_row(component, counted) for component in counted.components]
    return table(["component", "what it knows", "files", "lines (about)", "imports"], rows)


def _row(component: Component, counted: Layout) -> list[str]:
    files, lines = counted.files[component.title], counted.lines[component.title]
    found = sorted((other, n) for (one, other), n in counted.imports.items() if one == component.title)
    imported = ", ".join(f"{other} {number}" for other, number in found)
    return [component.title, component.knows, f"{files:,}", about(lines), imported or "no other component"]


def datum(words: str) -> str:
    """Write what the last worker status and the receiver status of a run show of the transaction in hand."""
    path, run = words.split()
    worker, receiver = moments(path, int(run))
    lag = receiver["now"] - worker["applying_commit"]
    rows = [
        [WORKERS, "`applying`", f"`{worker['applying']}`"],
        [WORKERS, "`applying_commit`", f"`{worker['applying_commit']:.6f}`"],
        [RECEIVER, "`now`", f"`{receiver['now']:.6f}`"],
        ["", "`now` - `applying_commit`", f"**{lag:.3f} s**"],
    ]
    return table(["table", "column", "value"], rows)


def moments(path: str, run: int) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the row of the worker that applies a transaction, and that of the receiver, of the nth run."""
    recorded = json.loads((ROOT / path).read_text())
    answers = [one for log_in in recorded["runs"][run - 1]["log_ins"] for one in log_in["answers"]]

    def rows(name: str) -> list[dict[str, Any]]:
        return [
            dict(zip(statement["columns"], row, strict=True))
            for one in answers
            if f".{name}" in (statement := recorded["statements"][one["statement"]])["sql"]
            for row in one["rows"]
        ]

    (worker,) = (row for row in rows(WORKERS) if row["applying"])
    (receiver,) = rows(RECEIVER)
    return worker, receiver
