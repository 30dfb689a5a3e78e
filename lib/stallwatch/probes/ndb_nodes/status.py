"""What each data node is: up, starting, shutting down in order, or missing."""

from __future__ import annotations

from enum import Enum

from stallwatch.probes.ndbinfo.cluster import STARTED
from stallwatch.probes.ndbinfo.numbers import whole
from stallwatch.startup import TYPE_CHECKING, NamedTuple
from stallwatch.units import say_duration

if TYPE_CHECKING:
    from collections.abc import Mapping

    from stallwatch.probes.ndb_nodes.clocks import Clocks
    from stallwatch.probes.ndb_nodes.management import Management
    from stallwatch.probes.ndbinfo.asking import Ndbinfo
    from stallwatch.probes.ndbinfo.cluster import Cluster, Node

SINGLE_USER = "SINGLEUSER"
# Seconds. Nobody has contact to a node that starts while it reads its configuration and takes its memory, for
# 2 to 8 s with 80 MB of data on a busy machine (9.7.2). ndbinfo.restart_info then says "Allocated node id",
# and goes on to say so if the node dies: it was still there after minutes.
_UNSEEN = 300.0
# The first is also that of a start with --nostart.
_BEGINNING = ("NOT_STARTED", "UNKNOWN", "RESTARTING")
_ALLOCATED, _COMPLETED = 4, 19  # ndbinfo.restart_info: its node id is allocated; the restart is over


class Status(Enum):
    """What a node is."""

    UP = "up"
    STARTING = "starting"
    STOPPING = "stopping"
    MISSING = "missing"


class NodeStatus(NamedTuple):
    """What one node is, and how far."""

    status: Status
    phase: int | None = None  # the start phase that it has completed last
    doing: str = ""  # how far its restart is, in the words of ndbinfo.restart_info
    seconds: float = 0.0  # since a look has seen it up no more
    remark: str = ""  # of a missing one: why it does not count as starting or stopping any longer


class Restart(NamedTuple):
    """How far the restart of a node is, as those see it that are up."""

    code: int
    words: str


class Judge(NamedTuple):
    """What is known of nodes besides what they say themselves."""

    management: Management
    restarts: Mapping[int, Restart]
    clocks: Clocks
    grace: float  # seconds that a start, or a stop, may take
    remembers: bool = True  # whether the clocks go on at the next look

    def statuses(self, cluster: Cluster) -> dict[int, NodeStatus]:
        """Tell what every expected node is. Its clock runs from the first look that does not see it up."""
        return {node: self._status(node, cluster.nodes.get(node)) for node in cluster.expected}

    def _status(self, node: int, answer: Node | None) -> NodeStatus:
        found = _answering(answer) if answer else self._silent(node)
        if found.status is Status.UP:
            self.clocks.over(str(node))
            return found
        lasting = self.clocks.seconds(str(node))
        if found.status is not Status.MISSING and lasting > self.grace:
            return NodeStatus(
                Status.MISSING, seconds=lasting, remark=f"{found.status.value} for {say_duration(lasting)}"
            )
        doing = self.restarts[node].words if node in self.restarts else ""
        return found._replace(doing=doing, seconds=lasting)

    def _silent(self, node: int) -> NodeStatus:
        """Tell of a node that does not answer the SQL node: while it starts, others see it first."""
        seen, code = self.management.of(node), self.restarts[node].code if node in self.restarts else 0
        if seen == "SHUTTING_DOWN":
            return NodeStatus(Status.STOPPING)
        if seen == "STARTING":
            return NodeStatus(Status.STARTING, self.management.nodes[node].phase or None)
        if code > _ALLOCATED and seen in ("", "STARTED"):  # it is not reachable, or ahead of us
            return NodeStatus(Status.STARTING)
        begins = code == _ALLOCATED or seen in _BEGINNING
        if begins and self.remembers and self.clocks.seconds(str(node)) < _UNSEEN:
            return NodeStatus(Status.STARTING)
        return NodeStatus(Status.MISSING)


def restarts_under_way(ndbinfo: Ndbinfo) -> dict[int, Restart]:
    """Ask how far the restarts are that the cluster's master takes part in; the table is of 7.4 and later."""
    rows = ndbinfo.rows("SELECT * FROM ndbinfo.restart_info")
    told = {
        whole(row, "node_id"): Restart(whole(row, "node_restart_status_int"), str(row["node_restart_status"]))
        for row in rows
        if row["node_restart_status_int"] is not None
    }
    return {node: restart for node, restart in told.items() if _ALLOCATED <= restart.code < _COMPLETED}


def _answering(node: Node) -> NodeStatus:
    if node.status in (STARTED, SINGLE_USER):
        return NodeStatus(Status.UP)
    if node.status.startswith(("STOPPING", "SHUTTING_DOWN")):
        return NodeStatus(Status.STOPPING)
    return NodeStatus(Status.STARTING, node.start_phase)
