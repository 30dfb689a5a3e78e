"""The lag from the commit times that MySQL 8 and later keep (rules E2 to E6a).

Measured on 8.0.46, 8.4.10 and 9.7.4 against a heartbeat: 1 s of error at most on average, wherever the link
lives.
"""

from __future__ import annotations

from stallwatch.probes.replication_lag.lag import from_source
from stallwatch.probes.replication_lag.lag.model import COMMIT_TIME, LATE, Figure, at_most
from stallwatch.startup import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    from stallwatch.probes.replication_lag.lag.model import View
    from stallwatch.probes.replication_lag.model import Commits

    Rule = Callable[["Moments"], Figure | None]


def figure(view: View) -> Figure | None:
    """Find the lag; None: there are no commit times (MySQL 5.7), or not of all (a source that old)."""
    commits = view.snapshot.commits
    if commits is None or not commits.is_complete:
        return None
    moments = Moments(view, commits)
    if moments.queued is None and moments.applied is None and moments.in_hand is None:
        return None
    return next((found for rule in _RULES if (found := rule(moments))), None)


class Moments:
    """The commit times of a channel as ages by one clock, in seconds; None: there is none."""

    def __init__(self, view: View, commits: Commits) -> None:
        self.view = view
        self.in_hand = self._age(commits.oldest_in_hand)
        self.is_applying = bool(commits.oldest_applying or commits.coordinator_commit)
        self.applied = self._age(commits.applied_commit)
        self.queued = self._age(commits.queued_commit)
        self.sent = self._age(commits.queued_sent)
        self.arrived = _between(commits.now, commits.queued_at)
        heard = _between(commits.now, commits.last_heartbeat)
        distant = view.snapshot.source is not None and view.snapshot.source.distant
        # All that was committed longer ago has been received; what the direct source has sent is not all.
        self.complete = self.queued if distant else at_most(self.sent, heard)

    def _age(self, at: float | None) -> float | None:
        age = self.view.age(at)
        return None if age is None else max(0.0, age)

    @property
    def transport(self) -> float | None:
        """How long the last transaction was on its way from the direct source."""
        return _between(self.sent, self.arrived)

    @property
    def upstream(self) -> float | None:
        """How long it took from the first server to the direct source."""
        return _between(self.queued, self.sent)

    @property
    def are_proof(self) -> bool:
        """Whether they show every transaction that came: of those in hand, or that none is left."""
        if self.view.guessed:
            return False
        if self.in_hand is not None:
            return True
        return self.applied is not None and self.queued is not None and self.applied <= self.queued

    def figure(self, seconds: float, low: float, high: float | None) -> Figure:
        """Make a figure of what waits for the applier."""
        return Figure(seconds, low, high, COMMIT_TIME, self.transport, self.upstream, self.are_proof)


def _between(larger: float | None, smaller: float | None) -> float | None:
    return None if larger is None or smaller is None else max(0.0, larger - smaller)


def _in_hand(moments: Moments) -> Figure | None:
    """E3: somebody works on a transaction, so the oldest of these is the lag.

    Unless it is the receiver alone: what waits for an applier is older. The appliers of a replica that gets a
    quarter of the processor time that it needs were seen between two transactions: 1.5 s, 28 true (9.7.2).
    """
    if moments.in_hand is None:
        return None
    if not moments.is_applying and (waiting := _waiting(moments)):
        return waiting
    return moments.figure(moments.in_hand, moments.in_hand, moments.in_hand)


def _waiting(moments: Moments) -> Figure | None:
    """E2 and E4: received transactions wait, and nobody works on them.

    The oldest one was committed after the last that was applied, and not after the last that was received.
    """
    view = moments.view
    if not view.snapshot.has_backlog or moments.queued is None:
        return None
    if moments.applied is not None and moments.applied <= moments.queued:
        return None  # applied in the moment between the two statements
    if view.snapshot.backlog == 1:
        return moments.figure(moments.queued, moments.queued, moments.queued)
    high = at_most(moments.applied, view.most())
    if high is None:
        return moments.figure(moments.queued, moments.queued, None)
    return moments.figure(max(high, moments.queued), moments.queued, max(high, moments.queued))


def _cut_off(moments: Moments) -> Figure | None:
    """E5: nothing is received, so what the source has done since is missing: not 0, and not unknown."""
    if moments.view.channel.receiver.runs or moments.complete is None:
        return None
    return _on_its_way(moments.complete, 0.0)


def _silent(moments: Moments) -> Figure | None:
    """E6: it looks connected, but no source is quiet for so long."""
    hearing = moments.view.hearing
    if not hearing.silent:
        return None
    late = hearing.age.low if moments.complete is None else moments.complete
    return _on_its_way(late, max(0.0, hearing.age.low - hearing.period))


def _history(moments: Moments) -> Figure | None:
    """Read it from earlier looks at the source: when was it where we are now?"""
    found = from_source.by_history(moments.view)
    if found is None or found.seconds is None or found.high is None:
        return None
    limit = at_most(found.high, moments.complete) or 0.0
    return found._replace(seconds=min(found.seconds, limit), low=min(found.low, limit), high=limit)


def _missing(moments: Moments) -> Figure | None:
    """Date what is missing, where there is no history, from the last contact."""
    if not moments.view.missing or moments.complete is None:
        return None
    return _on_its_way(moments.complete, 0.0)


def _late_stream(moments: Moments) -> Figure | None:
    """E6a: between two transactions of a late stream nothing is in hand, and yet all comes late."""
    if moments.arrived is None or not moments.view.is_fresh(moments.arrived):
        return None
    late = (moments.transport or 0.0) + (moments.upstream or 0.0)
    return moments.figure(late, 0.0, late + moments.arrived) if late > LATE else None


def _current(moments: Moments) -> Figure | None:
    """E6: all that came is applied, and the source was heard of: what it did since may be on its way."""
    if not moments.view.channel.receiver.runs:
        return None
    return Figure(0.0, 0.0, moments.complete, COMMIT_TIME, 0.0, 0.0, moments.are_proof)


def _on_its_way(seconds: float, low: float) -> Figure:
    return Figure(seconds, min(low, seconds), seconds, COMMIT_TIME, seconds)


_RULES: tuple[Rule, ...] = (
    _in_hand, _waiting, _history, _cut_off, _silent, _missing, _late_stream, _current,
)  # fmt: skip
