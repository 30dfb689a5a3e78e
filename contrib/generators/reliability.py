"""The page on reliability: by hand, with what the last runs of every cell came to (tests/figures.json)."""

from __future__ import annotations

import json
from collections import Counter
from typing import TYPE_CHECKING, Any

from generators.marks import filled
from generators.plugins import ROOT, Plugin

if TYPE_CHECKING:
    from pathlib import Path

PAGE = ROOT / "contrib" / "docs" / "reliability.md"
FIGURES = ROOT / "tests" / "figures.json"


def files(_: list[Plugin]) -> dict[Path, str]:
    """Fill what is between its marks."""
    modules = json.loads(FIGURES.read_text())
    return {
        PAGE: filled(
            PAGE.read_text(),
            measured=lambda _: _measured(modules),
            troubles=lambda _: _table("trouble", "plugins", _summed(modules, "cells")),
            counted=lambda _: _table("what", "how many", _summed(modules, "counted")),
        )
    }


def _measured(modules: dict[str, Any]) -> str:
    lines = [
        f"| `{module}` | {told['day']} | {told['tests']:,} | {sum(told['skipped'].values()) or ''} "
        f"| {told['seconds'] / 60:.0f} min | {'' if told['latest'] is None else told['latest']} |\n"
        for module, told in modules.items()
    ]
    heads = "| tests | run on | held | not possible there | took | latest end after the timeout, s |\n"
    return f"{heads}|---|---|--:|--:|--:|--:|\n{''.join(lines)}"


def _summed(modules: dict[str, Any], what: str) -> Counter[str]:
    found: Counter[str] = Counter()
    for told in modules.values():
        found += Counter(told[what])
    return found


def _table(what: str, number: str, rows: Counter[str]) -> str:
    lines = [f"| {name} | {count:,} |\n" for name, count in rows.items()]
    return f"| {what} | {number} |\n|---|--:|\n{''.join(lines)}"
