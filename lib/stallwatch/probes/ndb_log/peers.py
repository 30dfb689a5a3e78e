"""What one log shows of the connections between nodes, and of nodes that are no data nodes."""

from __future__ import annotations

from stallwatch import withheld
from stallwatch.probes.ndb_log.down import CUT, DECLARED_DEAD, HEARTBEATS, LOST, NEVER, NO_SHUTDOWN, Down
from stallwatch.probes.ndb_log.events import TOGETHER, WINDOW
from stallwatch.probes.ndb_log.lines import number
from stallwatch.probes.ndb_log.model import Row
from stallwatch.probes.ndb_log.nodes import NODES, Nodes
from stallwatch.startup import TYPE_CHECKING

if TYPE_CHECKING:
    import re
    from collections.abc import Callable, Sequence
    from typing import Any

    from stallwatch.probes.ndb_log import lines

_CUT = r"Node \d+ disconnecting node (?P<peer>\d+) due to missed heartbeat"
_ARBITRATOR = r"(?:Prepare|Receive|Started|Lost) arbitrator node (?P<peer>\d+)"
_ASKED = r"Cleanup of node (?P<peer>\d+) connection state triggered by request from node \d+"
_DECLARED_DEAD = (
    r"We\((?P<we>\d+)\) have been declared dead by (?P<by>\d+).*?reason: (?P<reason>.+)"
    r"|Node (?P<peer>\d+) declared dead due to missed heartbeat"
)
_ISOLATED = "Forced isolation"  # by the master, 0.1 s after it ordered the node to end
_FAILED = r"Node (?P<peer>\d+) has failed\. The Node state"
PEER_WORD = b"NR Status: node=,OLD="
PEER = r"NR Status: node=(?P<peer>\d+),OLD=.*,NEW="
# As management nodes and as data nodes log it
_MISSED_OF = r"Node (?P<observer>\d+) missed heartbeat (?P<value>\d+) from node (?P<peer>\d+)"
_MISSED = r"Node (?P<peer>\d+) missed heartbeat (?P<value>\d+)$"


