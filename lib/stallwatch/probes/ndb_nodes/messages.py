"""The words and the numbers for who is up, who is not, what that means and what to do about it."""

from __future__ import annotations

from stallwatch import words
from stallwatch.findings import Fault, Reading, State
from stallwatch.probes.ndb_nodes.model import SINGLE_USER, Status
from stallwatch.probes.ndbinfo.cluster import named
from stallwatch.startup import TYPE_CHECKING
from stallwatch.table import Table
from stallwatch.units import say_duration
from stallwatch.words import are, have, listed

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from stallwatch.findings import Finding
    from stallwatch.probes.ndb_nodes.model import Group, Presence
    from stallwatch.probes.ndb_nodes.queries import Busiest
    from stallwatch.probes.ndbinfo.queries import ClusterDownError
    from stallwatch.table import Cell

_A_WHILE = 60.0  # seconds from which on the line says how long something lasts
_COLUMNS = ("node", "group", "state", "phase", "up for", "generation", "version", "busiest thread %")
# Seconds after which the management server knows that a node has ended: data nodes declare one dead after
# four missed heartbeats of HeartbeatIntervalDbDb, 5 s by default. After kill -9 it called a node started for
# some tenths of a second (9.7.2).
_DETECTED = 20.0
# What to do, by what is wrong; ``_in_words`` has the words in braces.
_APART = "look at the network between {where} and {the_hosts} of {nodes}"
_IF_NOT = "If not, the end of {log} says what ended {it}; then {start}"
_APART_OR_ENDED = f"{{is_it_there}} If so, {_APART}. {_IF_NOT}"
_LATE = "the end of {log} says what holds {it} up, or has ended {it}"
_WAITS = "{it_waits} for the order to start: {order}"
_WAITS_MAYBE = "wait; if {it_was} started with --nostart: {order}"
_ON_ITS_WAY = "wait; {log} on {its_host} tells how far"
_WAS_STOPPED = "unless somebody is at it, {start}"
_NEVER_SEEN = "no look has seen {it} up: the end of {log}, if there is one, says why; then {start}"
_HAS_ENDED = f"{{is_it_there}} {_IF_NOT}"


def who_is_up(presence: Presence, is_problem: Callable[[Reading], bool]) -> Iterator[Finding]:
    """Say it; the summary first. Nodes that are missing are named although no threshold alerts on it."""
    yield Reading("nodes_started", len(presence.up), "", _summary(presence))
    yield from _lost_groups(presence)
    yield (missing := _missing(presence))
    if missing.value and not is_problem(missing):
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
    """Say that no data node is connected, and why; the numbers are those of any other run."""
    nodes = sorted(presence.management.nodes)
    do = _advice(presence, nodes) if nodes else error.advice
    yield Fault(State.CRITICAL, error.what, presence.management.says(nodes), do)
    if presence.management.aside:
        yield presence.management.aside
    starting = len(presence.those(Status.STARTING))
    yield Reading("nodes_started", 0, "", "no data node is up")
    yield _missing(presence)._replace(in_table=True)
    yield Reading("nodes_starting", starting, "", f"nodes that start: {starting}", in_table=True)
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
    yield Fault(State.CRITICAL, what, presence.management.says(members), _advice(presence, members))


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
        _advice(presence, missing),
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
        advice=_advice(presence, starting),
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
    each = []
    if alone:
        gone = [node for group in alone for node in group.members if node not in group.up]
        is_apart = all(presence.is_apart(node) for node in gone)
        reach = f" in reach of {presence.cluster.where}" if is_apart else ""
        left = f"node {alone[0].up[0]}" if len(alone) == 1 else "one member each"
        each.append(f"{_named(alone)} {have(alone)} only {left} left{reach}")
    if less:
        count = sum(len(group.members) - len(group.up) for group in less)
        members = "a member" if count == 1 else f"{count} members"
        each.append(f"{_named(less)} {have(less)} lost {members}")
    if unplaced := [node for node in nodes if node in presence.groups.unplaced]:
        each.append(f"the node group of {named(unplaced)} is not known")
    return f": {', '.join(each)}" if each else ""


def _named(groups: Sequence[Group]) -> str:
    return words.named("node group", [group.name for group in groups])


def _advice(presence: Presence, nodes: Sequence[int]) -> str:
    """Give it for these nodes, each named if there are several kinds of trouble."""
    by_kind: dict[str, list[int]] = {}
    for node in nodes:
        by_kind.setdefault(_kind_of_trouble(presence, node), []).append(node)
    if not by_kind:  # nobody tells which they are
        return "ndb_mgm -e show tells which; the end of their ndb_N_out.log, what ended them"
    each = [(named(those), kind.format(**_in_words(presence, those))) for kind, those in by_kind.items()]
    return "; ".join(f"{who}: {what}" for who, what in each) if len(each) > 1 else each[0][1]


def _kind_of_trouble(presence: Presence, node: int) -> str:
    about, seen = presence.statuses[node], presence.management.of(node)
    if presence.is_apart(node):
        return _APART if about.seconds >= _DETECTED else _APART_OR_ENDED
    if about.remark:
        return _LATE
    if seen == "NOT_STARTED":
        return _WAITS if about.status is Status.MISSING else _WAITS_MAYBE
    if about.status in (Status.STARTING, Status.STOPPING):
        return _ON_ITS_WAY
    if node in presence.stopped:
        return _WAS_STOPPED
    return _NEVER_SEEN if node in presence.groups.unseen else _HAS_ENDED


def _in_words(presence: Presence, nodes: Sequence[int]) -> dict[str, str]:
    several = len(nodes) > 1
    number = "N" if several else str(nodes[0])
    it = "them" if several else "it"
    those = "all" if len(nodes) == presence.total else nodes[0]  # "all" does not disturb those that are up
    return {
        "where": presence.cluster.where,
        "nodes": named(nodes),
        "log": f"ndb_{number}_out.log",
        "start": f"start {it}: ndbmtd --ndb-nodeid={number}",
        "order": f'ndb_mgm -e "{those} start"',
        "it": it,
        "it_waits": "they wait" if several else "it waits",
        "it_was": "they were" if several else "it was",
        "its_host": "their hosts" if several else "its host",
        "the_hosts": "the hosts" if several else "the host",
        "is_it_there": "are their processes there?" if several else "is its process there?",
    }


def side_by_side(presence: Presence, versions: Mapping[int, str], busiest: Mapping[int, Busiest]) -> Reading:
    """Put all data nodes into a table."""
    rows = (_row(presence, node, versions, busiest) for node in sorted(presence.statuses))
    table, count = Table(_COLUMNS, tuple(rows)), presence.total
    return Reading("data_nodes", count, "", f"{count} data nodes are configured", label="", table=table)


def _row(
    presence: Presence, node: int, versions: Mapping[int, str], busiest: Mapping[int, Busiest]
) -> tuple[Cell, ...]:
    about, answering = presence.statuses[node], presence.cluster.nodes.get(node)
    group = presence.groups.of(node)
    return (
        node,
        group.name if group else None,
        about.status.value,
        about.phase,
        say_duration(answering.uptime) if answering else None,
        answering.config_generation if answering else None,
        versions.get(node),
        round(busiest[node].used, 1) if node in busiest else None,
    )
