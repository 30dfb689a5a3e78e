"""What is so in two looks in a row: what goes up and down by itself pages nobody for one bad look."""

from __future__ import annotations

from stallwatch.probes.looks import LEAST
from stallwatch.startup import TYPE_CHECKING
from stallwatch.units import is_number

if TYPE_CHECKING:
    from typing import Any


def lasting(memory: dict[str, Any], name: str, numbers: set[int], now: float) -> set[int]:
    """Tell which of ``numbers``, of data nodes for one, were named at the last look, too.

    ``memory`` keeps them as ``name``, ``now`` is seconds since the epoch. A look that comes less than LEAST
    seconds after another is the same look again, as for counters.
    """
    kept = memory.get(name)
    last = kept if isinstance(kept, dict) and is_number(kept.get("at")) else {}
    if last and now - LEAST < last["at"] <= now:
        return numbers & _numbers(last.get("before"))
    before = _numbers(last.get("numbers"))
    memory[name] = {"at": now, "numbers": sorted(numbers), "before": sorted(before)}
    return numbers & before


def _numbers(kept: Any) -> set[int]:
    return {number for number in kept if isinstance(number, int)} if isinstance(kept, list) else set()
