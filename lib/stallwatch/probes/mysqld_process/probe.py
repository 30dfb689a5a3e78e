"""One run: choose the process, look at it, ask the server that it is if somebody wants that, judge both."""

from __future__ import annotations

import time

from stallwatch.findings import Fault, ProbeError, State
from stallwatch.history import delta, own
from stallwatch.history.streak import lasts
from stallwatch.probes.mysqld_process import collect, diagnosis, messages, model
from stallwatch.probes.mysqld_process.choosing import NotThereError, choose
from stallwatch.probes.mysqld_process.model import Activity, named
from stallwatch.sources import processes
from stallwatch.startup import TYPE_CHECKING
from stallwatch.units import say_duration

if TYPE_CHECKING:
    from argparse import Namespace
    from collections.abc import Callable, Iterator, Mapping
    from typing import Any

    from stallwatch.findings import Finding
    from stallwatch.frame.run import Run
    from stallwatch.history.delta import Interval, Look
    from stallwatch.probes.mysqld_process.choosing import Wanted
    from stallwatch.probes.mysqld_process.model import Role, Snapshot, Use
    from stallwatch.probes.mysqld_process.queries import QueriedServer
    from stallwatch.sources.processes import Running


def findings(
    wanted: Wanted, server: QueriedServer | None, options: Namespace, run: Run, memory: dict[str, Any]
) -> Iterator[Finding]:
    """Judge the process that is meant; ``server`` is asked, too, and afterwards knows why it was lost.

    Raises a ProbeError if it cannot be told which process is meant, or no time is left for a sample.
    """
    try:
        watch = _Watch(_chosen(wanted, server), server, options, run, memory)
        yield from _findings(watch, wanted, server, run, everything=bool(options.verbose))
    except NotThereError as error:
        yield Fault(State.CRITICAL, error.what, error.why, error.advice)


def _chosen(wanted: Wanted, server: QueriedServer | None) -> Running:
    try:
        return choose(wanted, server.likeness) if server else choose(wanted)
    except ProbeError as error:
        if server and server.lost:
            what = f"{server.lost.what}, so it cannot tell which process it is: {error.what}"
            raise ProbeError(what, server.lost.advice) from None
        if server and server.missing():
            grants = " and ".join(server.missing())
            raise ProbeError(error.what, f"{error.advice}; with {grants} the server itself tells") from None
        raise


def _findings(
    watch: _Watch, wanted: Wanted, server: QueriedServer | None, run: Run, *, everything: bool
) -> Iterator[Finding]:
    if watch.snapshot.task.state == processes.STOPPED:
        yield diagnosis.stopped(watch.snapshot)
    else:
        run.so_far((*messages.readings(Activity(watch.snapshot), run), *watch.faults()))
        if server:
            server.must_be(watch.snapshot.process)
        if server and server.lost and not wanted.is_told and watch.was_there:
            run.so_far(())
            return  # it was another process, which is gone
    interval, why = watch.interval()
    activity = watch.activity(interval)
    if interval and activity.use and server and (size := server.read_buffer_size()) is not None:
        yield from diagnosis.read_buffer(interval, activity.use, size)
    yield from messages.readings(activity, run)
    yield from watch.faults()
    if interval is None:
        yield messages.no_rates(why)
    if everything and server:
        yield from server.asides()


class _Watch:
    """The process, and what is remembered of it; ``snapshot`` is the last look at it."""

    def __init__(
        self,
        process: Running,
        server: QueriedServer | None,
        options: Namespace,
        run: Run,
        memory: dict[str, Any],
    ) -> None:
        self._process = process
        self._server = server
        self._options = options
        self._run = run
        self._memory = memory
        self._last = collect.remembered(memory)
        self._begin: Snapshot | None = None  # of the sample, once it is over
        self.snapshot = self._look()
        self.was_there = collect.was_there(self._last, self.snapshot)
        self._judges_major_faults = run.is_given("major_faults") or self.snapshot.swaps

    def _look(self) -> Snapshot:
        """Look at it; raises NotThereError."""
        begun = time.monotonic()
        snapshot = collect.take_snapshot(self._process)
        if snapshot is None:
            raise NotThereError(f"{named(self._process)} has just ended", advice="see its error log")
        spent = say_duration(time.monotonic() - begun)
        self._run.trace(
            f"looked at {named(self._process)} and {len(snapshot.threads)} of its threads in {spent}"
        )
        return snapshot

    def interval(self) -> tuple[Interval | None, str]:
        """Tell what was counted between two looks, or why that is not known."""
        if self._options.sample:
            return self._sample(self._options.sample)
        other = collect.remember(self._last, self.snapshot, self._memory)
        try:
            return delta.since_last_look(own(self._memory, "look"), self._counted()), ""
        except delta.NoIntervalError as error:
            return None, "it is another process than at the last look" if other else str(error)

    def _sample(self, seconds: float) -> tuple[Interval | None, str]:
        begin = self.snapshot
        try:
            interval = delta.sample(self._look_again, seconds, self._run.deadline)
        except delta.NoIntervalError as error:
            return None, str(error)
        except ProbeError as error:
            raise (
                self._server and self._server.lost
            ) or error from None  # no time was left, maybe because of the server
        self._begin = begin
        return interval, ""

    def _look_again(self) -> Look:
        self.snapshot = self._look()
        return self._counted()

    def _counted(self) -> Look:
        return self.snapshot.look(self._server.counts() if self._server else {})

    def faults(self) -> Iterator[Finding]:
        """Judge what may be over at the next look, and whether the process stays up."""
        lasting = self._lasts(diagnosis.DESCRIPTORS, lambda one: diagnosis.are_critical(one, self._run))
        yield from diagnosis.descriptors(self.snapshot, self._run, lasting=lasting)
        if self._lasts("held", lambda one: one.task.state == processes.TRACED):
            yield diagnosis.held(self.snapshot)
        yield from diagnosis.starts(self.snapshot, collect.remembered(self._memory))

    def _lasts(self, name: str, holds: Callable[[Snapshot], bool]) -> bool:
        """Whether it is so, and was at the last look, or at the first one of a sample."""
        now = holds(self.snapshot)
        if self._options.sample:
            return now and self._begin is not None and holds(self._begin)
        return lasts(self._memory, name, self.snapshot.at, is_bad=now)

    def activity(self, interval: Interval | None) -> Activity:
        """Tell what it used between two looks."""
        if interval is None:
            return Activity(self.snapshot)
        use, threads = model.of_process(interval), model.of_threads(self.snapshot, interval)
        roles = self._roles(threads)
        return Activity(self.snapshot, interval, use, threads, roles, self._judges_major_faults)

    def _roles(self, threads: Mapping[int, Use]) -> dict[int, Role]:
        """Tell what threads do; it is found out more exactly if it is going to be said."""
        busiest = max((one.together for one in threads.values()), default=0.0)
        if self._options.verbose or self._run.alerts("busiest_thread", busiest):
            return collect.exact_roles(self.snapshot, self._options.data_dir, self._server)
        return collect.roles(self.snapshot)
