"""The words and the numbers for what was seen."""

from __future__ import annotations

import math
from types import MappingProxyType

from stallwatch.findings import Fault, Reading, State
from stallwatch.probes.mysqld_process.choosing import DATA_NODES, PROGRAMS, SERVERS, named
from stallwatch.startup import TYPE_CHECKING, NamedTuple
from stallwatch.table import Table
from stallwatch.units import say_count, say_duration, say_size
from stallwatch.words import plural

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from stallwatch.history.delta import Interval
    from stallwatch.probes.mysqld_process.roles import Role
    from stallwatch.probes.mysqld_process.use import Seen, Use

_BUSIEST = 15  # threads in the table
_HOST = "give the host memory back: fewer or smaller programs, vm.swappiness=1"
_SERVER = "give the host memory back: a smaller innodb_buffer_pool_size, fewer programs, vm.swappiness=1"
_MAPPED = "it reads files that it has mapped, its program for one: leave the page cache more memory"
_DATA_NODE = "give the host memory back, or lock the node's: LockPagesInMainMemory=1 (rolling restart)"


class Found(NamedTuple):
    """All that is told of a process."""

    seen: Seen
    interval: Interval | None = None  # None: nothing to compare with
    use: Use | None = None  # between two looks
    threads: Mapping[int, Use] = MappingProxyType({})  # likewise, by id
    roles: Mapping[int, Role] = MappingProxyType({})

    def rate(self, name: str) -> float | None:
        """Tell how much was counted per second."""
        return self.interval.rate(name) if self.interval else None


def readings(found: Found, alerts: Callable[[str, float | None], bool]) -> Iterator[Reading]:
    """Give what was measured; if all is well, the first one speaks for all."""
    first, *others = (*_used(found), *_memory(found), *_threads(found, alerts), _uptime(found.seen))
    if not any(alerts(one.name, one.value) for one in (first, *others)):
        first = first._replace(what=_summary(found))
    yield from (first, *others)


def no_rates(why: str) -> Fault:
    """Say that there is nothing to compare with."""
    return Fault(State.OK, f"no rates yet: {why}")


def stopped(seen: Seen) -> Fault:
    """Say that somebody has stopped it."""
    pid = seen.process.pid
    return Fault(
        State.CRITICAL,
        f"{named(seen.process)} is stopped and answers nobody",
        "it got SIGSTOP",
        f"find out who did it and why; kill -CONT {pid} lets it go on",
    )


def held(seen: Seen) -> Fault:
    """Say that a debugger holds it, which takes microseconds where one only looks at what it does."""
    pid = seen.status.tracer
    who = f", process {pid}," if pid else ""
    what = f"{named(seen.process)} is held by a debugger{who} and answers nobody"
    return Fault(State.CRITICAL, what, "", "end gdb, strace or gcore: detaching lets it go on")


def swaps(seen: Seen) -> bool:
    """Whether major faults mean that memory is short: nothing else of a database is mapped from disk.

    A JVM may read its data files so: Cassandra and Lucene do.
    """
    return seen.process.name in PROGRAMS and seen.status.swapped > 0


def _used(found: Found) -> Iterator[Reading]:
    use = found.use
    if use is None:
        return
    who = named(found.seen.process)
    cost = f"{who} uses {_said(use.together)} % of a processor ({_parts(use)})"
    yield Reading("cpu", _rounded(use.together), "%", cost, label="cpu")
    yield Reading("user", _rounded(use.user), "%", in_table=True)
    what = f"system time of {who} is {_said(use.system)} % of a processor"
    yield Reading("system", _rounded(use.system), "%", what)
    if use.system_share is not None:
        yield Reading("system_share", _rounded(use.system_share), "%", in_table=True)
    minor, major = found.rate("minor_faults"), found.rate("major_faults")
    if minor is not None:
        yield Reading("minor_faults", _rounded(minor), "", f"{who} has {_count(minor)} minor page faults/s")
    if major is not None:
        yield _major_faults(found, major)


def _major_faults(found: Found, rate: float) -> Reading:
    process, swapped = found.seen.process, found.seen.status.swapped
    where = f"{say_size(swapped)} of its memory are swapped" if swapped else "none of its memory is swapped"
    why = f"it waits for the disk at each; {where}" if rate else ""
    advice = _DATA_NODE if process.name in DATA_NODES else _SERVER if process.name in SERVERS else _HOST
    advice = advice if swapped else _MAPPED
    what = f"{named(process)} has {_said(rate)} major page faults/s"
    return Reading("major_faults", _rounded(rate), "", what, why, advice)


