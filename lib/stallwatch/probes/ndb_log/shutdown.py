"""Nodes that end, fail to start and come back.

A node that is down stays CRITICAL until it has started, and is a WARNING then until the hold is over, so that
no interval between two checks hides a crash. Ordered stops and restarts, which end with the same disconnects
and arbitration, are no problem.
"""

from __future__ import annotations

import re
from collections import Counter
from functools import cache

from stallwatch.findings import Fault, Finding, Reading
from stallwatch.history.problems import remember, remembered
from stallwatch.probes.ndb_log.down import Down, by_signal, forced, not_started
from stallwatch.probes.ndb_log.lines import number
from stallwatch.startup import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from typing import Any

    from stallwatch.probes.ndb_log.lines import Line
    from stallwatch.probes.ndb_log.moments import Present
    from stallwatch.probes.ndb_log.node import Node

_PLANNED = 600.0  # seconds after an order in which the node's end is no failure
_HANDED_OVER = 60.0  # seconds after a handover in which a peer's end is no failure
_ONE_END = 60.0  # seconds within which several logs tell of the same end of a node
_KEPT = 1000  # shutdowns
_FORCED = (
    r"Forced node shutdown completed(?:, restarting)?(?:, no start)?(?:, initial)?\."
    r"(?: Occur?red during startphase (?P<phase>\d+)\.)?"
    r"(?: Initiated by signal (?P<signal>\d+)\.)?"
    r"(?: Caused by error (?P<error>\d+): '(?P<text>.*)'\.)?"
)
_NOT_STARTED = (
    r"(?:Failed to allocate nodeid|Couldn't start as daemon), error: '(?P<cause>.*)'"
    r"|Malloc \((?P<bytes>\d+) bytes\) for (?P<pools>.+) failed, exiting"
)
_GAVE_UP = r"Angel detected too many startup failures\((?P<count>\d+)\), not restarting again"
_DECLARED_DEAD = (
    r"We\((?P<we>\d+)\) have been declared dead by (?P<by>\d+).*?reason: (?P<reason>.+)"
    r"|Node (?P<peer>\d+) declared dead due to missed heartbeat"
)
_PEER = r"NR Status: node=(?P<peer>\d+),OLD=.*,NEW="


