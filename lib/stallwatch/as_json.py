"""A report for programs: one object on one line, as contrib/docs/output.schema.json describes it."""

from __future__ import annotations

import json

from stallwatch import __version__
from stallwatch.startup import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

_NONE = {"name": None, "label": None, "value": None, "unit": "", "warning": None, "critical": None}


def written(name: str, state: str, summary: str, findings: Sequence[Any], trace: Sequence[str] = ()) -> str:
    """Write it; thresholds are ranges in base units."""
    whole = {"name": name, "state": state, "summary": summary, "findings": findings, "version": __version__}
    told = {**whole, "trace": list(trace)} if trace else whole
    return json.dumps(told, ensure_ascii=False, allow_nan=False)


def unknown(name: str, text: str, trace: Sequence[str] = ()) -> str:
    """Write that there is no verdict, and why."""
    finding = {**_NONE, "state": "UNKNOWN", "what": text, "why": "", "advice": ""}
    return written(name, "UNKNOWN", text, [finding], trace)
