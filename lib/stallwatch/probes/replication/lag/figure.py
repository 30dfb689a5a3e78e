"""A lag in seconds as one rule finds it, before anything is taken off it or said of it."""

from __future__ import annotations

from stallwatch.startup import NamedTuple

LATE = 2.0  # seconds on the way that are worth calling late
FRESH = 10.0  # seconds for which the last arrival speaks for the stream
WHOLE = 1.0  # Seconds_Behind is cut to whole seconds

SECONDS_BEHIND = "Seconds_Behind"
COMMIT_TIME = "commit time"
ASKED_SOURCE = "asked the source"
LAST_KNOWN = "last known"
SOURCE_HISTORY = "source's history"


class Figure(NamedTuple):
    """What one rule makes of the evidence; seconds, an intended delay included."""

    seconds: float | None  # None: something is late, but nothing tells how much
    low: float
    high: float | None  # None: no upper bound is known
    by: str
    transport: float | None = None  # of it: on its way from the source to our relay log, None: not known
    upstream: float | None = None  # of it: before the direct source
    proven: bool = False  # whether a larger Seconds_Behind is wrong for sure, not only something else


def at_most(*bounds: float | None) -> float | None:
    """Give the smallest of some upper bounds; None is no bound."""
    return min((bound for bound in bounds if bound is not None), default=None)