class Shutdown:
    """The ends and starts that one log tells of; ``memory`` is the JSON object that it keeps between runs."""

    WORDS = (
        b" shutdown ",
        b"Child process terminated",
        b"declared dead",
        b"has failed. The Node state",
        b"NR Status: node=,OLD=",
        b"has completed its restart",
        b"too many startup failures",
        b"Failed to allocate nodeid",
        b"start as daemon, error",
        b"failed, exiting",
        b"shutdown handover",
        b" Connected",
    )

    def __init__(self, node: Node, present: Present, memory: dict[str, Any]) -> None:
        self._node = node
        self._present = present
        self._memory = memory
        self._down = {down.node: down for down in remembered(memory, "down", Down)}
        self._times: list[list[Any]] = memory.get("times", [])  # [when, node]
        self._ordered: dict[str, list[float]] = memory.setdefault("ordered", {})  # node or "any": from, until

    def hear(self, line: Line) -> None:
        """Take in one line of the log."""
        when = self._present.of(line)
        if when is None:
            return
        for pattern, understand in self._compiled():
            if match := pattern.match(line.text):
                understand(self, match, line.node or self._node.id, when, line.clock)
                return

    def begin(self) -> None:
        """Keep everything: that a new process begins is part of this tale."""

    def keep(self) -> None:
        """Put into the memory what still counts."""
        self._down = {down.node: down for down in self._down.values() if self._counts(down)}
        self._times = [[when, node] for when, node in self._times if self._present.holds(when)][-_KEPT:]
        remember(self._memory, "down", self._down.values())
        self._memory["times"] = self._times
        for node in [node for node, (_, until) in self._ordered.items() if not self._present.holds(until)]:
            del self._ordered[node]

    def ended(self) -> Iterator[tuple[Down, Callable[[Down], Fault]]]:
        """Give each node that ended, and how to say it at the time of this log."""
        for down in self._down.values():
            yield down, lambda told: told.fault(self._present)

    def times(self) -> list[tuple[float, int | None]]:
        """When which node ended."""
        return [(when, node) for when, node in self._times]

    def has_ordered(self, node: str, when: float) -> bool:
        """Whether the end of a node at that time was ordered; node "any" is that of a handover."""
        since, until = self._ordered.get(node, (1.0, 0.0))
        return since <= when <= until

    # One method for each kind of line: its match, the node that speaks, the time and the clock of the line.

    def _hear_forced(self, match: re.Match[str], node: int | None, when: float, clock: str) -> None:
        self._end(node, when, clock, *forced(match))

    def _hear_not_started(self, match: re.Match[str], node: int | None, when: float, clock: str) -> None:
        self._end(node, when, clock, *not_started(match))

    def _hear_gave_up(self, match: re.Match[str], node: int | None, when: float, clock: str) -> None:
        """Note it of the node that failed to start; the line of its last failure comes after this one."""
        if not self._is_down(node):
            self._end(
                node,
                when,
                clock,
                "failed to start",
                f"{match['count']} times",
                "look at the errors before it",
            )
        self._change(node, gave_up=match["count"])

    def _hear_killed(self, match: re.Match[str], node: int | None, when: float, clock: str) -> None:
        if not self._is_down(node):
            self._end(node, when, clock, "shut down", *by_signal(number(match["signal"])))

    def _hear_declared_dead(self, match: re.Match[str], _: int | None, when: float, clock: str) -> None:
        node = number(match["we"] or match["peer"])
        if not self._is_down(node):
            why = f"by node {match['by']}: {match['reason']}" if match["we"] else "missed heartbeats"
            advice = "look for a paused VM, swapping, network trouble, then restart the node"
            self._end(node, when, clock, "declared dead", why, advice)
            self._change(node, hearsay=not match["we"])

    def _hear_peer_failed(self, match: re.Match[str], _: int | None, when: float, clock: str) -> None:
        node = number(match["peer"])
        ordered = any(self.has_ordered(who, when) for who in (str(node), "any", str(self._node.id)))
        if not ordered and not self._is_down(node):
            why = "another node saw its connection break"
            self._end(node, when, clock, "failed", why, f"read ndb_{node}_out.log on its machine")
            self._change(node, hearsay=True)
        if self._is_down(node):
            self._change(node, data_node=True)

    def _hear_order(self, _: re.Match[str], node: int | None, when: float, _clock: str) -> None:
        self._ordered[str(node)] = [when, when + _PLANNED]

    def _hear_order_to_all(self, _: re.Match[str], _node: int | None, when: float, _clock: str) -> None:
        self._ordered["any"] = [when, when + _PLANNED]

    def _hear_handover(self, _: re.Match[str], _node: int | None, when: float, _clock: str) -> None:
        """Take an end that follows for planned: the node that takes over does not name the other."""
        self._ordered["any"] = [when, when + _HANDED_OVER]

    def _hear_completed(self, match: re.Match[str], node: int | None, when: float, clock: str) -> None:
        """Tell a stop by order from the end of a node that could not start: 9.7.2 calls both completed."""
        ordered = self.has_ordered(str(node), when) or self.has_ordered("any", when)
        since = self._ordered.get(str(node), [when])[0] if ordered else when
        self._ordered[str(node)] = [since, when + _PLANNED]
        if match["again"] and not ordered and not self._is_down(node):
            advice = "look at the lines before it in the node's own log"
            self._end(node, when, clock, "ended and restarts", "the log shows no order", advice)

    def _hear_beginning(self, match: re.Match[str], node: int | None, when: float, clock: str) -> None:
        self._goes_on(match, node, "starting", when, clock)

    def _hear_back(self, match: re.Match[str], node: int | None, when: float, clock: str) -> None:
        self._goes_on(match, node, "back", when, clock)

    def _hear_connected(self, match: re.Match[str], _: int | None, when: float, clock: str) -> None:
        """Take a node that others thought dead for back if it is an API node: no other sign tells."""
        node = number(match["peer"])
        if node in self._down and self._down[node].hearsay:
            phase = "starting" if self._down[node].data_node else "back"
            self._goes_on(match, node, phase, when, clock)

    def _end(self, node: int | None, when: float, clock: str, what: str, why: str, advice: str) -> None:
        before = self._down.get(node)
        if before is None or before.phase != "down":
            self._times.append([when, node])
        gave_up = before.gave_up if before and before.phase == "down" else ""
        self._down[node] = Down(node, when, clock, what, why, advice, gave_up)

    def _change(self, node: int | None, **now: Any) -> None:
        self._down[node] = self._down[node]._replace(**now)

    def _goes_on(self, match: re.Match[str], node: int | None, phase: str, when: float, clock: str) -> None:
        peer = match.groupdict().get("peer")
        node = number(peer) if peer else node
        down = self._down.get(node)
        if phase == "back":
            self._ordered.pop("any", None)  # the handover is over
            if self.has_ordered(str(node), when):
                self._ordered[str(node)][1] = when
        if down and down.phase != "back":
            self._change(node, phase=phase, since=when, since_clock=clock)

    def _is_down(self, node: int | None) -> bool:
        down = self._down.get(node)
        return down is not None and down.phase == "down"

    def _counts(self, down: Down) -> bool:
        stays = (
            down.phase != "back" and not down.hearsay
        )  # others tell of API nodes, too, which may stay away
        return self._present.holds(down.when, stays=stays)

    _LINES = (
        (_FORCED, _hear_forced),
        (_NOT_STARTED, _hear_not_started),
        (_GAVE_UP, _hear_gave_up),
        (r"Child process terminated by signal (?P<signal>\d+)", _hear_killed),
        (_DECLARED_DEAD, _hear_declared_dead),
        (r"Node (?P<peer>\d+) has failed\. The Node state", _hear_peer_failed),
        (_PEER + "Node failed, fail handling ongoing", _hear_peer_failed),
        (r"Node shutdown initiated", _hear_order),
        (r"Cluster shutdown initiated", _hear_order_to_all),
        (r"shutdown handover", _hear_handover),
        (r"Node shutdown completed(?P<again>, restarting)?", _hear_completed),
        (r"Angel pid: \d+ started child|Start initiated", _hear_beginning),
        (_PEER + "Allocated node id", _hear_beginning),
        (r"Started \(|Node started$|Start phase 101 completed", _hear_back),
        (r"Node (?P<peer>\d+) has completed its restart", _hear_back),
        (_PEER + "Restart completed", _hear_back),
        (r"Node (?P<peer>\d+) Connected", _hear_connected),
    )

    @classmethod
    @cache
    def _compiled(cls) -> Sequence[tuple[re.Pattern[str], Callable[..., None]]]:
        """Give the lines with their patterns: not before there is a line to look at."""
        return tuple((re.compile(pattern), understand) for pattern, understand in cls._LINES)


def findings(told: list[Shutdown]) -> Iterator[Finding]:
    """Give each node that ended once, in the words of the log that knows most, and the number of ends."""
    ended = [end for log in told for end in log.ended()]
    ended = [(down, say) for down, say in ended if not (down.hearsay and _ordered_somewhere(told, down))]
    for node in dict.fromkeys(down.node for down, _ in ended):
        of_node = [(down, say) for down, say in ended if down.node == node]
        newest = max(down.when for down, _ in of_node)
        of_node = [(down, say) for down, say in of_node if newest - down.when <= _ONE_END]
        latest, _ = max(of_node, key=lambda end: max(end[0].when, end[0].since))
        best, say = max(of_node, key=lambda end: (not end[0].hearsay, end[0].when))
        yield say(best._replace(phase=latest.phase, since=latest.since, since_clock=latest.since_clock))
    ends = [Counter(node for _, node in log.times()) for log in told]
    count = sum(max(of_log[node] for of_log in ends) for node in set().union(*ends))
    yield Reading("shutdowns", count, what=f"forced shutdowns: {count}")


def _ordered_somewhere(told: list[Shutdown], down: Down) -> bool:
    return any(log.has_ordered(str(down.node), down.when) for log in told)
