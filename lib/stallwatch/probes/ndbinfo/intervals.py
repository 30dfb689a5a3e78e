"""What data nodes counted since the last look: their counters begin at 0 whenever they start.

Time is told by each node's own uptime, in whole seconds; our clock only tells that a node has been started
anew and is up for longer than it was at the last look. If it is set forward, all nodes seem to have been.

A run that comes less than LEAST seconds after another is the same look again, as a retry or one by hand: it
is told what was counted since the look before that one, and is not remembered. So it neither raises an alert
nor hides one.
"""

from __future__ import annotations

from typing import NamedTuple

from stallwatch.units import is_number

TYPE_CHECKING = False  # typing itself costs every check 2 ms
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from stallwatch.probes.ndbinfo.cluster import Cluster

    Counts = Mapping[str, float]

LEAST = 15.0  # seconds between two looks that count
_KEPT = "counters"
_SLACK = 5.0  # seconds by which our clock and a node's may differ in what has passed


class Interval(NamedTuple):
    """What one node counted, and over how long."""

    seconds: float
    counts: dict[str, float]  # by name; what began anew meanwhile is not among them
    again: bool = False  # soon after another look: what it tells does not count as one more


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
        self._after: dict[str, Any] = {
            node: self._before[node] for node in map(str, cluster.expected) if node in self._before
        }
        memory[_KEPT] = self._after

    def since(self, node: int, counts: Counts) -> Interval:
        """Tell what a node counted since the last look, and remember ``counts``; or raise NoIntervalError."""
        last, before = (_look(kept) for kept in self._kept(node))
        now = _Look(self._nodes[node].uptime, self._now, dict(counts))
        if last is None:
            self._remember(node, now)
            raise NoIntervalError("no earlier look to compare with")
        if has_restarted(now.uptime, last.uptime, now.at - last.at):
            self._remember(node, now)
            raise NoIntervalError("it has started anew since the last look")
        again = now.uptime - last.uptime < LEAST
        if not again:
            self._remember(node, now, last)
        elif before:
            last = before
        elif now.uptime == last.uptime:
            raise NoIntervalError("the first look was less than a second ago")
        changes = {
            name: number - last.counts[name]
            for name, number in counts.items()
            if number >= last.counts.get(name, number + 1)
        }
        return Interval(now.uptime - last.uptime, changes, again)

    def _kept(self, node: int) -> tuple[Any, Any]:
        """Give what was kept of the last look, and of the one before."""
        kept = self._before.get(str(node))
        return kept, kept.get("before") if isinstance(kept, dict) else None

    def _remember(self, node: int, look: _Look, before: _Look | None = None) -> None:
        self._after[str(node)] = {**look._asdict(), **({"before": before._asdict()} if before else {})}


def has_restarted(uptime: float, last: float, passed: float) -> bool:
    """Whether a node has: it is up for less than it was at the last look and what has passed since."""
    return uptime < last or uptime < last + passed - _SLACK


def _look(kept: Any) -> _Look | None:
    """Read what was kept; None if it is none of ours."""
    match kept:
        case {"uptime": int() | float() as uptime, "at": int() | float() as at, "counts": dict(counts)}:
            if all(map(is_number, (uptime, at, *counts.values()))):
                return _Look(uptime, at, counts)
    return None
