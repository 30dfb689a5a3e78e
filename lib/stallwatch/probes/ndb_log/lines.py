"""The lines of a data node's log or a cluster log, of any version from 5.0 to 9.7."""

from __future__ import annotations

import re
from datetime import datetime
from functools import cache

from stallwatch.startup import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable

# Formats since 5.0: 9.4 and later write UTC with "T" and "Z" (or an offset), 6.3 to 9.3 local time, old
# printf lines have no time at all. Reports on the web turn "--" into a dash.
_PREFIX = re.compile(
    r"(?:ndb_mgm> )?"
    r"(?:(?P<stamp>\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|[+-]\d\d:\d\d)?"
    r"|\d\d:\d\d:\d\d \d{4}-\d\d-\d\d) )?"
    r"(?:\[(?P<source>\w+)\] (?P<level>[A-Z]+) *(?:--|[\u2013\u2014]) )?"
    r"(?:Node (?P<node>\d+): )?"
    r"(?P<text>.*?)"
    r"(?: - Repeated (?P<repeats>\d+) times)?$"
)
# At the beginning of a line: one that went through syslog has another program's time and is not read.
_NDB = (
    rb"(?m)^[\0 ]*(?:ndb_mgm> )?(?:[-\dT:.Z+ ]{10,40} )?"
    rb"\[(?:ndbd|Mgmt?Srvr|NDB|NdbApi)\] [A-Z]+ *(?:--|\xe2\x80[\x93\x94]) "
    rb"|Ndb kernel (?:thread \d+ )?is stuck in: | waiting for lock, contentions: \d+ spins: "
)
_GRAVE = frozenset({"WARNING", "ERROR", "CRITICAL", "ALERT"})
_LONGEST = 4096  # bytes of a line that are understood; no line of NDB has as many
_MOST_DIGITS = 15  # of the longest number that NDB may mean
_DIGITS = b"0123456789"
_SHAPES = 4096  # shapes that are remembered; beyond that the memory starts afresh
_LONGEST_SHAPE = 1024  # bytes of a shape that is worth remembering


class GarbledError(ValueError):
    """A number that nobody can have written: the line is damaged."""


class Line(NamedTuple):
    """A line without its prefix, and what the prefix had."""

    text: str
    when: float | None  # seconds since the epoch; None where the line has no time
    clock: str  # the time as the log writes it, "2026-11-20 23:08:01"; "" where it has none
    source: str  # "ndbd", "MgmtSrvr", ...; "" on bare printf lines
    node: int | None  # the node that speaks, in a cluster log or an old data node's log
    times: int  # how often it was said: the logger swallows repetitions for 3 s, then counts them
    shape: bytes  # the raw line without its digits
    grave: bool = False  # its level is WARNING or above
    local: bool = False  # its time has no zone: ``when`` is that of this host's zone

    @property
    def moment(self) -> float:
        """When it was said, for subjects that read no lines of unknown age."""
        return self.when or 0.0


def parse(raw: bytes) -> Line:
    """Take a raw line apart. Any bytes make a line; what is no prefix is text. May raise GarbledError."""
    text = raw.lstrip(b"\0")[:_LONGEST]  # a power failure leaves blocks of NUL bytes
    match = _PREFIX.match(text.decode("utf-8", "replace").rstrip())
    assert match is not None  # noqa: S101 - every part of the pattern is optional
    stamp = match["stamp"] or ""
    if stamp[2:3] == ":":  # 5.0 wrote the time before the date
        stamp = f"{stamp[9:]} {stamp[:8]}"
    when = _epoch(stamp)
    clock = "" if when is None else stamp[:19].replace("T", " ")
    node = number(match["node"]) if match["node"] else None
    times, shape = number(match["repeats"] or "1"), text.translate(None, _DIGITS)
    grave = match["level"] in _GRAVE
    local = when is not None and stamp[-1:] != "Z" and stamp[-6:-5] not in {"+", "-"}
    return Line(match["text"], when, clock, match["source"] or "", node, times, shape, grave, local)


@cache
def compiled(pattern: str) -> re.Pattern[str]:
    """Compile a pattern when a line is first compared with it: all of them together take 5 ms.

    The cache of re itself takes five times as long to look up (CPython 3.11).
    """
    return re.compile(pattern)


def number(digits: str) -> int:
    """Read a number of a log; raises GarbledError for one that is too long to be meant."""
    if len(digits) > _MOST_DIGITS:
        raise GarbledError(f"a number of {len(digits)} digits")
    return int(digits)


def speaks_ndb(block: bytes) -> bool:
    """Return whether any line of the block is one that only an NDB process writes."""
    return re.search(_NDB, block) is not None


def _epoch(stamp: str) -> float | None:
    """Seconds since the epoch; times without a zone are this machine's local time. None if it is no time."""
    if not stamp:
        return None
    try:
        return datetime.fromisoformat(stamp).timestamp()
    except (ValueError, OverflowError, OSError):  # "2026-13-45 99:99:99"
        return None


class Shapes:
    """Picks the lines that contain one of the words; a word contains no digit.

    It is a cheap first look: lines differ in their numbers only, so each shape is judged once. A megabyte of
    log has ten thousand lines and a few dozen shapes. Taking the digits out of a whole block and putting what
    is left into a set costs 2 ns a byte; only shapes never seen before are searched for patterns.
    """

    def __init__(self, words: Iterable[bytes], context: Iterable[bytes] = ()) -> None:
        """Look for ``words``; lines with a word of ``context`` are handed out only beside others."""
        self._wanted = _any_of(words).search
        self._context = _any_of(context).search
        self._boring: set[bytes] = set()
        self.lines = 0  # counted here: to count newlines apart takes half as long as the look (CPython 3.11)

    def pick(self, block: bytes) -> list[bytes]:
        """Return the lines of interest in a block of whole lines, in order, without their newlines."""
        shapes = block.translate(None, _DIGITS).split(b"\n")
        self.lines += len(shapes) - 1
        fresh = set(shapes) - self._boring
        if not fresh:
            return []
        wanted = {shape for shape in fresh if self._wanted(shape)}
        if wanted:
            wanted |= {shape for shape in fresh if self._context(shape)}
        self._remember(fresh - wanted)
        if not wanted:
            return []
        return [line for line in block.split(b"\n") if line.translate(None, _DIGITS) in wanted]

    def _remember(self, boring: set[bytes]) -> None:
        if len(self._boring) + len(boring) > _SHAPES:
            self._boring.clear()
        short = (shape for shape in boring if len(shape) <= _LONGEST_SHAPE)
        self._boring.update(shape for shape in short if not self._context(shape))


def _any_of(words: Iterable[bytes]) -> re.Pattern[bytes]:
    return re.compile(b"|".join(map(re.escape, words)) or b"(?!)")
