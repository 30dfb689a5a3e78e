"""Node groups: the data nodes of one hold the same part of all data, so one of them has to be up."""

from __future__ import annotations

import re

from stallwatch.probes.ndb_nodes.status import Status
from stallwatch.probes.ndbinfo.numbers import whole
from stallwatch.startup import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from typing import Any

    from stallwatch.probes.ndb_nodes.status import NodeStatus
    from stallwatch.probes.ndbinfo.asking import Row
    from stallwatch.probes.ndbinfo.cluster import Cluster

_KEPT = "node_groups"
# A node that waits for CREATE NODEGROUP has NodeGroup=65536 in the configuration, and 4294967040 in
# ndbinfo.membership (9.7.2); 65535 is that in 16 bits. Groups are counted from 0, there are 144 at most.
_NO_GROUP = 65535


class Group(NamedTuple):
    """A node group: its data nodes as far as they are known, and how many there are."""

    name: str  # its number; "of node 4" where that is not known
    members: tuple[int, ...]
    up: tuple[int, ...]
    size: int

    @property
    def is_lost(self) -> bool:
        """Whether nobody has its part of the data."""
        return not self.up

    @property
    def is_alone(self) -> bool:
        """Whether one node has its part of the data that had others: the next failure stops the cluster."""
        return len(self.up) == 1 < self.size


class Groups(NamedTuple):
    """The node groups of a cluster."""

    all: tuple[Group, ...] = ()
    unplaced: tuple[int, ...] = ()  # expected nodes, whose group is not known
    unseen: tuple[int, ...] = ()  # expected nodes that no look has seen up

    def of(self, node: int) -> Group | None:
        """Give the group of a node; None: it has none, or that is not known."""
        return next((group for group in self.all if node in group.members), None)


def told(membership: Sequence[Row]) -> dict[int, int]:
    """Read which group each node says that it is in; raises a ProbeError."""
    return {whole(row, "node_id"): whole(row, "group_id") for row in membership}


def groups(
    cluster: Cluster,
    groups_told: Mapping[int, int],
    statuses: Mapping[int, NodeStatus],
    memory: dict[str, Any],
    replicas: Callable[[], int],
) -> Groups:
    """Put the nodes into their groups, as nodes say that are up; others may not know yet.

    Where a node belongs is kept in ``memory``. If there is no look to remember at which it was up, and one
    group only has room for all such nodes, they belong there: ``replicas`` gives the size of every group, or
    0. Where it is 1, each is a group of its own.
    """
    up = {node for node, one in statuses.items() if one.status is Status.UP}
    first_hand = {node: group for node, group in groups_told.items() if node in up}
    starting = {node: group for node, group in groups_told.items() if group < _NO_GROUP}
    placed = {
        node: group
        for node, group in (starting | _remembered(memory) | first_hand).items()
        if node in cluster.expected
    }
    memory[_KEPT] = {str(node): group for node, group in placed.items()}
    members: dict[int, list[int]] = {}
    for node, group in sorted(placed.items()):
        if group < _NO_GROUP:
            members.setdefault(group, []).append(node)
    unplaced = unseen = [node for node in cluster.expected if node not in placed]
    size = replicas() if unplaced or cluster.unnamed else 0
    room = {group: size - len(nodes) for group, nodes in members.items() if len(nodes) < size}
    if len(room) == 1 and sum(room.values()) >= len(unplaced):
        members[next(iter(room))] += unplaced
        unplaced = []
    found = [_group(str(group), nodes, up, size) for group, nodes in sorted(members.items())]
    if size == 1:
        found += [_group(f"of node {node}", [node], up, size) for node in unplaced]
        unplaced = []
    return Groups(tuple(found), tuple(unplaced), tuple(unseen))


def _group(name: str, nodes: Iterable[int], up: set[int], size: int) -> Group:
    members = tuple(sorted(nodes))
    return Group(name, members, tuple(node for node in members if node in up), max(size, len(members)))


def _remembered(memory: dict[str, Any]) -> dict[int, int]:
    kept = memory.get(_KEPT)
    return {
        int(node): group
        for node, group in (kept.items() if isinstance(kept, dict) else ())
        if re.fullmatch("[0-9]{1,5}", node) and type(group) is int and group >= 0
    }
