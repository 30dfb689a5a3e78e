"""How many intervals in a row were too low, by node: a single one pages nobody."""

from __future__ import annotations

from stallwatch.startup import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any

_KEPT = "low"


class Runs:
    """The runs of low intervals of these nodes, which ``memory`` keeps, also while a node is away."""

    def __init__(self, memory: dict[str, Any], nodes: Iterable[int]) -> None:
        kept = memory.get(_KEPT)
        before = kept if isinstance(kept, dict) else {}
        self._runs = {node: run for node in map(str, nodes) if (run := _run(before.get(node)))}
        memory[_KEPT] = self._runs

    def of(self, node: int) -> int:
        """Tell how many low intervals in a row there have been."""
        return self._runs.get(str(node), 0)

    def add(self, node: int) -> None:
        """Count one more."""
        self._runs[str(node)] = self.of(node) + 1

    def end(self, node: int) -> None:
        """Begin at 0 again."""
        self._runs.pop(str(node), None)


def _run(kept: Any) -> int:
    """Read what was kept; 0 if it is none of ours."""
    return kept if type(kept) is int and kept > 0 else 0
