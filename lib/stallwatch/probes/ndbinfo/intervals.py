"""What data nodes counted since the last look: their counters begin at 0 whenever they start.

Each is told by its own uptime, in whole seconds; ``history.delta`` tells what is done with it.
"""

from __future__ import annotations

from stallwatch.history import own
from stallwatch.history.delta import Look, since_last_look
from stallwatch.startup import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from stallwatch.history.delta import Interval
    from stallwatch.probes.ndbinfo.cluster import Cluster

_KEPT = "counters"


class Intervals:
    """The counters of all data nodes between two looks; ``now`` is seconds since the epoch."""

    def __init__(self, memory: dict[str, Any], cluster: Cluster, now: float) -> None:
        kept = memory.get(_KEPT)
        before: dict[str, Any] = kept if isinstance(kept, dict) else {}
        self._nodes = cluster.nodes
        self._now = now
        self._looks: dict[str, Any] = {
            node: before[node] for node in map(str, cluster.expected) if node in before
        }
        memory[_KEPT] = self._looks

    def since(self, node: int, counts: Mapping[str, float]) -> Interval:
        """Tell what a node counted since the last look, and remember ``counts``; or raise NoIntervalError."""
        return since_last_look(own(self._looks, str(node)), Look(self._nodes[node].uptime, self._now, counts))
