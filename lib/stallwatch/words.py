"""Words for several things in one sentence, and in which order they are said."""

from __future__ import annotations

from stallwatch.line import CUT, Forms
from stallwatch.startup import TYPE_CHECKING
from stallwatch.units import plain

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence, Sized
    from typing import TypeVar

    One = TypeVar("One")

FEW = 4  # names in a sentence
_NAMES = (100, 12, 8, 6, 5, 4, 3, 2, 1)  # in forms of a sentence
_KNOWN = 40  # letters of a name in a short form


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


def listed_to_fit(begin: str, names: Sequence[str], last: str = "and", end: str = "") -> Forms:
    """Name things between two texts, in forms with fewer and fewer names; the longest has 100 at most."""
    return Forms(*dict.fromkeys(f"{begin}{listed(names, few, last)}{end}" for few in _NAMES))


def with_name(text: str, name: str) -> str:
    """Return a text that has this name, and a form with no more of it than its first 37 letters."""
    if len(name) <= _KNOWN:
        return text
    return Forms(text, text.replace(name, name[: _KNOWN - len(CUT)] + CUT))


def named(thing: str, names: Sequence[str]) -> str:
    """Name things of one kind: ``node 3``, ``nodes 3 and 4``, ``nodes 3, 4, 5, 6 and 2 more``."""
    return f"{thing}{'s' * (len(names) > 1)} {listed(names)}"


def worst_first(several: Iterable[One], how_bad: Callable[[One], float]) -> list[One]:
    """Put the worst first, and those that are as bad as each other in their order."""
    return sorted(several, key=how_bad, reverse=True)
