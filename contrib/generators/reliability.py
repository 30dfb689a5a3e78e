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
            troubles=lambda _: _troubles(modules),
            counted=lambda _: _counted(modules),
            late=lambda _: _late(modules),
        )
    }


def _measured(modules: dict[str, Any]) -> str:
    lines = [
        f"| `{module}` | {told['day']} | {told['held']:,} | {sum(told['skipped'].values())} "
        f"| {told['seconds'] / 60:.1f} | {'' if told['latest'] is None else told['latest']} |\n"
        for module, told in modules.items()
    ]
    heads = (
        "| tests | run on | held | not possible there | minutes | latest end, seconds after the timeout |\n"
    )
    return f"{heads}|---|---|--:|--:|--:|--:|\n{''.join(lines)}"


def _troubles(modules: dict[str, Any]) -> str:
    lines = []
    for told in modules.values():
        for test, troubles in told["cells"].items():
            plugins = {plugin for those in troubles.values() for plugin in those}
            runs = sum(map(len, troubles.values()))
            sentence = test.removeprefix("test_").replace("_", " ")
            lines.append(f"| {sentence} | {'; '.join(troubles)} | {len(plugins)} | {runs:,} |\n")
    return f"| test | troubles | plugins | cells |\n|---|---|--:|--:|\n{''.join(lines)}"


def _late(modules: dict[str, Any]) -> str:
    found = {name: number for told in modules.values() for name, number in told.get("measured", {}).items()}
    lines = [f"| {name} | {number:g} |\n" for name, number in found.items()]
    return f"| what | measured |\n|---|--:|\n{''.join(lines)}"


def _counted(modules: dict[str, Any]) -> str:
    counted: Counter[str] = Counter()
    for told in modules.values():
        counted += Counter(told["counted"])
    lines = [f"| {name} | {number:,} |\n" for name, number in counted.items()]
    return f"| what | how many |\n|---|--:|\n{''.join(lines)}"
