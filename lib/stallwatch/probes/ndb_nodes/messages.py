"""The words and the numbers for who is up, who is not, and what that means; ``advice`` has what to do."""

from __future__ import annotations

from stallwatch import words
from stallwatch.findings import Fault, Line, Reading, State
from stallwatch.probes.ndb_nodes.advice import advice, cluster_advice
from stallwatch.probes.ndb_nodes.model import SINGLE_USER, UP, Status
from stallwatch.probes.ndbinfo.cluster import named
from stallwatch.startup import TYPE_CHECKING
from stallwatch.table import Table
from stallwatch.units import say_duration
from stallwatch.words import are, have, listed

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from stallwatch.findings import Finding
    from stallwatch.probes.mysql.asking import Inquiry
    from stallwatch.probes.ndb_nodes.model import Group, Presence
    from stallwatch.probes.ndb_nodes.queries import Busiest
    from stallwatch.probes.ndbinfo.queries import ClusterDownError
    from stallwatch.table import Cell

_EACH = 2  # nodes that start whose progress is on the line
_A_WHILE = 60.0  # seconds from which on the line shows how long something lasts
_COLUMNS = ("node", "group", "state", "phase", "up for", "generation", "version", "busiest thread %")


def who_is_up(presence: Presence, is_problem: Callable[[Reading], bool]) -> Iterator[Finding]:
    """Write it; the summary first. Nodes that are missing are named although no threshold alerts on it."""
    yield Reading("nodes_started", len(presence.up), "", _summary(presence), most=presence.total)
    yield from _lost_groups(presence)
    yield (missing := _missing(presence))
    if missing.value and not is_problem(missing):
        yield Fault(State.OK, ", ".join(filter(None, (missing.what, missing.why))))
    yield _starting(presence)
    if stopping := presence.those(Status.STOPPING):
        what = f"{named(stopping)} {are(stopping)} being shut down in order"
        yield Fault(State.WARNING, what, *_about(presence, stopping))
    if stopped := presence.those(Status.STOPPED):
        since = say_duration(max(presence.statuses[node].seconds for node in stopped))
        verb = "were" if len(stopped) > 1 else "was"
        what = f"{named(stopped)} {verb} shut down in order {since} ago"
        yield Fault(State.WARNING, what, *_about(presence, stopped))
    if any(node.status == SINGLE_USER for node in presence.cluster.nodes.values()):
        yield Fault(
            State.WARNING, "the cluster is in single user mode", "only one SQL node or program can use it",
            'when its work is done: ndb_mgm -e "exit single user mode"', Line(),
        )  # fmt: skip
    yield from _groups(presence)
    if presence.management.aside:
        yield presence.management.aside


def no_contact(presence: Presence, error: ClusterDownError, *, lasts: bool) -> Iterator[Finding]:
    """Report that no data node is connected, and why; the numbers are those of any other run.

    The cluster is down if the management server calls no node started either, or its host refuses the
    connection. Else the SQL node may have lost the nodes for a moment: critical if that ``lasts``.
    """
    management = presence.management
    nodes = sorted(management.nodes)
    up = [node for node in nodes if management.of(node) in UP]
    is_down = management.is_down or (bool(nodes) and not up)
    what = f"cluster down: {error.what}" if is_down else error.what
    why = f"ndb_mgm shows {named(up)} started" if up else ""
    processes = [presence.process(node) for node in nodes]
    stopped = bool(processes) and all(one and one.is_stopped for one in processes)
    if stopped:
        why = "their processes are stopped"
    do, more = advice(presence, nodes) if nodes else cluster_advice(management)
    state = State.CRITICAL if is_down or lasts else State.WARNING
    if state is State.WARNING and not stopped and error.configured:
        what += " (maybe for a moment)"
        do, more = "check again in 20 s", (do, *more)
    yield Fault(state, what, why, do, _line(presence, nodes, more))
    if management.aside:
        yield management.aside
    starting = len(presence.those(Status.STARTING))
    yield Reading("nodes_started", 0, "", "no data node is up", most=presence.total)
    yield _missing(presence)._replace(in_table=True, confirmed=is_down or lasts)
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
    what = f"{_named(lost)} {are(lost)} down ({named(members)})"
    why = "data is missing"
    if all(presence.is_apart(node) for node in members):
        what = f"{presence.cluster.where} has no contact to {_named(lost)} ({named(members)})"
        why = ""
    do, more = advice(presence, members)
    yield Fault(State.CRITICAL, what, why, do, _line(presence, members, more))


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
    others = f" and {unnamed} more, whose ids are not known," if missing and unnamed else ""
    what = f"{who}{others} {are(range(count))} missing{_how(presence, missing)}"
    unclear = bool(missing) and all(presence.statuses[node].is_unclear for node in missing) and not unnamed
    if unclear:
        where = presence.cluster.where
        what = f"{who} {'do' if count > 1 else 'does'} not answer {where}"
    why, do, line = _about(presence, missing)
    return Reading("nodes_missing", count, "", what, why, do, confirmed=not unclear, line=line)


