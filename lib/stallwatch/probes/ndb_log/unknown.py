"""Lines of level WARNING or above that no rule knows: counted, and the newest is shown."""

from __future__ import annotations

from stallwatch import withheld
from stallwatch.findings import Fault, Finding, Reading, State
from stallwatch.line import shorten
from stallwatch.probes.ndb_log.model import Reader, Readers, Subject
from stallwatch.startup import TYPE_CHECKING, NamedTuple
from stallwatch.words import plural

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from typing import Any

    from stallwatch.probes.ndb_log.lines import Line
    from stallwatch.probes.ndb_log.model import Node, Present

LEVELS = frozenset({b"] WARNING ", b"] ERROR ", b"] CRITICAL ", b"] ALERT "})  # in a line, for the first look
_KEPT = 1000  # lines of which the time is kept
_SHOWN = 300  # bytes of the newest


class _Known(NamedTuple):
    """A kind of line that is no problem in itself, or that other lines show better."""

    word: bytes
    pattern: str


# The texts are those of NDB 9.7.2 and of the recorded logs.
_HARMLESS = (
    # An API node that goes, or the end of a data node, which other lines show
    _Known(b" Disconnected", r"Node \d+ Disconnected$"),
    _Known(b"Node failure of ", r"Node failure of \d+ \w+ completed$"),
    _Known(b"completed failure of Node", r"(?:Node \d+|All nodes) completed failure of Node \d+$"),
    _Known(b"rbitration ", r"Network partitioning - arbitration required$"),
    _Known(b"rbitration ", r"Arbitration (?:check )?won - "),
    _Known(b"Unable to report shutdown reason", r"Unable to report shutdown reason to "),
    # What belongs to a line before it
    _Known(b"Cluster may be partially connected", r"Cluster may be partially connected\. Connected nodes:"),
    _Known(b"] WARNING ", r"[\d,]+$"),
    _Known(b"Unable to alloc min memory", r"Unable to alloc min memory from OS: "),
    _Known(b"error log file", r"Unable to (?:read or write|open) error log file: "),
    _Known(b"] ERROR ", r"Time: \w+ \d+ \w+ \d+ - "),
    # Settings of a node that starts
    _Known(b"Running ndbd with a single thread", r"Running ndbd with a single thread of"),
    _Known(b"Setting ODirect", r"Setting ODirect have failed for "),
    _Known(b"ticked backwards", r".*ticked backwards:? \d{1,3}\b"),
    _Known(b"monotonic timer", r"A monotonic timer was not available"),
    # Numbers of nodes that a management node keeps for others
    _Known(b"nodeid reservation", r"Found timedout nodeid reservation for \d+, releasing it$"),
    _Known(b"Releasing node id", r"Releasing node id allocation for node \d+$"),
)


class Unknown(Subject):
    """The warnings of one log that no rule of its subjects knows."""

    EVERY_LINE = True
    LINES = _HARMLESS

    def __init__(
        self, node: Node, present: Present, memory: dict[str, Any], readers: Sequence[Reader]
    ) -> None:
        """Take every line for known that one of ``readers`` understands."""
        super().__init__(node, present, memory)
        self._readers = Readers((*readers, self))
        self._times: list[float] = [float(when) for when in memory.get("times", ())]
        self._newest: list[str] = memory.get("newest", ["", ""])

    def read(self, line: Line) -> None:
        """Count the line if its level is WARNING or above and nobody understands it."""
        if not line.grave or any(reader.matching(line) for reader in self._readers.of(line)):
            return
        self._times = [*self._times, *[line.moment] * min(line.times, _KEPT)][-_KEPT:]
        speaker = "" if line.node is None else f"node {line.node}: "
        self._newest = [line.clock, speaker + shorten(line.text, _SHOWN)]

    def keep(self) -> None:
        """Put into the memory what still counts."""
        self._times = [when for when in self._times if self._present.holds(when)]
        self._memory.update(times=self._times, newest=self._newest)

    @property
    def newest(self) -> tuple[float, str] | None:
        """When the newest was written, and its text; None if there is none."""
        if not self._times:
            return None
        clock, text = self._newest
        return self._times[-1], f"{self._present.at(clock, self._times[-1])}: {withheld.message(text)}"

    @property
    def count(self) -> int:
        """How many there are."""
        return len(self._times)


def of_unknown(logs: Sequence[Unknown]) -> Iterator[Finding]:
    """Yield the number of all logs, and the newest line."""
    count = sum(log.count for log in logs)
    yield Reading("unknown_warnings", count, what=f"warnings that no rule knows: {count}")
    if newest := max((log.newest for log in logs if log.newest), default=None):
        yield Fault(State.OK, f"{unknown_warnings(count)}, the newest{newest[1]}")


def unknown_warnings(count: int) -> str:
    """Return how many there are."""
    return f"{plural(count, 'warning')} that no rule knows"
