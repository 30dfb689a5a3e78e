"""What the traffic of a node's page buffer comes to: its hit ratio, and how grave that is."""

from __future__ import annotations

from stallwatch.probes.ndb_page_buffer.traffic import READS
from stallwatch.startup import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable

    from stallwatch.probes.ndb_page_buffer.traffic import Traffic
    from stallwatch.thresholds import Range

HIT_RATIO = "hit_ratio"
DOUBTFUL = "doubtful_hit_ratio"  # a WARNING at most: critical if it lasts, and if the buffer is to blame


class Rules(NamedTuple):
    """How nodes are judged."""

    alerts: Callable[[str, float], bool]  # whether a threshold of that name alerts on that hit ratio
    critical: Range | None  # of the hit ratio, once it is confirmed
    confirm: int  # intervals in a row that do
    min_requests: int  # in an interval that is judged
    cold: float  # seconds since a node's start in which its buffer fills


class Judged(NamedTuple):
    """A node with enough requests to be judged. ``run`` counts the intervals in a row that were too low."""

    node: int
    traffic: Traffic
    ratio: float  # per cent
    uptime: float  # seconds
    rules: Rules
    run: int = 0

    @property
    def is_cold(self) -> bool:
        """Whether its buffer fills yet, after its start."""
        return self.uptime < self.rules.cold

    @property
    def is_excused(self) -> bool:
        """Whether a low ratio says nothing on the size of the buffer."""
        return self.is_cold or self.traffic.waits_for != READS

    @property
    def is_suspect(self) -> bool:
        """Whether it would be critical if it were sure."""
        return bool(self.rules.critical and self.rules.critical.alerts(self.ratio))

    @property
    def is_sure(self) -> bool:
        """Whether nothing speaks against a critical state."""
        return not self.is_excused and self.run >= self.rules.confirm

    @property
    def is_critical(self) -> bool:
        """Whether it is."""
        return self.is_suspect and self.is_sure

    @property
    def name(self) -> str:
        """The quantity whose thresholds judge it."""
        return DOUBTFUL if self.is_suspect and not self.is_sure else HIT_RATIO

    @property
    def is_low(self) -> bool:
        """Whether it is worth a warning at least."""
        return self.rules.alerts(self.name, self.ratio)


def worst_first(judged: list[Judged]) -> list[Judged]:
    """Put those that are critical first, then those with the lowest ratio."""
    return sorted(judged, key=lambda one: (not one.is_critical, one.ratio, one.node))
