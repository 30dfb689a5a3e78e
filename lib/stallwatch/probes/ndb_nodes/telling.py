"""How many data nodes are up, and what it means that others are not, in words."""

from __future__ import annotations

from stallwatch import words
from stallwatch.findings import Fault, Reading, State
from stallwatch.probes.ndb_nodes.advice import advice
from stallwatch.probes.ndb_nodes.status import SINGLE_USER, Status
from stallwatch.probes.ndbinfo.words import are, have, listed, named
from stallwatch.startup import TYPE_CHECKING
from stallwatch.units import say_duration

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from stallwatch.findings import Finding
    from stallwatch.probes.ndb_nodes.groups import Group
    from stallwatch.probes.ndb_nodes.presence import Presence
    from stallwatch.probes.ndbinfo.asking import ClusterDownError

_A_WHILE = 60.0  # seconds from which on it is told how long something lasts


def findings(presence: Presence, alerts: Callable[[str, float | None], bool]) -> Iterator[Finding]:
    """Tell it; the summary first. Nodes that are missing are named although no threshold ``alerts`` on it."""
    yield Reading("nodes_started", len(presence.up), "", _summary(presence))
    yield from _lost_groups(presence)
    yield (missing := _missing(presence))
    if missing.value and not alerts(missing.name, missing.value):
        yield Fault(State.OK, missing.what)
    yield _starting(presence)
    if stopping := presence.those(Status.STOPPING):
        what = f"{named(stopping)} {are(stopping)} being shut down in order{_meaning(presence, stopping)}"
        yield Fault(State.WARNING, what)
    if any(node.status == SINGLE_USER for node in presence.cluster.nodes.values()):
        yield Fault(
            State.WARNING, "the cluster is in single user mode: one SQL node or program only may use it",
            advice='when its work is done: ndb_mgm -e "exit single user mode"',
        )  # fmt: skip
    yield from _groups(presence)
    if presence.management.aside:
        yield presence.management.aside


def cluster_down(presence: Presence, error: ClusterDownError) -> Iterator[Finding]:
    """Tell of a cluster of which no data node is connected; the numbers are those of any other run."""
    nodes = sorted(presence.management.nodes)
    do = advice(presence, nodes) if nodes else error.advice
    yield Fault(State.CRITICAL, error.what, presence.management.says(), do)
    if presence.management.aside:
        yield presence.management.aside


def counts_of_none(presence: Presence) -> Iterator[Finding]:
    """Give the numbers of a cluster that is down, which is told already."""
    starting = presence.those(Status.STARTING)
    yield Reading("nodes_started", 0, "", "no data node is up")
    yield _missing(presence)._replace(in_table=True)
    yield Reading("nodes_starting", len(starting), "", f"nodes that start: {len(starting)}", in_table=True)
    yield from _groups(presence)


def _summary(presence: Presence) -> str:
    groups = len(presence.groups.all)
    in_groups = f" in {words.plural(groups, 'node group')}" if groups else ""
    up = set(presence.up)
    nodes = [node for node in presence.cluster.nodes.values() if node.id in up]
    youngest = f", the youngest for {say_duration(min(node.uptime for node in nodes))}" if nodes else ""
    verb = are(range(presence.total))
    return f"{len(up)} of {presence.total} data nodes {verb} up{in_groups}{youngest}"


def _lost_groups(presence: Presence) -> Iterator[Fault]:
    lost = [group for group in presence.groups.all if group.is_lost]
    if not lost:
        return
    members = [node for group in lost for node in group.members]
    what = (
        f"{_named(lost)} {have(lost)} no member left: {named(members)} {are(members)} not up, "
        "and so a part of all data is not there"
    )
    if all(presence.is_apart(node) for node in members):
        what = f"{presence.cluster.where} has no contact to any member of {_named(lost)}: {named(members)}"
    yield Fault(State.CRITICAL, what, presence.management.says(members), advice(presence, members))


