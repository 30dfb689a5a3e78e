"""Whom a line of check_innodb_locks names as the head, whom it proposes to end, and how certain it is."""

import re
from typing import NamedTuple

from causes import HEDGES

_BLOCKS = re.compile(
    r"(?:connection|applier) (\d+)(?: \S+@\S+)?(?: \([^)]*\))?"
    r" (?:probably )?(?:blocks|has a transaction open)"
)
_DETACHED = re.compile(r"(XA transaction|transaction that no connection has)\b.{0,60}\b(blocks|open for)")
_CIRCLE = re.compile(r"connections ([\d, and]+) wait for each other")
_KILL = re.compile(r"\bKILL (\d+)")


class Told(NamedTuple):
    """What a line says; heads: none where it says that nobody knows them, 0: one without a connection."""

    heads: frozenset
    ends: frozenset  # connections to KILL
    hedged: bool


def told(text):
    """What the text of a line says, without perfdata."""
    if match := _CIRCLE.search(text):
        heads = frozenset(map(int, re.findall(r"\d+", match[1])))
    elif _DETACHED.search(text):
        heads = frozenset({0})
    else:
        heads = frozenset(map(int, _BLOCKS.findall(text)[:1]))
    return Told(heads, frozenset(map(int, _KILL.findall(text))), bool(HEDGES.search(text)))
