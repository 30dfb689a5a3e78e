"""Words for several things in one sentence."""

from __future__ import annotations

from stallwatch.startup import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence, Sized

FEW = 4  # names in a sentence


def are(several: Sized) -> str:
    """Give the verb for these: ``is`` or ``are``."""
    return "are" if len(several) > 1 else "is"


def have(several: Sized) -> str:
    """Give the verb for these: ``has`` or ``have``."""
    return "have" if len(several) > 1 else "has"


def listed(names: Sequence[str], few: int = FEW) -> str:
    """Name some things and count the rest."""
    if len(names) > few:
        return f"{', '.join(names[:few])} and {len(names) - few} more"
    *first, last = names
    return f"{', '.join(first)} and {last}" if first else last
