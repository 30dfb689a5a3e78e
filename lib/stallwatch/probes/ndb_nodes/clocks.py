"""How long things have lasted, over the runs of a check.

Time is what has passed by the uptime of the data nodes: whoever sets our clock, or theirs, changes nothing.
Only where none of them was up all the while, it is what has passed by our clock.
"""

from __future__ import annotations

from stallwatch.history import own
from stallwatch.history.since import Since
from stallwatch.startup import TYPE_CHECKING
from stallwatch.units import is_number

if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

_KEPT = "clocks"


class Clocks:
    """Clocks that ``memory`` keeps: one goes on, looked at or not, until what it measures is over.

    ``now`` is our clock, ``uptimes`` are those of the nodes that answer, all in seconds. ``time`` is how
    much of it has passed since the first look.
    """

    def __init__(self, memory: dict[str, Any], now: float, uptimes: Mapping[int, float]) -> None:
        kept = memory.get(_KEPT)
        before = kept if isinstance(kept, dict) else {}
        last = _numbers(before.get("uptimes"))
        grown = [
            uptime - last[str(node)]
            for node, uptime in uptimes.items()
            if last.get(str(node), uptime + 1) <= uptime
        ]
        told = {name: before[name] for name in ("time", "at") if is_number(before.get(name))}
        passed = max(grown, default=max(0.0, now - told.get("at", now)))
        self.now = now
        self.time = float(told.get("time", 0.0) + passed)
        begun = own(before, "begun")
        self._since = Since(begun, self.time)
        memory[_KEPT] = {
            "time": self.time,
            "at": now,
            "uptimes": {str(node): uptime for node, uptime in uptimes.items()},
            "begun": begun,
        }

    def seconds(self, what: str) -> float:
        """Tell how long ``what`` has lasted, which is so now; 0 the first time."""
        return self._since.seconds(what)

    def over(self, what: str) -> None:
        """End it: it was seen not to be so."""
        self._since.seconds(what, holds=False)


def _numbers(kept: Any) -> dict[str, float]:
    """Read what was kept, as far as it is ours."""
    return {name: value for name, value in kept.items() if is_number(value)} if isinstance(kept, dict) else {}
