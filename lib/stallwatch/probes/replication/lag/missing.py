"""Transactions that the source itself says are missing: since when, by what it said at earlier looks."""

from __future__ import annotations

from itertools import pairwise
from math import inf

from stallwatch.probes.replication.lag.figure import Figure

TYPE_CHECKING = False
if TYPE_CHECKING:
    from stallwatch.probes.replication.evidence import Source
    from stallwatch.probes.replication.lag.view import View

_BY = "source's history"


def nothing(view: View) -> Figure | None:
    """Find no lag where the source has nothing that the replica has not applied, whatever else is said."""
    source = view.evidence.source
    if source is None or source.missing != 0:
        return None
    return Figure(0.0, 0.0, 0.0, "asked the source", 0.0, 0.0)


def by_history(view: View) -> Figure | None:
    """Tell when the source was where the replica is now, between two looks at it; None: no look tells.

    A lag older than the oldest look is at least that old.
    """
    source, before = view.evidence.source, view.evidence.before
    if source is None or source.sequence is None or source.replica_sequence is None or before is None:
        return None
    here = source.replica_sequence
    looks = [look for look in before.source_history if look[1] <= source.sequence]
    looks.append((0.0, source.sequence))
    if len(looks) == 1:
        return None
    if here < looks[0][1]:
        return _figure(view, looks[0][0], looks[0][0], None)
    for (earlier, below), (later, above) in pairwise(looks):
        if below <= here < above:
            share = (here + 1 - below) / (above + 1 - below)  # where the first that is missing is expected
            seconds = min(earlier + (later - earlier) * share, _at_its_pace(source))
            return _figure(view, max(seconds, later), later, earlier)
    return _figure(view, 0.0, 0.0, looks[-2][0])


def _at_its_pace(source: Source) -> float:
    """Give the seconds in which the source writes what is missing: a burst is younger than the last look."""
    return source.missing / source.pace if source.missing and source.pace else inf


def _figure(view: View, seconds: float, low: float, high: float | None) -> Figure:
    source = view.evidence.source
    nothing_here = source is not None and source.missing == source.not_received
    return Figure(seconds, low, high, _BY, seconds if nothing_here else None)
