"""The words and the numbers for what a process uses."""

from __future__ import annotations

import math

from stallwatch.findings import Reading
from stallwatch.probes.mysqld_process.model import DATA_NODES, SERVERS, named
from stallwatch.startup import TYPE_CHECKING
from stallwatch.table import Table
from stallwatch.units import say_count, say_duration, say_size
from stallwatch.words import plural

if TYPE_CHECKING:
    from collections.abc import Iterator

    from stallwatch.frame.run import Run
    from stallwatch.probes.mysqld_process.model import Activity, Snapshot, Use

_BUSIEST = 15  # threads in the table
_HOST = "give the host memory back: fewer or smaller programs, vm.swappiness=1"
_SERVER = "give the host memory back: a smaller innodb_buffer_pool_size, fewer programs, vm.swappiness=1"
_MAPPED = "leave the page cache more memory: it reads files that it has mapped, its program for one"
_DATA_NODE = "give the host memory back, or lock the node's: LockPagesInMainMemory=1 (rolling restart)"
_NO_LIMITS = "major faults of what is not swapped"  # no threshold has this name


def readings(activity: Activity, run: Run) -> Iterator[Reading]:
    """Give what was measured; if all is well, the first one speaks for all."""
    first, *others = (
        *_used(activity, run),
        *_memory(activity),
        *_threads(activity, run),
        _uptime(activity.snapshot),
    )
    if not any(map(run.is_problem, (first, *others))):
        first = first._replace(what=_summary(activity))
    yield from (first, *others)


def _used(activity: Activity, run: Run) -> Iterator[Reading]:
    use = activity.use
    if use is None:
        return
    who = named(activity.snapshot.process)
    cost = f"{who} uses {_said(use.together)} % of a processor ({_parts(use)})"
    yield Reading("cpu", _rounded(use.together), "%", cost, label="cpu")
    yield Reading("user", _rounded(use.user), "%", in_table=True)
    what = f"system time of {who} is {_said(use.system)} % of a processor"
    yield Reading("system", _rounded(use.system), "%", what)
    if use.system_share is not None:
        yield Reading("system_share", _rounded(use.system_share), "%", in_table=True)
    minor, major = activity.interval.rate("minor_faults"), activity.interval.rate("major_faults")
    if minor is not None:
        yield Reading("minor_faults", _rounded(minor), "", f"{who} has {_count(minor)} minor page faults/s")
    if major is not None:
        yield _major_faults(activity, run, major)


def _major_faults(activity: Activity, run: Run, rate: float) -> Reading:
    process, swapped = activity.snapshot.process, activity.snapshot.status.swapped
    where = f"{say_size(swapped)} of its memory are swapped" if swapped else "none of its memory is swapped"
    why = f"it waits for the disk at each, {where}" if rate else ""
    advice = _DATA_NODE if process.name in DATA_NODES else _SERVER if process.name in SERVERS else _HOST
    advice = advice if swapped else _MAPPED
    what = f"{named(process)} has {_said(rate)} major page faults/s"
    is_judged = run.is_given("major_faults") or activity.snapshot.swaps  # as the default limit is meant
    judged_as = "" if is_judged else _NO_LIMITS
    return Reading("major_faults", _rounded(rate), "", what, why, advice, judged_as=judged_as)


def _memory(activity: Activity) -> Iterator[Reading]:
    status, who = activity.snapshot.status, named(activity.snapshot.process)
    what = f"{who} has {say_size(status.resident)} resident"
    yield Reading("resident_memory", status.resident, "B", what)
    yield Reading("swapped_memory", status.swapped, "B", f"{who} has {say_size(status.swapped)} swapped")


def _threads(activity: Activity, run: Run) -> Iterator[Reading]:
    snapshot = activity.snapshot
    what = f"{named(snapshot.process)} has {_threads_of(snapshot)}"
    what += ", too many to look at each" * snapshot.has_too_many_threads
    if snapshot.has_too_many_threads and run.alerts("busiest_thread", math.inf):  # there is a limit
        yield Reading("busiest_thread", None, "%", f"which thread is the busiest is not known: {what}")
    yield Reading("threads", snapshot.task.threads, "", what, table=_by_role(activity))
    if activity.threads:
        busiest = max(activity.threads, key=lambda one: activity.threads[one].together)
        use, role = activity.threads[busiest], activity.roles.get(busiest)
        who = f"{role} {busiest}" if role else f"{busiest}"
        what = f"the busiest thread, {who}, uses {_said(use.together)} % of a processor"
        advice = "one thread has no more than one processor: spread its work over several"
        together, table = _rounded(use.together), _busiest(activity)
        yield Reading("busiest_thread", together, "%", what, _parts(use), advice, table=table)


def _uptime(snapshot: Snapshot) -> Reading:
    what = f"{named(snapshot.process)} is up for {say_duration(round(snapshot.age))}"
    return Reading("uptime", _rounded(snapshot.age), "s", what)


def _by_role(activity: Activity) -> Table | None:
    """Sum up what threads use that do the same, those that use most first."""
    each: dict[str, list[Use]] = {}
    for thread, use in activity.threads.items():
        role = activity.roles.get(thread)
        each.setdefault(role.name if role else "", []).append(use)
    rows = []
    for name in sorted(each, key=lambda name: (-sum(one.together for one in each[name]), name)):
        uses = each[name]
        user, system = sum(one.user for one in uses), sum(one.system for one in uses)
        busiest = max(one.together for one in uses)
        rows.append((name, len(uses), _rounded(user), _rounded(system), _rounded(busiest)))
    return Table(("role", "threads", "user", "system", "busiest"), tuple(rows)) if rows else None


def _busiest(activity: Activity) -> Table | None:
    """List the threads that use most, each."""
    ranked = sorted(activity.threads.items(), key=lambda one: -one[1].together)[:_BUSIEST]
    rows = tuple(
        (str(activity.roles.get(thread, "")), thread, _rounded(use.user), _rounded(use.system))
        for thread, use in ranked
        if use.together > 0
    )
    return Table(("thread", "id", "user", "system"), rows) if rows else None


def _summary(activity: Activity) -> str:
    snapshot, use = activity.snapshot, activity.use
    said = [f"{named(snapshot.process)} up {say_duration(round(snapshot.age))}"]
    if use:
        said.append(f"{_said(use.together)} % of a processor ({_parts(use)})")
    if (major := activity.interval.rate("major_faults")) is not None:
        said.append(f"{_said(major)} major page faults/s")
    said.append(f"{say_size(snapshot.status.resident)} resident")
    if snapshot.status.swapped:
        said.append(f"{say_size(snapshot.status.swapped)} swapped")
    said.append(_threads_of(snapshot))
    return ", ".join(said)


def _threads_of(snapshot: Snapshot) -> str:
    return plural(snapshot.task.threads, "thread")


def _parts(use: Use) -> str:
    return f"user {_said(use.user)} %, system {_said(use.system)} %"


def _count(number: float) -> str:
    return say_count(number) if number >= 1 else _said(number)


def _said(percent: float) -> str:
    return f"{round(percent, 1):g}"


def _rounded(number: float) -> float:
    return round(number, 2)