def _groups(presence: Presence) -> Iterator[Reading]:
    if groups := presence.groups.all:
        alone, lost = sum(group.is_alone for group in groups), sum(group.is_lost for group in groups)
        what = f"node groups with one member left: {alone} of {len(groups)}"
        yield Reading("groups_without_redundancy", alone, "", what)
        yield Reading("groups_lost", lost, "", f"node groups without a member: {lost} of {len(groups)}")


def _missing(presence: Presence) -> Reading:
    missing, unnamed = presence.those(Status.MISSING), presence.cluster.unnamed
    count = len(missing) + unnamed
    if not count:
        return Reading("nodes_missing", 0, "", "no data node is missing")
    who = named(missing) if missing else f"{unnamed} of {presence.total} data nodes"
    more = f" and {unnamed} more, whose ids nobody tells," if missing and unnamed else ""
    return Reading(
        "nodes_missing", count, "",
        f"{who}{more} {are(range(count))} missing{_how(presence, missing)}{_meaning(presence, missing)}",
        presence.management.says(missing),
        advice(presence, missing),
    )  # fmt: skip


def _how(presence: Presence, missing: Sequence[int]) -> str:
    """Say what is known of how they came to be missing, of each that it is known of."""
    remarks: dict[str, list[int]] = {}
    for node in missing:
        remark = presence.statuses[node].remark or ("shut down in order" if node in presence.stopped else "")
        if remark:
            remarks.setdefault(remark, []).append(node)
    each = [
        remark if len(nodes) == len(missing) else f"{named(nodes)} {remark}"
        for remark, nodes in remarks.items()
    ]
    return f" ({listed(each)})" if each else ""


def _starting(presence: Presence) -> Reading:
    starting = presence.those(Status.STARTING)
    if not starting:
        return Reading("nodes_starting", 0, "", "no data node is starting")
    each = [_progress(presence, node) for node in starting]
    return Reading(
        "nodes_starting", len(starting), "", f"{listed(each)}{_meaning(presence, starting)}",
        advice=advice(presence, starting),
    )  # fmt: skip


def _progress(presence: Presence, node: int) -> str:
    about = presence.statuses[node]
    far = [] if about.phase is None else [f"start phase {about.phase} is done"]
    far += [f'"{about.doing}"'] if about.doing else []
    far += [f"not up for {say_duration(about.seconds)}"] if about.seconds >= _A_WHILE else []
    return f"node {node} is starting" + (f" ({', '.join(far)})" if far else "")


def _meaning(presence: Presence, nodes: Sequence[int]) -> str:
    """Say what it means for the node groups that these nodes are not up."""
    groups = {group.name: group for node in nodes if (group := presence.groups.of(node))}
    alone = [group for group in groups.values() if group.is_alone]
    less = [group for group in groups.values() if len(group.up) > 1]
    said = []
    if alone:
        reach = f" in reach of {presence.cluster.where}" if _is_out_of_reach(presence, alone) else ""
        said.append(f"{_named(alone)} {have(alone)} only {_left(alone)} left{reach}")
    if less:
        gone = sum(len(group.members) - len(group.up) for group in less)
        members = "a member" if gone == 1 else f"{gone} members"
        said.append(f"{_named(less)} {have(less)} lost {members}")
    if unplaced := [node for node in nodes if node in presence.groups.unplaced]:
        said.append(f"the node group of {named(unplaced)} is not known")
    return f": {', '.join(said)}" if said else ""


def _is_out_of_reach(presence: Presence, groups: Sequence[Group]) -> bool:
    gone = [node for group in groups for node in group.members if node not in group.up]
    return all(presence.is_apart(node) for node in gone)


def _named(groups: Sequence[Group]) -> str:
    return words.named("node group", [group.name for group in groups])


def _left(groups: Sequence[Group]) -> str:
    return f"node {groups[0].up[0]}" if len(groups) == 1 else "one member each"
