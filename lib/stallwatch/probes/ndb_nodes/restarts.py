"""Data nodes that have started anew: one that was told to once, or one that does not stay up."""

from __future__ import annotations

from stallwatch.findings import Fault, Reading, State
from stallwatch.history.delta import has_restarted
from stallwatch.probes.ndbinfo.words import have, named
from stallwatch.startup import TYPE_CHECKING, NamedTuple
from stallwatch.units import is_number, say_duration

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator
    from typing import Any

    from stallwatch.findings import Finding
    from stallwatch.probes.ndb_nodes.presence import Presence
    from stallwatch.probes.ndbinfo.cluster import Node

_KEPT = "restarts"
_WINDOW, _OFTEN = 3600.0, 3  # so many restarts within so many seconds are no accident


class Start(NamedTuple):
    """The last start of a node, and those before it that were seen; times are those of ``Clocks.time``."""

    uptime: float  # seconds, when it was seen last
    at: float  # when that was
    restarts: tuple[float, ...] = ()  # when, within the last hour
    in_order: bool = False  # whether it was seen to be shut down in order before the last of them


def look(
    presence: Presence, young: float, stopped: Collection[int], memory: dict[str, Any], now: float
) -> Iterator[Finding]:
    """Tell of nodes that have restarted within ``young`` seconds, and of any that does so repeatedly.

    ``stopped`` are those that were seen to be shut down in order before this look: that they are back is an
    aside. What was seen of a node is kept while it is away.
    """
    kept = memory.get(_KEPT)
    before = kept if isinstance(kept, dict) else {}
    starts = {
        node: start
        for node in presence.cluster.expected
        if (start := _read(before.get(str(node)))) is not None
    }
    for node in presence.cluster.nodes.values():
        starts[node.id] = _start(node, starts.get(node.id), now, shut_down=node.id in stopped)
    memory[_KEPT] = {str(node): start._asdict() for node, start in starts.items()}
    up = sorted((node for node in presence.up), key=lambda node: starts[node].uptime)
    often = [node for node in up if len(starts[node].restarts) >= _OFTEN]
    fresh = [node for node in up if starts[node].uptime < young and node not in often]
    in_order = [node for node in fresh if starts[node].in_order]
    if often:
        yield _unstable(often, starts)
    if in_order:
        yield Fault(State.OK, f"{named(in_order)} {have(in_order)} been restarted in order")
    if unexplained := [node for node in fresh if node not in in_order]:
        yield _restarted(unexplained, starts)
    if up:
        uptime = starts[up[0]].uptime
        what = f"the youngest, node {up[0]}, is up for {say_duration(uptime)}"
        yield Reading("uptime", uptime, "s", what)


def _unstable(often: list[int], starts: dict[int, Start]) -> Fault:
    first, *others = often
    times = f"{len(starts[first].restarts)} times within {say_duration(_WINDOW)}"
    uptime = say_duration(starts[first].uptime)
    also = f", and so {have(others)} {named(others)}, or nearly" if others else ""
    return Fault(
        State.WARNING,
        f"node {first} has restarted {times}, the last time {uptime} ago{also}",
        advice=f"it does not stay up: ndb_{first}_out.log on its host says why",
    )


def _restarted(fresh: list[int], starts: dict[int, Start]) -> Fault:
    first, *others = fresh
    also = f", and so {have(others)} {named(others)}" if others else ""
    return Fault(
        State.WARNING,
        f"node {first} has started {say_duration(starts[first].uptime)} ago{also}",
        advice=f"unless somebody did that, see in ndb_{first}_out.log what had ended it",
    )


def _start(node: Node, last: Start | None, now: float, *, shut_down: bool) -> Start:
    """Continue what is known of a node that answers."""
    if last is None:
        return Start(node.uptime, now)
    restarts = tuple(when for when in last.restarts if now - when < _WINDOW)
    if not has_restarted(node.uptime, last.uptime, now - last.at):
        return Start(node.uptime, now, restarts, last.in_order)
    return Start(node.uptime, now, (*restarts, now - node.uptime), shut_down)


def _read(kept: Any) -> Start | None:
    """Read what was kept; None if it is none of ours."""
    match kept:
        case {
            "uptime": uptime,
            "at": at,
            "restarts": list(restarts),
            "in_order": bool(in_order),
        } if all(map(is_number, (uptime, at, *restarts))):
            return Start(uptime, at, tuple(restarts), in_order)
    return None
