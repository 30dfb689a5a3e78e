"""What a process has used, and between two looks uses, of processors, memory and descriptors."""

from __future__ import annotations

import time

from stallwatch.history.delta import Look
from stallwatch.sources import processes
from stallwatch.startup import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping

    from stallwatch.history.delta import Interval
    from stallwatch.sources.processes import Running, Status, Task, Thread

MOST_THREADS = 2000  # that are looked at: each costs 15 us of processor time


class Seen(NamedTuple):
    """A process at one moment."""

    process: Running
    task: Task
    status: Status
    descriptors: int | None  # None: they are not for us to see
    limit: int | None  # of descriptors; None: there is none, or it is not known
    threads: tuple[Thread, ...]  # none if they are too many
    at: float  # seconds since the epoch

    @property
    def age(self) -> float:
        """Seconds that the process has been there."""
        return self.process.age

    @property
    def has_too_many_threads(self) -> bool:
        """Whether none of them was looked at."""
        return self.task.threads > MOST_THREADS

    @property
    def most_descriptors(self) -> int:
        """How many can be open at most."""
        return self.status.slots if self.descriptors is None else self.descriptors

    def look(self, counted: Mapping[str, float]) -> Look:
        """Give what was counted, the server's own counters with it."""
        counts = {
            "minor_faults": self.task.minor_faults,
            "major_faults": self.task.major_faults,
            "user": self.task.user,
            "system": self.task.system,
            **counted,
        }
        for thread in self.threads:
            counts[_user(thread)], counts[_system(thread)] = thread.user, thread.system
        return Look(self.age, self.at, counts)


class Use(NamedTuple):
    """Processor time between two looks, in per cent of one processor."""

    user: float
    system: float

    @property
    def together(self) -> float:
        """All of it, as ``top`` tells it."""
        return self.user + self.system

    @property
    def system_share(self) -> float | None:
        """How much of it was system time, in per cent; None: there was none."""
        return 100 * self.system / self.together if self.together > 0 else None


def look(process: Running) -> Seen | None:
    """Look at a process; None: it is not there any more."""
    task, status, now = processes.task(process.pid), processes.status(process.pid), time.time()
    if task is None or status is None or task.state == processes.ENDED:
        return None
    return Seen(
        process._replace(age=processes.age(task)),
        task,
        status,
        processes.descriptors(process.pid),
        processes.descriptor_limit(process.pid),
        tuple(processes.threads(process.pid)) if task.threads <= MOST_THREADS else (),
        now,
    )


def of_process(interval: Interval) -> Use | None:
    """Tell what the process used."""
    user, system = interval.rate("user"), interval.rate("system")
    return None if user is None or system is None else Use(100 * user, 100 * system)


def of_threads(seen: Seen, interval: Interval) -> dict[int, Use]:
    """Tell what each thread used that is there now, by its id; one that is new has done all of it since."""
    began = seen.task.started + seen.age - interval.seconds
    found = {}
    for thread in seen.threads:
        user, system = interval.counts.get(_user(thread)), interval.counts.get(_system(thread))
        if user is None or system is None:
            if thread.started < began:
                continue
            user, system = thread.user, thread.system
        found[thread.id] = Use(100 * user / interval.seconds, 100 * system / interval.seconds)
    return found


def _user(thread: Thread) -> str:
    return f"{thread.id}.{thread.started:.2f} user"


def _system(thread: Thread) -> str:
    return f"{thread.id}.{thread.started:.2f} system"
