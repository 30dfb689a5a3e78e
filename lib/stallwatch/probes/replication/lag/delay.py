"""An intended delay (SOURCE_DELAY, MASTER_DELAY): an event that waits for it tells its age (rule E10)."""

from __future__ import annotations

from stallwatch.probes.replication.lag.figure import COMMIT_TIME, SECONDS_BEHIND, WHOLE, Figure
from stallwatch.startup import TYPE_CHECKING

if TYPE_CHECKING:
    from stallwatch.probes.replication.lag.view import View

_MARGIN = 10.0  # seconds by which a delay may be missed


def waiting(view: View) -> Figure | None:
    """Tell the age of the event that the applier holds back: the part of the delay that is over.

    Workers are idle meanwhile, so commit times alone would say that nothing is to be done. But a worker
    may hang in what it was given before, while the next event waits for its time (MariaDB 10.11.19 with
    slave_parallel_threads=4 and a row lock: for as long as the queue of that worker has room).
    """
    channel = view.channel
    if channel.remaining_delay is None or not channel.applier.runs:
        return None
    age = max(0.0, channel.delay - channel.remaining_delay)
    held = _given_to_a_worker(view)
    if held is not None and held.seconds is not None and held.seconds > age:
        return held
    return Figure(age, age, age, "intended delay", proven=_workers_tell(view))


def _workers_tell(view: View) -> bool:
    commits = view.evidence.commits
    return commits is not None and bool(commits.workers) and commits.is_complete


def _given_to_a_worker(view: View) -> Figure | None:
    """Tell how old the oldest transaction is that a worker has in hand; None: none is late."""
    commits = view.evidence.commits
    if commits is not None and _workers_tell(view):
        if commits.oldest_applying is None:
            return None
        age = max(0.0, commits.now - commits.oldest_applying + view.ahead)
        return Figure(age, age, age, COMMIT_TIME, proven=not view.guessed)
    if not view.works or view.said <= view.channel.delay + _MARGIN:
        return None
    return Figure(view.said, 0.0, view.said + WHOLE, SECONDS_BEHIND)


def is_not_kept(view: View) -> bool:
    """Whether something was applied that is younger than the delay: a safety net that is none."""
    if not view.channel.delay:
        return False
    evidence, ages = view.evidence, []
    if evidence.commits and evidence.commits.applied_commit is not None:
        ages.append(evidence.commits.now - evidence.commits.applied_commit + view.ahead)
    if evidence.heartbeat and not evidence.heartbeat.remark:
        ages.append(evidence.heartbeat.age + view.ahead)
    return any(age < view.channel.delay - _MARGIN for age in ages)
