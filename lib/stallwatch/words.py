"""Words for several things in one sentence, and in which order they are said."""

from __future__ import annotations

from stallwatch.startup import TYPE_CHECKING
from stallwatch.units import plain

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence, Sized
    from typing import TypeVar

    One = TypeVar("One")

FEW = 4  # names in a sentence


def plural(count: float, thing: str) -> str:
    """Count things: ``1 node``, ``2 nodes``, ``0 nodes``, ``1.5 nodes``. ``count`` is finite."""
    return f"{plain(count)} {thing}{'s' * (count != 1)}"


def times(count: int) -> str:
    """Return how often: ``once``, ``3 times``."""
    return "once" if count == 1 else f"{count} times"


def are(several: Sized) -> str:
    """Give the verb for these: ``is`` or ``are``."""
    return "are" if len(several) > 1 else "is"


def have(several: Sized) -> str:
    """Give the verb for these: ``has`` or ``have``."""
    return "have" if len(several) > 1 else "has"


def listed(names: Sequence[str], few: int = FEW, last: str = "and") -> str:
    """Name some things and count the rest: ``a``, ``a and b``, ``a, b, c, d and 2 more``; none: nothing.

    ``last`` joins the last one of few, as "or".
    """
    if len(names) > few:
        return f"{', '.join(names[:few])} and {len(names) - few} more"
    *first, end = names or [""]
    return f"{', '.join(first)} {last} {end}" if first else end


def named(thing: str, names: Sequence[str]) -> str:
    """Name things of one kind: ``node 3``, ``nodes 3 and 4``, ``nodes 3, 4, 5, 6 and 2 more``."""
    return f"{thing}{'s' * (len(names) > 1)} {listed(names)}"


def worst_first(several: Iterable[One], how_bad: Callable[[One], float]) -> list[One]:
    """Put the worst first, and those that are as bad as each other in their order."""
    return sorted(several, key=how_bad, reverse=True)
