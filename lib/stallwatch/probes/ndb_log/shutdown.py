"""Nodes that end, fail to start and come back.

A node that is down stays CRITICAL until it has started, and is a WARNING then until the hold is over, so that
no interval between two checks hides a crash. Ordered stops and restarts, which end with the same disconnects
and arbitration, are no problem.
"""

from __future__ import annotations

from stallwatch import withheld
from stallwatch.probes.ndb_log.down import (
    DECLARED_DEAD,
    FORCED,
    NO_ORDER,
    NO_REASON,
    NO_SHUTDOWN,
    RESTART,
    by_signal,
    forced,
    stall,
)
from stallwatch.probes.ndb_log.events import WINDOW
from stallwatch.probes.ndb_log.lines import compiled, number
from stallwatch.probes.ndb_log.model import Row
from stallwatch.probes.ndb_log.peers import PEER, PEER_WORD, Peers
from stallwatch.startup import TYPE_CHECKING
from stallwatch.units import say_size

if TYPE_CHECKING:
    import re

    from stallwatch.probes.ndb_log import lines

_ORDER = 6 * 3600.0  # seconds that an order holds at most, if neither its end nor another fate is seen
_STOPPED = 600.0  # seconds after a stop by order in which others may report it
_FULL = 600.0  # seconds after which a full disk is no cause any more
_UNSEEN = 600.0  # seconds between a connection that broke and the start that shows that the node had ended
_NO_ID = r"Failed to allocate nodeid, error: '(?P<cause>.*)'"
_NO_DAEMON = r"Couldn't start as daemon, error: '(?P<cause>.*)'"
_NO_MEMORY = r"Malloc \((?P<bytes>\d+) bytes\) for (?P<pools>.+) failed, exiting"
_GAVE_UP = r"Angel detected too many startup failures\((?P<count>\d+)\), not restarting again"
_LINK = r"Node \d+ (?:Dis)?[Cc]onnected"
_DISK_FULL = r"Filesystem problem: The file system is full\.?(?: Check (?P<path>\S+?)\.? )?"
# Error codes
_NO_MAJORITY, _DECLARED_DEAD_ERROR, _OS_SIGNAL, _NO_SPACE = "2305", "2315", "6000", "2810"


