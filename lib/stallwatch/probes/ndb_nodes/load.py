"""How busy data nodes are: links that are overloaded or break, busy threads, and memory that is swapped."""

from __future__ import annotations

from stallwatch.findings import Reading, State
from stallwatch.history.streak import Streaks
from stallwatch.probes.ndb_nodes.queries import CONNECTS, LINKS, MAJOR_FAULTS, OVERLOADS, THREADS
from stallwatch.startup import TYPE_CHECKING
from stallwatch.units import say_duration
from stallwatch.words import times

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from typing import Any

    from stallwatch.history.delta import Interval
    from stallwatch.probes.ndb_nodes.model import Busiest, Thread
    from stallwatch.probes.ndbinfo.cluster import Cluster

USE = "thread_use"
_IN_A_ROW = "overloads_in_a_row"
_CONFIRMED = 2  # intervals in a row: the next one may be good
_FIRST = 20  # seconds until a node has its first sample
_LASTING = 180.0  # seconds that have to be known of a thread for a critical state
_BUSY = 50.0  # per cent; below, waiting for a processor does not matter
_STARVED = 0.7  # of the time in which it works, a thread should have a processor


def overloads(
    intervals: Mapping[int, Interval],
    memory: dict[str, Any],
    is_problem: Callable[[Reading, State], bool],
) -> Iterator[Reading]:
    """Say how often send buffers were found full beyond OverloadLimit, per minute.

    Not of links that broke: what a link counts begins anew whenever it is connected. It is critical from the
    second interval in a row on, which ``memory`` counts.
    """
    # Where not all links of a node have gone on counting, the others hide what these have counted.
    steady = _unchanged(_unchanged(intervals, CONNECTS), LINKS)
    node = _worst(steady, OVERLOADS)
    if node is None:
        return
    interval = steady[node]
    what = "no link between data nodes was overloaded"
    if count := interval.counts[OVERLOADS]:
        what = f"links of node {node} to data nodes were overloaded {times(int(count))}"
    reading = Reading(
        OVERLOADS, _per_minute(interval, OVERLOADS), "", f"{what} within {say_duration(interval.seconds)}",
        advice=(
            "look at the processor and the network of nodes that are slow to receive (overload_count in "
            "ndbinfo.transporters tells which); if they are idle, increase SendBufferMemory, and "
            "OverloadLimit with it (rolling restart)"
        ),
    )  # fmt: skip
    is_critical = is_problem(reading, State.CRITICAL)
    kept = {_IN_A_ROW: {OVERLOADS: memory.get(_IN_A_ROW)}}  # the memory has the number alone
    streaks = Streaks(kept, _IN_A_ROW, again=interval.again)
    (streaks.add if is_critical else streaks.end)(OVERLOADS)
    in_a_row = memory[_IN_A_ROW] = streaks.of(OVERLOADS)
    yield reading._replace(confirmed=not is_critical or in_a_row >= _CONFIRMED)


def reconnects(intervals: Mapping[int, Interval]) -> Iterator[Reading]:
    """Say how often links were connected anew. Only where no node has ended: that breaks its links, too."""
    changed = {
        node: interval.counts[CONNECTS] for node, interval in intervals.items() if CONNECTS in interval.counts
    }
    if not changed:
        return
    of_all, worst = sum(changed.values()), max(changed, key=lambda node: changed[node])
    span = say_duration(max(interval.seconds for interval in intervals.values()))
    what = f"no link between data nodes was connected anew within {span}"
    if of_all:
        what = (
            f"links between data nodes were connected anew {times(int(of_all))} within {span}, "
            f"most of them those of node {worst}, although no node has restarted"
        )
    advice = "look at the network between the data nodes: errors of its interfaces, firewalls, time-outs"
    yield Reading("reconnects", of_all, "", what, advice=advice)


def major_faults(intervals: Mapping[int, Interval]) -> Iterator[Reading]:
    """Say how many major page faults there are per minute: NDB's memory is not to be swapped."""
    comparable = _unchanged(intervals, THREADS)
    node = _worst(comparable, MAJOR_FAULTS)
    if node is not None:
        per_minute = _per_minute(comparable[node], MAJOR_FAULTS)
        yield Reading(
            MAJOR_FAULTS, per_minute, "",
            f"node {node} had {per_minute:.0f} major page faults per minute",
            "its host swaps, and its threads wait for the disk" if per_minute else "",
            "free memory on that host, or lock it: LockPagesInMainMemory=1 (rolling restart)",
        )  # fmt: skip


def thread_use(worst: Busiest, thread: Thread | None) -> Reading:
    """Say how busy the busiest of all is, and which thread that is, as far as it was asked.

    A short time of it is no more than a WARNING.
    """
    name = f"{thread.role} thread {thread.number}" if thread else "the busiest thread"
    span = say_duration(round(worst.seconds))
    what = f"{name} of node {worst.node} worked {worst.used:.0f} % of the last {span}"
    advice = (
        f"more {thread.role if thread else ''} threads (AutomaticThreadConfig, NumCPUs or ThreadConfig; "
        "rolling restart), more data nodes, or fewer requests"
    )
    if thread and thread.used > _BUSY and thread.processor < _STARVED * thread.used:
        what += f", but had a processor for {thread.processor:.0f} % only"
        advice = (
            "see what else its host computes, a limit of processor time (cgroup), or other virtual machines"
        )
    confirmed = worst.seconds >= _LASTING
    return Reading(USE, round(worst.used, 2), "%", what, advice=advice, confirmed=confirmed)


def too_young(cluster: Cluster) -> set[int]:
    """Give the nodes that may have no samples of their threads yet."""
    return {node.id for node in cluster.nodes.values() if node.uptime <= 2 * _FIRST}


def _unchanged(intervals: Mapping[int, Interval], name: str) -> dict[int, Interval]:
    """Leave out nodes of which a number has changed, or is not known."""
    return {node: interval for node, interval in intervals.items() if interval.counts.get(name) == 0}


def _worst(intervals: Mapping[int, Interval], name: str) -> int | None:
    """Give the node that has counted most per minute, of nodes whose counter has not begun anew."""
    rates = {node: _per_minute(one, name) for node, one in intervals.items() if name in one.counts}
    return max(sorted(rates), key=lambda node: rates[node], default=None)


def _per_minute(interval: Interval, name: str) -> float:
    return round(60.0 * interval.counts[name] / interval.seconds, 2)
