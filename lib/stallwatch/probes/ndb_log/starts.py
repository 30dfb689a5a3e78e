"""Starts of data nodes that do not go on: no start phase is completed any more.

A start may take hours: it reads all data, or copies it from another node. So such a start is a WARNING, which
shows since when no phase was completed.
"""

from __future__ import annotations

from stallwatch.findings import Fault, Finding, State
from stallwatch.probes.ndb_log.lines import number
from stallwatch.probes.ndb_log.model import Row, Subject
from stallwatch.startup import TYPE_CHECKING
from stallwatch.units import say_duration
from stallwatch.words import are, named

if TYPE_CHECKING:
    import re
    from collections.abc import Iterator
    from typing import Any

    from stallwatch.probes.ndb_log import lines
    from stallwatch.probes.ndb_log.model import Node, Present, Rules

_SLOW = 1800.0  # seconds without a completed phase while the whole cluster starts
_SLOW_ALONE = 3600.0  # ... while other nodes run, from which it copies its data
_KEPT = 7 * 86400.0  # seconds
_LAST_PHASE = "101"


class Starts(Subject):
    """The starts that one log shows."""

    def __init__(self, node: Node, present: Present, memory: dict[str, Any]) -> None:
        super().__init__(node, present, memory)
        # Node: when it began or completed a phase, the clock, that phase, and whether other nodes run.
        self._going_on: dict[str, list[Any]] = memory.setdefault("going_on", {})

    def _on_allocated(self, match: re.Match[str], line: lines.Line) -> None:
        """Take it for a beginning in logs that show starts: with CLUSTERLOG STARTUP=0 no end follows."""
        if self._memory.get("shows"):
            self._going_on[match["node"]] = [line.moment, line.clock, "", True]

    def _on_beginning(self, _: re.Match[str], line: lines.Line) -> None:
        self._memory["shows"] = True
        self._going_on[_name(line.node)] = [line.moment, line.clock, "", True]

    def _on_phase(self, match: re.Match[str], line: lines.Line) -> None:
        self._memory["shows"] = True
        if match["phase"] == _LAST_PHASE:
            self._going_on.pop(_name(line.node), None)
        else:
            alone = "node restart" in (match["kind"] or "")
            self._going_on[_name(line.node)] = [line.moment, line.clock, match["phase"], alone]

    def _on_end(self, match: re.Match[str], line: lines.Line) -> None:
        self._going_on.pop(match.groupdict().get("node") or _name(line.node), None)

    LINES = (
        Row(b"Angel pid: ", r"Angel pid: \d+ started child", _on_beginning),
        Row(b" allocated for NDB", r"Nodeid (?P<node>\d+) allocated for NDB", _on_allocated),
        Row(b"Start initiated", r"Start initiated", _on_beginning),
        Row(b"Start phase  completed", r"Start phase (?P<phase>\d+) completed ?(?P<kind>\(.*)?", _on_phase),
        Row(b"Started (", r"Started \(", _on_end),
        Row(b"Node started", r"Node started$", _on_end),
        Row(b" shutdown ", r"(?:Forced node shutdown|Node shutdown|Cluster shutdown) ", _on_end),
        Row(b"Child process terminated", r"Child process terminated", _on_end),
        Row(b" Disconnected", r"Node (?P<node>\d+) Disconnected", _on_end),
    )

    def keep(self) -> None:
        """Forget starts of long ago, whose end was not seen."""
        now = self._present.now
        for node in [node for node, (when, *_) in self._going_on.items() if now - when > _KEPT]:
            del self._going_on[node]

    def findings(self, _: Rules) -> Iterator[Finding]:
        """Return which starts do not go on."""
        slow = []
        for node, (when, clock, phase, alone) in self._going_on.items():
            seconds = self._present.now - when
            if seconds > (_SLOW_ALONE if alone else _SLOW) and self._present.holds(when, stays=True):
                slow.append((when, clock, phase, node))
        if not slow:
            return
        when, clock, phase, node = max(slow)
        nodes = sorted((one[-1] for one in slow), key=lambda name: number(name or "0"))
        who, begun = named("node", nodes).rstrip(), f"phase {phase} completed" if phase else "begun"
        what = f"{who} {are(nodes)} still starting, {begun}{self._present.at(clock, when)}"
        why = f"nothing for {say_duration(self._present.now - when)}"
        log = f"ndb_{node}_out.log" if node else "the lines before in its log"
        whose = "their disks" if len(nodes) > 1 else "its disk"
        yield Fault(State.WARNING, what, why, f"check {whose} and network, and {log}")


def _name(node: int | None) -> str:
    return "" if node is None else str(node)  # a log under a name of its own
