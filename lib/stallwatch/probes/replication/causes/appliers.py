"""The appliers of a case's channel, over the looks at the process list."""

from __future__ import annotations

from stallwatch.probes.replication.causes import settings, states
from stallwatch.startup import TYPE_CHECKING

if TYPE_CHECKING:
    import re

    from stallwatch.probes.mysql.processes import Process
    from stallwatch.probes.replication.causes.case import Case
    from stallwatch.probes.replication.causes.transactions import Transaction


_WAITS = (states.GLOBAL_LOCK, states.METADATA_LOCK, states.FLUSH, states.OTHER_WAIT)


def appliers(case: Case) -> list[list[Process]]:
    """Give the appliers at each look: of this channel on MySQL with performance_schema, else of all.

    Where nothing tells them apart, a channel that applies alone and has nothing to do has none of them.
    """
    own = _own(case)
    if not own and is_idle(case) and not _side_by_side(case):
        return [[] for _ in case.signals.looks]
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


def are_of_channel(case: Case) -> bool:
    """Whether these are known to be the channel's own: because they are told apart, or it is alone."""
    last = case.signals.processes.values()
    coordinators = sum(one.command == "Slave_SQL" for one in last)  # MariaDB names them
    receivers = sum(one.is_system and not one.applies and one.command != "Daemon" for one in last)
    return bool(_own(case)) or max(coordinators, receivers) <= 1


def subject(case: Case) -> str:
    """Name the applier in a sentence."""
    return "the applier" if are_of_channel(case) else "an applier of this server"


def _side_by_side(case: Case) -> bool:
    known = settings.workers(case.signals.settings)
    return bool(known and known[1] > 1)


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


def waits(case: Case) -> bool:
    """Whether an applier waits for anything but work or its turn: a lock, a flush, room on the disk."""
    return any(lasting(case, state) for state in _WAITS)


def is_busy(one: Process) -> bool:
    """Whether it works itself: an idle one does not, nor a coordinator, nor who waits for its turn."""
    return not any(state.search(one.state) for state in (states.IDLE, states.COORDINATES, states.ORDER))


def busy(case: Case) -> float:
    """Tell how many appliers are at work on average."""
    looks = appliers(case)
    return sum(is_busy(one) for look in looks for one in look) / len(looks) if looks else 0.0


def is_idle(case: Case) -> bool:
    """Whether there is nothing to apply, as the applier itself says; its workers may still be at it."""
    commits = case.evidence.commits
    at_work = commits and any(one.applying for one in commits.workers)
    return not at_work and bool(states.IDLE.search(case.evidence.channel.applier.state))


def os_threads(case: Case) -> set[int]:
    """Give the channel's appliers as the operating system numbers them."""
    own = {one.id for look in appliers(case) for one in look}
    return {one.os_id for one in case.signals.threads if one.os_id and one.id in own}


def transactions(case: Case) -> list[list[Transaction]]:
    """Give the appliers' transactions at each look."""
    return [
        [one for one in look.transactions if one.process in {applier.id for applier in at_work}]
        for look, at_work in zip(case.signals.looks, appliers(case), strict=True)
    ]
