"""Which recording of a folder must have everything that is asked today: the newest one of each product.

That is the one of the highest version, and of these the last one recorded, that has an answer to the same
question with whatever values.
"""

import json
import re
from functools import cache
from typing import NamedTuple

import sql_statement
from same_question import difference


class Asked(NamedTuple):
    """A statement that a recording has an answer to."""

    name: str  # of the recording
    product: str
    version: tuple
    began: float
    text: str
    columns: tuple
    rows: bool  # whether there were any


def newest(folder, product, lack):
    """The name of the recording of that folder and product that must have what this answer lacks."""
    question = lack.asked.without_values()
    asked = [
        one
        for one in _asked(folder)
        if one.product == product and (one.rows or lack.names) and _same(question, one)
    ]
    return max(asked, key=lambda one: (one.version, one.began)).name


def how_to_record(name):
    """The command that records it anew."""
    replica = re.fullmatch(r"(mariadb|mysql)-[\d.]+-(.+)", name)
    what = f"replication_recording.py {replica[1]} {replica[2]}" if replica else f"ndb_recording.py {name}"
    return f".venv/bin/python tests/live/{what} && make record"


@cache
def _asked(folder):
    found = set()
    for path in folder.glob("*.json"):
        recorded = json.loads(path.read_text())
        began = recorded["runs"][0]["began"]
        for log_in in (log_in for run in recorded["runs"] for log_in in run["log_ins"]):
            product, version, _ = log_in["flavour"]
            for answer in log_in["answers"]:
                if "error" not in answer:
                    text, columns = recorded["statements"][answer["statement"]].values()
                    known = (path.stem, product, tuple(version), began, text, tuple(columns))
                    found.add(Asked(*known, bool(answer["rows"])))
    return sorted(found)


def _same(question, one):
    return not difference(question, _without_values(one.text, one.columns))


@cache
def _without_values(text, columns):
    return sql_statement.parsed(text).of_columns(columns).without_values()
