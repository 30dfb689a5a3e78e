"""Different labels for names whose labels in the perfdata would be the same."""

from __future__ import annotations

from collections import Counter

from stallwatch.line import label
from stallwatch.startup import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence


def apart(names: Sequence[str], wholes: Sequence[str]) -> list[str]:
    """Give the names, all those that would make the same label with a number at their end.

    That is a checksum of the ``whole`` name, which no other one has: when one of them goes, no graph goes on
    with the numbers of another.
    """
    labels = [label(name) for name in names]
    times = Counter(labels)
    return [
        name if times[of] == 1 else f"{name}_{_number(whole)}"
        for name, of, whole in zip(names, labels, wholes, strict=True)
    ]


def _number(whole: str) -> str:
    from binascii import crc32

    return f"{crc32(whole.encode()):08x}"