class Shutdown(Peers):
    """The ends and starts that one log shows."""

    EVERY_LINE = True  # each shows that its node still writes

    def read(self, line: lines.Line) -> None:
        """Take in a line; in a cluster log a data node speaks of more than its connections."""
        if self._node.is_cluster_log and line.node is not None and not compiled(_LINK).match(line.text):
            self._is_data_node(line.node)
        self._memory["read_until"] = line.moment
        super().read(line)

    # One method for each kind of line.

    def _on_forced(self, match: re.Match[str], line: lines.Line) -> None:
        peer = judge = None
        what, why, advice, more = forced(match)
        if match["error"] == _NO_MAJORITY:
            if split := self._split(line):
                why, advice, peer = split
                more = (f"error {_NO_MAJORITY}", *more)
        elif match["error"] == _NO_SPACE:
            self._full.setdefault(str(line.node), [line.moment, line.clock, "its DataDir"])
        elif match["error"] and (full := self._full.get(str(line.node))):
            if line.moment - full[0] <= _FULL:
                more = (why, *more)
                why = f"probably its disk is full (error 2810{self._present.at(full[1], full[0])})"
                advice = f"free space for {full[2]}, then restart the node"
        elif match["error"] == _OS_SIGNAL and (signal := self._recent("signal", line)):
            why, advice = by_signal(signal)
            more = (f"error {_OS_SIGNAL}", *more)
        elif match["error"] == _DECLARED_DEAD_ERROR and (judge := self._recent("judge", line)):
            why, more = f"node {judge} declared it dead", (f"error {match['error']}", *more)
            if self._recent("isolated", line):
                why, advice = f"node {judge} cut it off", f"check the log of node {judge} for a GCP stop"
        self._end(line.node, line, what, why, advice, more)
        self._change(line.node, lost=peer, judge=judge, stall=stall(match["error"]))
        self._order_ends(str(line.node), line.moment)

    def _split(self, line: lines.Line) -> tuple[str, str, int | None] | None:
        """Return why a node that saw no majority ended, what to do, and whose end was the cause."""
        if self._recent("alone", line):
            peer = self._recent("lost", line)
            others = f"node {peer}" if peer else "the others"
            return f"it lost {others} and had no arbitrator", f"check {others}{RESTART}", peer
        if not self.is_cluster_log:
            # The others may have won: it does not know.
            self._take_back(line, lambda down: down.what == DECLARED_DEAD)
        if arbitrator := self._recent("outvoted", line):
            other = self._recent("judged", line) or self._recent("lost", line)
            where = f"to node {other}" if other else "between the data nodes"
            why = f"arbitrator node {arbitrator} chose the other side"
            return why, f"check the network {where}{RESTART}", None
        winner = self._recent("won", line)
        if winner in (None, line.node):
            return None
        advice = f"check the network between nodes {winner} and {line.node}{RESTART}"
        # A node that stalls misses no heartbeats.
        if winner and not self._silent(line.node, winner, line.moment):
            advice = f"check for a paused VM, swapping, network trouble{RESTART}"
        return f"it lost node {winner} and the arbitration", advice, None

    def _on_disk_full(self, match: re.Match[str], line: lines.Line) -> None:
        """Note it until the node has started: its starts fail with other errors then (9.7.2: 2301)."""
        self._full[str(line.node)] = [line.moment, line.clock, withheld.data(match["path"] or "its DataDir")]

    def _on_alone(self, _: re.Match[str], line: lines.Line) -> None:
        self._last["alone"] = [line.moment, 1]

    def _on_signal(self, match: re.Match[str], line: lines.Line) -> None:
        self._last["signal"] = [line.moment, number(match["signal"])]

    def _on_stopped(self, _: re.Match[str], line: lines.Line) -> None:
        """Take the last word of a process for its end; a line with more comes after it."""
        told = self._is_down(line.node) or (line.node is None and self._down)
        if not told and not self.has_ordered(str(line.node), line.moment):
            why, advice = "its error handler ended it", "read the errors before it, and its error log"
            reason = self.foretold(line.node, line.moment)
            self._end(line.node, line, "shut down", *(reason or (why, advice)))
            self._change(line.node, waited=WINDOW if reason else 0.0)

    def _on_management_start(self, _: re.Match[str], _line: lines.Line) -> None:
        """Forget who was up: this log does not show what happened meanwhile."""
        self._up.clear()

    def _on_allocated(self, match: re.Match[str], line: lines.Line) -> None:
        """Take it for a beginning: in a system restart no line "Start initiated" comes here."""
        node = number(match["id"])
        self._is_data_node(node)
        if match["address"]:
            self.addresses[str(node)] = withheld.data(match["address"])
        self._on_beginning(match, line._replace(node=node))

    def _on_not_started(self, match: re.Match[str], line: lines.Line) -> None:
        advice = "check whether it runs already, and the management server"
        cause = withheld.message(match["cause"])
        # The address that was asked comes before.
        why = withheld.message(match["cause"].rpartition(": ")[2]).rstrip(".")
        self._end(line.node, line, "could not start", why, advice, () if why == cause else (cause,))

    def _on_no_memory(self, match: re.Match[str], line: lines.Line) -> None:
        why = f"no {say_size(number(match['bytes']))} of memory for {match['pools']}"
        self._end(line.node, line, "could not start", why, "lower DataMemory, or free memory")

    def _on_gave_up(self, match: re.Match[str], line: lines.Line) -> None:
        """Note it of the node that failed to start; the line of its last failure comes after this one."""
        if not self._is_down(line.node):
            self._end(line.node, line, "failed to start", NO_REASON, "look at the errors before it")
        self._change(line.node, gave_up=match["count"])

    def _on_killed(self, match: re.Match[str], line: lines.Line) -> None:
        if not self._is_down(line.node):
            self._end(line.node, line, "shut down", *by_signal(number(match["signal"])))

    def _on_order(self, match: re.Match[str], line: lines.Line) -> None:
        node = "any" if match["all"] else str(line.node)
        self._ordered[node] = [line.moment, line.moment + _ORDER]

    def _on_handover(self, _: re.Match[str], line: lines.Line) -> None:
        """Take an end that follows for planned: the node that takes over does not name the other."""
        self._ordered["any"] = [line.moment, line.moment + WINDOW]

    def _on_completed(self, match: re.Match[str], line: lines.Line) -> None:
        """Distinguish a stop by order from a failed start: 9.7.2 calls both completed."""
        node, when = line.node, line.moment
        ordered = self.has_ordered(str(node), when) or self.has_ordered("any", when)
        since = self._ordered.get(str(node), [when])[0] if ordered else when
        # As by systemctl stop: others may have logged before that it left.
        if not ordered and not match["again"]:
            since = when - WINDOW
            if (down := self._down.get(node)) and down.hearsay and down.when >= since:
                del self._down[node]
        self._ended(node)
        self._ordered[str(node)] = [since, when + _STOPPED]
        self._order_ends("any", when + _STOPPED)
        if match["again"] and not ordered and not self._is_down(node):
            advice = "look at the lines before it in the node's own log"
            self._end(node, line, "ended and restarts", NO_ORDER, advice)

    def _on_not_stopped(self, _: re.Match[str], line: lines.Line) -> None:
        """Take back the order: the node goes on."""
        self._order_ends(str(line.node), line.moment)
        self._order_ends("any", line.moment)

    def _on_beginning(self, match: re.Match[str], line: lines.Line) -> None:
        self._goes_on(match, line, "starting")

    def _on_back(self, match: re.Match[str], line: lines.Line) -> None:
        self._goes_on(match, line, "back")

    def _on_connected(self, match: re.Match[str], line: lines.Line) -> None:
        """Take a node that others thought dead for back if it is an API node: there is no other sign."""
        down = self._down.get(number(match["peer"]))
        if down and down.by is not None:
            if down.by == line.node:
                self._goes_on(match, line, "back")
        elif down and down.hearsay:
            self._goes_on(match, line, "starting" if down.data_node else "back")

    def _on_checkpoint(self, match: re.Match[str], line: lines.Line) -> None:
        self._memory["checkpoint"] = [number(match["id"]), line.moment]

    def is_of_another_cluster(self, other: Shutdown) -> bool:
        """Whether two cluster logs are of two clusters, whose data nodes have the same numbers.

        Then these have other addresses, and the last local checkpoint is another one. All management nodes of
        one cluster log the same checkpoints, but may see its data nodes in two networks.
        """
        both = self.addresses.keys() & other.addresses.keys()
        if not both or any(self.addresses[node] == other.addresses[node] for node in both):
            return False
        (mine, when), (its, then) = (log.checkpoint for log in (self, other))
        return bool(mine and its) and (mine != its or abs(when - then) > WINDOW)

    @property
    def checkpoint(self) -> tuple[int, float]:
        """The last local checkpoint, and when it started; 0 if none was seen."""
        number_of, when = self._memory.get("checkpoint", (0, 0.0))
        return number_of, when

    LINES = (
        *Peers.LINES,
        Row(b"Local checkpoint", r"Local checkpoint (?P<id>\d+) started", _on_checkpoint),
        Row(b"Filesystem problem", _DISK_FULL, _on_disk_full),
        Row(b" shutdown ", FORCED, _on_forced),
        Row(b"Failed to allocate nodeid", _NO_ID, _on_not_started),
        Row(b"start as daemon, error", _NO_DAEMON, _on_not_started),
        Row(b"failed, exiting", _NO_MEMORY, _on_no_memory),
        Row(b"too many startup failures", _GAVE_UP, _on_gave_up),
        Row(b"Child process terminated", r"Child process terminated by signal (?P<signal>\d+)", _on_killed),
        Row(b" shutdown ", r"(?:Node|(?P<all>Cluster)) shutdown initiated", _on_order),
        Row(b"shutdown handover", r"shutdown handover", _on_handover),
        Row(b" shutdown ", r"Node shutdown completed(?P<again>, restarting)?", _on_completed),
        Row(b" shutdown aborted", r"Node shutdown aborted", _on_not_stopped),
        Row(b"Angel pid: ", r"Angel pid: \d+ started child", _on_beginning),
        Row(b"Start initiated", r"Start initiated", _on_beginning),
        Row(PEER_WORD, PEER + "Allocated node id", _on_beginning),
        Row(b"Started (", r"Started \(", _on_back),
        Row(b"Node started", r"Node started$", _on_back),
        Row(b"Start phase  completed", r"Start phase 101 completed", _on_back),
        Row(b"has completed its restart", r"Node (?P<peer>\d+) has completed its restart", _on_back),
        Row(PEER_WORD, PEER + "Restart completed", _on_back),
        Row(b" Connected", r"Node (?P<peer>\d+) Connected", _on_connected),
        Row(b"Communication to Node ", r"Communication to Node ", lambda *_: None),  # see read()
        Row(
            b" allocated for NDB",
            r"Nodeid (?P<id>\d+) allocated for NDB(?: at (?P<address>\S+))?",
            _on_allocated,
        ),
        Row(b"Management Server ", r"MySQL Cluster Management Server .* started", _on_management_start),
        Row(b" shutdown completed - ", r"Error handler shutdown completed - ", _on_stopped),
        Row(b"Received signal ", r"Received signal (?P<signal>\d+)\. Running error", _on_signal),
        Row(b"no arbitrator", r"Network partitioning - no arbitrator ", _on_alone),
    )

    def _goes_on(self, match: re.Match[str], line: lines.Line, phase: str) -> None:
        peer = match.groupdict().get("peer")
        node = number(peer) if peer else line.node
        down = self._down.get(node)
        if node is not None and not peer:
            self._starts_or_has_started(node, line, phase)
            down = self._down.get(node)
        if phase == "starting":  # what breaks now is a failure of the start
            self._order_ends(str(node), line.moment + WINDOW)
        if phase == "back":
            self._full.pop(str(node), None)
            self._ordered.pop("any", None)  # the handover is over
            self._order_ends(str(node), line.moment)
        if down and down.phase != "back":
            self._change(node, phase=phase, since=line.moment, since_clock=line.clock)

    def _starts_or_has_started(self, node: int, line: lines.Line, phase: str) -> None:
        """Note an end that nobody logged: what is up does not start.

        A management node that only saw a connection break and come back did not know of the end, either.
        """
        down = self._down.get(node)
        if phase == "back":
            self._up += [node] if node not in self._up else []
            return
        ordered = self.has_ordered(str(node), line.moment) or self.has_ordered("any", line.moment)
        if down and down.by is not None and line.moment - down.when <= _UNSEEN:
            advice = "check uptime and dmesg of its machine"
            self._change(node, by=None, phase="down", advice=advice)
            self.times.append([line.moment, node])
        elif node in self._up and not ordered:
            why, advice = NO_SHUTDOWN, "check uptime and dmesg of its machine"
            self._end(node, line, "ended", why, advice)
            self._change(node, at="before")
        self._ended(node)
