"""The tables of the page on accuracy that NDB Cluster has otherwise: by fault and check."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from generators.markdown import table

if TYPE_CHECKING:
    from collections.abc import Iterable

Row = dict[str, Any]


def faults(told: dict[str, Any]) -> str:
    """Write a row for each fault and check that is to report it, or is wrong about it."""
    heads = ["fault", "check", "right cause first", "of these certain", "right state in time",
             "wrong and certain"]  # fmt: skip
    rows = []
    for name, about in told["cases"].items():
        if about["fault"]:
            of = [row for row in told["trials"] if row["case"] == name]
            wrong = {row["who"] for row in of if row["wrong"]} - set(about["checks"])
            rows += [[name, check, *_told(of, check)] for check in (*about["checks"], *sorted(wrong))]
    return table(heads, rows)


def _told(of: list[Row], check: str) -> list[str]:
    rows = [row for row in of if row["who"] == check]
    lines = str(sum(len(row["wrong"]) for row in rows)) if rows else "-"
    return [
        count(row["right"] for row in rows),
        count(row["unhedged"] for row in rows if row["right"]),
        count(row["in_time"] for row in rows),
        lines,
    ]


def count(values: Iterable[bool | None]) -> str:
    """Return how many of those that are known are true."""
    known = [value for value in values if value is not None]
    return f"{sum(known)} of {len(known)}" if known else "-"


def healthy(told: dict[str, Any]) -> str:
    """Write who alarms while each healthy thing goes on."""
    rows = []
    for name, about in told["cases"].items():
        if not about["fault"]:
            of = [row for row in told["trials"] if row["case"] == name]
            alarms = {row["who"]: len(row["false"]) for row in of if row["false"]}
            who = ", ".join(sorted(alarms)) or "-"
            rows.append([name, about["about"], str(sum(alarms.values())) if of else "-", who])
    return table(["nothing is wrong", "what happens", "alarms", "of"], rows)
