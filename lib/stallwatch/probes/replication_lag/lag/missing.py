"""Transactions that the source itself says are missing: since when, by what it said at earlier looks."""

from __future__ import annotations

from itertools import pairwise

from stallwatch.probes.replication_lag.lag.model import (
    ASKED_SOURCE,
    COMMIT_TIME,
    LATE,
    SOURCE_HISTORY,
    Figure,
)
from stallwatch.startup import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Sequence

    from stallwatch.probes.replication_lag.lag.model import View

    Look = tuple[float, float]  # seconds ago, the source's sequence

_STEADY = 2.0  # times the usual pace of a source: more is a burst
_USUAL = 3  # intervals between looks that tell what is usual


class _Upstream(NamedTuple):
    """How late our direct source had the last transaction; seconds."""

    seconds: float
    arrived: float  # ago


def nothing(view: View) -> Figure | None:
    """Find no lag on this hop where the source has nothing that the replica has not applied.

    How late the source has it itself still shows in the last transaction. An old event in hand disproves it.
    """
    source = view.snapshot.source
    if source is None or source.missing != 0 or (view.works and view.said > LATE):
        return None
    upstream = _upstream(view)
    if upstream is None or upstream.seconds <= LATE:
        return Figure(0.0, 0.0, 0.0, ASKED_SOURCE, 0.0, 0.0)
    seconds = upstream.seconds
    return Figure(seconds, 0.0, seconds + upstream.arrived, COMMIT_TIME, 0.0, seconds)


def _upstream(view: View) -> _Upstream | None:
    """Tell how late the direct source had the last transaction; None: no commit time tells, or not lately."""
    commits = view.snapshot.commits
    if commits is None or commits.queued_commit is None or commits.queued_sent is None:
        return None
    arrived = max(0.0, commits.now - (commits.queued_at or 0.0))
    if not view.is_fresh(arrived):
        return None
    return _Upstream(max(0.0, commits.queued_sent - commits.queued_commit), arrived)


def by_history(view: View) -> Figure | None:
    """Tell when the source was where the replica is now, between two looks at it; None: no look tells.

    A lag older than the oldest look is at least that old.
    """
    source, before = view.snapshot.source, view.snapshot.before
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
            seconds = earlier + (later - earlier) * share
            if not later and _may_be_a_burst(view, looks):
                seconds = min(seconds, _at_its_pace(view))
            return _figure(view, max(seconds, later), later, earlier)
    return _figure(view, 0.0, 0.0, looks[-2][0])


def _may_be_a_burst(view: View, looks: Sequence[Look]) -> bool:
    """Whether what is missing may be much younger than the last look, on a link that works.

    Other rules know how old it is at most where an event is in hand, or commit times are known.
    """
    commits = view.snapshot.commits
    if view.works or (commits and commits.queued_sent is not None):
        return False
    if view.hearing.silent or not view.channel.receiver.runs:
        return False
    usual = _rate(looks[-2 - _USUAL :][0], looks[-2])
    return _rate(*looks[-2:]) > _STEADY * usual


def _rate(then: Look, now: Look) -> float:
    """Give how much the source wrote in a second between two looks; 0.0: these are one."""
    seconds = then[0] - now[0]
    return (now[1] - then[1]) / seconds if seconds > 0 else 0.0


def _at_its_pace(view: View) -> float:
    """Give the seconds in which the source writes what is missing; 0.0 if it has ended: all of it is new."""
    source = view.snapshot.source
    if source is None or source.sequence is None or source.replica_sequence is None or not source.pace:
        return 0.0
    return (source.sequence - source.replica_sequence) / source.pace


def _figure(view: View, seconds: float, low: float, high: float | None) -> Figure:
    return Figure(seconds, low, high, SOURCE_HISTORY, seconds if _is_all_on_its_way(view) else None)


def _is_all_on_its_way(view: View) -> bool:
    source = view.snapshot.source
    if source is None or source.missing is None:
        return not view.has_backlog
    return source.missing == source.not_received
