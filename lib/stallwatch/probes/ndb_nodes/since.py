"""Since when something is so, over the runs of a check."""

from __future__ import annotations

from stallwatch.units import is_number

TYPE_CHECKING = False  # typing itself costs every check 2 ms
if TYPE_CHECKING:
    from typing import Any

_KEPT = "since"


class Since:
    """Remembers in ``memory`` when things began; ``now`` is in seconds since the epoch.

    What is not asked for in a run is over, and begins anew the next time.
    """

    def __init__(self, memory: dict[str, Any], now: float) -> None:
        kept = memory.get(_KEPT)
        self._before: dict[str, Any] = kept if isinstance(kept, dict) else {}
        self._after: dict[str, float] = {}
        self._now = now
        memory[_KEPT] = self._after

    def seconds(self, what: str) -> float:
        """Tell how long ``what`` is so, which it is now; 0 the first time."""
        begun = self._before.get(what)
        if begun is None or not is_number(begun) or begun > self._now:  # a clock that was set back
            begun = self._now
        self._after[what] = begun
        return float(self._now - begun)