class Peers(Nodes):
    """The connections that one log shows."""

    def _on_missed(self, match: re.Match[str], line: lines.Line) -> None:
        """Note since when a node is silent, from the first heartbeat in a row that it missed to the last."""
        observer = match.groupdict().get("observer") or line.node
        link, value, when = f"{observer} {match['peer']}", number(match["value"]), line.moment
        first, one, last, before = self._silence.pop(link, (when, value, when, 0))
        if value <= before or when - last > WINDOW:
            first, one = when, value
        self._silence[link] = [first, one, when, value]
        if len(self._silence) > NODES:
            del self._silence[next(iter(self._silence))]

    def _silent(self, observer: int | None, peer: int, when: float) -> float:
        """For how many seconds a node had been silent; 0 where the log does not show it.

        A node counts a missed heartbeat whenever the time between two heartbeats has passed.
        """
        first, one, last, value = self._silence.get(f"{observer} {peer}", (0.0, 0, 0.0, 0))
        if value <= one or when - last > WINDOW:
            return 0.0
        return when - first + one * (last - first) / (value - one)

    def _on_lost(self, match: re.Match[str], line: lines.Line) -> None:
        """Note a connection that broke; a management node has connections to data nodes only."""
        node, by = number(match["peer"]), line.node
        if not self._node.is_cluster_log:
            self._last["lost"] = [line.moment, node]
            return
        ordered = self.has_ordered(str(node), line.moment) or self.has_ordered("any", line.moment)
        if by is None or by in self.data_nodes or by == node or ordered or self._is_down(node):
            return
        is_cut = self._recent("cut", line) == node
        advice = "check its machine and its own log, then start it"
        self._down[node] = Down(
            node,
            line.moment,
            line.clock,
            "disconnected",
            CUT if is_cut else NO_SHUTDOWN,
            advice,
            data_node=True,
            hearsay=True,
            stall=HEARTBEATS if is_cut else NEVER,  # a process that ends closes its connections
            by=by,
            silent=self._silent(by, node, line.moment) if is_cut else 0.0,
        )

    def _on_broken(self, match: re.Match[str], line: lines.Line) -> None:
        self._last["lost"] = [line.moment, number(match["peer"])]

    def _on_cut(self, match: re.Match[str], line: lines.Line) -> None:
        self._last["cut"] = [line.moment, number(match["peer"])]

    def _on_won(self, _: re.Match[str], line: lines.Line) -> None:
        """Take a node that goes on after a split for alive, whatever those log that do not see it now."""
        self._take_back(line, lambda down: down.what == DECLARED_DEAD and down.node == line.node)
        self._last["won"] = [line.moment, line.node]

    def has_won(self, down: Down) -> bool:
        """Whether a node that others declared dead went on: it won the arbitration then."""
        when, node = self._last.get("won", (float("-inf"), None))
        declared = down.hearsay and down.what == DECLARED_DEAD
        return declared and node == down.node and abs(when - down.when) <= WINDOW

    def _take_back(self, line: lines.Line, which: Callable[[Down], bool]) -> None:
        """Forget those ends that others have reported just now, and that were none."""
        for down in [*self._down.values()]:
            if down.hearsay and line.moment - down.when <= WINDOW and which(down):
                del self._down[down.node]
                self._was_none(down)

    def _was_none(self, down: Down) -> None:
        self.times = [end for end in self.times if end != [down.when, down.node]]

    def _on_arbitrator(self, match: re.Match[str], line: lines.Line) -> None:
        self._is_client(number(match["peer"]), line.node)

    def _on_asked(self, match: re.Match[str], line: lines.Line) -> None:
        if not self.is_cluster_log and len(self._asked) < NODES:
            self._asked[str(number(match["peer"]))] = line.moment

    def _is_client(self, node: int, speaker: int | None) -> None:
        """Note a node that is no data node: only management, SQL and API nodes arbitrate."""
        if node not in self._clients and len(self._clients) < NODES:
            self._clients.append(node)
        down = self._down.get(node)
        if down and down.hearsay and down.by is None and down.phase == "down":
            self._was_none(down)
            self._misses(node, speaker, down.when, down.clock)  # that it was declared dead came first

    def _misses(self, node: int, speaker: int | None, when: float, clock: str) -> None:
        """Note that a data node missed the heartbeats of a node that is none."""
        silent = self._silent(speaker, node, when)
        self._down[node] = Down(
            node, when, clock, "lost", CUT, "", hearsay=True, by=speaker, client=True, silent=silent
        )

    def _on_declared_dead(self, match: re.Match[str], line: lines.Line) -> None:
        node = number(match["we"] or match["peer"])
        if node in self._clients and not match["we"]:
            self._misses(node, line.node, line.moment, line.clock)
        elif match["we"] and match["we"] == match["by"]:  # an error ends it, which takes long
            if not self._is_down(node):
                advice = "read the lines before it, its error log"
                self._end(node, line, "cut itself off", "its end takes long", advice)
        elif not self._is_down(node) and (match["we"] or self._recent("won", line) != node):
            reason = withheld.message(match["reason"] or "")
            why = f"by node {match['by']}: {reason}" if match["we"] else "missed heartbeats"
            advice = "check for a paused VM, swapping, network trouble, then restart the node"
            judge = number(match["by"]) if match["we"] else line.node
            self._end(node, line, DECLARED_DEAD, why, advice)
            self._change(node, hearsay=not match["we"], stall=HEARTBEATS, judge=judge)
        if match["we"] and match["we"] != match["by"]:
            self._last["judge"] = [line.moment, number(match["by"])]
            if match["reason"].startswith(_ISOLATED):
                self._last["isolated"] = [line.moment, number(match["by"])]
        elif not match["we"]:
            self._last["judged"] = [line.moment, node]
            down = self._down.get(node)
            if down and down.hearsay and line.node not in down.tellers:
                self._change(node, tellers=[*down.tellers, line.node])

    def _on_peer_failed(self, match: re.Match[str], line: lines.Line) -> None:
        node = number(match["peer"])
        if (down := self._down.get(node)) and down.by is not None:
            del self._down[node]  # its peer knows more
        possible = (str(node), "any", str(self._node.id))
        ordered = any(self.has_ordered(who, line.moment) for who in possible)
        if not ordered and not self._is_down(node):
            self._end(node, line, "failed", LOST, f"read ndb_{node}_out.log on its machine")
            self._change(node, hearsay=True, judge=line.node)
        if line.text.startswith("NR Status"):
            self._is_data_node(node)
        if self._is_down(node):
            self._change(node, data_node=True)

    def _on_outvoted(self, match: re.Match[str], line: lines.Line) -> None:
        """Take those for alive that a node lost for which the arbitrator decided against it: they won."""
        self._last["outvoted"] = [line.moment, number(match["arbitrator"])]
        self._take_back(line, lambda down: down.judge == line.node)

    def _on_handled(self, _: re.Match[str], line: lines.Line) -> None:
        """Learn that who was declared dead a moment ago is a data node: only their ends are handled so."""
        for node, down in list(self._down.items()):
            if down.judge == line.node and line.moment - down.when <= TOGETHER:
                self._change(node, data_node=True)

    LINES: Sequence[Any] = (
        Row(b"declared dead", _DECLARED_DEAD, _on_declared_dead),
        Row(b"has failed. The Node state", _FAILED, _on_peer_failed),
        Row(PEER_WORD, PEER + "Node failed, fail handling ongoing", _on_peer_failed),
        Row(b"rbitration ", r"Network partitioning|Arbitration (?:check )?(?:won|lost)", _on_handled),
        Row(b"findNeighbours from", r"findNeighbours from", _on_handled),
        Row(b"Started failure handling", r"DBTC \d+: Started failure handling for node", _on_handled),
        Row(
            b"Arbitration lost",
            r"Arbitration lost - negative reply from node (?P<arbitrator>\d+)",
            _on_outvoted,
        ),
        Row(b"missed heartbeat", _MISSED_OF, _on_missed),
        Row(b"missed heartbeat", _MISSED, _on_missed),
        Row(b"Arbitration ", r"Arbitration (?:check )?won", _on_won),
        Row(b"arbitrator node ", _ARBITRATOR, _on_arbitrator),
        Row(b"triggered by request", _ASKED, _on_asked),
        Row(b" Disconnected", r"Node (?P<peer>\d+) Disconnected", _on_lost),
        Row(
            b"disconnected in ",
            r"(?:Node|Transporter \d+ to node) (?P<peer>\d+) disconnected in ",
            _on_broken,
        ),
        Row(b"disconnected", r"Node \d+ transporter to node (?P<peer>\d+) .*disconnected", _on_broken),
        Row(b"due to missed heartbeat", _CUT, _on_cut),
    )
