"""The README and the page about the output of plugins: by hand, with what they print today."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from generators.marks import DEMO, filled
from generators.plugins import ROOT, Plugin

if TYPE_CHECKING:
    from pathlib import Path

README = ROOT / "README.md"
OUTPUT = ROOT / "contrib" / "docs" / "output.md"


def files(_: list[Plugin]) -> dict[Path, str]:
    """Fill what is between their marks."""
    return {README: filled(README.read_text()), OUTPUT: filled(OUTPUT.read_text(), object=_object)}


def _object(command: str) -> str:
    """Show what a plugin prints with --output json, of its findings only the worst."""
    told: dict[str, Any] = json.loads(DEMO["run"](f"{command} --output json").splitlines()[1])
    worst = [one for one in told["findings"] if one["state"] == told["state"]][:1]
    shown = {**told, "time": "2026-11-22T23:39:20Z", "findings": worst}
    return f"```json\n{json.dumps(shown, indent=2, ensure_ascii=False)}\n```\n"
