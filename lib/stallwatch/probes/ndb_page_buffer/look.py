"""One look at the page buffers of all data nodes."""

from __future__ import annotations

import time
from typing import NamedTuple

from stallwatch.probes.ndb_page_buffer import evidence, telling
from stallwatch.probes.ndb_page_buffer.judging import Judged, Limits, worst_first
from stallwatch.probes.ndb_page_buffer.runs import Runs
from stallwatch.probes.ndb_page_buffer.traffic import COUNTERS, Traffic, counters
from stallwatch.probes.ndbinfo import cluster as data_nodes
from stallwatch.probes.ndbinfo.intervals import Intervals, NoIntervalError

TYPE_CHECKING = False  # typing itself costs every check 2 ms
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from typing import Any

    from stallwatch.probes.ndb_page_buffer.evidence import Evidence
    from stallwatch.probes.ndb_page_buffer.traffic import Counts
    from stallwatch.probes.ndbinfo.asking import Ndbinfo
    from stallwatch.probes.ndbinfo.cluster import Cluster
    from stallwatch.reading import Finding


class Asked(NamedTuple):
    """What the user asked for."""

    limits: Limits
    so_far: Callable[[Iterable[Finding]], None]  # is told what is known already
    sample: float | None = None  # seconds between two looks of one run
    everything: bool = False  # tell also what is asked only where something is wrong


class _Found(NamedTuple):
    """What one look found of the started nodes; by node, as far as it is known."""

    cluster: Cluster
    is_first: bool
    totals: dict[int, Traffic]  # since their start
    intervals: dict[int, Traffic]
    judged: list[Judged]  # worst first
    reasons: dict[str, list[int]]  # why nodes have no interval

    @property
    def idle(self) -> dict[int, Traffic]:
        """Nodes that had too little to do to be judged."""
        busy = {one.node for one in self.judged}
        return {node: one for node, one in self.intervals.items() if node not in busy}


def findings(ndbinfo: Ndbinfo, asked: Asked, memory: dict[str, Any]) -> Iterator[Finding]:
    """Judge the traffic since the last look that ``memory`` knows of, or that of a sample."""
    found = _look(ndbinfo, asked, memory)
    if asked.sample:
        ndbinfo.deadline.doing = "waiting for the end of the sample"
        time.sleep(asked.sample)
        found = _look(ndbinfo, asked, memory)
    asked.so_far(list(_told(found, asked, evidence.NONE)))
    yield from _told(found, asked, _evidence(ndbinfo, asked, found))


def _look(ndbinfo: Ndbinfo, asked: Asked, memory: dict[str, Any]) -> _Found:
    is_first = not memory
    cluster = data_nodes.look_at_started(ndbinfo, memory)
    counted = counters(ndbinfo)
    intervals, runs = Intervals(memory, cluster, time.time()), Runs(memory, asked.limits.confirm)
    found = _Found(cluster, is_first, {}, {}, [], {})
    for node in cluster.started:
        if counts := counted.get(node):
            found.totals[node] = Traffic(cluster.nodes[node].uptime, **counts)
            _compare(found, node, counts, intervals, runs, asked)
    return found._replace(judged=worst_first(found.judged))


def _compare(
    found: _Found, node: int, counts: Counts, intervals: Intervals, runs: Runs, asked: Asked
) -> None:
    """Find what a node did since the last look, and judge it if that was enough."""
    try:
        interval = intervals.since(node, counts)
        if len(interval.counts) < len(COUNTERS):
            raise NoIntervalError("its counters have begun anew since the last look")  # noqa: TRY301
    except NoIntervalError as error:
        found.reasons.setdefault(str(error), []).append(node)
        return
    # What was asked for is more exact than an uptime in whole seconds.
    traffic = Traffic(asked.sample or interval.seconds, **interval.counts)
    found.intervals[node] = traffic
    if traffic.ratio is None or traffic.requests < asked.limits.min_requests:
        runs.with_interval(node, low=None, again=interval.again)
        return
    judged = Judged(node, traffic, traffic.ratio, found.cluster.nodes[node].uptime, asked.limits)
    found.judged.append(
        judged._replace(run=runs.with_interval(node, low=judged.counts, again=interval.again))
    )


def _evidence(ndbinfo: Ndbinfo, asked: Asked, found: _Found) -> Evidence:
    worst = next((one.node for one in found.judged if one.is_low), None)
    return evidence.gather(ndbinfo, worst) if worst is not None or asked.everything else evidence.NONE


def _told(found: _Found, asked: Asked, more: Evidence) -> Iterator[Finding]:
    nodes = len(found.cluster.expected) + found.cluster.unnamed
    yield from telling.ratios(found.judged, more, sampled=bool(asked.sample))
    yield from telling.quiet(found.idle, asked.limits)
    yield from telling.unknown_yet(found.reasons, is_first=found.is_first)
    yield from telling.of_each(found.judged, nodes)
    yield from telling.rates([*found.intervals.values()])
    yield from telling.since_start(found.totals, nodes)
    yield telling.all_of_them(found.totals, found.intervals, more)
    yield from found.cluster.asides()
    yield from found.cluster.without_row(found.totals, "diskpagebuffer")
