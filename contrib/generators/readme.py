"""The README: by hand, with what the plugins print today."""

from __future__ import annotations

from typing import TYPE_CHECKING

from generators.marks import filled
from generators.plugins import ROOT, Plugin

if TYPE_CHECKING:
    from pathlib import Path

README = ROOT / "README.md"


def files(_: list[Plugin]) -> dict[Path, str]:
    """Fill what is between its marks."""
    return {README: filled(README.read_text())}
