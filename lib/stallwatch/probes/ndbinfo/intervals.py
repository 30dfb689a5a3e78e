"""What data nodes counted since the last look: their counters begin at 0 whenever they start.

Time is told by each node's own uptime, which no change of a clock can disturb; it is in whole seconds.
"""

from __future__ import annotations

from typing import NamedTuple

from stallwatch.units import is_number

TYPE_CHECKING = False  # typing itself costs every check 2 ms
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from stallwatch.probes.ndbinfo.cluster import Cluster, Node

    Counts = Mapping[str, float]

_KEPT = "counters"
_SLACK = 5.0  # seconds by which our clock and a node's may differ in what has passed


class Interval(NamedTuple):
    """What one node counted, and over how long."""

    seconds: float
    counts: dict[str, float]  # by name; what began anew meanwhile is not among them
    again: bool = False  # a look in the same second as the last one: it tells what that told


class NoIntervalError(Exception):
    """There is nothing to compare with; the message says why, for a person."""


class _Look(NamedTuple):
    uptime: float  # of the node, in seconds
    at: float  # by our clock
    counts: dict[str, float]


class Intervals:
    """The counters of all data nodes between two looks; ``now`` is seconds since the epoch."""

    def __init__(self, memory: dict[str, Any], cluster: Cluster, now: float) -> None:
        kept = memory.get(_KEPT)
        self._before: dict[str, Any] = kept if isinstance(kept, dict) else {}
        self._nodes = cluster.nodes
        self._now = now
        self._after: dict[str, Any] = dict(self._before)
        memory[_KEPT] = self._after

    def since(self, node: int, counts: Counts) -> Interval:
        """Tell what a node counted since the last look, and remember ``counts``; or raise NoIntervalError."""
        about, kept = self._nodes[node], self._before.get(str(node))
        last = _look(kept)
        now = _Look(about.uptime, self._now, dict(counts))
        if last is None or kept is None:
            self._remember(node, now)
            raise NoIntervalError("no earlier look to compare with")
        if self._has_restarted(about, last):
            self._remember(node, now)
            raise NoIntervalError("it has started anew since the last look")
        if again := about.uptime - last.uptime < 1:
            last = _look(kept.get("before"))
            if last is None:
                raise NoIntervalError("the first look was less than a second ago")
        else:
            self._remember(node, now, last)
        changes = {
            name: number - last.counts[name]
            for name, number in counts.items()
            if number >= last.counts.get(name, number + 1)
        }
        return Interval(about.uptime - last.uptime, changes, again)

    def _has_restarted(self, node: Node, last: _Look) -> bool:
        passed = self._now - last.at
        return node.uptime < last.uptime or node.uptime < passed - _SLACK

    def _remember(self, node: int, look: _Look, before: _Look | None = None) -> None:
        self._after[str(node)] = {**look._asdict(), **({"before": before._asdict()} if before else {})}


def _look(kept: Any) -> _Look | None:
    """Read what was kept; None if it is none of ours."""
    match kept:
        case {"uptime": int() | float() as uptime, "at": int() | float() as at, "counts": dict(counts)}:
            if all(map(is_number, (uptime, at, *counts.values()))):
                return _Look(uptime, at, counts)
    return None
