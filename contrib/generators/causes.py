"""The page of all causes: their kinds, and what explains what."""

from __future__ import annotations

from typing import TYPE_CHECKING

from generators.markdown import table
from generators.plugins import ROOT, Plugin
from stallwatch.causes import EXPLAINS, MEANINGS, Kind

if TYPE_CHECKING:
    from pathlib import Path

PAGE = ROOT / "contrib" / "docs" / "causes.md"
_HEAD = """# Causes

`--output json` has `cause` in each finding whose cause is known: a stable `kind`, by which alerts can be
routed, the `subject` that it is about, and how certain it is. On the status line a `certain` cause stands as
it is, a `likely` one after "probably", a `possible` one behind "check". `unknown` is a stall of which nothing
that was seen shows the cause. [output.md](output.md) describes the rest of the object. This page is made from
`lib/stallwatch/causes.py`.

"""
_EXPLAINS = """
## What explains what

A finding whose cause follows from the cause of another one is shown below that one. `explained_by` is its
place. Both are about the same thing, and the cause is not younger than what follows from it.

"""


def files(_: list[Plugin]) -> dict[Path, str]:
    """Make the page."""
    kinds = table(["kind", "what it means"], ([f"`{kind.value}`", MEANINGS[kind]] for kind in Kind))
    rows = (
        [f"`{row.cause.value}`", f"`{row.consequence.value}`", f"of the same {row.scope.value}"]
        for row in EXPLAINS
    )
    explains = table(["cause", "consequence", "where"], rows)
    return {PAGE: _HEAD + kinds + _EXPLAINS + explains}
