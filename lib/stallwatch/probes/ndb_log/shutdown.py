"""Nodes that end, fail to start and come back.

A node that is down stays CRITICAL until it has started, and is a WARNING then until the hold is over, so that
no interval between two checks hides a crash. Ordered stops and restarts, which end with the same disconnects
and arbitration, are no problem.
"""

from __future__ import annotations

from collections import Counter

from stallwatch import withheld
from stallwatch.findings import Fault, Finding, Line, Reading, State
from stallwatch.history import remember, remembered
from stallwatch.probes.ndb_log.incidents import Event, Kind
from stallwatch.probes.ndb_log.lines import number
from stallwatch.probes.ndb_log.model import Row, Subject
from stallwatch.startup import TYPE_CHECKING, NamedTuple
from stallwatch.units import say_size

if TYPE_CHECKING:
    import re
    from collections.abc import Iterator, Sequence
    from typing import Any

    from stallwatch.probes.ndb_log import lines
    from stallwatch.probes.ndb_log.model import Node, Present

_PLANNED = 600.0  # seconds after an order in which the node's end is no failure
_HANDED_OVER = 60.0  # seconds after a handover in which a peer's end is no failure
_ONE_END = 60.0  # seconds within which several logs tell of the same end of a node
_KEPT = 1000  # shutdowns
_FORCED = (
    r"Forced node shutdown completed(?:, restarting)?(?:, no start)?(?:, initial)?\."
    r"(?: Occur?red during startphase (?P<phase>\d+)\.)?"
    r"(?: Initiated by signal (?P<signal>\d+)\.)?"
    r"(?: Caused by error (?P<error>\d+)(?:: '(?P<text>.*?)(?:'\.|$))?)?"  # a long text is cut off
)
_NO_ID = r"Failed to allocate nodeid, error: '(?P<cause>.*)'"
_NO_DAEMON = r"Couldn't start as daemon, error: '(?P<cause>.*)'"
_NO_MEMORY = r"Malloc \((?P<bytes>\d+) bytes\) for (?P<pools>.+) failed, exiting"
_GAVE_UP = r"Angel detected too many startup failures\((?P<count>\d+)\), not restarting again"
_DECLARED_DEAD = (
    r"We\((?P<we>\d+)\) have been declared dead by (?P<by>\d+).*?reason: (?P<reason>.+)"
    r"|Node (?P<peer>\d+) declared dead due to missed heartbeat"
)
_FAILED = r"Node (?P<peer>\d+) has failed\. The Node state"
_PEER_WORD = b"NR Status: node=,OLD="
_PEER = r"NR Status: node=(?P<peer>\d+),OLD=.*,NEW="
_RESTART = ", then restart the node"
_ERROR_LOG = "read the node's error log"
_SIGNALS = {
    6: ("aborted", _ERROR_LOG),
    9: ("killed", "look in dmesg for the out-of-memory killer"),
    11: ("segmentation fault", f"{_ERROR_LOG}, a bug or bad memory"),
}


class Down(NamedTuple):
    """A node that ended, and how far it has come since."""

    node: int | None
    when: float
    clock: str
    what: str
    why: str
    advice: str
    gave_up: str = ""  # after so many failed starts the angel does not try again
    data_node: bool = False  # others named it a data node, which has a restart to complete
    hearsay: bool = False  # reported by another node, which does not know why
    phase: str = "down"  # or "starting", "back"
    since: float = 0.0  # when that phase began
    since_clock: str = ""
    more: Sequence[str] = ()  # further evidence

    def fault(self, present: Present) -> Fault:
        """Say that it is down; of one that is back, that it was."""
        name = "node" if self.node is None else f"node {self.node}"
        what = f"{name} {self.what}{present.at(self.clock, self.when)}"
        advice, line = self.advice.partition(_RESTART)[0], Line(more=tuple(self.more))
        if self.phase == "back":
            what += f", started again{present.at(self.since_clock, self.since)}"
            return Fault(State.WARNING, what, self.why, advice, line)
        if self.phase == "starting":
            what += f", starting again{present.at(self.since_clock, self.since, 'since')}"
            return Fault(State.CRITICAL, what, self.why, advice, line)
        if self.gave_up:
            what += ", not started again"
            line = Line(more=(f"its angel gave up after {self.gave_up} failures", *self.more))
        return Fault(State.CRITICAL, what, self.why, self.advice, line)


