"""A row as it is in a packet: a length before each value."""

from __future__ import annotations

from stallwatch.startup import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from stallwatch.sources.mysql.connection import Value

_NULL = 251
_OCTETS_OF_LENGTH = {252: 2, 253: 3, 254: 8}  # of a value that is longer than 250


def values(octets: bytes, begins: int, ends: int, read: Sequence[Callable[[bytes], Value]]) -> list[Value]:
    """Read a row, each value as ``read`` says; IndexError, KeyError or ValueError: it is none."""
    row: list[Value] = []
    at = begins
    for one in read:
        length = octets[at]
        at += 1
        if length == _NULL:
            row.append(None)
            continue
        if length > _NULL:
            size = _OCTETS_OF_LENGTH[length]
            length = int.from_bytes(octets[at : at + size], "little")
            at += size
        row.append(one(octets[at : at + length]))
        at += length
    if at != ends:
        raise ValueError(at)
    return row
