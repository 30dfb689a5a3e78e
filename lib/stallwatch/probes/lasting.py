"""What is so in two looks in a row: what goes up and down by itself pages nobody for one bad look."""

from __future__ import annotations

from stallwatch.probes.looks import LEAST
from stallwatch.units import is_number

TYPE_CHECKING = False  # typing itself costs every check 2 ms
if TYPE_CHECKING:
    from typing import Any


def lasting(memory: dict[str, Any], name: str, nodes: set[int], now: float) -> set[int]:
    """Tell which of ``nodes`` were named at the last look, too; ``memory`` keeps them as ``name``.

    A look that comes less than LEAST seconds after another is the same look again, as for counters.
    """
    kept = memory.get(name)
    last = kept if isinstance(kept, dict) and is_number(kept.get("at")) else {}
    if last and now - LEAST < last["at"] <= now:
        return nodes & _nodes(last.get("before"))
    before = _nodes(last.get("nodes"))
    memory[name] = {"at": now, "nodes": sorted(nodes), "before": sorted(before)}
    return nodes & before


def _nodes(kept: Any) -> set[int]:
    return {node for node in kept if isinstance(node, int)} if isinstance(kept, list) else set()
