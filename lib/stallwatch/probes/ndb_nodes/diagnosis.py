"""What each data node is, in which node group, when it has restarted, and with which configuration."""

from __future__ import annotations

from stallwatch.history import has_restarted, recall, remember
from stallwatch.probes.ndb_nodes.model import (
    NO_CONTACT,
    SINGLE_USER,
    UP,
    WINDOW,
    Group,
    Groups,
    NodeStatus,
    Presence,
    Start,
    Status,
)
from stallwatch.probes.ndb_nodes.queries import ALLOCATED
from stallwatch.probes.ndbinfo.cluster import STARTED
from stallwatch.probes.ndbinfo.queries import whole
from stallwatch.startup import TYPE_CHECKING, NamedTuple
from stallwatch.units import say_duration

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
    from typing import Any

    from stallwatch.probes.ndb_nodes.collect import Clocks, Snapshot
    from stallwatch.probes.ndbinfo.cluster import Cluster, Node
    from stallwatch.probes.ndbinfo.queries import Row

# Seconds. Nobody has contact to a node that starts while it reads its configuration and takes its memory, for
# 2 to 8 s with 80 MB of data on a busy machine (9.7.2). ndbinfo.restart_info then shows "Allocated node id",
# and still does if the node dies: it was still there after minutes.
_UNSEEN = 300.0
# The first is also that of a start with --nostart.
_BEGINNING = ("NOT_STARTED", "UNKNOWN", "RESTARTING")
# A node that waits for CREATE NODEGROUP has NodeGroup=65536 in the configuration, and 4294967040 in
# ndbinfo.membership (9.7.2); 65535 is that in 16 bits. Groups are counted from 0, there are 144 at most.
_NO_GROUP = 65535
# Seconds. An SQL node connects to a data node some seconds after the management server calls it started.
_CONNECTS = 60.0
_GROUPS, _RESTARTS, _GENERATIONS = "node_groups", "restarts", "generations"  # kept in memory
_STOPPED, _CAME_BACK = "stopping", "coming_back"  # shut down in order; of these, those that start again
# Clocks: since the management server calls a node started that it called otherwise before, and since then.
_STARTED, _AWAY = "started {}", "away {}"
# Seconds. Data nodes declare one dead after 20 s by default (4 missed heartbeats of HeartbeatIntervalDbDb). A
# node that is away for less, and runs, may only be cut off for a moment.
_MOMENT = 20.0


class Rules(NamedTuple):
    """How nodes that are not up are judged."""

    grace: float  # seconds that a start, or a stop, may take
    remembers: bool  # whether the clocks go on at the next look


def diagnose(
    snapshot: Snapshot,
    rules: Rules,
    clocks: Clocks,
    memory: dict[str, Any],
    replicas: Callable[[], int] = lambda: 0,
) -> Presence:
    """Put together what is known; ``memory`` keeps what was seen of nodes while they answered.

    Where a node group is not known, ``replicas`` returns the size of every group, or 0.
    """
    cluster = snapshot.cluster
    orders = _Orders(_nodes(memory, _STOPPED), _nodes(memory, _CAME_BACK))
    statuses = {node: _status(node, snapshot, rules, clocks, orders) for node in cluster.expected}
    groups = _groups(cluster, snapshot.groups, statuses, memory, replicas)
    up = {node for node, one in statuses.items() if one.status is Status.UP}
    stopped = frozenset(orders.stopped - up)
    memory[_STOPPED], memory[_CAME_BACK] = sorted(stopped), sorted(orders.came_back & stopped)
    return Presence(cluster, statuses, groups, snapshot.management, stopped, snapshot.here)


def seen_stopping(memory: dict[str, Any]) -> set[int]:
    """Return the nodes that were seen to be shut down in order, and not up since."""
    return _nodes(memory, _STOPPED)


def _nodes(memory: dict[str, Any], name: str) -> set[int]:
    return recall(memory, name, set[int]) or set()


