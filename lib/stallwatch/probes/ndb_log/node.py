"""What a log tells of its own data node: the number, the threads, the starts, the load."""

from __future__ import annotations

import os

from stallwatch.probes.ndb_log.lines import compiled, number
from stallwatch.startup import TYPE_CHECKING

if TYPE_CHECKING:
    import re
    from typing import Any

    from stallwatch.probes.ndb_log.lines import Line

_FILE = r"ndb_(\d{1,5})_out"
_THREAD = r"thr: (\d+) tid: \d+ \((\w+)\)"
_INTERVAL = r"WatchDog timer is set to (\d+) ms"
_OPERATIONS = r"Operations=(\d+)$"
# What a new process says before it lists its threads.
_BEGINS = r"(?P<child>Angel pid: \d+ started child)|NDB Cluster -- DB node (?P<node>\d+)|Start initiated"
_READY = r"Started \(|Node started$|Start phase 101 completed"
_ENDED = r"Forced node shutdown completed|Node shutdown completed|Child (?:process|has) terminated"
_LONGEST_START = 3600.0  # seconds; old versions do not say when they are ready
_LONGEST_INTERVAL = 2**32 / 1000  # seconds: milliseconds in 32 bits
_FRESH = 60.0  # seconds for which a report of the load says something about a stuck thread


class Node:
    """The node whose log this is; ``memory`` is the JSON object that it keeps between runs."""

    WORDS = (
        b"thr: ",
        b"WatchDog timer is set to ",
        b"Angel pid: ",
        b"NDB Cluster -- DB node ",
        b"Start initiated",
        b"Started (",
        b"Node started",
        b"Start phase  completed",
        b"ode shutdown completed",
        b"Child has terminated",
    )
    CONTEXT = (b"Operations=",)

    def __init__(self, path: str, memory: dict[str, Any]) -> None:
        self._memory = memory
        self._roles: dict[str, str] = dict(memory.get("roles", {}))
        memory["roles"] = self._roles
        if not 0 <= memory.get("interval", 0) <= _LONGEST_INTERVAL:
            raise ValueError(memory["interval"])
        if "id" in memory:
            memory["id"] = int(memory["id"])
        self._load: tuple[float | None, int] | None = None
        self._now: float | None = None  # the time of the last line that had one
        if match := compiled(_FILE).search(os.path.basename(path)):
            memory.setdefault("id", number(match[1]))

    @property
    def id(self) -> int | None:
        """The node's number, from the name of the log or its start-up lines; None in a cluster log."""
        return self._memory.get("id")

    @property
    def is_cluster_log(self) -> bool:
        """Whether a management node wrote the log: then each line names its node."""
        return bool(self._memory.get("cluster"))

    @property
    def starting(self) -> bool:
        """Whether the node's process has begun and has not said that it is started."""
        begun = self._memory.get("starting")
        return begun is not None and self._now is not None and self._now - begun <= _LONGEST_START

    @property
    def watchdog_interval(self) -> float | None:
        """TimeBetweenWatchDogCheck in seconds, as the node said it at its start."""
        return self._memory.get("interval")

    @property
    def prefix(self) -> str:
        """The node's name and a blank, to begin a sentence with; empty where the node is not known."""
        return "" if self.id is None else f"node {self.id} "

    def thread(self, number: int | None) -> str:
        """Name a thread of the node: "node 4 thread 2 (ldm)"."""
        if number is None:  # up to 6.x there was only one
            return f"{self.prefix}kernel thread"
        role = self._roles.get(str(number))
        return f"{self.prefix}thread {number}{f' ({role})' if role else ''}"

    def load(self, when: float | None) -> int | None:
        """Operations that the node last reported before ``when``; None where the log does not show it."""
        if self._load is None or when is None or self._load[0] is None:
            return None
        return self._load[1] if abs(when - self._load[0]) <= _FRESH else None

    def hear(self, line: Line) -> bool:
        """Take note of a line; true when a process ends or begins: then counters start at 0."""
        self._now = line.when or self._now
        if match := compiled(_THREAD).match(line.text):
            self._roles[match[1]] = match[2]
        elif match := compiled(_INTERVAL).match(line.text):
            self._memory["interval"] = number(match[1]) / 1000
        elif match := compiled(_OPERATIONS).match(line.text):
            self._load = (line.when, number(match[1]))
        elif match := compiled(_BEGINS).match(line.text):
            return not self.is_cluster_log and self._begin(match)
        elif compiled(_READY).match(line.text):
            self._memory["starting"] = None
        elif compiled(_ENDED).match(line.text):
            self._memory["starting"] = None
            return not self.is_cluster_log
        return False

    def is_written_by(self, source: str) -> None:
        """Learn from the source of a log's lines whose log it is."""
        if source.startswith("Mgm"):
            self._memory["cluster"] = True

    def _begin(self, match: re.Match[str]) -> bool:
        if match["node"]:
            self._memory["id"] = number(match["node"])
        if self.starting and not match["child"]:  # the process and its phases each say that they begin
            return False
        self._roles.clear()
        self._memory["starting"] = self._now
        return True
