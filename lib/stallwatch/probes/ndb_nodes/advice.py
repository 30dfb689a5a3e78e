"""What to do about nodes that are not up: each needs what is wrong with it."""

from __future__ import annotations

from stallwatch.probes.ndb_nodes.model import Status
from stallwatch.probes.ndbinfo.cluster import named
from stallwatch.startup import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from stallwatch.probes.ndb_nodes.model import Presence

# Seconds after which the management server knows that a node has ended: data nodes declare one dead after
# four missed heartbeats of HeartbeatIntervalDbDb, 5 s by default. After kill -9 it called a node started for
# some tenths of a second (9.7.2).
_DETECTED = 20.0
# What to do, by what is wrong; ``_words`` has the words in braces.
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


def advice(presence: Presence, nodes: Sequence[int]) -> str:
    """Give it for these nodes, each named if there are several kinds of trouble."""
    by_kind: dict[str, list[int]] = {}
    for node in nodes:
        by_kind.setdefault(_kind(presence, node), []).append(node)
    if not by_kind:  # nobody tells which they are
        return "ndb_mgm -e show tells which; the end of their ndb_N_out.log, what ended them"
    each = [(named(those), kind.format(**_words(presence, those))) for kind, those in by_kind.items()]
    return "; ".join(f"{who}: {what}" for who, what in each) if len(each) > 1 else each[0][1]


def _kind(presence: Presence, node: int) -> str:
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


def _words(presence: Presence, nodes: Sequence[int]) -> dict[str, str]:
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
