"""From the JSON of Jolokia's agents (1.7.2, 2.1.1) to the values of RMI."""

from __future__ import annotations

import json

from stallwatch.sources.jmx.budget import DICT, ENTRY, LIST, NUMBER, SLOT, TEXT, WIDE
from stallwatch.sources.jmx.errors import UnreadableError
from stallwatch.sources.jmx.moments import iso
from stallwatch.sources.jmx.values import Converter, uuid, written
from stallwatch.startup import TYPE_CHECKING
from stallwatch.units import integer

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from stallwatch.sources.jmx.values import Value

_MOST = 48 << 20  # bytes that an answer may take as text and as objects
_OBJECT = 240  # bytes of a dict with few entries
_LONGEST_INTEGER = 2466  # digits: those of 1024 bytes
_MOST_INDEXES = 8  # of a table
_NO_MORE = "[Object limit exceeded]"  # what stands for an object beyond maxObjects


class SpoiledError(Exception):
    """The answer is no JSON, or too large: something in it makes it so."""


def parsed(octets: bytes) -> Any:
    """Read an answer; raises SpoiledError."""
    if _size(octets) > _MOST:
        raise SpoiledError("it needs too much memory")
    try:
        return json.loads(octets, parse_int=integer)
    except (ValueError, RecursionError):
        raise SpoiledError("it was not sent as JSON") from None


def _size(octets: bytes) -> int:
    """Return how much memory an answer takes at most: its text, and the objects that are made of it."""
    text = len(octets) * (1 if octets.isascii() else WIDE)
    texts = len(octets) * (WIDE if b"\\u" in octets or not octets.isascii() else 1)
    structure = octets.count(b"[") * LIST + octets.count(b"{") * _OBJECT + octets.count(b":") * ENTRY
    return text + texts + structure + octets.count(b'"') // 2 * TEXT + octets.count(b",") * (SLOT + NUMBER)


def plain(told: Any, most: int, keep: Callable[[int], None]) -> Value:
    """Give the value as RMI has it; raises UnreadableError if it is too large, or a part of it was not sent.

    ``most``: the items that the agent sends of a list or a map, 0 for all. ``keep`` gets how many bytes of
    memory the value takes.
    """
    return _Converter(most).made(told, keep, "it")


def must_be_all(told: list[Any] | dict[str, Any], most: int) -> None:
    """Raise UnreadableError if an agent that sends ``most`` items may have left some out; 0: it sends all.

    Of a map it sends one more (1.7.2, 2.1.1), of a table all.
    """
    if most and len(told) >= most and (isinstance(told, list) or len(told) <= most + 1):
        raise UnreadableError(f"Jolokia sends {most} items at most (maxCollectionSize)")


class _Converter(Converter):
    """Makes a value of JSON."""

    nested = (list, dict)

    def __init__(self, most: int) -> None:
        super().__init__()
        self._most = most

    def simple(self, thing: Any) -> Value:
        if thing == _NO_MORE:
            raise UnreadableError("Jolokia sends no more objects at once (maxObjects)")
        return self.text(thing) if isinstance(thing, str) else thing  # null, a boolean or a number

    def parts(self, thing: Any) -> Value:
        must_be_all(thing, self._most)
        if isinstance(thing, list):
            return self.list(thing)
        self.spend(LIST + DICT + sum(ENTRY + TEXT + len(key) for key in thing))
        part = self._all if thing.keys() == _TABLE else self.value
        for keys, read in _SHAPES:
            if keys == thing.keys():
                return read({key: part(thing[key]) for key in keys - _UNREAD})
        found = {key: part(one) for key, one in thing.items()}
        return _of_several_indexes(found) or found

    def _all(self, told: Any) -> Value:
        """Convert a part of a table, of which all rows are sent."""
        return self.list(told) if isinstance(told, list) else self.value(told)


def _of_several_indexes(table: dict[str, Value]) -> dict[str, Value]:
    """Give a table of several indexes, which is nested, with its rows under ``a,b``; nothing if it is none.

    It is one if each key on the way to a row is the value of a column of its own, in all rows.
    """
    rows: dict[tuple[str, ...], Any] = {(): table}
    for _ in range(_MOST_INDEXES):
        if not rows or not all(isinstance(row, dict) and row for row in rows.values()):
            return {}
        rows = {(*keys, key): one for keys, row in rows.items() for key, one in row.items()}
        if _are_indexed(rows):
            return {",".join(keys): row for keys, row in rows.items()}
    return {}


def _are_indexed(rows: dict[tuple[str, ...], Any]) -> bool:
    if not all(isinstance(row, dict) for row in rows.values()):
        return False
    columns = set.intersection(*({*row} for row in rows.values()))
    for place in range(len(next(iter(rows)))):
        index = next(
            (
                column
                for column in sorted(columns)
                if all(written(row[column]) == keys[place] for keys, row in rows.items())
            ),
            None,
        )
        if index is None:
            return False
        columns.remove(index)
    return True


def _integer(told: Any) -> float:
    if len(told["bigint"]) > _LONGEST_INTEGER:
        raise UnreadableError(f"it is an integer of {len(told['bigint'])} digits")
    return integer(told["bigint"])


def _number(told: Any) -> int:
    """Give a number of 64 bits at most, as Java has it; ValueError: it is none."""
    if type(told) is not int or not -(1 << 63) <= told < 1 << 63:
        raise ValueError(type(told))
    return told


def _table(told: Any) -> Value:
    """Read a table one of whose indexes has parts."""
    return {",".join(written(row[name]) for name in told["indexNames"]): row for row in told["values"]}


_TABLE = {"indexNames", "values"}
# Parts of a class and of a duration that may be long, and that nobody reads.
_UNREAD = {"interfaces", "units"}
# What objects of the JDK are sent as: 1.7.2 shows what all getters of an object give.
_SHAPES: tuple[tuple[set[str], Callable[[Any], Value]], ...] = (
    ({"objectName"}, lambda told: str(told["objectName"])),
    ({"bigint"}, _integer),
    (_TABLE, _table),
    ({"name", "interfaces"}, lambda told: str(told["name"])),  # a class
    (
        {"name", "length", "canonicalPath", "exists", "lastModified", "directory"},
        lambda told: str(told["canonicalPath"]),  # a file
    ),
    (
        {"mostSignificantBits", "leastSignificantBits"},
        lambda told: uuid(_number(told["mostSignificantBits"]), _number(told["leastSignificantBits"])),
    ),
    (
        {"epochSecond", "nano"},
        lambda told: iso(_number(told["epochSecond"]), _number(told["nano"])),
    ),  # 1.7.2: an Instant
    (
        {"seconds", "nano", "units", "zero", "negative"},
        lambda told: _number(told["seconds"]) + _number(told["nano"]) / 1e9,  # a Duration
    ),
    *(
        ({"plain", "opaque", "acquire", *more}, lambda told: told["plain"])  # an AtomicInteger, AtomicBoolean
        for more in ((), ("andIncrement", "andDecrement"))
    ),
)