def _about(presence: Presence, nodes: Sequence[int]) -> tuple[str, str, Line]:
    """Return what it means that these nodes are not up, the next step, and the lines below."""
    do, below = advice(presence, nodes)
    why, groups = _meaning(presence, nodes)
    return why, do, _line(presence, nodes, (*groups, *below))


def _how(presence: Presence, missing: Sequence[int]) -> str:
    """Return what is known of how they came to be missing, of each that it is known of."""
    remarks: dict[str, list[int]] = {}
    for node in missing:
        process = presence.process(node)
        stopped = f"{process.program} {process.pid} is stopped" if process and process.is_stopped else ""
        if remark := presence.statuses[node].remark or stopped:
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
    each = [_progress(presence, node) for node in starting[:_EACH]]
    if others := len(starting) - len(each):
        each.append(f"{others} more are starting")
    why, do, line = _about(presence, starting)
    doing = [f"node {node}: {said}" for node in starting if (said := presence.statuses[node].doing)]
    line = Line(more=(*doing, *line.more))
    return Reading("nodes_starting", len(starting), "", listed(each), why, do, line=line)


def _progress(presence: Presence, node: int) -> str:
    about = presence.statuses[node]
    far = [] if about.phase is None else [f"phase {about.phase} is done"]
    far += [f"not up for {say_duration(about.seconds)}"] if about.seconds >= _A_WHILE else []
    return f"node {node} is starting" + (f" ({', '.join(far)})" if far else "")


def _meaning(presence: Presence, nodes: Sequence[int]) -> tuple[str, list[str]]:
    """Return what it means for the node groups that these nodes are not up; with several, name them below."""
    groups = {group.name: group for node in nodes if (group := presence.groups.of(node))}
    alone = [group for group in groups.values() if group.is_alone]
    less = [group for group in groups.values() if len(group.up) > 1]
    each, below = [], []
    if alone:
        gone = [node for group in alone for node in group.members if node not in group.up]
        is_apart = all(presence.is_apart(node) for node in gone)
        reach = " in its reach" if is_apart else ""
        if len(alone) == 1:
            each.append(f"{_named(alone)} has only node {alone[0].up[0]} left{reach}")
        else:
            each.append(f"{len(alone)} node groups have one member left{reach}")
            below.append(f"{_named(alone)} have only one member each left")
    if less:
        count = sum(len(group.members) - len(group.up) for group in less)
        members = "a member" if count == 1 else f"{count} members"
        each.append(f"{_named(less)} {have(less)} lost {members}")
    if unplaced := [node for node in nodes if node in presence.groups.unplaced]:
        below.append(f"the node group of {named(unplaced)} is not known")
    return ", ".join(each), below


def _line(presence: Presence, nodes: Sequence[int], more: Sequence[str]) -> Line:
    says = presence.management.says(nodes)
    return Line(more=(*([says] if says else []), *map(str, presence.here), *more))


def _named(groups: Sequence[Group]) -> str:
    return words.named("node group", [group.name for group in groups])


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


def not_read(tables: Inquiry, *, everything: bool) -> Iterator[Finding]:
    """Write which tables were not read, and why; what the version lacks, only if ``everything`` is wanted."""
    refused = tables.refused
    for one in refused:
        if one.asked and not one.of_version:
            only_explains = one.evidence and not one.error.ends_connection
            yield Fault(State.OK, one.error.what) if only_explains else one.error
    why = "after that" if tables.lost else "as no time is left (--timeout)"
    yield from _not_looked_at(why, [one.about for one in refused if not one.asked])
    lacking = [one.about for one in refused if one.of_version and not one.evidence]
    if everything:
        yield from _not_looked_at("as this version does not have it", lacking)


def _not_looked_at(why: str, tables: Sequence[str]) -> Iterator[Fault]:
    if tables:
        yield Fault(State.OK, f"not looked at, {why}: ndbinfo.{', '.join(dict.fromkeys(tables))}")
