"""For how many looks in a row something was bad: what heals itself pages nobody for a single bad look.

A check that is run again by a retry, or by hand, has not looked one more time: a look that comes less than
``delta.LEAST`` seconds after another is the same look again. It sees the streaks of that look, and neither
makes one longer nor ends one.
"""

from __future__ import annotations

from stallwatch.history.delta import LEAST
from stallwatch.startup import TYPE_CHECKING
from stallwatch.units import is_number

if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any


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
        kept = memory.get(key)
        before = kept if isinstance(kept, dict) else {}
        kept_names = before if names is None else map(str, names)
        self._lengths = {name: length for name in kept_names if (length := _length(before.get(name)))}
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
    the last two looks, as ``{"at": now, "numbers": [3, 4], "before": [3]}``: whether this is the same look
    again is found out here. Damage there is as if nothing had been bad.
    """
    kept = memory.get(key)
    last = kept if isinstance(kept, dict) and is_number(kept.get("at")) else {}
    if last and now - LEAST < last["at"] <= now:
        return bad & _numbers(last.get("before"))
    before = _numbers(last.get("numbers"))
    memory[key] = {"at": now, "numbers": sorted(bad), "before": sorted(before)}
    return bad & before


def lasts(memory: dict[str, Any], key: str, now: float, *, is_bad: bool) -> bool:
    """Whether a thing was bad at the look before, too: ``twice`` for a thing that has no number."""
    return bool(twice(memory, key, {0} if is_bad else set(), now))


def _length(kept: Any) -> int:
    return kept if type(kept) is int and kept > 0 else 0


def _numbers(kept: Any) -> set[int]:
    return {number for number in kept if isinstance(number, int)} if isinstance(kept, list) else set()
