"""What the traffic of a node's page buffer comes to: its hit ratio, and how grave that is."""

from __future__ import annotations

from typing import NamedTuple

from stallwatch.reading import State

TYPE_CHECKING = False  # typing itself costs every check 2 ms
if TYPE_CHECKING:
    from stallwatch.probes.ndb_page_buffer.traffic import Traffic
    from stallwatch.units import Range


class Limits(NamedTuple):
    """How nodes are judged."""

    warning: Range | None  # of the hit ratio
    critical: Range | None
    confirm: int = 3  # intervals in a row that make it critical
    min_requests: float = 1000  # in an interval that is judged
    cold: float = 1800.0  # seconds since a node's start in which its buffer fills

    def suspects(self, ratio: float) -> bool:
        """Whether this ratio is critical if it lasts."""
        return bool(self.critical and self.critical.alerts(ratio))

    def warns(self, ratio: float) -> bool:
        """Whether this ratio is worth a warning."""
        return self.suspects(ratio) or bool(self.warning and self.warning.alerts(ratio))


class Judged(NamedTuple):
    """A node with enough requests to be judged. ``run`` counts the intervals in a row that were too low."""

    node: int
    traffic: Traffic
    ratio: float  # per cent
    uptime: float  # seconds
    limits: Limits
    run: int = 0

    @property
    def is_cold(self) -> bool:
        """Whether its buffer fills yet, after its start."""
        return self.uptime < self.limits.cold

    @property
    def is_excused(self) -> bool:
        """Whether a low ratio says nothing on the size of the buffer."""
        return self.is_cold or self.traffic.waits_for_writes

    @property
    def is_suspect(self) -> bool:
        """Whether it would be critical if it were sure."""
        return self.limits.suspects(self.ratio)

    @property
    def is_low(self) -> bool:
        """Whether it is worth a warning at least."""
        return self.limits.warns(self.ratio)

    @property
    def counts(self) -> bool | None:
        """Whether this interval continues a run of low ones (True), breaks it, or tells nothing (None)."""
        return None if self.is_suspect and self.is_excused else self.is_suspect

    @property
    def is_sure(self) -> bool:
        """Whether nothing speaks against a critical state."""
        return not self.is_excused and self.run >= self.limits.confirm

    @property
    def state(self) -> State:
        """What it comes to: never critical before it is sure."""
        if self.is_suspect and self.is_sure:
            return State.CRITICAL
        return State.WARNING if self.is_low else State.OK


def worst_first(judged: list[Judged]) -> list[Judged]:
    """Put those in the worst state first, then those with the lowest ratio."""
    return sorted(judged, key=lambda one: (-one.state.gravity, one.ratio, one.node))
