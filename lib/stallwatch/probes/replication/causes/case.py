"""What the rules look at, and what they come to."""

from __future__ import annotations

from stallwatch.startup import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from stallwatch.probes.replication.causes.signals import Signals
    from stallwatch.probes.replication.evidence import Evidence
    from stallwatch.probes.replication.lag import Lag
    from stallwatch.probes.replication.trend import Trend


class Cause(NamedTuple):
    """One thing that explains a lag, with its evidence in a few words."""

    rule: str  # "R8"
    score: float  # 20 (good to know) to 100 (a thread failed), see CONTRIBUTING; the highest is told first
    what: str  # "mariabackup pid 26920 for 2 h, sda 97 % busy"
    advice: str = ""  # one next step
    explains: bool = True  # whether it makes replication slow; else it is only worth knowing beside it


class Case(NamedTuple):
    """One channel that lags, or whose threads are down, and the signals of its server."""

    evidence: Evidence
    lag: Lag
    trend: Trend | None
    signals: Signals
    stopped: float = 0.0  # seconds that the applier has been seen not to run
