"""For how many intervals in a row a number has been beyond its limit: a single one pages nobody."""

from __future__ import annotations

TYPE_CHECKING = False  # typing itself costs every check 2 ms
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any

_KEPT = "lasting"


class Lasting:
    """The runs that ``memory`` keeps, by name."""

    def __init__(self, memory: dict[str, Any]) -> None:
        kept = memory.get(_KEPT)
        self._runs = kept if isinstance(kept, dict) else {}
        self._memory = memory

    def of(self, name: str) -> int:
        """Tell how many intervals in a row it has been."""
        run = self._runs.get(name)
        return run if type(run) is int and run > 0 else 0

    def count(self, beyond: Iterable[str]) -> None:
        """Count one more interval, in which these were beyond their limits, and nothing else."""
        self._runs = {name: self.of(name) + 1 for name in beyond}
        self._memory[_KEPT] = self._runs
