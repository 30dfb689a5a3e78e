"""What one log tells, from run to run."""

from __future__ import annotations

from contextlib import suppress

from stallwatch.probes.ndb_log.backups import Backups
from stallwatch.probes.ndb_log.contention import Contention
from stallwatch.probes.ndb_log.incidents import Incidents
from stallwatch.probes.ndb_log.lines import GarbledError, parse, speaks_ndb
from stallwatch.probes.ndb_log.node import Node
from stallwatch.probes.ndb_log.oversleep import Oversleeps
from stallwatch.probes.ndb_log.redo import Redo
from stallwatch.probes.ndb_log.shapes import Shapes
from stallwatch.probes.ndb_log.shutdown import Shutdown
from stallwatch.probes.ndb_log.watchdog import DEFAULT_INTERVAL, Watchdog
from stallwatch.startup import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from stallwatch.findings import Finding
    from stallwatch.probes.ndb_log import Settings
    from stallwatch.probes.ndb_log.moments import Present

_SUBJECTS = (Node, Shutdown, Incidents, Redo, Watchdog, Oversleeps, Contention, Backups)
_BACK = 65536  # bytes to look back for the time of a line that has none
WORDS = frozenset(word for subject in _SUBJECTS for word in subject.WORDS)


class Story:
    """One log's tale: its node and what befell it; ``memory`` is the JSON object kept between runs."""

    def __init__(self, path: str, memory: dict[str, Any], present: Present) -> None:
        def part(name: str) -> dict[str, Any]:
            kept: dict[str, Any] = memory.setdefault(name, {})
            return kept

        self.path = path
        self.garbled = 0  # lines with numbers that nobody can have written
        self._memory = memory
        self._present = present
        self._shapes = Shapes(WORDS, Node.CONTEXT)
        self.node = Node(path, part("node"))
        self.shutdown = Shutdown(self.node, present, part("shutdown"))
        self._incidents = Incidents(self.node, present, part("incidents"))
        self.redo = Redo(self.node, present, part("redo"))
        self.watchdog = Watchdog(self.node, present, part("watchdog"))
        self._oversleeps = Oversleeps(self.node, present, part("oversleeps"))
        self._contention = Contention(self.node, present, part("contention"))
        self.backups = Backups(present, part("backups"))
        self._topics = (
            self.shutdown, self._incidents, self.redo, self.watchdog, self._oversleeps, self._contention,
        )  # fmt: skip

    @property
    def lines(self) -> int:
        """How many lines were read in this run."""
        return self._shapes.lines

    @property
    def is_ndb(self) -> bool:
        """Whether any line so far, in this run or before, was one of an NDB process."""
        return bool(self._memory.get("ndb"))

    def read(self, block: bytes) -> None:
        """Take in a block of whole lines."""
        if not self.lines:
            self._meet(block)
        if not self.is_ndb and speaks_ndb(block):
            self._memory["ndb"] = True
        before = 0
        for raw in self._shapes.pick(block):
            place = block.index(raw, before)
            try:
                self._hear(raw, block[before:place] if self._present.asks_before else b"")
            except GarbledError:
                self.garbled += 1
            before = place + len(raw)

    def keep(self) -> None:
        """Put into the memory what still counts."""
        for topic in self._topics:
            topic.keep()

    def forget(self) -> None:
        """Acknowledge everything up to here: only positions, threads and counters are kept."""
        for name in ("incidents", "redo", "watchdog", "oversleeps"):
            self._memory[name] = {}
        self._memory["shutdown"] = {"ordered": self._memory["shutdown"]["ordered"]}
        self._memory["contention"].pop("worst", None)

    def findings(self, settings: Settings) -> Iterator[Finding]:
        """Give all that still counts; without the shutdowns, of which other logs may tell, too."""
        yield from self._incidents.findings()
        yield from self.redo.findings()
        yield from self.watchdog.findings(
            settings.watchdog_interval or self.node.watchdog_interval or DEFAULT_INTERVAL
        )
        yield from self._oversleeps.findings()
        yield from self._contention.findings(settings.spin)

    def _meet(self, block: bytes) -> None:
        """Learn from the first whole line of a run whose log it is, and since when it tells anything."""
        for raw in block[:_BACK].split(b"\n"):
            with suppress(GarbledError):
                line = parse(raw)
                self.node.is_written_by(line.source)
                self.backups.begins(line)
                if line.source:
                    return

    def _hear(self, raw: bytes, before: bytes) -> None:
        line = parse(raw)
        if line.when is None and before:
            self._look_back(before)
        self._present.passes(line)
        self.node.is_written_by(line.source)
        if self.node.hear(line):
            for topic in self._topics:
                topic.begin()
        for topic in self._topics:
            topic.hear(line)
        self.backups.hear(line)

    def _look_back(self, before: bytes) -> None:
        """Find the time of the nearest line of those passed over before one that has no time."""
        for raw in reversed(before[-_BACK:].split(b"\n")):
            if raw[:1].isdigit():
                with suppress(GarbledError):
                    line = parse(raw)
                    if line.when is not None:
                        self._present.passes(line)
                        return
