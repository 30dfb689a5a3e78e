"""A channel after the look: what was found, and what follows from it."""

from __future__ import annotations

from stallwatch.startup import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Sequence

    from stallwatch.probes.replication.causes import Cause
    from stallwatch.probes.replication.channel import Channel
    from stallwatch.probes.replication.evidence import Evidence
    from stallwatch.probes.replication.lag import Lag
    from stallwatch.probes.replication.threads import Standing
    from stallwatch.probes.replication.trend import Trend

WORTH_EXPLAINING = 5.0  # seconds of lag


class Judged(NamedTuple):
    """One channel, its lag, where that goes, and why."""

    evidence: Evidence
    lag: Lag
    standing: Standing
    trend: Trend | None = None
    causes: Sequence[Cause] = ()
    backup: float | None = None  # age in seconds of the running one that has stopped the applier

    @property
    def channel(self) -> Channel:
        """What its server says of it."""
        return self.evidence.channel

    @property
    def runs(self) -> bool:
        """Whether both threads do their work."""
        return self.channel.receiver.runs and self.channel.applier.runs

    @property
    def is_worth_explaining(self) -> bool:
        """Whether there is anything to find a cause for."""
        behind = self.lag.seconds is None or max(self.lag.seconds, self.lag.low) >= WORTH_EXPLAINING
        return behind or self.lag.silent or not self.runs

    @property
    def gravity(self) -> tuple[bool, bool, float]:
        """Rank among channels: what is down before what is silent before what lags."""
        return not self.runs, self.lag.silent, self.lag.seconds or self.lag.low
