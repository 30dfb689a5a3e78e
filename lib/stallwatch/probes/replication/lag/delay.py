"""An intended delay (SOURCE_DELAY, MASTER_DELAY): an event that waits for it tells its age (rule E10)."""

from __future__ import annotations

from stallwatch.probes.replication.lag.figure import Figure

TYPE_CHECKING = False
if TYPE_CHECKING:
    from stallwatch.probes.replication.lag.view import View

_MARGIN = 10.0  # seconds by which a delay may be missed


def waiting(view: View) -> Figure | None:
    """Tell the age of the event that the applier holds back: the part of the delay that is over.

    Workers are idle meanwhile, so commit times alone would say that nothing is to be done.
    """
    channel = view.channel
    if channel.remaining_delay is None or not channel.applier.runs:
        return None
    age = max(0.0, channel.delay - channel.remaining_delay)
    return Figure(age, age, age, "intended delay")


def is_not_kept(view: View) -> bool:
    """Whether something was applied that is younger than the delay: a safety net that is none."""
    evidence, ages = view.evidence, []
    if evidence.commits and evidence.commits.applied_commit is not None:
        ages.append(evidence.commits.now - evidence.commits.applied_commit + view.ahead)
    if evidence.heartbeat and not evidence.heartbeat.remark:
        ages.append(evidence.heartbeat.age + view.ahead)
    return any(age < view.channel.delay - _MARGIN for age in ages)
