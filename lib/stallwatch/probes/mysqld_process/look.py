"""One look at a process, and at the server that it is, if somebody wants that."""

from __future__ import annotations

import time
from contextlib import closing

from stallwatch.findings import Fault, ProbeError, State
from stallwatch.history import delta, own
from stallwatch.history.streak import twice
from stallwatch.probes.mysqld_process import descriptors, read_buffer, roles, starts, telling, use
from stallwatch.probes.mysqld_process.choosing import NotThereError, choose, named
from stallwatch.probes.mysqld_process.no_server import NoServer
from stallwatch.probes.mysqld_process.telling import Found
from stallwatch.sources import processes
from stallwatch.startup import TYPE_CHECKING, NamedTuple
from stallwatch.units import say_duration

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterable, Iterator, Mapping
    from typing import Any

    from stallwatch.findings import Finding
    from stallwatch.frame.deadline import Deadline
    from stallwatch.history.delta import Interval, Look
    from stallwatch.probes.mysqld_process.choosing import Wanted
    from stallwatch.probes.mysqld_process.roles import Role
    from stallwatch.probes.mysqld_process.server import AskedServer
    from stallwatch.probes.mysqld_process.use import Seen, Use
    from stallwatch.sources.mysql.server import Server
    from stallwatch.sources.processes import Running

    Itself = AskedServer | NoServer  # the server that the process is


class Asked(NamedTuple):
    """What the user asked for."""

    wanted: Wanted
    connect: Callable[[], Server] | None  # None: no server is to be asked
    deadline: Deadline
    trace: Callable[[str], None]
    so_far: Callable[[Iterable[Finding]], None]  # is told what is known already
    alerts: Callable[[str, float | None], bool]  # whether a threshold of a quantity alerts on a value
    drop_default: Callable[[str], None]  # judges a quantity by limits that the user gave alone
    descriptors: descriptors.Limits
    sample: float | None = None  # seconds between two looks of one run
    everything: bool = False  # wants tables


def findings(asked: Asked, memory: dict[str, Any]) -> Generator[Finding, None, ProbeError | None]:
    """Judge the process that is meant; gives back why a server that was to be asked was not reached.

    Raises a ProbeError if it cannot be told which process is meant, or no time is left for a sample.
    """
    with closing(_server(asked)) as server:
        try:
            process = _chosen(asked, server)
            yield from _findings(_Look(process, server, asked, memory))
        except NotThereError as error:
            yield Fault(State.CRITICAL, error.what, error.why, error.advice)
        return server.lost


def _server(asked: Asked) -> Itself:
    if asked.connect is None:
        return NoServer()
    from stallwatch.probes.mysqld_process.server import AskedServer

    return AskedServer(asked.connect, asked.trace)


def _chosen(asked: Asked, server: Itself) -> Running:
    try:
        return choose(asked.wanted, server.likeness)
    except ProbeError as error:
        if server.lost:
            what = f"{server.lost.what}, so it cannot tell which process it is: {error.what}"
            raise ProbeError(what, server.lost.advice) from None
        if server.asking and server.asking.missing:
            grants = " and ".join(server.asking.missing)
            raise ProbeError(error.what, f"{error.advice}; with {grants} the server itself tells") from None
        raise


def _findings(look: _Look) -> Iterator[Finding]:
    asked, server = look.asked, look.server
    if look.seen.task.state == processes.STOPPED:
        yield telling.stopped(look.seen)
    else:
        asked.so_far((*telling.readings(Found(look.seen), asked.alerts), *look.judged()))
        server.must_be(look.seen.process)
        if server.lost and not asked.wanted.is_told and look.was_there:
            asked.so_far(())
            return  # it was another process, which is gone
    interval, why = look.interval()
    found = look.found(interval)
    if interval and found.use and (size := server.read_buffer_size()) is not None:
        yield from filter(None, [read_buffer.finding(interval, found.use, size)])
    yield from telling.readings(found, asked.alerts)
    yield from look.judged()
    if interval is None:
        yield telling.no_rates(why)
    if asked.everything:
        yield from server.asides()


class _Look:
    """The process, and what is remembered of it; ``seen`` is the last look at it."""

    def __init__(self, process: Running, server: Itself, asked: Asked, memory: dict[str, Any]) -> None:
        self.asked = asked
        self.server = server
        self._process = process
        self._memory = memory
        self._last = starts.known(memory)
        self._begin: Seen | None = None  # of the sample, once it is over
        self.seen = self._see()
        self.was_there = starts.was_there(self._last, self.seen)
        if not telling.swaps(self.seen):
            asked.drop_default("major_faults")

    def _see(self) -> Seen:
        """Look at it; raises NotThereError."""
        begun = time.monotonic()
        seen = use.look(self._process)
        if seen is None:
            raise NotThereError(f"{named(self._process)} has just ended", advice="see its error log")
        spent = say_duration(time.monotonic() - begun)
        self.asked.trace(
            f"looked at {named(self._process)} and {len(seen.threads)} of its threads in {spent}"
        )
        return seen

    def interval(self) -> tuple[Interval | None, str]:
        """Tell what was counted between two looks, or why that is not known."""
        if self.asked.sample:
            return self._sample(self.asked.sample)
        other = starts.remember(self._last, self.seen, self._memory)
        try:
            return delta.since_last_look(own(self._memory, "look"), self._counted()), ""
        except delta.NoIntervalError as error:
            return None, "it is another process than at the last look" if other else str(error)

    def _sample(self, seconds: float) -> tuple[Interval | None, str]:
        begin = self.seen
        try:
            interval = delta.sample(self._look, seconds, self.asked.deadline)
        except delta.NoIntervalError as error:
            return None, str(error)
        except ProbeError as error:
            raise self.server.lost or error from None  # no time was left, maybe because of the server
        self._begin = begin
        return interval, ""

    def _look(self) -> Look:
        self.seen = self._see()
        return self._counted()

    def _counted(self) -> Look:
        return self.seen.look(self.server.counts())

    def judged(self) -> Iterator[Finding]:
        """Judge what may be over at the next look, and whether the process stays up."""
        limits = self.asked.descriptors
        lasting = self._lasts(descriptors.NAME, lambda seen: descriptors.are_critical(seen, limits))
        yield from descriptors.findings(self.seen, limits, lasting=lasting)
        if self._lasts("held", lambda seen: seen.task.state == processes.TRACED):
            yield telling.held(self.seen)
        yield from filter(None, [starts.finding(self.seen, self._memory)])

    def _lasts(self, name: str, holds: Callable[[Seen], bool]) -> bool:
        """Whether it is so, and was at the last look, or at the first one of a sample."""
        now = holds(self.seen)
        if self.asked.sample:
            return now and self._begin is not None and holds(self._begin)
        return bool(twice(self._memory, name, {0} if now else set(), self.seen.at))

    def found(self, interval: Interval | None) -> Found:
        """Tell what it used between two looks."""
        seen = self.seen
        if interval is None:
            return Found(seen)
        threads = use.of_threads(seen, interval)
        return Found(seen, interval, use.of_process(interval), threads, self._roles(threads))

    def _roles(self, threads: Mapping[int, Use]) -> dict[int, Role]:
        """Tell what threads do; it is found out more exactly if it is going to be said."""
        busiest = max((one.together for one in threads.values()), default=0.0)
        if self.asked.everything or self.asked.alerts("busiest_thread", busiest):
            return roles.known(self.seen, self.asked.wanted.data_dir, self.server.asking)
        return roles.named(self.seen)
