"""What a rule for a single line of a log is made of."""

from __future__ import annotations

import re

from stallwatch.startup import TYPE_CHECKING, NamedTuple
from stallwatch.words import named

if TYPE_CHECKING:
    from stallwatch.findings import State

_MASK = 16  # digits of the shortest mask: 64 nodes


class Rule(NamedTuple):
    """One kind of line. Texts are formats over the pattern's groups."""

    word: bytes  # in the line, for the first look; no digits
    pattern: str
    key: str  # a later line with the same key replaces this alert
    state: State | None = None  # None: good news, the alert of that key is over
    what: str = ""
    why: str = ""
    advice: str = ""
    quantity: str = ""  # judged by the thresholds of this name instead of ``state``; its group is "value"
    stays: bool = False  # until a line clears it or the node starts anew, however long that takes
    often: int = 1  # so many lines within 10 minutes

    @property
    def raises(self) -> bool:
        """Whether the line is bad news."""
        return bool(self.state or self.quantity)


def nodes_of(mask: str) -> list[int]:
    """Return the nodes of a bit mask in hexadecimal, as a data node logs them, or of a list.

    A mask may be in "[SignalCounter: m_count=1 0000000000000010]", which shows whom a node waits for.
    """
    if counter := re.search(r"m_count=\d+ ([0-9a-fA-F]+)", mask):
        mask = counter[1]
    if len(mask) < _MASK or not re.fullmatch("[0-9a-fA-F]+", mask):
        return [int(node) for node in re.findall("[0-9]{1,9}", mask)]
    bits = int(mask, 16)
    return [node for node in range(bits.bit_length()) if bits >> node & 1]


def nodes(thing: str, mask: str) -> str:
    """Name the nodes of a bit mask or list."""
    return named(thing, [str(node) for node in nodes_of(mask)])
