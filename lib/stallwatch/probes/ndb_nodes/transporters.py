"""The links between data nodes: full send buffers, and links that break.

What a link counts begins anew whenever it is connected. Links to clients that are not there say CONNECTING
or DISCONNECTED: no trouble.
"""

from __future__ import annotations

from stallwatch.probes.ndb_nodes.counting import confirmed, rates
from stallwatch.probes.ndbinfo.numbers import number, whole
from stallwatch.probes.ndbinfo.words import listed
from stallwatch.reading import Reading
from stallwatch.units import say_duration

TYPE_CHECKING = False  # typing itself costs every check 2 ms
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from stallwatch.probes.ndb_nodes.counting import Limits
    from stallwatch.probes.ndb_nodes.since import Since
    from stallwatch.probes.ndbinfo.asking import Ndbinfo, Row
    from stallwatch.probes.ndbinfo.intervals import Interval

OVERLOADS, CONNECTS = "overloads", "connects"

_COUNTS = """SELECT node_id, SUM(overload_count) AS overloads, SUM(connect_count) AS connects
 FROM ndbinfo.transporters WHERE remote_node_id IN ({nodes}) GROUP BY node_id"""
_WORST = """SELECT remote_node_id, overload_count, remote_address FROM ndbinfo.transporters
 WHERE node_id = %s AND overload_count > 0 AND remote_node_id IN ({nodes})
 ORDER BY overload_count DESC LIMIT 3"""
_ADVICE = (
    "look at the processor and the network of the node that is slow to receive; "
    "if they are idle, increase SendBufferMemory, and OverloadLimit with it (rolling restart)"
)


def counts(ndbinfo: Ndbinfo, nodes: Sequence[int]) -> dict[int, dict[str, float]]:
    """Ask what each node has counted on its links to the other data nodes."""
    return {whole(row, "node_id"): _counts(row) for row in ndbinfo.rows(_among(_COUNTS, nodes))}


def overloads(
    ndbinfo: Ndbinfo,
    nodes: Sequence[int],
    intervals: Mapping[int, Interval],
    limits: Limits,
    since: Since,
) -> Iterator[Reading]:
    """Tell how often send buffers were found full beyond OverloadLimit, per minute."""
    for worst in rates(intervals, OVERLOADS)[:1]:
        what = "no link between data nodes was overloaded"
        why = ""
        if worst.times:
            what = (
                f"links of node {worst.node} to other data nodes were overloaded {_times(int(worst.times))}"
            )
            rows = ndbinfo.rows(_among(_WORST, nodes), worst.node)
            why = f"of all since they are connected, {listed([_told(row) for row in rows])}" if rows else ""
        yield Reading(
            confirmed(OVERLOADS, worst.per_minute, limits, since), worst.per_minute, "",
            f"{what} within {say_duration(worst.seconds)}", why, _ADVICE, label=OVERLOADS,
        )  # fmt: skip


def reconnects(intervals: Mapping[int, Interval]) -> Iterator[Reading]:
    """Tell how often links were connected anew. Only where no node has ended: that breaks its links, too."""
    changed = {node: interval.counts.get(CONNECTS, 0.0) for node, interval in intervals.items()}
    if not changed:
        return
    of_all, worst = sum(changed.values()), max(changed, key=lambda node: changed[node])
    seconds = max(interval.seconds for interval in intervals.values())
    what = f"no link between data nodes was connected anew within {say_duration(seconds)}"
    if of_all:
        what = (
            f"links between data nodes were connected anew {_times(int(of_all))} within "
            f"{say_duration(seconds)}, most of them those of node {worst}, although no node has restarted"
        )
    advice = "look at the network between the data nodes: errors of its interfaces, firewalls, time-outs"
    yield Reading("reconnects", of_all, "", what, advice=advice)


def _among(sql: str, nodes: Sequence[int]) -> str:
    return sql.format(nodes=", ".join(map(str, nodes)))


def _counts(row: Row) -> dict[str, float]:
    return {OVERLOADS: number(row, "overloads"), CONNECTS: number(row, "connects")}


def _told(row: Row) -> str:
    return f"{row['overload_count']} to node {row['remote_node_id']} ({row['remote_address']})"


def _times(count: int) -> str:
    return "once" if count == 1 else f"{count} times"
