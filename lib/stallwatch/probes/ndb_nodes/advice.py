"""What to do about nodes that are not up: each needs what is wrong with it."""

from __future__ import annotations

from stallwatch.probes.ndb_nodes.status import Status
from stallwatch.probes.ndbinfo.words import named
from stallwatch.startup import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from stallwatch.probes.ndb_nodes.presence import Presence

# Seconds after which the management server knows that a node has ended: data nodes declare one dead after
# four missed heartbeats of HeartbeatIntervalDbDb, 5 s by default. After kill -9 it called a node started for
# some tenths of a second (9.7.2).
_DETECTED = 20.0


def advice(presence: Presence, nodes: Sequence[int]) -> str:
    """Say it of these nodes, each named if there are several kinds of trouble."""
    by_kind: dict[Callable[[Presence, Sequence[int]], str], list[int]] = {}
    for node in nodes:
        by_kind.setdefault(_kind(presence, node), []).append(node)
    if not by_kind:  # nobody tells which they are
        return "ndb_mgm -e show tells which; the end of their ndb_N_out.log, what ended them"
    several = len(by_kind) > 1
    each = [(f"{named(those)}: " if several else "") + say(presence, those) for say, those in by_kind.items()]
    return "; ".join(each)


def _kind(presence: Presence, node: int) -> Callable[[Presence, Sequence[int]], str]:
    about, seen = presence.statuses[node], presence.management.of(node)
    if presence.is_apart(node):
        return _apart if about.seconds >= _DETECTED else _apart_or_ended
    if about.remark:
        return _late
    if seen == "NOT_STARTED":
        return _waits if about.status is Status.MISSING else _waits_maybe
    if about.status in (Status.STARTING, Status.STOPPING):
        return _is_on_its_way
    if node in presence.stopped:
        return _was_stopped
    return _never_seen if node in presence.groups.unseen else _has_ended


def _apart(presence: Presence, nodes: Sequence[int]) -> str:
    hosts = "hosts" if len(nodes) > 1 else "host"
    return f"look at the network between {presence.cluster.where} and the {hosts} of {named(nodes)}"


def _apart_or_ended(presence: Presence, nodes: Sequence[int]) -> str:
    return f"{_is_it_there(nodes)} If so, {_apart(presence, nodes)}. {_if_not(nodes)}"


def _late(_: Presence, nodes: Sequence[int]) -> str:
    return f"the end of {_log(nodes)} says what holds {_it(nodes)} up, or has ended {_it(nodes)}"


def _waits(presence: Presence, nodes: Sequence[int]) -> str:
    order = f'ndb_mgm -e "{_order(presence, nodes)} start"'
    return f"{'they wait' if len(nodes) > 1 else 'it waits'} for the order to start: {order}"


def _waits_maybe(presence: Presence, nodes: Sequence[int]) -> str:
    they_were = "they were" if len(nodes) > 1 else "it was"
    return f'wait; if {they_were} started with --nostart: ndb_mgm -e "{_order(presence, nodes)} start"'


def _order(presence: Presence, nodes: Sequence[int]) -> str:
    """Say who is to start: ``4``, or ``all``, which those that are up do not mind."""
    return "all" if len(nodes) == presence.total else str(nodes[0])


def _is_on_its_way(_: Presence, nodes: Sequence[int]) -> str:
    return f"wait; {_log(nodes)} on {'their hosts' if len(nodes) > 1 else 'its host'} tells how far"


def _was_stopped(_: Presence, nodes: Sequence[int]) -> str:
    return f"unless somebody is at it, {_start(nodes)}"


def _never_seen(_: Presence, nodes: Sequence[int]) -> str:
    log = f"the end of {_log(nodes)}, if there is one, says why"
    return f"no look has seen {_it(nodes)} up: {log}; then {_start(nodes)}"


def _has_ended(_: Presence, nodes: Sequence[int]) -> str:
    return f"{_is_it_there(nodes)} {_if_not(nodes)}"


def _is_it_there(nodes: Sequence[int]) -> str:
    return "are their processes there?" if len(nodes) > 1 else "is its process there?"


def _if_not(nodes: Sequence[int]) -> str:
    return f"If not, the end of {_log(nodes)} says what ended {_it(nodes)}; then {_start(nodes)}"


def _log(nodes: Sequence[int]) -> str:
    return f"ndb_{_number(nodes)}_out.log"


def _start(nodes: Sequence[int]) -> str:
    return f"start {_it(nodes)}: ndbmtd --ndb-nodeid={_number(nodes)}"


def _it(nodes: Sequence[int]) -> str:
    return "them" if len(nodes) > 1 else "it"


def _number(nodes: Sequence[int]) -> str:
    return str(nodes[0]) if len(nodes) == 1 else "N"
