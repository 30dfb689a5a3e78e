"""The causes of what was found. Who blocks whom, and for how long, is found before, in `heads`."""

from __future__ import annotations

from stallwatch.causes import Cause, Certainty, Kind, Scope
from stallwatch.probes.mysql import other_waits
from stallwatch.probes.mysql.locks import ending
from stallwatch.probes.mysql.locks.ending import NextStep, Step
from stallwatch.probes.mysql.locks.graph import LockKind
from stallwatch.probes.mysql.processes import Phase
from stallwatch.startup import TYPE_CHECKING

if TYPE_CHECKING:
    from stallwatch.probes.mysql.locks.ending import Head
    from stallwatch.probes.mysql.locks.graph import Wait
    from stallwatch.probes.mysql_stalls.heads import Blocked
    from stallwatch.probes.mysql_stalls.model import Found


def of_head(found: Found, head: Head) -> Cause:
    """Judge who blocks others, or a transaction that blocks nobody, by what its connection does."""
    first, *others = (_known(found, one) for one in head.together)
    return ending.judge(first._replace(beside=others), found.server, found.at)


def of_circle(found: Found, circle: Blocked) -> Cause:
    """Judge connections that wait for one another: any client of them can be ended."""
    first, *others = circle.connections
    within = tuple((Scope.CONNECTION, str(one)) for one in others)
    processes, waits = found.details.processes, between(found, circle)
    clients = tuple(one for one in circle.connections if one not in processes or processes[one].is_client)
    return Cause(
        Kind.LOCK_CIRCLE,
        found.server._replace(thing=Scope.CONNECTION, id=str(first), within=within),
        Certainty.CERTAIN if all(one.certain for one in waits) else Certainty.LIKELY,
        {"step": NextStep(Step.KILL_ONE_OF if clients else Step.WAIT_FOR_TIMEOUT, clients)},
        "circle",
        found.at - (circle.certain or circle.possible),
    )


def between(found: Found, circle: Blocked) -> list[Wait]:
    """List the waits of connections that wait for one another."""
    among = set(circle.connections)
    return [one for one in found.details.graph.waits if {one.waiting, one.holding} <= among]


def of_unknown(found: Found, waits: Blocked) -> Cause:
    """Return where to look for who blocks, where nothing shows it."""
    step = Step.GRANT if found.missing else Step.FIND_OLDER
    step = Step.FIND_USER_LOCK if waits.lock is LockKind.USER else step
    return Cause(Kind.UNKNOWN, found.server, Certainty.POSSIBLE, {"step": NextStep(step)})


def of_other_waits(found: Found, group: Blocked) -> Cause:
    """Return why these wait for something that is no lock."""
    phase = group.phase or Phase.OTHER
    seen = found.evidence.get(phase) or other_waits.Evidence(phase)
    within = tuple((Scope.CONNECTION, str(one)) for one in group.connections)
    since = found.at - (group.certain or group.possible)
    return other_waits.judge(seen, found.server._replace(within=within), since)


def standing(found: Found) -> Found:
    """Leave out a single client in a state that may well be work, unless it is known why it waits."""
    groups = [
        group
        for group in found.other_waits
        if not group.may_be_work or of_other_waits(found, group).kind is not Kind.UNKNOWN
    ]
    return found._replace(other_waits=groups)


def of_timeouts(found: Found) -> Cause:
    """Return the cause of waits that have timed out since the last run: nothing shows when in that time."""
    step, since = NextStep(Step.SEE_RETRIES), found.at - found.interval.seconds
    return Cause(Kind.LOCK_TIMEOUTS, found.server, parameters={"step": step}, since=since)


def of_deadlocks(found: Found) -> Cause:
    """Return the cause of deadlocks that the server has ended."""
    parties = tuple(one.connection for one in found.deadlock)
    step = NextStep(Step.ORDER_ROWS, parties) if parties else NextStep(Step.SEE_STATUS)
    return Cause(Kind.DEADLOCKS, found.server, parameters={"step": step})


def _known(found: Found, head: Head) -> Head:
    program, last = found.programs.get(head.connection), found.last.get(head.connection)
    return head._replace(
        program=program.name if program else "",
        digest=last.digest if last else "",
        prepared=found.details.prepared,
    )
