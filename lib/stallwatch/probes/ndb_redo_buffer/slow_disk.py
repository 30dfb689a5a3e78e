"""Disks that are too slow though no redo buffer is full: which files show it, and how certain that is.

A data node measures its reads and writes of pages, its waits for the undo log, and whether redo writes lag.
Two of these together leave no doubt, nor does redo that lags; one alone may be a node without a processor.
"""

from __future__ import annotations

from stallwatch.causes import Certainty, Kind, Rule, judged
from stallwatch.findings import State
from stallwatch.history.streak import twice
from stallwatch.startup import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from stallwatch.causes import Cause, Subject
    from stallwatch.probes.ndb_redo_buffer.diagnosis import Alerts
    from stallwatch.probes.ndb_redo_buffer.hosts import Busy
    from stallwatch.probes.ndb_redo_buffer.pages import Pages
    from stallwatch.probes.ndb_redo_buffer.queries import Lag

DATA, UNDO, REDO = "slow_pages", "slow_undo", "redo_lagged"  # quantities, in the order of their display
UNDO_BUFFER = "undo_buffer"
FILES = {DATA: "data", UNDO: "undo", REDO: "redo"}
KINDS = {DATA: ("page_reads", "page_writes"), UNDO: ("log_waits",)}
_SURE = 2  # kinds of evidence


class Waits(NamedTuple):
    """What one data node's disks were waited for."""

    node: int
    pages: Pages | None = None
    lag: Lag | None = None  # of redo writes, since the last run
    busy: Busy | None = None  # its disk, if that is one of this host
    undo_buffer: float | None = None  # per cent, where there is one

    def percent(self, quantity: str) -> float | None:
        """Return a quantity; None: it is not known, or there was nothing to measure."""
        if quantity == REDO:
            return round(100 * self.lag.seconds / self.lag.of, 1) if self.lag and self.lag.of else None
        found = self.pages.long(*KINDS[quantity]) if self.pages else None
        return found[1].percent if found else None

    def is_critical(self, quantity: str, alerts: Alerts) -> bool:
        """Whether a quantity is critical now: what was seen last may be over."""
        over = quantity != REDO and self.pages is not None and self.pages.until
        return not over and alerts(quantity, self.percent(quantity), State.CRITICAL)

    def slow(self, alerts: Alerts) -> list[str]:
        """Return the quantities that alert; an undo buffer that stays full waits for the undo log, too."""
        stays = {UNDO} if alerts(UNDO_BUFFER, self.undo_buffer) else set()
        return [name for name in FILES if name in stays or alerts(name, self.percent(name))]


class Slow(NamedTuple):
    """The evidence: a node's waits, and which quantities alert."""

    waits: Waits
    quantities: list[str]


def _is_the_disk(evidence: Slow) -> Mapping[str, Any] | None:
    """Find enough that nothing else is left; of several disks, these files may be on another one."""
    busy, slow = evidence.waits.busy, evidence.quantities
    trouble = bool(busy and busy.is_slow and busy.is_only)
    return {"files": slow} if REDO in slow or len(slow) + trouble >= _SURE else None


RULES = (
    Rule(Kind.SLOW_DISK, Certainty.CERTAIN, "several_files_wait", _is_the_disk),
    Rule(Kind.SLOW_DISK, Certainty.LIKELY, "files_wait", lambda evidence: {"files": evidence.quantities}),
)


def cause(waits: Waits, slow: list[str], subject: Subject) -> Cause:
    """Return why files of a node wait, of which ``slow`` names the quantities that alert."""
    return judged(RULES, Slow(waits, slow), subject)[0]


def lasting(
    waits: Mapping[int, Waits], alerts: Alerts, memory: dict[str, Any], now: float
) -> dict[str, set[int]]:
    """Find, by quantity, the nodes on which it is critical in the second run in a row."""
    found = {}
    for name in FILES:
        critical = {node for node, one in waits.items() if one.is_critical(name, alerts)}
        found[name] = twice(memory, name, critical, now)
    return found
