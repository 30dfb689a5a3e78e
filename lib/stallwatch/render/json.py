"""A report for programs: one object on one line, as contrib/docs/output.schema.json describes it."""

from __future__ import annotations

import json
import time

from stallwatch import __version__
from stallwatch.line import clean
from stallwatch.startup import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

    from stallwatch.causes import Cause
    from stallwatch.verdict import Report

_NONE = {"name": None, "label": None, "value": None, "unit": "", "warning": None, "critical": None}


def written(report: Report) -> str:
    """Write it; thresholds are ranges in base units."""
    findings = [
        {
            "name": verdict.name,
            "label": verdict.label or None,
            "value": verdict.value,
            "unit": verdict.unit,
            "warning": str(verdict.warning) if verdict.warning else None,
            "critical": str(verdict.critical) if verdict.critical else None,
            "state": verdict.state.name,
            "what": verdict.what or "no details",
            "why": verdict.why,
            "advice": verdict.advice if verdict.is_wrong else "",
            **({"cause": _cause(verdict.cause)} if verdict.cause and verdict.is_wrong else {}),
            **({"explained_by": verdict.root} if verdict.root is not None else {}),
            **({"more": verdict.more} if verdict.more else {}),
            **({"table": verdict.table.by_column()} if verdict.table else {}),
        }
        for verdict in report.verdicts
    ]
    about = {"name": report.name, "target": report.target or None, "time": _utc(report.time)}
    return _object(about, report.state.name, report.ranked[0].sentence, findings, report.trace)


def _cause(cause: Cause) -> dict[str, Any]:
    subject = cause.subject
    about = {"server": clean(subject.server), "thing": subject.thing.value, "id": clean(subject.id) or None}
    started = None if subject.started is None else _utc(subject.started)
    since = None if cause.since is None else _utc(cause.since)
    within = [{"thing": thing.value, "id": clean(id_)} for thing, id_ in subject.within]
    return {
        "kind": cause.kind.value,
        "subject": {**about, "started": started, **({"within": within} if within else {})},
        "certainty": cause.certainty.value,
        "evidence": cause.evidence or None,
        "since": since,
    }


def unknown(name: str, text: str, trace: Sequence[str] = ()) -> str:
    """Write that there is no verdict, and why."""
    finding = {**_NONE, "state": "UNKNOWN", "what": text, "why": "", "advice": ""}
    about = {"name": name, "target": None, "time": _utc(time.time())}
    return _object(about, "UNKNOWN", text, [finding], trace)


def _utc(seconds: float) -> str:
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(seconds))


def _object(
    about: Mapping[str, str | None], state: str, summary: str, findings: Sequence[Any], trace: Sequence[str]
) -> str:
    whole = {**about, "state": state, "summary": summary, "findings": findings, "version": __version__}
    told = {**whole, "trace": list(trace)} if trace else whole
    return json.dumps(told, ensure_ascii=False, allow_nan=False)
