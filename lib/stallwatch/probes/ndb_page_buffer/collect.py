"""What data nodes have counted: since the last run, or within this one."""

from __future__ import annotations

import time

from stallwatch.history.delta import Interval, NoIntervalError, pause
from stallwatch.probes.ndb_page_buffer.queries import counters, uptimes
from stallwatch.probes.ndbinfo import cluster as data_nodes
from stallwatch.probes.ndbinfo.cluster import Intervals
from stallwatch.startup import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from stallwatch.findings import ProbeError
    from stallwatch.probes.ndb_page_buffer.queries import Counts
    from stallwatch.probes.ndbinfo.cluster import Cluster
    from stallwatch.probes.ndbinfo.queries import Ndbinfo


class Snapshot(NamedTuple):
    """What there is to judge."""

    cluster: Cluster
    counts: dict[int, Counts]  # since a node's start, by node
    since: Callable[[int, Counts], Interval]  # what of it is since the look before, or raises NoIntervalError
    problems: list[ProbeError]  # nodes that do not tell
    is_first: bool = False  # there was no look before
    is_sample: bool = False  # the look before was in this run


def since_last_run(ndbinfo: Ndbinfo, memory: dict[str, Any]) -> Snapshot:
    """Look once; ``memory`` has the look before. Raises a ProbeError."""
    is_first = not memory
    cluster, counts = data_nodes.look_at_started(ndbinfo, memory), counters(ndbinfo)
    since = Intervals(memory, cluster, time.time()).since
    return Snapshot(cluster, counts, since, _silent(ndbinfo, cluster, counts), is_first=is_first)


def in_this_run(ndbinfo: Ndbinfo, seconds: float) -> Snapshot:
    """Look twice, so far apart, or less if the deadline is near; raises a ProbeError."""
    start = time.monotonic()
    cluster, begun = data_nodes.look_at_started(ndbinfo, {}), counters(ndbinfo)
    at = time.monotonic()
    pause(seconds, at - start, ndbinfo.deadline)
    up = uptimes(ndbinfo)
    nodes = {one: node._replace(uptime=up[one]) for one, node in cluster.nodes.items() if one in up}
    ended_with = counters(ndbinfo)
    passed = time.monotonic() - at  # more than what was waited if there are many nodes
    cluster = cluster._replace(nodes=nodes)

    def since(node: int, counts: Counts) -> Interval:
        before = begun.get(node)
        if before is None or nodes[node].uptime < passed:
            raise NoIntervalError("not up for the whole sample")
        changes = {name: count - before[name] for name, count in counts.items() if count >= before[name]}
        return Interval(passed, changes)

    problems = _silent(ndbinfo, cluster, ended_with)
    return Snapshot(cluster, ended_with, since, problems, is_first=True, is_sample=True)


def _silent(ndbinfo: Ndbinfo, cluster: Cluster, counts: dict[int, Counts]) -> list[ProbeError]:
    return data_nodes.without_row(ndbinfo, cluster, counts, "diskpagebuffer")
