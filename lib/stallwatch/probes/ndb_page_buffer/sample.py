"""What data nodes count while one run waits, for whoever does not want it to remember anything."""

from __future__ import annotations

import time

from stallwatch.probes.looks import Interval, NoIntervalError, pause
from stallwatch.probes.ndb_page_buffer.traffic import counters
from stallwatch.probes.ndbinfo import cluster as data_nodes
from stallwatch.probes.ndbinfo.numbers import whole
from stallwatch.startup import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from stallwatch.probes.ndb_page_buffer.traffic import Counts
    from stallwatch.probes.ndbinfo.asking import Ndbinfo
    from stallwatch.probes.ndbinfo.cluster import Cluster

_UPTIMES = "SELECT node_id, uptime FROM ndbinfo.nodes"


class Sample(NamedTuple):
    """The counters of all nodes at its beginning and at its end."""

    cluster: Cluster  # at its end
    begun: dict[int, Counts]
    ended: dict[int, Counts]
    seconds: float  # between the two, which is more than what was waited if there are many nodes

    def since(self, node: int, counts: Counts) -> Interval:
        """Tell what a node counted since the beginning; or raise NoIntervalError."""
        before = self.begun.get(node)
        if before is None or self.cluster.nodes[node].uptime < self.seconds:
            raise NoIntervalError("not up for the whole sample")
        changes = {name: count - before[name] for name, count in counts.items() if count >= before[name]}
        return Interval(self.seconds, changes)


def take(ndbinfo: Ndbinfo, seconds: float) -> Sample:
    """Look twice, so far apart, or less if the deadline is near; raises a ProbeError."""
    start = time.monotonic()
    cluster, begun = data_nodes.look_at_started(ndbinfo, {}), counters(ndbinfo)
    at = time.monotonic()
    pause(seconds, at - start, ndbinfo.deadline)
    uptimes = {whole(row, "node_id"): whole(row, "uptime") for row in ndbinfo.some(_UPTIMES)}
    nodes = {one: node._replace(uptime=uptimes[one]) for one, node in cluster.nodes.items() if one in uptimes}
    ended = counters(ndbinfo)
    return Sample(cluster._replace(nodes=nodes), begun, ended, time.monotonic() - at)