class Shutdown(Subject):
    """The ends and starts that one log tells of."""

    def __init__(self, node: Node, present: Present, memory: dict[str, Any]) -> None:
        super().__init__(node, present, memory)
        self._down = {down.node: down for down in remembered(memory, "down", Down)}
        self.times: list[list[Any]] = memory.get("times", [])  # when which node ended: [when, node]
        self._ordered: dict[str, list[float]] = memory.setdefault("ordered", {})  # node or "any": from, until

    def keep(self) -> None:
        """Put into the memory what still counts."""
        self._down = {down.node: down for down in self._down.values() if self._counts(down)}
        self.times = [[when, node] for when, node in self.times if self._present.holds(when)][-_KEPT:]
        remember(self._memory, "down", self._down.values())
        self._memory["times"] = self.times
        for node in [node for node, (_, until) in self._ordered.items() if not self._present.holds(until)]:
            del self._ordered[node]

    def ended(self) -> list[tuple[Down, Present]]:
        """Give each node that ended, and the present of this log."""
        return [(down, self._present) for down in self._down.values()]

    def has_ordered(self, node: str, when: float) -> bool:
        """Whether the end of a node at that time was ordered; node "any" is that of a handover."""
        since, until = self._ordered.get(node, (1.0, 0.0))
        return since <= when <= until

    # One method for each kind of line.

    def _on_forced(self, match: re.Match[str], line: lines.Line) -> None:
        self._end(line.node, line, *_forced(match))

    def _on_not_started(self, match: re.Match[str], line: lines.Line) -> None:
        advice = "check whether it runs already, and the management server"
        self._end(line.node, line, "cannot start", withheld.message(match["cause"]), advice)

    def _on_no_memory(self, match: re.Match[str], line: lines.Line) -> None:
        why = f"no {say_size(number(match['bytes']))} of memory for {match['pools']}"
        self._end(line.node, line, "cannot start", why, "lower DataMemory, or free memory")

    def _on_gave_up(self, match: re.Match[str], line: lines.Line) -> None:
        """Note it of the node that failed to start; the line of its last failure comes after this one."""
        if not self._is_down(line.node):
            often = f"{match['count']} times"
            self._end(line.node, line, "failed to start", often, "look at the errors before it")
        self._change(line.node, gave_up=match["count"])

    def _on_killed(self, match: re.Match[str], line: lines.Line) -> None:
        if not self._is_down(line.node):
            self._end(line.node, line, "shut down", *_by_signal(number(match["signal"])))

    def _on_declared_dead(self, match: re.Match[str], line: lines.Line) -> None:
        node = number(match["we"] or match["peer"])
        if not self._is_down(node):
            why = f"by node {match['by']}: {match['reason']}" if match["we"] else "missed heartbeats"
            advice = "check for a paused VM, swapping, network trouble, then restart the node"
            self._end(node, line, "declared dead", why, advice)
            self._change(node, hearsay=not match["we"])

    def _on_peer_failed(self, match: re.Match[str], line: lines.Line) -> None:
        node = number(match["peer"])
        possible = (str(node), "any", str(self._node.id))
        ordered = any(self.has_ordered(who, line.moment) for who in possible)
        if not ordered and not self._is_down(node):
            why = "another node lost its connection"
            self._end(node, line, "failed", why, f"read ndb_{node}_out.log on its machine")
            self._change(node, hearsay=True)
        if self._is_down(node):
            self._change(node, data_node=True)

    def _on_order(self, match: re.Match[str], line: lines.Line) -> None:
        node = "any" if match["all"] else str(line.node)
        self._ordered[node] = [line.moment, line.moment + _PLANNED]

    def _on_handover(self, _: re.Match[str], line: lines.Line) -> None:
        """Take an end that follows for planned: the node that takes over does not name the other."""
        self._ordered["any"] = [line.moment, line.moment + _HANDED_OVER]

    def _on_completed(self, match: re.Match[str], line: lines.Line) -> None:
        """Tell a stop by order from the end of a node that could not start: 9.7.2 calls both completed."""
        node, when = line.node, line.moment
        ordered = self.has_ordered(str(node), when) or self.has_ordered("any", when)
        since = self._ordered.get(str(node), [when])[0] if ordered else when
        self._ordered[str(node)] = [since, when + _PLANNED]
        if match["again"] and not ordered and not self._is_down(node):
            advice = "look at the lines before it in the node's own log"
            self._end(node, line, "ended and restarts", "the log shows no order", advice)

    def _on_beginning(self, match: re.Match[str], line: lines.Line) -> None:
        self._goes_on(match, line, "starting")

    def _on_back(self, match: re.Match[str], line: lines.Line) -> None:
        self._goes_on(match, line, "back")

    def _on_connected(self, match: re.Match[str], line: lines.Line) -> None:
        """Take a node that others thought dead for back if it is an API node: no other sign tells."""
        down = self._down.get(number(match["peer"]))
        if down and down.hearsay:
            self._goes_on(match, line, "starting" if down.data_node else "back")

    LINES = (
        Row(b" shutdown ", _FORCED, _on_forced),
        Row(b"Failed to allocate nodeid", _NO_ID, _on_not_started),
        Row(b"start as daemon, error", _NO_DAEMON, _on_not_started),
        Row(b"failed, exiting", _NO_MEMORY, _on_no_memory),
        Row(b"too many startup failures", _GAVE_UP, _on_gave_up),
        Row(b"Child process terminated", r"Child process terminated by signal (?P<signal>\d+)", _on_killed),
        Row(b"declared dead", _DECLARED_DEAD, _on_declared_dead),
        Row(b"has failed. The Node state", _FAILED, _on_peer_failed),
        Row(_PEER_WORD, _PEER + "Node failed, fail handling ongoing", _on_peer_failed),
        Row(b" shutdown ", r"(?:Node|(?P<all>Cluster)) shutdown initiated", _on_order),
        Row(b"shutdown handover", r"shutdown handover", _on_handover),
        Row(b" shutdown ", r"Node shutdown completed(?P<again>, restarting)?", _on_completed),
        Row(b"Angel pid: ", r"Angel pid: \d+ started child", _on_beginning),
        Row(b"Start initiated", r"Start initiated", _on_beginning),
        Row(_PEER_WORD, _PEER + "Allocated node id", _on_beginning),
        Row(b"Started (", r"Started \(", _on_back),
        Row(b"Node started", r"Node started$", _on_back),
        Row(b"Start phase  completed", r"Start phase 101 completed", _on_back),
        Row(b"has completed its restart", r"Node (?P<peer>\d+) has completed its restart", _on_back),
        Row(_PEER_WORD, _PEER + "Restart completed", _on_back),
        Row(b" Connected", r"Node (?P<peer>\d+) Connected", _on_connected),
    )

    def _end(
        self, node: int | None, line: lines.Line, what: str, why: str, advice: str, more: Sequence[str] = ()
    ) -> None:
        before = self._down.get(node)
        if before is None or before.phase != "down":
            self.times.append([line.moment, node])
        gave_up = before.gave_up if before and before.phase == "down" else ""
        self._down[node] = Down(node, line.moment, line.clock, what, why, advice, gave_up, more=more)

    def _change(self, node: int | None, **now: Any) -> None:
        self._down[node] = self._down[node]._replace(**now)

    def _goes_on(self, match: re.Match[str], line: lines.Line, phase: str) -> None:
        peer = match.groupdict().get("peer")
        node = number(peer) if peer else line.node
        down = self._down.get(node)
        if phase == "back":
            self._ordered.pop("any", None)  # the handover is over
            if self.has_ordered(str(node), line.moment):
                self._ordered[str(node)][1] = line.moment
        if down and down.phase != "back":
            self._change(node, phase=phase, since=line.moment, since_clock=line.clock)

    def _is_down(self, node: int | None) -> bool:
        down = self._down.get(node)
        return down is not None and down.phase == "down"

    def _counts(self, down: Down) -> bool:
        # Others tell of API nodes, too, which may stay away.
        stays = down.phase != "back" and not down.hearsay
        return self._present.holds(down.when, stays=stays)


