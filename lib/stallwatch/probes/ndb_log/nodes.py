"""What is remembered of the nodes of a cluster: who is up, who ended, and whose end was ordered."""

from __future__ import annotations

import re

from stallwatch.history import remember, remembered
from stallwatch.probes.ndb_log.down import HEARTBEATS, LOST, NO_SHUTDOWN, OVER, RESTART, Down
from stallwatch.probes.ndb_log.events import WINDOW
from stallwatch.probes.ndb_log.lines import Line, number
from stallwatch.probes.ndb_log.model import Subject
from stallwatch.startup import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from stallwatch.probes.ndb_log.model import Node, Present

_KEPT = 1000  # shutdowns
NODES = 255
# What only data nodes log: others log the name of their program ("Node 51: mysqld --server-id=51").
_SPEAKS = (
    rb"(?m)^[-\dT:.Z+ ]{10,40} \[Mg\w+\] [A-Z]+ *-- Node (\d{1,3}): "
    rb"(?:Start(?:ed)? (?:phase|initiated|\()|Communication to |NR Status|L(?:DM|ocal )"
    rb"|Node (?:re)?start |(?:Data|Index) usage |GCP |Arbitration |President )"
)


class Nodes(Subject):
    """The nodes that one log shows."""

    def __init__(self, node: Node, present: Present, memory: dict[str, Any]) -> None:
        super().__init__(node, present, memory)
        self._down = {down.node: down for down in remembered(memory, "down", Down)}
        self.times: list[list[Any]] = memory.get("times", [])  # when which node ended: [when, node]
        self._ordered: dict[str, list[float]] = memory.setdefault("ordered", {})  # node or "any": from, until
        self.data_nodes: list[int] = memory.setdefault("data_nodes", [])  # those that are known to be
        self.addresses: dict[str, str] = memory.setdefault("addresses", {})  # of data nodes
        self._up: list[int] = memory.setdefault("up", [])  # that have started, and whose end was not seen
        # Those that have been the arbitrator: no data nodes.
        self._clients: list[int] = memory.setdefault("clients", [])
        # Those without disk space: when, and which file.
        self._full: dict[str, list[Any]] = memory.setdefault("full", {})
        self._asked: dict[str, float] = memory.setdefault("asked", {})  # peer: when others had it cut off
        # Observer and peer: when the first heartbeat in a row was missed, its number, and those of the last.
        self._silence: dict[str, list[Any]] = memory.setdefault("silence", {})
        self._last: dict[str, list[Any]] = memory.setdefault("last", {})  # word: when, and a number

    def meet(self, head: bytes) -> None:
        """Learn which nodes are data nodes from lines that no rule needs: these speak of more than nodes."""
        if self._node.is_cluster_log:
            for match in re.finditer(_SPEAKS, head):
                self._is_data_node(number(match[1].decode()))

    def keep(self) -> None:
        """Put into the memory what still counts."""
        self._down = {down.node: down for down in self._down.values() if self._counts(down)}
        self.times = [[when, node] for when, node in self.times if self._present.holds(when)][-_KEPT:]
        remember(self._memory, "down", self._down.values())
        self._memory["times"] = self.times
        for node in [node for node, (_, until) in self._ordered.items() if not self._present.holds(until)]:
            del self._ordered[node]

    @property
    def is_cluster_log(self) -> bool:
        """Whether a management node wrote the log, which knows all data nodes."""
        return self._node.is_cluster_log

    @property
    def node_id(self) -> int | None:
        """The node that wrote the log."""
        return self._node.id

    def speaks_after(self, down: Down) -> bool:
        """Whether the node's own log goes on after another node has lost it, and shows no end."""
        own = not self.is_cluster_log and self._node.id == down.node
        goes_on = self._memory.get("read_until", 0.0) >= down.when or self.has_cut_off(down.by, down.when)
        return own and goes_on and not self._is_down(down.node)

    def has_cut_off(self, peer: int | None, when: float) -> bool:
        """Whether this node closed its connection to a peer then, as another data node asked it to."""
        return abs(self._asked.get(str(peer), float("-inf")) - when) <= WINDOW

    def ended(self) -> list[tuple[Down, Present]]:
        """Return each node that ended, and the present of this log."""
        return [(down, self._present) for down in self._down.values()]

    def has_ordered(self, node: str, when: float) -> bool:
        """Whether the end of a node at that time was ordered; node "any" is that of a handover."""
        since, until = self._ordered.get(node, (1.0, 0.0))
        return since <= when <= until

    def _order_ends(self, node: str, when: float) -> None:
        """Take the order for the end of a node for carried out, or for nothing, from then on."""
        if (order := self._ordered.get(node)) and order[0] <= when < order[1]:
            order[1] = when

    def explain(
        self, node: int | None, why: str = "", advice: str = "", more: Sequence[str] = (), waited: float = 0.0
    ) -> None:
        """Note why a node ended, where more is known than the line of its end shows.

        ``waited``: others waited for it for so many seconds before, and a stall of it can be why.
        """
        if down := self._down.get(node):
            texts = tuple(dict.fromkeys((*down.more, *filter(None, more))))
            self._change(node, why=why or down.why, advice=advice or down.advice, more=texts)
            if waited:
                self._change(node, waited=waited, stall=HEARTBEATS)

    def foretell(self, line: Line, why: str, advice: str) -> None:
        """Note why a node is about to end: others may log no more than that they lost it."""
        self._memory["foretold"] = [line.moment, line.node, why, advice]

    def explained(self, down: Down) -> Down:
        """Return why a node ended of which others only know that they lost it, where its own log shows it."""
        if down.why != LOST or not (told := self.foretold(down.node, down.when)):
            return down
        why, advice = told
        return down._replace(why=why, advice=advice)

    def foretold(self, node: int | None, ended: float) -> tuple[str, str] | None:
        """Return why a node was about to end then, and what to do; None: no line showed it."""
        when, whose, why, advice = self._memory.get("foretold", (0.0, None, "", ""))
        return (why, advice) if why and whose == node and 0 <= ended - when <= WINDOW else None

    def vanished(self, pid: int, when: float, clock: str) -> None:
        """Note that the node has ended whose process is gone; its last line was written at ``when``."""
        node, now = self._node.id, self._present.now
        if not self._is_down(node) and not self.has_ordered(str(node), now):
            last = Line("", when, clock, "", node, 1, b"")
            advice = f"check uptime and dmesg of its machine{RESTART}"
            self._end(node, last, "ended", NO_SHUTDOWN, advice, (f"its process {pid} is gone",))
            self._change(node, at="after")

    def _end(
        self, node: int | None, line: Line, what: str, why: str, advice: str, more: Sequence[str] = ()
    ) -> None:
        before = self._down.get(node)
        self._ended(node)
        if before is None or before.phase != "down" or before.by is not None:
            self.times.append([line.moment, node])
        gave_up = before.gave_up if before and before.phase == "down" else ""
        self._down[node] = Down(node, line.moment, line.clock, what, why, advice, gave_up, more=more)

    def _ended(self, node: int | None) -> None:
        if node in self._up:
            self._up.remove(node)

    def _is_data_node(self, node: int) -> None:
        if node not in self.data_nodes and len(self.data_nodes) < NODES:
            self.data_nodes.append(node)
            told = [down for down in self._down.values() if down.by == node and not down.client]
            for down in told:
                del self._down[down.node]  # it was no management node that logged this

    def _recent(self, word: str, line: Line) -> int | None:
        """Return the number of ``word`` as logged a moment ago."""
        when, value = self._last.get(word, (float("-inf"), 0))
        return int(value) if line.moment - when <= WINDOW else None

    def _change(self, node: int | None, **now: Any) -> None:
        self._down[node] = self._down[node]._replace(**now)

    def _is_down(self, node: int | None) -> bool:
        down = self._down.get(node)
        return down is not None and down.phase == "down"

    def _counts(self, down: Down) -> bool:
        # Others report API nodes, too, which may stay away.
        known = not down.hearsay or down.node in self.data_nodes
        stays = down.phase not in OVER and known
        return self._present.holds(down.when, stays=stays)