class _Orders(NamedTuple):
    """Nodes that somebody has shut down or restarted in order, as far as looks have seen that."""

    stopped: set[int]
    came_back: set[int]  # of these, those that were seen to start since

    def follow(self, node: int, found: NodeStatus) -> NodeStatus:
        """Note what a node that is not up was found to be, and judge one that is away because of an order.

        Between its end and its start nobody has contact to a node that is restarted in order; one that has
        begun to start and is gone again has failed.
        """
        if found.status is Status.STOPPING:
            self.stopped.add(node)
            self.came_back.discard(node)
        elif found.status is Status.STARTING and found.is_seen and node in self.stopped:
            self.came_back.add(node)
        elif found.status is Status.MISSING and node in self.came_back:
            if not found.is_lost:
                return found
            self.stopped.discard(node)
            return found._replace(remark="its start failed")
        elif found.status is Status.MISSING and node in self.stopped:
            return NodeStatus(Status.STOPPED)
        return found


def _status(node: int, snapshot: Snapshot, rules: Rules, clocks: Clocks, orders: _Orders) -> NodeStatus:
    """Find what a node is. Its clock runs from the first look that does not see it up."""
    answer, restart = snapshot.cluster.nodes.get(node), snapshot.restarts.get(node)
    found = _answering(answer) if answer else _silent(node, snapshot, rules, clocks)
    if found.status is Status.UP:
        clocks.over(str(node))
        clocks.over(_STARTED.format(node))
        clocks.over(_AWAY.format(node))
        return found
    found = orders.follow(node, found)
    lasting = clocks.seconds(str(node))
    if found.status is not Status.MISSING and lasting > rules.grace:
        remark = f"{found.status.value} for {say_duration(lasting)}"
        if found.status is Status.STOPPED:
            remark = f"shut down in order {say_duration(lasting)} ago"
        return NodeStatus(Status.MISSING, seconds=lasting, remark=remark)
    return found._replace(doing=found.doing or (restart.words if restart else ""), seconds=lasting)


def _answering(node: Node) -> NodeStatus:
    if node.status in (STARTED, SINGLE_USER):
        return NodeStatus(Status.UP)
    if node.status.startswith(("STOPPING", "SHUTTING_DOWN")):
        return NodeStatus(Status.STOPPING)
    return NodeStatus(Status.STARTING, node.start_phase, is_seen=True)


def _silent(node: int, snapshot: Snapshot, rules: Rules, clocks: Clocks) -> NodeStatus:
    """Find what a node is that does not answer the SQL node: while it starts, others see it first."""
    seen = snapshot.management.of(node)
    code = snapshot.restarts[node].code if node in snapshot.restarts else 0
    if seen in UP:
        if _has_just_started(node, rules, clocks):
            return NodeStatus(Status.STARTING, doing="the SQL node connects to it", is_seen=True)
    elif seen:
        clocks.over(_STARTED.format(node))
        clocks.seconds(_AWAY.format(node))
    if seen == "SHUTTING_DOWN":
        return NodeStatus(Status.STOPPING)
    if seen == "STARTING":
        return NodeStatus(Status.STARTING, snapshot.management.nodes[node].phase or None, is_seen=True)
    if code > ALLOCATED and seen in ("", "STARTED"):  # it is not reachable, or ahead of us
        return NodeStatus(Status.STARTING, is_seen=True)
    begins = code == ALLOCATED or seen in _BEGINNING
    if begins and rules.remembers and clocks.seconds(str(node)) < _UNSEEN:
        return NodeStatus(Status.STARTING)
    runs = any(one.node == node and one.runs for one in snapshot.here)
    is_unclear = (seen in UP or runs) and rules.remembers and clocks.seconds(str(node)) < _MOMENT
    return NodeStatus(Status.MISSING, is_lost=seen == NO_CONTACT, is_unclear=is_unclear)


