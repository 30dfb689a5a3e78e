"""The links between data nodes: full send buffers, and links that break.

What a link counts begins anew whenever it is connected. Links to clients that are not there say CONNECTING
or DISCONNECTED: no trouble.
"""

from __future__ import annotations

from stallwatch.findings import Reading
from stallwatch.probes.ndb_nodes.counting import rates
from stallwatch.probes.ndbinfo.numbers import number, whole
from stallwatch.startup import TYPE_CHECKING
from stallwatch.units import say_duration
from stallwatch.words import times

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from typing import Any

    from stallwatch.history.delta import Interval
    from stallwatch.probes.ndbinfo.asking import Ndbinfo, Row
    from stallwatch.thresholds import Range

OVERLOADS, _CONNECTS, _LINKS = "overloads", "connects", "links"

_COUNTS = """SELECT node_id, COUNT(*) AS links, SUM(connect_count) AS connects,
 SUM(overload_count) AS overloads
 FROM ndbinfo.transporters WHERE remote_node_id IN ({nodes}) GROUP BY node_id"""
_IN_A_ROW = "overloads_in_a_row"
_CONFIRMED = 2  # intervals in a row: the next one may be good


def counts(ndbinfo: Ndbinfo, nodes: Sequence[int]) -> dict[int, dict[str, float]]:
    """Ask what each node has counted on its links to the other data nodes."""
    rows = ndbinfo.rows(_COUNTS.format(nodes=", ".join(map(str, nodes))))
    return {whole(row, "node_id"): _counts(row) for row in rows}


def overloads(
    intervals: Mapping[int, Interval], critical: Range | None, memory: dict[str, Any]
) -> Iterator[Reading]:
    """Tell how often send buffers were found full beyond OverloadLimit, per minute; not of links that broke.

    It is ``critical`` from the second interval in a row on, which ``memory`` counts.
    """
    steady = {node: interval for node, interval in intervals.items() if _is_steady(interval)}
    for worst in rates(steady, OVERLOADS)[:1]:
        what = "no link between data nodes was overloaded"
        if worst.times:
            what = f"links of node {worst.node} to data nodes were overloaded {times(int(worst.times))}"
        suspect = bool(critical and critical.alerts(worst.per_minute))
        in_a_row = _in_a_row(memory, suspect=suspect, again=worst.again)
        yield Reading(
            OVERLOADS, worst.per_minute, "",
            f"{what} within {say_duration(worst.seconds)}",
            advice=(
                "look at the processor and the network of nodes that are slow to receive (overload_count in "
                "ndbinfo.transporters tells which); if they are idle, increase SendBufferMemory, and "
                "OverloadLimit with it (rolling restart)"
            ),
            confirmed=not suspect or in_a_row >= _CONFIRMED,
        )  # fmt: skip


def reconnects(intervals: Mapping[int, Interval]) -> Iterator[Reading]:
    """Tell how often links were connected anew. Only where no node has ended: that breaks its links, too."""
    changed = {
        node: interval.counts[_CONNECTS]
        for node, interval in intervals.items()
        if _CONNECTS in interval.counts
    }
    if not changed:
        return
    of_all, worst = sum(changed.values()), max(changed, key=lambda node: changed[node])
    seconds = max(interval.seconds for interval in intervals.values())
    what = f"no link between data nodes was connected anew within {say_duration(seconds)}"
    if of_all:
        what = (
            f"links between data nodes were connected anew {times(int(of_all))} within "
            f"{say_duration(seconds)}, most of them those of node {worst}, although no node has restarted"
        )
    advice = "look at the network between the data nodes: errors of its interfaces, firewalls, time-outs"
    yield Reading("reconnects", of_all, "", what, advice=advice)


def _is_steady(interval: Interval) -> bool:
    """Whether all links of a node have gone on counting: the others hide what these have counted."""
    return interval.counts.get(_CONNECTS) == 0 and interval.counts.get(_LINKS) == 0


def _in_a_row(memory: dict[str, Any], *, suspect: bool, again: bool) -> int:
    """Count intervals in a row that would be critical; one that is judged again is counted already."""
    kept = memory.get(_IN_A_ROW)
    count = kept if type(kept) is int and kept > 0 else 0
    if not again:
        count = count + 1 if suspect else 0
    memory[_IN_A_ROW] = count
    return count


def _counts(row: Row) -> dict[str, float]:
    return {name: number(row, name) for name in (OVERLOADS, _CONNECTS, _LINKS)}
