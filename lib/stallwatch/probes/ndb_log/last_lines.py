"""The last lines of a part of a log: what a node logged before its end, and the time of its last line."""

from __future__ import annotations

from contextlib import suppress

from stallwatch.probes.ndb_log.lines import GarbledError, Line, compiled, parse
from stallwatch.startup import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

# What a node logs of its end for any reason: the place in the source, and steps of the shutdown.
_EMPTY = r"Error handler |Watchdog |Angel |[\w./]+ (?:\(Line: \d+\) 0x\w+$|line: \d+)|\S+$|$"


def last_words(before: bytes) -> str:
    """Return the last line before a place that means something in itself."""
    for raw in reversed(before.split(b"\n")):
        with suppress(GarbledError):
            line = parse(raw)
            if line.source and not compiled(_EMPTY).match(line.text):
                return line.text
    return ""


def last_with_time(block: bytes, parsed: Callable[[bytes], Line] = parse) -> Line | None:
    """Return the last line that has a time, as it is ``parsed``."""
    for raw in reversed(block.split(b"\n")):
        if raw.lstrip(b"\0")[:1].isdigit():  # no other line has one; to ask is cheaper than to parse
            with suppress(GarbledError):
                line = parsed(raw)
                if line.when is not None:
                    return line
    return None
