"""Links between nodes that were lost while both nodes ran.

A data node declares a management, SQL or API node dead after four missed heartbeats, and asks the other data
nodes to close their connections to it, too (9.7.2: "Cleanup of node 1 connection state triggered by request
from node 4"). That node need not have ended: only who missed heartbeats himself has lost a link.
"""

from __future__ import annotations

from stallwatch.findings import Fault, Line, State
from stallwatch.probes.ndb_log.down import CUT
from stallwatch.probes.ndb_log.events import TOGETHER, WINDOW, Event, Kind
from stallwatch.startup import TYPE_CHECKING
from stallwatch.units import say_duration
from stallwatch.words import have, named

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from stallwatch.probes.ndb_log.down import Down
    from stallwatch.probes.ndb_log.model import Present
    from stallwatch.probes.ndb_log.shutdown import Shutdown

    Ends = list[tuple[Down, Present]]

# Seconds of four heartbeats every 1.5 s, the default between data nodes and others: so old is a loss when it
# is seen.
_SILENT = 6.0


def lives(down: Down, logs: Sequence[Shutdown]) -> bool:
    """Whether the own log of a node goes on after another one has lost it, and shows no end."""
    return any(log.speaks_after(down) for log in logs)


def of_links(cut: Ends, missed: Ends, logs: Sequence[Shutdown]) -> Iterator[Event]:
    """Return which links were lost.

    ``cut`` are data nodes that a management node lost and that run; ``missed`` are arbitrators
    whose heartbeats data nodes missed.
    """
    for node in dict.fromkeys(down.node for down, _ in missed):
        of_node = [end for end in missed if end[0].node == node]
        same = [end for end in cut if end[0].by == node and _near(end[0], of_node)]
        cut = [end for end in cut if end not in same]
        yield _link(of_node, same, logs)
    yield from map(_closed, _together(cut))


def _together(cut: Ends) -> list[Ends]:
    """Put together the nodes that one management node lost at the same time, and whether they are back."""

    def whose(end: tuple[Down, Present]) -> tuple[int, bool]:
        return end[0].by or 0, end[0].phase == "back"

    groups: list[Ends] = []
    for end in sorted(cut, key=lambda end: (*whose(end), end[0].when)):
        group = groups[-1] if groups else []
        if group and whose(group[0]) == whose(end) and end[0].when <= _until(group) + TOGETHER:
            group.append(end)
        else:
            groups.append([end])
    return groups


def _until(group: Ends) -> float:
    return max(down.since or down.when for down, _ in group)


def _closed(cut: Ends) -> Event:
    """Report that a management node lost its connection to these nodes."""
    downs, present = [down for down, _ in cut], cut[0][1]
    begin, end = min(down.when for down in downs), _until(cut)
    fault, over, seconds = _contact_lost(downs, present), present.over(end), end - begin
    if all(down.why != CUT for down in downs):
        return Event(Kind.CLOSED, downs[0].node, fault, begin, end, over, seconds, downs[0].by)
    silent = max(down.silent for down in downs) or _SILENT
    return Event(Kind.CUT, downs[0].by, fault, begin - silent, end, over, seconds, downs[0].node)


def _contact_lost(downs: Sequence[Down], present: Present) -> Fault:
    """Report that a management node lost its connection to these nodes for a while."""
    nodes = [str(down.node) for down in downs]
    if any(down.phase != "back" for down in downs):
        first = min(downs, key=lambda down: down.when)
        what = f"management node {first.by} has lost {named('node', nodes)}"
        what += present.at(first.clock, first.when, "since")
        those = "their logs go on" if len(nodes) > 1 else "its log goes on"
        return Fault(State.WARNING, what, those, "check the network between their hosts")
    until = max(downs, key=lambda down: down.since)
    why = "missed heartbeats" if any(down.why == CUT for down in downs) else "no node restarted"
    what = f"management node {until.by} lost {named('node', nodes)}"
    what += _away(downs, until.since - min(down.when for down in downs))
    what += present.at(until.since_clock, until.since, "until")
    return Fault(State.WARNING, what, why, "check the network, and the logs of these nodes")


def _away(downs: Sequence[Down], seconds: float) -> str:
    """Return for how long a node was away that was cut off for so many seconds: it had been silent before."""
    silent = max(down.silent for down in downs)
    long = say_duration(max(1.0, seconds + silent))
    if not silent and any(down.why == CUT for down in downs):
        return f" for at least {long}"
    return f" for {long}" if seconds + silent >= 1 else " for a moment"  # old logs have whole seconds


def _near(down: Down, others: Ends) -> bool:
    return any(abs(other.when - down.when) <= WINDOW for other, _ in others)


def _link(missed: Ends, cut: Ends, logs: Sequence[Shutdown]) -> Event:
    """Return which data nodes lost one other node; ``cut`` is what that one logs itself."""
    downs, present = [down for down, _ in (*missed, *cut)], missed[0][1]
    client = missed[0][0].node
    asked = {log.node_id for log in logs if log.has_cut_off(client, downs[0].when)}
    by_itself = {down.by for down, _ in missed} | {down.node for down, _ in cut if down.why == CUT}
    nodes = sorted(node for node in by_itself if node is not None)
    begin, end = min(down.when for down in downs), _until([*missed, *cut])
    newest = max(downs, key=lambda down: down.since or down.when)
    if all(down.phase == "back" for down in downs):
        long = f"was lost{_away(downs, end - begin)}"
        long += present.at(newest.since_clock, newest.since, "until")
    else:
        first = min(downs, key=lambda down: down.when)
        long = f"is lost{present.at(first.clock, first.when, 'since')}"
    if len(nodes) == 1:
        one, other = sorted((client or 0, *nodes))
        what = f"link between nodes {one} and {other} {long}"
        advice = "check the network between their hosts, then both logs"
    else:
        those = named("node", [str(node) for node in nodes])
        what = f"link of {those} to node {client} {long}"
        advice = f"check the process of node {client}, its network"
    why = "both missed heartbeats" if any(down.why == CUT for down, _ in cut) else "missed heartbeats"
    others = sorted(node for node in asked if node is not None and node not in nodes)
    who = named("node", [str(node) for node in others])
    more = [f"{who} {have(others)} closed the connection to node {client} on request"] if others else []
    fault = Fault(State.WARNING, what, why, advice, Line(more=tuple(more)))
    silent = max(down.silent for down in downs) or _SILENT
    return Event(Kind.LINK, nodes[0], fault, begin - silent, end, present.over(end), end - begin, client)
