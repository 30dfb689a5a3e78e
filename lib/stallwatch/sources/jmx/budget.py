"""How much memory the answers of one server may take: whatever is in them, and however much time there is.

Sizes are what objects take in CPython 3.11 on 64 bits, sys.getsizeof and the garbage collector's part.
"""

from __future__ import annotations

from contextlib import contextmanager

from stallwatch.sources.jmx.errors import UnreachableError
from stallwatch.startup import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

# Bytes: of one answer as it is read, of the values that are made of it, and of all that a run keeps.
# Cassandra 5 has 11 718 beans: their names and classes take 15 MiB as they are read, and a run that asks each
# of them for a number keeps 31 MiB.
MOST_READ, MOST_VALUE, MOST_KEPT = 20 << 20, 8 << 20, 36 << 20

SLOT = 20  # a place in a list, and one among the handles of a stream
TEXT, NUMBER, LIST = 64, 32, 88
WIDE = 4  # for each byte of a text that is not ASCII
DICT, ENTRY = 64, 64  # what is in a dictionary that is counted already
RECORD, CLASS, FIELD = 224, 320, 160
_NAME, _PROPERTY = 640, 220  # of a bean that is asked: its name in all the forms that it takes, its parts
_ERROR = 600


class LimitError(Exception):
    """The stream wants more memory or depth than a monitoring plugin allows; the sentence names it."""


class Kept:
    """What a run keeps of one server's answers, in bytes."""

    def __init__(self, where: str) -> None:
        self._where = where
        self.bytes = 0

    def add(self, size: int) -> None:
        """Keep so much more; raises UnreachableError if it is too much."""
        self.bytes += size
        if self.bytes > MOST_KEPT:
            raise UnreachableError(
                f"{self._where} shows more than a check keeps ({MOST_KEPT >> 20} MiB)",
                "ask for fewer MBeans",
            )

    @contextmanager
    def passing(self) -> Iterator[Callable[[int], None]]:
        """Keep nothing of what is read within except the bytes that the function gets."""
        staying = self.bytes

        def keep(size: int) -> None:
            nonlocal staying
            self.add(size)
            staying += size

        yield keep
        self.bytes = staying

    def name(self, name: str) -> None:
        """Keep the name of a bean."""
        self.add(_NAME + 4 * len(name) + _PROPERTY * name.count("="))

    def error(self, sentence: str) -> None:
        """Keep why something cannot be had."""
        self.add(_ERROR + len(sentence))
