"""The appliers of a case's channel, over the looks at the process list."""

from __future__ import annotations

from stallwatch.probes.replication.causes import states

TYPE_CHECKING = False
if TYPE_CHECKING:
    import re

    from stallwatch.probes.replication.causes.case import Case
    from stallwatch.probes.replication.causes.processes import Process
    from stallwatch.probes.replication.causes.transactions import Transaction


def appliers(case: Case) -> list[list[Process]]:
    """Give the appliers at each look: of this channel on MySQL with performance_schema, else of all."""
    own = _own(case)
    return [
        [one for one in look.processes if one.applies and (not own or one.id in own)]
        for look in case.signals.looks
    ]


def _own(case: Case) -> set[int]:
    """Find the process list ids of the channel's threads; none: nothing tells them apart."""
    commits = case.evidence.commits
    if not commits:
        return set()
    threads = {commits.coordinator_thread, *(worker.thread for worker in commits.workers)} - {None}
    return {one.id for one in case.signals.threads if one.thread in threads}


def lasting(case: Case, state: re.Pattern[str]) -> Process | None:
    """Find an applier in this state, if in most looks there is one: two of three, or the only one."""
    found = [[one for one in look if state.search(one.state)] for look in appliers(case)]
    seen = [look for look in found if look]
    if not seen or 2 * len(seen) <= len(found):
        return None
    return max(seen[-1], key=lambda one: one.seconds)


def share(case: Case, state: re.Pattern[str]) -> float:
    """Tell in what part of all sightings of a busy applier it is in this state, 0 to 1."""
    busy = [one for look in appliers(case) for one in look if is_busy(one)]
    return sum(bool(state.search(one.state)) for one in busy) / len(busy) if busy else 0.0


def is_busy(one: Process) -> bool:
    """Whether it works itself: an idle one does not, nor a coordinator, nor who waits for its turn."""
    return not any(state.search(one.state) for state in (states.IDLE, states.COORDINATES, states.ORDER))


def busy(case: Case) -> float:
    """Tell how many appliers are at work on average."""
    looks = appliers(case)
    return sum(is_busy(one) for look in looks for one in look) / len(looks) if looks else 0.0


def is_idle(case: Case) -> bool:
    """Whether there is nothing to apply, as the applier itself says."""
    return bool(states.IDLE.search(case.evidence.channel.applier.state))


def transactions(case: Case) -> list[list[Transaction]]:
    """Give the appliers' transactions at each look."""
    return [
        [one for one in look.transactions if one.process in {applier.id for applier in at_work}]
        for look, at_work in zip(case.signals.looks, appliers(case), strict=True)
    ]
