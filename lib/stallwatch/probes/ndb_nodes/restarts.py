"""Data nodes that have started anew: one that was told to once, or one that does not stay up."""

from __future__ import annotations

from typing import NamedTuple

from stallwatch.probes.ndbinfo.words import named
from stallwatch.reading import Fault, Reading, State
from stallwatch.units import is_number, say_duration

TYPE_CHECKING = False  # typing itself costs every check 2 ms
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from typing import Any

    from stallwatch.probes.ndbinfo.cluster import Cluster, Node
    from stallwatch.reading import Finding

_KEPT = "restarts"
_WINDOW, _OFTEN = 3600.0, 3  # so many restarts within so many seconds are no accident
_SLACK = 5.0  # seconds by which our clock and a node's may differ in what has passed


class Start(NamedTuple):
    """The last start of a node, and those before it that were seen."""

    uptime: float  # seconds, at the last look
    at: float  # the last look, in seconds since the epoch
    generation: int | None  # of its configuration
    restarts: tuple[float, ...] = ()  # when, in seconds since the epoch, within the last hour
    with_new_configuration: bool = False  # the last of them


def look(
    cluster: Cluster, up: Sequence[int], young: float, memory: dict[str, Any], now: float
) -> Iterator[Finding]:
    """Tell of nodes ``up`` that have restarted within ``young`` seconds, and of any that does so repeatedly.

    A restart that brought a new configuration was wanted: it is an aside.
    """
    kept = memory.get(_KEPT)
    before = kept if isinstance(kept, dict) else {}
    starts = {
        node.id: _start(node, _read(before.get(str(node.id))), now)
        for node in sorted(cluster.nodes.values(), key=lambda node: node.uptime)
    }
    memory[_KEPT] = {str(node): start._asdict() for node, start in starts.items()}
    often = [node for node, start in starts.items() if len(start.restarts) >= _OFTEN]
    last = {node: start for node, start in starts.items() if node in up}  # the youngest first
    fresh = [node for node, start in last.items() if start.uptime < young and node not in often]
    wanted = [node for node in fresh if starts[node].with_new_configuration]
    for node in often:
        times = f"{len(starts[node].restarts)} times within {say_duration(_WINDOW)}"
        uptime = say_duration(starts[node].uptime)
        yield Fault(
            State.WARNING,
            f"node {node} has restarted {times}, the last time {uptime} ago",
            advice=f"it does not stay up: the end of its ndb_{node}_error.log says why",
        )
    if wanted:
        has = "have" if len(wanted) > 1 else "has"
        yield Fault(State.OK, f"{named(wanted)} {has} restarted with a new configuration")
    yield from _youngest(last, [node for node in fresh if node not in wanted])


def _youngest(starts: dict[int, Start], unexplained: list[int]) -> Iterator[Reading]:
    if unexplained:
        first, *others = unexplained
        yield Reading(
            "uptime", starts[first].uptime, "s",
            f"node {first} has started {say_duration(starts[first].uptime)} ago"
            + (f", and so {'have' if len(others) > 1 else 'has'} {named(others)}" if others else ""),
            advice=f"unless somebody did that, see the end of ndb_{first}_error.log for what had ended it",
        )  # fmt: skip
    elif starts:
        node, start = next(iter(starts.items()))
        what = f"the youngest, node {node}, is up since {say_duration(start.uptime)}"
        yield Reading("explained_uptime", start.uptime, "s", what, label="uptime")


def _start(node: Node, last: Start | None, now: float) -> Start:
    if last is None:
        return Start(node.uptime, now, node.config_generation)
    restarts = tuple(when for when in last.restarts if now - when < _WINDOW)
    if node.uptime < last.uptime or node.uptime < now - last.at - _SLACK:
        newer = (node.config_generation or 0) > (last.generation or 0)
        return Start(node.uptime, now, node.config_generation, (*restarts, now - node.uptime), newer)
    return Start(node.uptime, now, node.config_generation, restarts, last.with_new_configuration)


def _read(kept: Any) -> Start | None:
    """Read what was kept; None if it is none of ours."""
    match kept:
        case {
            "uptime": uptime,
            "at": at,
            "generation": int() | None as generation,
            "restarts": list(restarts),
            "with_new_configuration": bool(wanted),
        } if all(map(is_number, (uptime, at, *restarts))):
            return Start(uptime, at, generation, tuple(restarts), wanted)
    return None
