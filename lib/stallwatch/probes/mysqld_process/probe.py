"""One run: choose the process, look at it, ask the server that it is if somebody wants that, judge both."""

from __future__ import annotations

import time

from stallwatch.findings import Fault, ProbeError, State
from stallwatch.history import delta
from stallwatch.history.streak import lasts
from stallwatch.probes.mysqld_process import collect, diagnosis, messages, model
from stallwatch.probes.mysqld_process.choosing import NotThereError, choose
from stallwatch.probes.mysqld_process.model import Activity, named
from stallwatch.sources import processes
from stallwatch.startup import TYPE_CHECKING
from stallwatch.units import say_duration

if TYPE_CHECKING:
    from argparse import Namespace
    from collections.abc import Callable, Iterator
    from typing import Any

    from stallwatch.findings import Finding
    from stallwatch.frame.run import Run
    from stallwatch.history.delta import Interval, Look
    from stallwatch.probes.mysqld_process.choosing import Wanted
    from stallwatch.probes.mysqld_process.model import Snapshot
    from stallwatch.probes.mysqld_process.queries import QueriedServer
    from stallwatch.sources.processes import Running


def findings(
    wanted: Wanted, server: QueriedServer | None, options: Namespace, run: Run, memory: dict[str, Any]
) -> Iterator[Finding]:
    """Judge the process that is meant; ``server`` is asked, too, and afterwards knows why it was lost.

    Raises a ProbeError if it is not known which process is meant, or no time is left for a sample.
    """
    try:
        yield from _findings(wanted, server, options, run, memory)
    except NotThereError as error:
        yield diagnosis.gone(error, options.data_dir)


def _findings(
    wanted: Wanted, server: QueriedServer | None, options: Namespace, run: Run, memory: dict[str, Any]
) -> Iterator[Finding]:
    ignored: list[str] = []
    process = _chosen(wanted, server, ignored.append)
    seen = [_look(process, run)]  # more looks follow if there is a sample
    was_there = collect.was_there(memory, seen[0])
    if seen[0].task.state == processes.STOPPED:
        yield diagnosis.stopped(seen[0])
    else:
        run.so_far((*messages.readings(Activity(seen[0]), run), *_faults(seen, options, run, memory)))
        if server:
            server.must_be(seen[0].process)
            if server.lost and not wanted.is_told and was_there:
                run.so_far(())
                return  # it was another process, which is gone
    if options.sample:
        interval = _sample(process, server, seen, options.sample, run)
    else:
        interval = _since_last_run(seen[0], server, run, memory)
    activity = _activity(seen[-1], interval, server, options, run)
    if activity.use and server and (size := server.read_buffer_size()) is not None:
        yield from diagnosis.read_buffer(interval, activity.use, size)
    yield from messages.readings(activity, run)
    yield from _faults(seen, options, run, memory)
    if interval.why:
        yield Fault(State.OK, f"no rates yet: {interval.why}")
    if options.verbose:
        yield from (Fault(State.OK, sentence) for sentence in ignored)
    if options.verbose and server:
        yield from server.asides()


def _chosen(wanted: Wanted, server: QueriedServer | None, ignore: Callable[[str], None]) -> Running:
    try:
        return choose(wanted, server.likeness if server else lambda _: 0, ignore)
    except ProbeError as error:
        if server and server.lost:
            what = f"{server.lost.what}, so it cannot name its process: {error.what}"
            raise ProbeError(what, server.lost.advice) from None
        if server and server.missing():
            grants = " and ".join(server.missing())
            raise ProbeError(
                error.what, f"{error.advice}, with {grants} the server itself shows which"
            ) from None
        raise


def _look(process: Running, run: Run) -> Snapshot:
    """Look at it; raises NotThereError."""
    begun = time.monotonic()
    snapshot = collect.take_snapshot(process)
    if snapshot is None:
        raise NotThereError(f"{named(process)} has just ended", advice="see its error log")
    spent = say_duration(time.monotonic() - begun)
    run.trace(f"looked at {named(process)} and {len(snapshot.threads)} of its threads in {spent}")
    return snapshot


def _sample(
    process: Running, server: QueriedServer | None, seen: list[Snapshot], seconds: float, run: Run
) -> Interval:
    def take() -> Look:
        seen.append(_look(process, run))
        return _counted(seen[-1], server)

    try:
        return delta.measured(take, {}, seconds, run.deadline)
    except ProbeError as error:  # no time was left, maybe because of the server
        raise (server and server.lost) or error from None


def _since_last_run(
    snapshot: Snapshot, server: QueriedServer | None, run: Run, memory: dict[str, Any]
) -> Interval:
    is_another = collect.remember(snapshot, memory)
    interval = delta.measured(lambda: _counted(snapshot, server), memory, None, run.deadline)
    if interval.why and is_another:
        return interval._replace(why="it is another process than at the last look")
    return interval


def _counted(snapshot: Snapshot, server: QueriedServer | None) -> Look:
    return snapshot.look(server.counts() if server else {})


def _faults(seen: list[Snapshot], options: Namespace, run: Run, memory: dict[str, Any]) -> Iterator[Finding]:
    """Judge what may be over at the next look, and whether the process stays up."""
    first, last = seen[0], seen[-1]

    def lasting(name: str, holds: Callable[[Snapshot], bool]) -> bool:
        """Whether it is so, and was at the last look, or at the first one of a sample."""
        if options.sample:
            return last is not first and holds(first) and holds(last)
        return lasts(memory, name, last.at, is_bad=holds(last))

    critical = lasting(diagnosis.DESCRIPTORS, lambda one: diagnosis.are_critical(one, run))
    yield from diagnosis.descriptors(last, run, lasting=critical)
    if lasting("held", lambda one: one.task.state == processes.TRACED):
        yield diagnosis.held(last)
    yield from diagnosis.starts(last, collect.remembered(memory))


def _activity(
    snapshot: Snapshot, interval: Interval, server: QueriedServer | None, options: Namespace, run: Run
) -> Activity:
    """Return what it used; what threads do is found out more exactly if it is going to be said."""
    threads = model.of_threads(snapshot, interval)
    busiest = max((one.together for one in threads.values()), default=0.0)
    roles = collect.roles(snapshot)
    if interval.seconds and (options.verbose or run.alerts("busiest_thread", busiest)):
        roles |= collect.exact_roles(snapshot, options.data_dir, server)
    return Activity(snapshot, interval, model.of_process(interval), threads, roles)
