"""Node groups: the data nodes of one hold the same part of all data, so one of them has to be up."""

from __future__ import annotations

from typing import NamedTuple

from stallwatch.probes.ndb_nodes.standing import Kind
from stallwatch.probes.ndbinfo.numbers import whole
from stallwatch.sources.mysql import MysqlError

TYPE_CHECKING = False  # typing itself costs every check 2 ms
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from typing import Any

    from stallwatch.probes.ndb_nodes.standing import Standing
    from stallwatch.probes.ndbinfo.asking import Ndbinfo, Row
    from stallwatch.probes.ndbinfo.cluster import Cluster

_KEPT = "node_groups"
# A node that waits for CREATE NODEGROUP has NodeGroup=65536 in the configuration, and 4294967040 in
# ndbinfo.membership (9.7.2); 65535 is that in 16 bits. Groups are counted from 0, there are 144 at most.
_NO_GROUP = 65535
# NoOfReplicas in ndbinfo.config_params: CFG_DB_NO_REPLICAS of mgmapi_config_parameters.h.
_REPLICAS = "SELECT config_value FROM ndbinfo.config_values WHERE config_param = 101"


class Group(NamedTuple):
    """A node group: its data nodes as far as they are known, and how many there are."""

    id: int
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

    all: tuple[Group, ...]
    unplaced: tuple[int, ...] = ()  # expected nodes, whose group is not known

    def of(self, node: int) -> Group | None:
        """Give the group of a node; None: it has none, or that is not known."""
        return next((group for group in self.all if node in group.members), None)


def groups(
    ndbinfo: Ndbinfo,
    cluster: Cluster,
    membership: Sequence[Row],
    standings: Mapping[int, Standing],
    memory: dict[str, Any],
) -> Groups:
    """Put the nodes into their groups. ``membership`` has rows of nodes that answer only.

    Where the others belong is kept in ``memory``. If there is no look to remember at which they were up,
    and one group only has room for them, they belong there.
    """
    placed = _remembered(memory)
    placed |= {whole(row, "node_id"): whole(row, "group_id") for row in membership}
    placed = {node: group for node, group in placed.items() if node in cluster.expected}
    memory[_KEPT] = {str(node): group for node, group in placed.items()}
    members: dict[int, list[int]] = {}
    for node, group in sorted(placed.items()):
        if group < _NO_GROUP:
            members.setdefault(group, []).append(node)
    unplaced = [node for node in cluster.expected if node not in placed]
    size = 0
    if unplaced or cluster.unnamed:
        size = _replicas(ndbinfo)
        room = {group: size - len(nodes) for group, nodes in members.items() if len(nodes) < size}
        if len(room) == 1 and sum(room.values()) >= len(unplaced):
            members[next(iter(room))] += unplaced
            unplaced = []
    all_of_them = (_group(group, nodes, standings, size) for group, nodes in sorted(members.items()))
    return Groups(tuple(all_of_them), tuple(unplaced))


def _group(group: int, nodes: Iterable[int], standings: Mapping[int, Standing], size: int) -> Group:
    members = tuple(sorted(nodes))
    up = tuple(node for node in members if standings[node].kind is Kind.UP)
    return Group(group, members, up, max(size, len(members)))


def _replicas(ndbinfo: Ndbinfo) -> int:
    """Ask for NoOfReplicas, the size of every group; 0: that cannot be asked, before 7.5."""
    try:
        rows = ndbinfo.rows(_REPLICAS)
    except MysqlError:
        return 0
    return max((int(value) for row in rows if (value := str(row["config_value"])).isdecimal()), default=0)


def _remembered(memory: dict[str, Any]) -> dict[int, int]:
    kept = memory.get(_KEPT)
    if not isinstance(kept, dict):
        return {}
    return {
        int(node): group for node, group in kept.items() if str(node).isdigit() and isinstance(group, int)
    }
