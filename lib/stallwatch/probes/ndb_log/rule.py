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


def api_nodes(mask: str) -> str:
    """Name the nodes of a bit mask in hexadecimal, as a data node logs them, or of a list."""
    numbers = re.findall("[0-9]+", mask)
    if len(mask) >= _MASK and re.fullmatch("[0-9a-fA-F]+", mask):
        bits = int(mask, 16)
        numbers = [str(node) for node in range(bits.bit_length()) if bits >> node & 1]
    return named("SQL node", numbers)
