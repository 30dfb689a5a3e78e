"""Who is up, who is missing, who is on the way, and what is left of the node groups."""

from __future__ import annotations

from typing import NamedTuple

from stallwatch.probes.ndb_nodes.groups import Groups
from stallwatch.probes.ndb_nodes.management import NOT_ASKED, Management
from stallwatch.probes.ndb_nodes.standing import SINGLE_USER, Kind, Standing
from stallwatch.probes.ndbinfo.words import listed, named
from stallwatch.reading import Fault, Reading, State
from stallwatch.units import say_duration

TYPE_CHECKING = False  # typing itself costs every check 2 ms
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from stallwatch.probes.ndb_nodes.groups import Group
    from stallwatch.probes.ndb_nodes.since import Since
    from stallwatch.probes.ndbinfo.cluster import Cluster
    from stallwatch.reading import Finding
    from stallwatch.table import Table

_A_WHILE = 60.0  # seconds from which on it is told how long something lasts


class Presence(NamedTuple):
    """The data nodes of a cluster as they stand."""

    cluster: Cluster
    standings: Mapping[int, Standing]
    groups: Groups = Groups(())
    management: Management = NOT_ASKED
    stopped: frozenset[int] = frozenset()  # nodes that were seen to be shut down in order

    def those(self, kind: Kind) -> list[int]:
        """Give the nodes that stand like this."""
        return sorted(node for node, standing in self.standings.items() if standing.kind is kind)

    @property
    def total(self) -> int:
        """How many data nodes are configured."""
        return len(self.standings) + self.cluster.unnamed


def findings(presence: Presence, since: Since, table: Table | None) -> Iterator[Finding]:
    """Tell it; the summary first."""
    up, missing, starting = map(presence.those, (Kind.UP, Kind.MISSING, Kind.STARTING))
    yield Reading("nodes_started", len(up), "", _summary(presence, len(up)), table=table)
    yield from _lost_groups(presence)
    yield _missing(presence, missing)
    yield _starting(presence, starting, since)
    for node in presence.those(Kind.STOPPING):
        yield Fault(State.WARNING, f"node {node} is being shut down in order{_meaning(presence, [node])}")
    if any(node.status == SINGLE_USER for node in presence.cluster.nodes.values()):
        yield Fault(
            State.WARNING, "the cluster is in single user mode: one SQL node or program only may use it",
            advice='when its work is done: ndb_mgm -e "exit single user mode"',
        )  # fmt: skip
    groups = presence.groups.all
    if groups:
        alone, lost = sum(group.is_alone for group in groups), sum(group.is_lost for group in groups)
        what = f"node groups with one member left: {alone} of {len(groups)}"
        yield Reading("groups_without_redundancy", alone, "", what)
        yield Reading("groups_lost", lost, "", f"node groups without a member: {lost} of {len(groups)}")


def _summary(presence: Presence, up: int) -> str:
    groups = len(presence.groups.all)
    in_groups = f" in {groups} node group{'s' if groups > 1 else ''}" if groups else ""
    nodes = [node for node in presence.cluster.nodes.values() if node.id in presence.those(Kind.UP)]
    since = f", the youngest since {say_duration(min(node.uptime for node in nodes))}" if nodes else ""
    verb = "are" if presence.total > 1 else "is"
    return f"{up} of {presence.total} data nodes {verb} up{in_groups}{since}"


def _lost_groups(presence: Presence) -> Iterator[Fault]:
    lost = [group for group in presence.groups.all if group.is_lost]
    if not lost:
        return
    members = [node for group in lost for node in group.members]
    yield Fault(
        State.CRITICAL,
        f"{_named(lost)} {'have' if len(lost) > 1 else 'has'} no member left: {named(members)} "
        f"{'are' if len(members) > 1 else 'is'} not up, and so a part of all data is not there",
        presence.management.says(members),
        "start them: ndbmtd --ndb-nodeid=N; the end of ndb_N_out.log says what ended them",
    )


def _missing(presence: Presence, missing: Sequence[int]) -> Reading:
    unnamed = presence.cluster.unnamed
    count = len(missing) + unnamed
    if not count:
        return Reading("nodes_missing", 0, "", "no data node is missing")
    who = named(missing) if missing else f"{unnamed} of {presence.total} data nodes"
    more = f" and {unnamed} more, whose ids nobody tells," if missing and unnamed else ""
    how = " (shut down in order)" if missing and presence.stopped.issuperset(missing) else ""
    verb = "are" if count > 1 else "is"
    return Reading(
        "nodes_missing",
        count,
        "",
        f"{who}{more} {verb} missing{how}{_meaning(presence, missing)}",
        presence.management.says(missing),
        _advice(presence, missing),
    )


def _advice(presence: Presence, missing: Sequence[int]) -> str:
    statuses = {node: presence.management.of(node) for node in missing}
    apart = [node for node, status in statuses.items() if status == "STARTED"]
    waiting = [node for node, status in statuses.items() if status == "NOT_STARTED"]
    if apart:
        return f"look at the network between {presence.cluster.where} and the host of {named(apart)}"
    if waiting:
        return f'it waits for the order to start: ndb_mgm -e "{waiting[0]} start"'
    node = str(missing[0]) if len(missing) == 1 else "N"
    start = f"start it: ndbmtd --ndb-nodeid={node}"
    if missing and presence.stopped.issuperset(missing):
        return f"unless somebody is at it, {start}"
    return f"the end of ndb_{node}_out.log says what ended it; then {start}"


def _starting(presence: Presence, starting: Sequence[int], since: Since) -> Reading:
    if not starting:
        return Reading("nodes_starting", 0, "", "no data node is starting")
    each = [_progress(node, presence.standings[node], since) for node in starting]
    return Reading(
        "nodes_starting", len(starting), "",
        f"{listed(each)}{_meaning(presence, starting)}",
        advice=f"wait; ndb_{starting[0]}_out.log on its host tells how far it is",
    )  # fmt: skip


def _progress(node: int, standing: Standing, since: Since) -> str:
    far = [] if standing.phase is None else [f"start phase {standing.phase} is done"]
    far += [f'"{standing.doing}"'] if standing.doing else []
    lasting = since.seconds(f"node {node} starts")
    far += [f"for {say_duration(lasting)}"] if lasting >= _A_WHILE else []
    return f"node {node} is starting" + (f" ({', '.join(far)})" if far else "")


def _meaning(presence: Presence, nodes: Sequence[int]) -> str:
    """Say what it means for the node groups that these nodes are not up."""
    groups = {group.id: group for node in nodes if (group := presence.groups.of(node))}
    alone = [group for group in groups.values() if group.is_alone]
    less = [group for group in groups.values() if len(group.up) > 1]
    said = []
    if alone:
        said.append(f"{_named(alone)} {'have' if len(alone) > 1 else 'has'} only {_left(alone)} left")
    if less:
        said.append(f"{_named(less)} {'have' if len(less) > 1 else 'has'} lost a member")
    if unplaced := [node for node in nodes if node in presence.groups.unplaced]:
        said.append(f"the node group of {named(unplaced)} is not known, as no look has seen it up")
    return f": {', '.join(said)}" if said else ""


def _named(groups: Sequence[Group]) -> str:
    return f"node group{'s' if len(groups) > 1 else ''} {listed([str(group.id) for group in groups])}"


def _left(groups: Sequence[Group]) -> str:
    return f"node {groups[0].up[0]}" if len(groups) == 1 else "one member each"
