"""One look at the page buffers of all data nodes."""

from __future__ import annotations

import time

from stallwatch.probes.looks import NoIntervalError
from stallwatch.probes.ndb_page_buffer import evidence, sample, telling
from stallwatch.probes.ndb_page_buffer.judging import Judged, worst_first
from stallwatch.probes.ndb_page_buffer.runs import Runs
from stallwatch.probes.ndb_page_buffer.traffic import COUNTERS, INSTANCES, READS, Traffic, counters
from stallwatch.probes.ndbinfo import cluster as data_nodes
from stallwatch.probes.ndbinfo import ended
from stallwatch.probes.ndbinfo.intervals import Intervals
from stallwatch.startup import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping
    from typing import Any

    from stallwatch.findings import Finding, ProbeError
    from stallwatch.probes.looks import Interval
    from stallwatch.probes.ndb_page_buffer.evidence import Evidence
    from stallwatch.probes.ndb_page_buffer.judging import Rules
    from stallwatch.probes.ndb_page_buffer.traffic import Counts
    from stallwatch.probes.ndbinfo.asking import Ndbinfo
    from stallwatch.probes.ndbinfo.cluster import Cluster


class Asked(NamedTuple):
    """What the user asked for."""

    rules: Rules
    so_far: Callable[[Iterable[Finding]], None]  # is told what is known already
    sample: float | None = None  # seconds between two looks of one run
    everything: bool = False  # tell also what is asked only where something is wrong


class _Found(NamedTuple):
    """What was found of the started nodes; by node, as far as it is known."""

    cluster: Cluster
    totals: dict[int, Traffic]  # since their start
    intervals: dict[int, Traffic]
    judged: list[Judged]  # worst first
    reasons: dict[str, list[int]]  # why nodes have no interval
    problems: list[ProbeError]

    @property
    def idle(self) -> dict[int, Traffic]:
        """Nodes that had too little to do to be judged."""
        busy = {one.node for one in self.judged}
        return {node: one for node, one in self.intervals.items() if node not in busy}


def findings(ndbinfo: Ndbinfo, asked: Asked, memory: dict[str, Any]) -> Iterator[Finding]:
    """Judge the traffic since the last look that ``memory`` knows of, or that of a sample."""
    yield from ended.settled(lambda: list(_findings(ndbinfo, asked, memory)))


def _findings(ndbinfo: Ndbinfo, asked: Asked, memory: dict[str, Any]) -> Iterator[Finding]:
    is_first = not memory
    if asked.sample:
        cluster, _, counted, _ = taken = sample.take(ndbinfo, asked.sample)
        since = taken.since
    else:
        cluster, counted = data_nodes.look_at_started(ndbinfo, memory), counters(ndbinfo)
        since = Intervals(memory, cluster, time.time()).since
    problems = ended.without_row(ndbinfo, cluster, counted, "diskpagebuffer")
    found = _found(cluster, counted, since, Runs(memory, cluster.expected), asked.rules)
    found.problems.extend(problems)
    asked.so_far(list(_told(found, asked, evidence.NONE, is_first=is_first)))
    yield from _told(found, asked, _evidence(ndbinfo, asked, found), is_first=is_first)


def _found(
    cluster: Cluster,
    counted: dict[int, Counts],
    since: Callable[[int, Counts], Interval],
    runs: Runs,
    rules: Rules,
) -> _Found:
    """Compare all started nodes with the look before, and judge those that had enough to do."""
    found = _Found(cluster, {}, {}, [], {}, [])
    for node in cluster.started:
        if node not in counted:
            continue
        found.totals[node] = _traffic(cluster.nodes[node].uptime, counted[node])
        try:
            interval = since(node, counted[node])
        except NoIntervalError as error:
            runs.end(node)
            found.reasons.setdefault(str(error), []).append(node)
            continue
        if why := _not_comparable(interval):
            found.reasons.setdefault(why, []).append(node)
        else:
            _judge(found, node, interval, runs, rules)
    return found._replace(judged=worst_first(found.judged))


def _judge(found: _Found, node: int, interval: Interval, runs: Runs, rules: Rules) -> None:
    """Judge a node by an interval; one of too few requests breaks a run: nobody waits for the disk."""
    found.intervals[node] = traffic = _traffic(interval.seconds, interval.counts)
    if traffic.ratio is None or traffic.requests < rules.min_requests:
        runs.end(node)
        return
    judged = Judged(node, traffic, traffic.ratio, found.cluster.nodes[node].uptime, rules)
    if not interval.again:
        _count(judged, runs)
    found.judged.append(judged._replace(run=runs.of(node)))


def _count(judged: Judged, runs: Runs) -> None:
    """Continue the run of a node, or break it; a low ratio that is excused does neither."""
    if not judged.is_suspect:
        runs.end(judged.node)
    elif not judged.is_excused:
        runs.add(judged.node)


def _traffic(seconds: float, counts: Mapping[str, float]) -> Traffic:
    return Traffic(seconds, **{name: counts[name] for name in COUNTERS})


def _not_comparable(interval: Interval) -> str:
    """Say why an interval tells nothing: rows may be missing without an error while a data node ends."""
    if interval.counts.get(INSTANCES) != 0:
        return "not as many threads tell of their page buffer as before"
    return "" if len(interval.counts) > len(COUNTERS) else "counters have begun anew"


def _evidence(ndbinfo: Ndbinfo, asked: Asked, found: _Found) -> Evidence:
    low = [one for one in found.judged if one.is_low]
    if not low and not asked.everything:
        return evidence.NONE
    return evidence.gather(ndbinfo, next((one.node for one in low if one.traffic.waits_for == READS), None))


def _told(found: _Found, asked: Asked, more: Evidence, *, is_first: bool) -> Iterator[Finding]:
    sampled, nodes = bool(asked.sample), found.cluster.configured
    yield from telling.ratios(found.judged, more, sampled=sampled)
    yield from telling.quiet(found.idle, asked.rules.min_requests)
    yield from telling.unknown_yet(found.reasons, is_first=is_first, sampled=sampled)
    yield from telling.of_each(found.judged, nodes)
    yield from telling.rates([*found.intervals.values()])
    yield from telling.since_start(found.totals, nodes)
    yield telling.all_of_them(found.totals, found.intervals, more)
    yield from found.cluster.asides()
    yield from more.missing
    yield from found.problems