def _memory(found: Found) -> Iterator[Reading]:
    status, who = found.seen.status, named(found.seen.process)
    what = f"{who} has {say_size(status.resident)} resident"
    yield Reading("resident_memory", status.resident, "B", what)
    yield Reading("swapped_memory", status.swapped, "B", f"{who} has {say_size(status.swapped)} swapped")


def _threads(found: Found, alerts: Callable[[str, float | None], bool]) -> Iterator[Reading]:
    seen = found.seen
    what = f"{named(seen.process)} has {_threads_of(seen)}"
    what += ", too many to look at each" * seen.has_too_many_threads
    if seen.has_too_many_threads and alerts("busiest_thread", math.inf):  # there is a limit
        yield Reading("busiest_thread", None, "%", f"which thread is the busiest is not known: {what}")
    yield Reading("threads", seen.task.threads, "", what, table=_by_role(found))
    if found.threads:
        busiest = max(found.threads, key=lambda one: found.threads[one].together)
        use, role = found.threads[busiest], found.roles.get(busiest)
        who = f"{role} {busiest}" if role else f"{busiest}"
        what = f"the busiest thread, {who}, uses {_said(use.together)} % of a processor"
        advice = "one thread has no more than one processor: spread its work over several"
        yield Reading(
            "busiest_thread", _rounded(use.together), "%", what, _parts(use), advice, table=_busiest(found)
        )


def _uptime(seen: Seen) -> Reading:
    return Reading(
        "uptime", _rounded(seen.age), "s", f"{named(seen.process)} is up for {say_duration(round(seen.age))}"
    )


def _by_role(found: Found) -> Table | None:
    """Sum up what threads use that do the same, those that use most first."""
    each: dict[str, list[Use]] = {}
    for thread, use in found.threads.items():
        role = found.roles.get(thread)
        each.setdefault(role.name if role else "", []).append(use)
    rows = tuple(
        _row(role, each[role]) for role in sorted(each, key=lambda role: (-_together(each[role]), role))
    )
    return Table(("role", "threads", "user", "system", "busiest"), rows) if rows else None


def _row(role: str, uses: Sequence[Use]) -> tuple[str, int, float, float, float]:
    user, system = sum(one.user for one in uses), sum(one.system for one in uses)
    busiest = max(one.together for one in uses)
    return role, len(uses), _rounded(user), _rounded(system), _rounded(busiest)


def _together(uses: Sequence[Use]) -> float:
    return sum(one.together for one in uses)


def _busiest(found: Found) -> Table | None:
    """List the threads that use most, each."""
    ranked = sorted(found.threads.items(), key=lambda one: -one[1].together)[:_BUSIEST]
    rows = tuple(
        (str(found.roles.get(thread, "")), thread, _rounded(use.user), _rounded(use.system))
        for thread, use in ranked
        if use.together > 0
    )
    return Table(("thread", "id", "user", "system"), rows) if rows else None


def _summary(found: Found) -> str:
    seen, use = found.seen, found.use
    said = [f"{named(seen.process)} up {say_duration(round(seen.age))}"]
    if use:
        said.append(f"{_said(use.together)} % of a processor ({_parts(use)})")
    minor, major = found.rate("minor_faults"), found.rate("major_faults")
    if minor is not None and major is not None:
        said.append(f"{_count(minor)} minor and {_said(major)} major page faults/s")
    said.append(f"{say_size(seen.status.resident)} resident")
    if seen.status.swapped:
        said.append(f"{say_size(seen.status.swapped)} swapped")
    said.append(_threads_of(seen))
    if seen.descriptors is not None:
        said.append(f"{seen.descriptors}" + (f" of {seen.limit}" if seen.limit else "") + " descriptors")
    return ", ".join(said)


def _threads_of(seen: Seen) -> str:
    return plural(seen.task.threads, "thread")


def _parts(use: Use) -> str:
    return f"user {_said(use.user)} %, system {_said(use.system)} %"


def _count(number: float) -> str:
    return say_count(number) if number >= 1 else _said(number)


def _said(percent: float) -> str:
    return f"{round(percent, 1):g}"


def _rounded(number: float) -> float:
    return round(number, 2)
