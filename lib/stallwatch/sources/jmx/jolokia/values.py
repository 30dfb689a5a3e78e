"""From the JSON of Jolokia's agents (1.7.2, 2.1.1) to the values of RMI."""

from __future__ import annotations

import json

from stallwatch.sources.jmx.budget import DICT, ENTRY, LIST, MOST_VALUE, NUMBER, SLOT, TEXT, WIDE
from stallwatch.sources.jmx.errors import UnreadableError
from stallwatch.sources.jmx.moments import iso
from stallwatch.sources.jmx.values import DEEPEST, uuid, written
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
    converter = _Converter(most)
    try:
        value = converter.value(told, 0)
    except (TypeError, ValueError, KeyError, ArithmeticError) as error:
        raise UnreadableError(f"it makes no sense ({type(error).__name__})") from None
    keep(converter.spent)
    return value


def must_be_all(told: list[Any] | dict[str, Any], most: int) -> None:
    """Raise UnreadableError if an agent that sends ``most`` items may have left some out; 0: it sends all.

    Of a map it sends one more (1.7.2, 2.1.1), of a table all.
    """
    if most and len(told) >= most and (isinstance(told, list) or len(told) <= most + 1):
        raise UnreadableError(f"Jolokia sends {most} items at most (maxCollectionSize)")


class _Converter:
    """Makes the values of one answer, as many as its budget allows."""

    def __init__(self, most: int) -> None:
        self.spent = 0  # bytes
        self._most = most

    def value(self, told: Any, depth: int) -> Value:
        self._spend(SLOT + NUMBER)
        if isinstance(told, str):
            self._spend(TEXT + len(told))
            if told == _NO_MORE:
                raise UnreadableError("Jolokia sends no more objects at once (maxObjects)")
            return told
        if not isinstance(told, list | dict):
            return told  # type: ignore[no-any-return]  # null, a boolean or a number
        if depth >= DEEPEST:
            raise UnreadableError(f"it is nested deeper than {DEEPEST}")
        must_be_all(told, self._most)
        if isinstance(told, list):
            self._spend(LIST)
            return [self.value(one, depth + 1) for one in told]
        self._spend(LIST + DICT + sum(ENTRY + TEXT + len(key) for key in told))
        part = self._all if told.keys() == _TABLE else self.value
        for keys, read in _SHAPES:
            if keys == told.keys():
                return read({key: part(told[key], depth + 1) for key in keys - _UNREAD})
        found = {key: part(one, depth + 1) for key, one in told.items()}
        return _of_several_indexes(found) or found

    def _all(self, told: Any, depth: int) -> Value:
        """Convert a part of a table, of which all rows are sent."""
        if not isinstance(told, list):
            return self.value(told, depth)
        self._spend(LIST)
        return [self.value(one, depth + 1) for one in told]

    def _spend(self, size: int) -> None:
        self.spent += size
        if self.spent > MOST_VALUE:
            raise UnreadableError(f"it needs more than {MOST_VALUE >> 20} MiB of memory")


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
