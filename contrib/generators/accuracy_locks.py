"""The tables of the page on accuracy that locks have otherwise: by fault and server."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from generators.accuracy_ndb import count
from generators.markdown import table

if TYPE_CHECKING:
    from collections.abc import Iterator

Row = dict[str, Any]
NAMES = {"mysql": "MySQL", "mariadb": "MariaDB"}


def _by_server(told: dict[str, Any], *, faults: bool) -> Iterator[tuple[str, dict[str, Any], str, list[Row]]]:
    for name, about in told["cases"].items():
        for server in about["servers"] if about["fault"] == faults else ():
            rows = [row for row in told["trials"] if (row["case"], row["server"]) == (name, server)]
            yield name, about, NAMES[server], rows


def faults(told: dict[str, Any]) -> str:
    """Write a row for each fault and server."""
    heads = ["fault", "what happens", "server", "right first cause", "of these certain",
             "right state in time", "wrong and certain"]  # fmt: skip
    rows = [
        [name, about["about"], server, count(row["right"] for row in of),
         count(row["unhedged"] for row in of if row["right"]), count(row["in_time"] for row in of),
         str(sum(len(row["wrong"]) for row in of)) if of else "-"]
        for name, about, server, of in _by_server(told, faults=True)
    ]  # fmt: skip
    return table(heads, rows)


def healthy(told: dict[str, Any]) -> str:
    """Write how often it alarms while each healthy thing goes on."""
    rows = [
        [name, about["about"], server, str(len(of)), str(sum(len(row["false"]) for row in of)) if of else "-"]
        for name, about, server, of in _by_server(told, faults=False)
    ]
    return table(["nothing is wrong", "what happens", "server", "trials", "alarms"], rows)