def of_shutdowns(logs: list[Shutdown]) -> Iterator[Finding | Event]:
    """Give each node that ended once, in the words of the log that knows most, and the number of ends."""
    ended = [end for log in logs for end in log.ended()]
    ended = [end for end in ended if not (end[0].hearsay and _ordered_somewhere(logs, end[0]))]
    for node in dict.fromkeys(down.node for down, _ in ended):
        of_node = [end for end in ended if end[0].node == node]
        newest = max(down.when for down, _ in of_node)
        of_node = [end for end in of_node if newest - end[0].when <= _ONE_END]
        latest, _ = max(of_node, key=lambda end: max(end[0].when, end[0].since))
        best, present = max(of_node, key=lambda end: (not end[0].hearsay, end[0].when))
        best = best._replace(phase=latest.phase, since=latest.since, since_clock=latest.since_clock)
        yield Event(Kind.ENDED, node, best.fault(present), best.when, best.when, best.phase == "back")
    ends = [Counter(node for _, node in log.times) for log in logs]
    count = sum(max(of_log[node] for of_log in ends) for node in set().union(*ends))
    yield Reading("shutdowns", count, what=f"forced shutdowns: {count}")


def _ordered_somewhere(logs: list[Shutdown], down: Down) -> bool:
    return any(log.has_ordered(str(down.node), down.when) for log in logs)


def _forced(match: re.Match[str]) -> tuple[str, str, str, tuple[str, ...]]:
    """Say what happened, why, what to do, and NDB's own words, from the line of a forced shutdown."""
    from stallwatch.probes.ndb_log import exit_codes

    # With a signal 9.7 says "startphase 0" of a node that was running.
    starting = match["phase"] and (match["error"] or match["phase"] != "0")
    what = f"failed to start (phase {match['phase']})" if starting else "shut down"
    if match["error"]:
        code = number(match["error"])
        meaning, advice = exit_codes.meaning(code)
        text = meaning or withheld.message(match["text"] or "")
        said = f"error {code}: {exit_codes.short(code, text)}".removesuffix(": ")
        return what, said, advice, (text,) if text and not said.endswith(text) else ()
    if match["signal"]:
        return what, *_by_signal(number(match["signal"])), ()
    return what, "the log does not say why", _ERROR_LOG, ()


def _by_signal(signal: int) -> tuple[str, str]:
    """Say why a signal ended a node, and what to do."""
    meaning, advice = _SIGNALS.get(signal, ("", _ERROR_LOG))
    return f"signal {signal}{f' ({meaning})' if meaning else ''}", advice
