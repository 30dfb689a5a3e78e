"""For how many looks in a row something was bad: what heals itself pages nobody for a single bad look.

A check that is run again by a retry, or by hand, has not looked one more time: a look that comes less than
``delta.LEAST`` seconds after another is the same look again. It sees the streaks of that look, and neither
makes one longer nor ends one.
"""

from __future__ import annotations

from stallwatch.history import recall, remember
from stallwatch.history.delta import LEAST
from stallwatch.startup import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any


class _Look(NamedTuple):
    """What was bad at a look, and at the one before it."""

    at: float  # seconds since the epoch
    numbers: set[int]
    before: set[int]


class Streaks:
    """Streaks of bad looks by name: the id of a data node, or the label of a reading.

    ``memory[key]`` keeps them as ``{"3": 2}``: node 3 was bad at the last two looks that knew of it. What is
    no whole number above 0 there is damage, and no streak. Of others than ``names`` streaks end; None: of
    nobody. ``again``: the look is the last one again, and ``memory`` stays as it is.
    """

    def __init__(
        self,
        memory: dict[str, Any],
        key: str,
        names: Iterable[str | int] | None = None,
        *,
        again: bool = False,
    ) -> None:
        before = recall(memory, key, dict[str, int]) or {}
        kept_names = before if names is None else map(str, names)
        self._lengths = {name: before[name] for name in kept_names if before.get(name, 0) > 0}
        self._again = again
        if not again:
            memory[key] = self._lengths

    def of(self, name: str | int) -> int:
        """Return how many bad looks in a row there have been, this one included; 0: the last one was good."""
        return self._lengths.get(str(name), 0)

    def add(self, name: str | int) -> None:
        """Count a bad look."""
        if not self._again:
            self._lengths[str(name)] = self.of(name) + 1

    def end(self, name: str | int) -> None:
        """Count a good look: the next bad one is the first."""
        if not self._again:
            self._lengths.pop(str(name), None)


def twice(memory: dict[str, Any], key: str, bad: set[int], now: float) -> set[int]:
    """Give those of ``bad`` that were bad at the look before, too: all streaks of two and more.

    ``bad`` are numbers, of data nodes for example; ``now`` is seconds since the epoch. ``memory[key]`` keeps
    the last two looks: whether this is the same look again is found out here. Damage there is as if nothing
    had been bad.
    """
    last = recall(memory, key, _Look) or _Look(float("-inf"), set(), set())
    if now - LEAST < last.at <= now:
        return bad & last.before
    remember(memory, key, _Look(now, bad, last.numbers))
    return bad & last.numbers


def lasts(memory: dict[str, Any], key: str, now: float, *, is_bad: bool) -> bool:
    """Whether a thing was bad at the look before, too: ``twice`` for a thing that has no number."""
    return bool(twice(memory, key, {0} if is_bad else set(), now))
