"""What the last transaction that came says of the stream of them."""

from __future__ import annotations

from stallwatch.probes.replication.lag.figure import FRESH
from stallwatch.startup import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from stallwatch.probes.replication.lag.view import View

_GAPS = 3  # usual gaps between transactions for which the last arrival speaks for the stream


class Upstream(NamedTuple):
    """How late our direct source had the last transaction; seconds."""

    seconds: float
    arrived: float  # ago


def is_fresh(view: View, arrived: float) -> bool:
    """Whether a transaction that came so many seconds ago speaks for those that may come now."""
    gap = (view.evidence.before.transaction_gap if view.evidence.before else None) or 0.0
    return arrived < max(FRESH, _GAPS * gap)


def upstream(view: View) -> Upstream | None:
    """Tell how late the direct source had the last transaction; None: no commit time tells, or not lately."""
    commits = view.evidence.commits
    if commits is None or commits.queued_commit is None or commits.queued_sent is None:
        return None
    arrived = max(0.0, commits.now - (commits.queued_at or 0.0))
    if not is_fresh(view, arrived):
        return None
    return Upstream(max(0.0, commits.queued_sent - commits.queued_commit), arrived)
