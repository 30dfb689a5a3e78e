"""A cheap first look at a block of log: lines differ in their numbers only, so judge each shape once.

A megabyte of log has ten thousand lines and a few dozen shapes. Taking the digits out of a whole block and
putting what is left into a set costs 2 ns a byte; only shapes never seen before are searched for patterns.
"""

from __future__ import annotations

import re

from stallwatch.startup import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

_DIGITS = b"0123456789"
_REMEMBERED = 4096  # shapes; beyond that the memory starts afresh
_LONGEST = 1024  # bytes of a shape that is worth remembering


class Shapes:
    """Picks the lines that contain one of the given words; a word contains no digit."""

    def __init__(self, words: Iterable[bytes], context: Iterable[bytes] = ()) -> None:
        """Look for ``words``; lines with a word of ``context`` are handed out only beside others."""
        self._wanted = _any_of(words).search
        self._context = _any_of(context).search
        self._boring: set[bytes] = set()
        self.lines = 0  # counted here: to count newlines apart takes half as long as the look (CPython 3.11)

    def pick(self, block: bytes) -> list[bytes]:
        """Return the lines of interest in a block of whole lines, in order, without their newlines."""
        fresh = self._fresh(block)
        if not fresh:
            return []
        wanted = {shape for shape in fresh if self._wanted(shape)}
        if wanted:
            wanted |= {shape for shape in fresh if self._context(shape)}
            picked = [line for line in block.split(b"\n") if line.translate(None, _DIGITS) in wanted]
        else:
            picked = []
        self._remember(fresh - wanted)
        return picked

    def _fresh(self, block: bytes) -> set[bytes]:
        """Count the lines of a block and give the shapes that are not known to be boring."""
        shapes = block.translate(None, _DIGITS).split(b"\n")
        self.lines += len(shapes) - 1
        return set(shapes) - self._boring

    def _remember(self, boring: set[bytes]) -> None:
        if len(self._boring) + len(boring) > _REMEMBERED:
            self._boring.clear()
        self._boring.update(shape for shape in boring if len(shape) <= _LONGEST and not self._context(shape))


def _any_of(words: Iterable[bytes]) -> re.Pattern[bytes]:
    return re.compile(b"|".join(map(re.escape, words)) or b"(?!)")
