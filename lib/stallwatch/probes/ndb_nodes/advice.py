"""What to do about data nodes that are not up: the next step for the line, and what goes below it."""

from __future__ import annotations

import re

from stallwatch.probes.ndb_nodes.model import NO_CONTACT, Status
from stallwatch.probes.ndbinfo.cluster import named
from stallwatch.startup import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Sequence

    from stallwatch.probes.ndb_nodes.model import Management, Presence

# Seconds after which the management server knows that a node has ended: data nodes declare one dead after
# four missed heartbeats of HeartbeatIntervalDbDb, 5 s by default. After kill -9 it called a node started for
# some tenths of a second (9.7.2).
_DETECTED = 20.0


class Advice(NamedTuple):
    """What to do: the next step, and more of it below the line; ``_in_words`` has the words in braces."""

    step: str
    more: str = ""


_START = "see {log}, then run ndbmtd --ndb-nodeid={number}"
# By what is wrong, the most urgent first.
_IS_STOPPED = Advice(
    "kill -CONT {pids}", "find out who has stopped {it} (SIGSTOP), then whether {nodes} {restarts}"
)
_RUNS = Advice("see the end of {log}, {its_process} {runs} here", "start no other process of {nodes} before")
_ITS_ANGEL_RUNS = Advice(
    "see the end of {log}, {its_angel} may start {it} again", "end {its_angel} ({pids}) to start {it} by hand"
)
_HAS_ENDED = Advice(
    "see {log}, if ended run ndbmtd --ndb-nodeid={number}",
    "the end of {log} shows what ended {it}, but if {its_process} {runs}, {nodes} {hangs} or {is_cut} off",
)
_NEVER_SEEN = Advice(_START, "no look has seen {it} up: {log} may not exist yet")
_APART_OR_ENDED = Advice(
    "check {its_process}, then the network",
    "if {its_process} {is_gone}, see the end of {log}, then run ndbmtd --ndb-nodeid={number}",
)
_APART = Advice("check the network to {nodes}")
_LATE = Advice("see the end of {log}", "it shows what delays {it}, or has ended {it}")
_WAITS = Advice("start {it}: {order}", "{nodes} {waits} for the order to start, as after ndbmtd --nostart")
_WAS_STOPPED = Advice("unless this is planned, run ndbmtd --ndb-nodeid={number}")
_WAITS_MAYBE = Advice("wait, or if started with --nostart: {order}")
_ON_ITS_WAY = Advice("wait, {log} shows the progress")
_ORDER = (
    _IS_STOPPED, _RUNS, _ITS_ANGEL_RUNS, _HAS_ENDED, _NEVER_SEEN, _APART_OR_ENDED, _APART, _LATE, _WAITS,
    _WAS_STOPPED, _WAITS_MAYBE, _ON_ITS_WAY,
)  # fmt: skip
_ENDS = "the end of each ndb_N_out.log shows what ended that data node"
_LOOKS_FOR = "SHOW VARIABLES LIKE 'ndb_connectstring' shows where the SQL node looks for its cluster"
_NOBODY_KNOWS = Advice("run ndb_mgm -e show, see each ndb_N_out.log", _ENDS)


def advice(presence: Presence, nodes: Sequence[int]) -> tuple[str, tuple[str, ...]]:
    """Return the next step for these nodes, of the most urgent trouble if there are several, and the rest."""
    by_kind: dict[Advice, list[int]] = {}
    for node in nodes:
        by_kind.setdefault(_kind_of_trouble(presence, node), []).append(node)
    if not by_kind:  # nobody knows which they are
        return _NOBODY_KNOWS.step, (_NOBODY_KNOWS.more,)
    (first, *others) = (
        (named(those), *(text.format(**_in_words(presence, those)) for text in kind))
        for kind, those in sorted(by_kind.items(), key=lambda one: _ORDER.index(one[0]))
    )
    who, step, below = first
    more = [below] if below else []
    for whose, other, about in others:
        more += [f"{whose}: {other}" + (f", {about}" if about else "")]
    if others:  # which log is clear, and the line is short
        step = f"{who}: {re.sub(r'ndb_[N0-9]+_out.log', 'their logs' if ' and ' in who else 'its log', step)}"
    return step, tuple(more)


def cluster_advice(management: Management) -> tuple[str, tuple[str, ...]]:
    """Return it where no data node is connected, and the management server has reported nothing of them.

    A data node needs a management server when it starts, so that comes first.
    """
    if management.is_down:
        return f"start ndb_mgmd on {management.where} first, then the data nodes", (_ENDS,)
    return "run ndb_mgm -e show, see each ndb_N_out.log", (_ENDS, _LOOKS_FOR)


def _kind_of_trouble(presence: Presence, node: int) -> Advice:
    """Find it; what this host shows of the process of a node counts more than that others do not see it."""
    kind, process = _as_others_see_it(presence, node), presence.process(node)
    if process and process.is_stopped:
        return _IS_STOPPED
    if process and kind in (_HAS_ENDED, _NEVER_SEEN):
        return _ITS_ANGEL_RUNS if process.is_angel else _RUNS
    if process and kind is _WAS_STOPPED:  # an ordered stop ends the angel, too, a restart does not (9.7.2)
        return _ON_ITS_WAY
    return kind


def _as_others_see_it(presence: Presence, node: int) -> Advice:
    about, seen = presence.statuses[node], presence.management.of(node)
    if presence.is_apart(node):
        return _APART if about.seconds >= _DETECTED else _APART_OR_ENDED
    is_gone = node not in presence.cluster.nodes and seen in ("", NO_CONTACT)
    if about.status is Status.STOPPED or (about.remark and is_gone and node in presence.stopped):
        return _WAS_STOPPED
    if about.remark:
        return _HAS_ENDED if is_gone and seen else _LATE
    if seen == "NOT_STARTED":
        return _WAITS if about.status is Status.MISSING else _WAITS_MAYBE
    if about.status in (Status.STARTING, Status.STOPPING):
        return _ON_ITS_WAY
    return _NEVER_SEEN if node in presence.groups.unseen else _HAS_ENDED


def _in_words(presence: Presence, nodes: Sequence[int]) -> dict[str, str]:
    several = len(nodes) > 1
    number = "N" if several else str(nodes[0])
    those = "all" if len(nodes) == presence.total else nodes[0]  # "all" does not disturb those that are up
    return {
        "where": presence.cluster.where,
        "nodes": named(nodes),
        "number": number,
        "log": f"ndb_{number}_out.log",
        "order": f'ndb_mgm -e "{those} start"',
        "it": "them" if several else "it",
        "waits": "wait" if several else "waits",
        "pids": " ".join(str(one.pid) for one in map(presence.process, nodes) if one),
        "its_angel": "their angels" if several else "its angel",
        "runs": "run" if several else "runs",
        "hangs": "hang" if several else "hangs",
        "is_cut": "are cut" if several else "is cut",
        "restarts": "restart" if several else "restarts",
        "its_process": "their processes" if several else "its process",
        "is_gone": "are gone" if several else "is gone",
    }
