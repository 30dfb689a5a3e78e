"""One look at a process, and at the server that it is, if somebody wants that."""

from __future__ import annotations

import time
from contextlib import closing
from typing import NamedTuple

from stallwatch.probes import looks
from stallwatch.probes.lasting import lasting
from stallwatch.probes.mysqld_process import descriptors, read_buffer, roles, telling, use
from stallwatch.probes.mysqld_process.choosing import NotThereError, choose, named
from stallwatch.probes.mysqld_process.server import AskedServer
from stallwatch.probes.mysqld_process.telling import Found
from stallwatch.reading import Fault, State
from stallwatch.sources import processes
from stallwatch.units import say_duration

TYPE_CHECKING = False  # typing itself costs every check 2 ms
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping
    from typing import Any

    from stallwatch.deadline import Deadline
    from stallwatch.probes.looks import Interval, Look
    from stallwatch.probes.mysqld_process.choosing import Wanted
    from stallwatch.probes.mysqld_process.roles import Role
    from stallwatch.probes.mysqld_process.use import Seen, Use
    from stallwatch.reading import Finding
    from stallwatch.sources.mysql.server import Server
    from stallwatch.sources.processes import Running


class Asked(NamedTuple):
    """What the user asked for."""

    wanted: Wanted
    connect: Callable[[], Server] | None  # None: no server is to be asked
    deadline: Deadline
    trace: Callable[[str], None]
    so_far: Callable[[Iterable[Finding]], None]  # is told what is known already
    alerts: Callable[[str, float | None], bool]  # whether a threshold of a quantity alerts on a value
    descriptors: descriptors.Limits
    sample: float | None = None  # seconds between two looks of one run
    everything: bool = False  # wants tables


def findings(asked: Asked, memory: dict[str, Any]) -> Iterator[Finding]:
    """Judge the process that is meant; raises a ProbeError, also for a server that was not reached."""
    with closing(AskedServer(asked.connect, asked.trace)) as server:
        try:
            process = choose(asked.wanted, server.likeness)
            yield from _findings(_Look(process, server, asked, memory))
        except NotThereError as error:
            yield Fault(State.CRITICAL, error.what, error.why, error.advice)
        if server.lost:
            raise server.lost


def _findings(look: _Look) -> Iterator[Finding]:
    asked, server = look.asked, look.server
    seen = look.seen()
    if seen.task.state == processes.STOPPED:
        yield telling.stopped(seen)
    else:
        asked.so_far(telling.readings(Found(seen), asked.alerts))
        server.must_be(seen.process)
    interval, why = look.interval()
    found = look.found(interval)
    if interval and found.use and (size := server.read_buffer_size()) is not None:
        yield from filter(None, [read_buffer.finding(interval, found.use, size)])
    yield from telling.readings(found, asked.alerts)
    yield from descriptors.findings(found.seen, asked.descriptors, look.lasts)
    if interval is None:
        yield telling.no_rates(why)
    if asked.everything:
        yield from server.asides()


class _Look:
    """The process, and what is remembered of it."""

    def __init__(self, process: Running, server: AskedServer, asked: Asked, memory: dict[str, Any]) -> None:
        self.asked = asked
        self.server = server
        self._process = process
        self._memory = memory
        self._last = self.seen()

    def seen(self) -> Seen:
        """Look at it once more; raises NotThereError."""
        begun = time.monotonic()
        seen = use.look(self._process)
        if seen is None:
            raise NotThereError(f"{named(self._process)} has just ended", advice="see its error log")
        spent = say_duration(time.monotonic() - begun)
        self.asked.trace(
            f"looked at {named(self._process)} and {len(seen.threads)} of its threads in {spent}"
        )
        self._last = seen
        return seen

    def interval(self) -> tuple[Interval | None, str]:
        """Tell what was counted between two looks, or why that is not known."""
        other = self._forget_another()
        try:
            if self.asked.sample:
                return looks.sample(self._look, self.asked.sample, self.asked.deadline), ""
            return looks.since_last_look(self._memory.setdefault("look", {}), self._look()), ""
        except looks.NoIntervalError as error:
            return None, "it is another process than at the last look" if other else str(error)

    def _look(self) -> Look:
        return self.seen().look(self.server.counts())

    def _forget_another(self) -> bool:
        """Forget what is remembered of another process; whether there was one."""
        ours = [self._process.pid, self._last.task.started]
        known = self._memory.get("process")
        if known == ours:
            return False
        self._memory.clear()
        self._memory["process"] = ours
        return known is not None

    def found(self, interval: Interval | None) -> Found:
        """Tell what it used between two looks."""
        seen = self._last
        if interval is None:
            return Found(seen)
        threads = use.of_threads(seen, interval)
        return Found(seen, interval, use.of_process(interval), threads, self._roles(threads))

    def _roles(self, threads: Mapping[int, Use]) -> dict[int, Role]:
        """Tell what threads do; it is found out more exactly if it is going to be said."""
        busiest = max((one.together for one in threads.values()), default=0.0)
        if self.asked.everything or self.asked.alerts("busiest_thread", busiest):
            return roles.known(self._last, self.asked.wanted.data_dir, self.server.asking)
        return roles.named(self._last)

    def lasts(self, name: str, now: bool) -> bool:  # noqa: FBT001
        """Whether it is so, and was at the last look."""
        return bool(lasting(self._memory, name, {0} if now else set(), time.time()))
