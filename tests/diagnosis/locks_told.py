"""Whom a line of check_innodb_locks names as the head, whom it proposes to end, and how certain it is."""

import re
from typing import NamedTuple

from causes import HEDGES

_BLOCKS = re.compile(
    r"(?:connection|applier) (\d+)(?: \S+@\S+)?(?: \([^)]*\))?"
    r" (?:probably )?(?:blocks|has a transaction open)"
)
_BLOCK = re.compile(r"connections (\d+(?:(?:, | and )\d+)*) (?:probably )?block\b")
_DETACHED = re.compile(r"(XA transaction|transaction that no connection has)\b.{0,60}\b(blocks|open for)")
_CIRCLE = re.compile(r"connections ([\d, and]+) wait for each other")
_KILL = re.compile(r"\bKILL (\d+(?:(?:, | and )\d+)*)")


class Told(NamedTuple):
    """What a line says; heads: none where it says that nobody knows them, 0: one without a connection."""

    heads: frozenset
    ends: frozenset  # connections to KILL
    hedged: bool


def told(text):
    """What the text of a line says, without perfdata."""
    if match := _CIRCLE.search(text) or _BLOCK.search(text):
        heads = _numbers(match[1])
    elif _DETACHED.search(text):
        heads = frozenset({0})
    else:
        heads = frozenset(map(int, _BLOCKS.findall(text)[:1]))
    ends = _numbers(" ".join(_KILL.findall(text)))
    return Told(heads, ends, bool(HEDGES.search(text)))


def _numbers(text):
    return frozenset(map(int, re.findall(r"\d+", text)))