def _has_just_started(node: int, rules: Rules, clocks: Clocks) -> bool:
    """Whether the management server calls a node started that it did not at an earlier look.

    A node that was up at the last look is none of these: it may just have ended, or be out of reach. Nor is
    one of which the management server reported nothing at that look.
    """
    if not rules.remembers or not clocks.runs(_AWAY.format(node)):
        return False
    return clocks.seconds(_STARTED.format(node)) < _CONNECTS


def groups_of(membership: Sequence[Row]) -> dict[int, int]:
    """Read the node group that each node reports for itself; raises a ProbeError."""
    return {whole(row, "node_id"): whole(row, "group_id") for row in membership}


def _groups(
    cluster: Cluster,
    reported: Mapping[int, int],
    statuses: Mapping[int, NodeStatus],
    memory: dict[str, Any],
    replicas: Callable[[], int],
) -> Groups:
    """Put the nodes into their groups, as reported by nodes that are up; others may not know yet.

    Where a node belongs is kept in ``memory``. If there is no look to remember at which it was up, and one
    group only has room for all such nodes, they belong there. Where ``replicas`` is 1, each is a group of its
    own.
    """
    up = {node for node, one in statuses.items() if one.status is Status.UP}
    placed = _placed(cluster, reported, up, memory)
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


def _placed(
    cluster: Cluster, reported: Mapping[int, int], up: Collection[int], memory: dict[str, Any]
) -> dict[int, int]:
    kept = recall(memory, _GROUPS, dict[int, int]) or {}
    remembered = {node: group for node, group in kept.items() if group >= 0}
    first_hand = {node: group for node, group in reported.items() if node in up}
    starting = {node: group for node, group in reported.items() if group < _NO_GROUP}
    known = starting | remembered | first_hand
    placed = {node: group for node, group in known.items() if node in cluster.expected}
    remember(memory, _GROUPS, placed)
    return placed


def _group(name: str, nodes: Iterable[int], up: set[int], size: int) -> Group:
    members = tuple(sorted(nodes))
    return Group(name, members, tuple(node for node in members if node in up), max(size, len(members)))


def starts(
    cluster: Cluster, stopped: Collection[int], memory: dict[str, Any], now: float
) -> dict[int, Start]:
    """Continue what ``memory`` knows of the starts of nodes; of one that is away it is kept.

    ``stopped`` are those that were seen to be shut down in order before this look.
    """
    before = recall(memory, _RESTARTS, dict[int, Start]) or {}
    found = {node: before[node] for node in cluster.expected if node in before}
    for node in cluster.nodes.values():
        found[node.id] = _start(node, found.get(node.id), now, shut_down=node.id in stopped)
    remember(memory, _RESTARTS, found)
    return found


def _start(node: Node, last: Start | None, now: float, *, shut_down: bool) -> Start:
    """Continue what is known of a node that answers."""
    if last is None:
        return Start(node.uptime, now)
    restarts = tuple(when for when in last.restarts if now - when < WINDOW)
    if not has_restarted(node.uptime, last.uptime, now - last.at):
        return Start(node.uptime, now, restarts, last.in_order)
    if shut_down:
        return Start(node.uptime, now, restarts, in_order=True)
    return Start(node.uptime, now, (*restarts, now - node.uptime))


def generations(cluster: Cluster, clocks: Clocks) -> tuple[dict[int, list[int]], float]:
    """Return the nodes by the generation of the configuration that they run with, and how long these differ.

    They are one, or a change is unfinished. Before 7.1.10 they are not known.
    """
    nodes: dict[int, list[int]] = {}
    for node in sorted(cluster.nodes.values()):
        if node.config_generation is not None:
            nodes.setdefault(node.config_generation, []).append(node.id)
    if len(nodes) > 1:
        return nodes, clocks.seconds(_GENERATIONS)
    if nodes and len(cluster.nodes) == cluster.configured:
        clocks.over(_GENERATIONS)
    return nodes, 0.0
