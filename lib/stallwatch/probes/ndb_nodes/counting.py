"""What data nodes have counted since the last look, and whether it is worth an alarm already."""

from __future__ import annotations

from typing import NamedTuple

TYPE_CHECKING = False  # typing itself costs every check 2 ms
if TYPE_CHECKING:
    from collections.abc import Mapping

    from stallwatch.probes.ndb_nodes.since import Since
    from stallwatch.probes.ndbinfo.intervals import Interval
    from stallwatch.units import Range

    Limits = dict[str, Range | None]  # "warning" and "critical"


class Rate(NamedTuple):
    """What one node has counted."""

    node: int
    times: float
    seconds: float  # since the last look

    @property
    def per_minute(self) -> float:
        """How much that is in a minute, with two decimals."""
        return round(60.0 * self.times / self.seconds, 2)


def rates(intervals: Mapping[int, Interval], name: str) -> list[Rate]:
    """Give the rates of a counter, the largest first; of nodes whose counter has not begun anew."""
    found = [
        Rate(node, interval.counts[name], interval.seconds)
        for node, interval in intervals.items()
        if name in interval.counts
    ]
    return sorted(found, key=lambda rate: (-rate.per_minute, rate.node))


def confirmed(name: str, value: float, limits: Limits, since: Since) -> str:
    """Give the name by which a quantity is judged: ``doubtful_...`` is never critical.

    That it is critical is told from the second look in a row on: the next one may be good.
    """
    critical = limits.get("critical")
    sure = not critical or not critical.alerts(value) or since.seconds(f"{name} is critical")
    return name if sure else f"doubtful_{name}"
