"""The words and the numbers for who is up, who is not and what that means."""

from __future__ import annotations

from stallwatch import words
from stallwatch.findings import Fault, Reading, State
from stallwatch.probes.ndb_nodes.advice import advice
from stallwatch.probes.ndb_nodes.model import SINGLE_USER, WINDOW, Status
from stallwatch.probes.ndbinfo.cluster import named
from stallwatch.probes.ndbinfo.queries import number, whole
from stallwatch.startup import TYPE_CHECKING
from stallwatch.table import Table
from stallwatch.units import say_duration
from stallwatch.words import are, have, listed

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from stallwatch.findings import Finding
    from stallwatch.probes.ndb_nodes.model import Busiest, Group, Presence, Start
    from stallwatch.probes.ndbinfo.queries import ClusterDownError, Row
    from stallwatch.table import Cell

_A_WHILE = 60.0  # seconds from which on the line says how long something lasts
_DAY = 86400.0
_COLUMNS = ("node", "group", "state", "phase", "up for", "generation", "version", "busiest thread %")


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
    do = advice(presence, nodes) if nodes else error.advice
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


def restarts(presence: Presence, starts: Mapping[int, Start], young: float) -> Iterator[Finding]:
    """Name nodes that have restarted within ``young`` seconds, and any that does so repeatedly.

    That those are back which were seen to be shut down in order is an aside.
    """
    up = sorted(presence.up, key=lambda node: starts[node].uptime)
    often = [node for node in up if starts[node].is_unstable]
    fresh = [node for node in up if starts[node].uptime < young and node not in often]
    in_order = [node for node in fresh if starts[node].in_order]
    if often:
        first, *others = often
        times = f"{len(starts[first].restarts)} times within {say_duration(WINDOW)}"
        also = f", and so {have(others)} {named(others)}, or nearly" if others else ""
        yield Fault(
            State.WARNING,
            f"node {first} has restarted {times}, the last time {_uptime(starts[first])} ago{also}",
            advice=f"it does not stay up: ndb_{first}_out.log on its host says why",
        )
    if in_order:
        yield Fault(State.OK, f"{named(in_order)} {have(in_order)} been restarted in order")
    if unexplained := [node for node in fresh if node not in in_order]:
        first, *others = unexplained
        also = f", and so {have(others)} {named(others)}" if others else ""
        yield Fault(
            State.WARNING,
            f"node {first} has started {_uptime(starts[first])} ago{also}",
            advice=f"unless somebody did that, see in ndb_{first}_out.log what had ended it",
        )
    if up:
        what = f"the youngest, node {up[0]}, is up for {_uptime(starts[up[0]])}"
        yield Reading("uptime", starts[up[0]].uptime, "s", what)


def _uptime(start: Start) -> str:
    return say_duration(start.uptime)


def generations(nodes: Mapping[int, list[int]], seconds: float) -> Iterator[Reading]:
    """Say how long the generations of the configuration differ; nothing where they are not told."""
    if not nodes:
        return
    if len(nodes) == 1:
        yield Reading("generations", 0, "s", "no generations of the configuration differ")
        return
    old = [node for generation, those in nodes.items() if generation != max(nodes) for node in those]
    each = [f"{generation} on {named(those)}" for generation, those in sorted(nodes.items())]
    yield Reading(
        "generations", seconds, "s",
        f"the generations of the configuration differ: {listed(each)}",
        "a rolling restart is not finished",
        f"restart {named(sorted(old))}{', one at a time' if len(old) > 1 else ''}",
    )  # fmt: skip


def certificate(rows: Sequence[Row], now: float) -> Iterator[Reading]:
    """Say how long the certificate is good that expires first, by our clock; nothing where there is none."""
    if not rows:
        return
    first = number(rows[0], "expires")
    nodes = sorted({whole(row, "node_id") for row in rows if number(row, "expires") < first + _DAY})
    left = round(first - now)
    end = f"expires in {say_duration(left)}" if left > 0 else f"has expired {say_duration(-left)} ago"
    yield Reading(
        "certificate", left, "s", f"the TLS certificate of {named(nodes)} ({rows[0]['name']}) {end}",
        f"nobody can set up a link in TLS with it {'then' if left > 0 else 'any more'}",
        f"sign a new one with ndb_sign_keys, then restart {named(nodes)}"
        f"{', one at a time' if len(nodes) > 1 else ''}",
    )  # fmt: skip


def no_baseline(subjects: Mapping[tuple[str, str], Sequence[str]]) -> Iterator[Fault]:
    """Say which subjects cannot be told yet, by the reason and the names of the nodes."""
    for (why, whose), names in subjects.items():
        yield Fault(State.OK, f"{listed(names)} of {whose} can be told from the next run on: {why}")


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
