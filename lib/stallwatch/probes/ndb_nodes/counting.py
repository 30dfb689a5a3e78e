"""What data nodes have counted since the last look."""

from __future__ import annotations

from stallwatch.findings import Fault, State
from stallwatch.history import own
from stallwatch.history.delta import LEAST, NoIntervalError
from stallwatch.probes.ndbinfo.intervals import Intervals
from stallwatch.probes.ndbinfo.words import listed, named
from stallwatch.startup import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from typing import Any

    from stallwatch.history.delta import Interval
    from stallwatch.probes.ndbinfo.cluster import Cluster


class Counted(NamedTuple):
    """What started nodes have counted, by node, and why nothing is known of others."""

    intervals: dict[int, Interval]
    reasons: dict[str, list[int]]


def no_baseline(of_subjects: Mapping[str, Counted]) -> Iterator[Fault]:
    """Say of whom which subjects cannot be told yet, and why."""
    by_reason: dict[tuple[str, str], list[str]] = {}
    for subject, counted in of_subjects.items():
        for why, nodes in counted.reasons.items():
            by_reason.setdefault((why, named(nodes)), []).append(subject)
    for (why, whose), subjects in by_reason.items():
        yield Fault(State.OK, f"{listed(subjects)} of {whose} can be told from the next run on: {why}")


class Rate(NamedTuple):
    """What one node has counted."""

    node: int
    times: float
    seconds: float  # since the last look
    again: bool  # soon after another look: no interval of its own

    @property
    def per_minute(self) -> float:
        """How much that is in a minute, with two decimals."""
        return round(60.0 * self.times / self.seconds, 2)


def since_last_look(
    table: str,
    counts: Mapping[int, Mapping[str, float]],
    cluster: Cluster,
    memory: dict[str, Any],
    now: float,
) -> Counted:
    """Compare with what the nodes had counted in a table when it was asked the last time."""
    intervals = Intervals(own(memory, table), cluster, now)
    counted = Counted({}, {})
    for node in cluster.started:
        if node not in counts:
            continue
        try:
            found = intervals.since(node, counts[node])
        except NoIntervalError as error:
            counted.reasons.setdefault(str(error), []).append(node)
            continue
        if found.seconds < LEAST:  # chance would be taken for a rate
            counted.reasons.setdefault("the first look was a moment ago", []).append(node)
        else:
            counted.intervals[node] = found
    return counted


def rates(intervals: Mapping[int, Interval], name: str) -> list[Rate]:
    """Give the rates of a counter, the largest first; of nodes whose counter has not begun anew."""
    found = [
        Rate(node, interval.counts[name], interval.seconds, interval.again)
        for node, interval in intervals.items()
        if name in interval.counts
    ]
    return sorted(found, key=lambda rate: (-rate.per_minute, rate.node))
