"""Who is up, who is missing, who is on the way, and in which node groups they are."""

from __future__ import annotations

from stallwatch.probes.ndb_nodes import groups as node_groups
from stallwatch.probes.ndb_nodes.groups import Groups
from stallwatch.probes.ndb_nodes.management import NOT_ASKED, Management
from stallwatch.probes.ndb_nodes.status import Judge, NodeStatus, Status
from stallwatch.startup import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Any

    from stallwatch.probes.ndbinfo.cluster import Cluster

_STOPPED = "stopping"


class Presence(NamedTuple):
    """The data nodes of a cluster as they are now."""

    cluster: Cluster
    statuses: Mapping[int, NodeStatus]
    groups: Groups = Groups()
    management: Management = NOT_ASKED
    stopped: frozenset[int] = frozenset()  # nodes that are not up since they were shut down in order

    def those(self, status: Status) -> list[int]:
        """Give the nodes that are this."""
        return sorted(node for node, one in self.statuses.items() if one.status is status)

    @property
    def up(self) -> list[int]:
        """Give the nodes that are up."""
        return self.those(Status.UP)

    @property
    def total(self) -> int:
        """How many data nodes are configured."""
        return self.cluster.configured

    def is_apart(self, node: int) -> bool:
        """Whether a node is up for the management server, and only out of reach of the SQL node."""
        return self.statuses[node].status is Status.MISSING and self.management.sees(node)


def put_together(
    cluster: Cluster,
    judge: Judge,
    memory: dict[str, Any],
    groups_told: Mapping[int, int],
    replicas: Callable[[], int] = lambda: 0,
) -> Presence:
    """Put together what is known; ``memory`` keeps what was seen of nodes while they answered."""
    statuses = judge.statuses(cluster)
    groups = node_groups.groups(cluster, groups_told, statuses, memory, replicas)
    stopping = {node for node, one in statuses.items() if one.status is Status.STOPPING}
    down = {node for node, one in statuses.items() if one.status is not Status.UP}
    stopped = frozenset(stopping | (down & seen_stopping(memory)))
    memory[_STOPPED] = sorted(stopped)
    return Presence(cluster, statuses, groups, judge.management, stopped)


def seen_stopping(memory: dict[str, Any]) -> set[int]:
    """Give the nodes that were seen to be shut down in order, and not up since."""
    kept = memory.get(_STOPPED)
    return {node for node in kept if type(node) is int} if isinstance(kept, list) else set()
