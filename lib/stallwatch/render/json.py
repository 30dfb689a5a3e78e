"""A report for programs: one object on one line, as contrib/docs/output.schema.json describes it."""

from __future__ import annotations

import json

from stallwatch import __version__
from stallwatch.startup import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from stallwatch.verdict import Report

_NONE = {"name": None, "label": None, "value": None, "unit": "", "warning": None, "critical": None}


def written(report: Report) -> str:
    """Write it; thresholds are ranges in base units."""
    findings = [
        {
            "name": verdict.name,
            "label": label or None,
            "value": verdict.value,
            "unit": verdict.unit,
            "warning": str(verdict.warning) if verdict.warning else None,
            "critical": str(verdict.critical) if verdict.critical else None,
            "state": verdict.state.name,
            "what": verdict.what or "no details",
            "why": verdict.why,
            "advice": verdict.advice,
            **({"more": verdict.more} if verdict.more else {}),
            **({"table": verdict.table.by_column()} if verdict.table else {}),
        }
        for verdict, label in zip(report.verdicts, report.labels, strict=True)
    ]
    return _object(report.name, report.state.name, report.ranked[0].sentence, findings, report.trace)


def unknown(name: str, text: str, trace: Sequence[str] = ()) -> str:
    """Write that there is no verdict, and why."""
    finding = {**_NONE, "state": "UNKNOWN", "what": text, "why": "", "advice": ""}
    return _object(name, "UNKNOWN", text, [finding], trace)


def _object(name: str, state: str, summary: str, findings: Sequence[Any], trace: Sequence[str]) -> str:
    whole = {"name": name, "state": state, "summary": summary, "findings": findings, "version": __version__}
    told = {**whole, "trace": list(trace)} if trace else whole
    return json.dumps(told, ensure_ascii=False, allow_nan=False)
