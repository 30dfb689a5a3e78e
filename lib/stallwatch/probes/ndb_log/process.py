"""Whether the process that wrote a data node's log still runs on this host.

A node that is killed together with its angel writes no last line, and where all nodes end so, no other one
reports it. A log names its processes ("Angel pid: 996 started child: 1004"). One
that an earlier run has seen, and that is gone without a last word, has ended. Processes that were never seen
prove nothing: the log may be a copy, or that of a container.
"""

from __future__ import annotations

from stallwatch.sources import data_nodes, processes
from stallwatch.startup import TYPE_CHECKING

if TYPE_CHECKING:
    from typing import Any

    from stallwatch.probes.ndb_log.model import Node


class Process:
    """The angel and the node proper of one log; ``memory`` keeps which were seen, and when they started."""

    def __init__(self, node: Node, memory: dict[str, Any]) -> None:
        self._node = node
        self._memory = memory
        self._ended: list[int] = []

    def look(self) -> None:
        """See before the log is read whether those of the last run still are there.

        Their last lines are in the log then.
        """
        seen = self._memory.get("seen", {})
        alive = _alive([int(pid) for pid in seen])
        if seen and not any(alive.get(pid) == started for pid, started in seen.items()):
            self._ended = [] if processes.are_hidden() else sorted(int(pid) for pid in seen)

    def keep(self) -> None:
        """Remember which of the processes that the log named last are there."""
        alive = _alive(self._node.pids)
        self._memory["seen"] = alive
        self._node.is_seen = bool(alive)

    @property
    def gone(self) -> int | None:
        """The node's process, if it is gone and the log neither shows its end nor of another start."""
        return self._ended[-1] if self._ended and self._ended == sorted(self._node.pids) else None


def _alive(pids: list[int]) -> dict[str, float]:
    """Return those of these processes that run as data nodes, with the seconds from boot to each start."""
    tasks = {pid: processes.task(pid) for pid in pids}
    return {
        str(pid): task.started
        for pid, task in tasks.items()
        if task and task.name in data_nodes.PROGRAMS and task.state != processes.ENDED
    }
