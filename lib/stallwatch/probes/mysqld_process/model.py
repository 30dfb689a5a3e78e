"""What a process is at one moment, what it used between two, and what its threads do."""

from __future__ import annotations

from types import MappingProxyType

from stallwatch.history.delta import NOTHING, Look
from stallwatch.sources import data_nodes
from stallwatch.startup import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping

    from stallwatch.history.delta import Interval
    from stallwatch.sources.processes import Running, Status, Task, Thread

SERVERS = ("mysqld", "mariadbd")
DATA_NODES = data_nodes.PROGRAMS
PROGRAMS = (*SERVERS, *DATA_NODES)
MOST_THREADS = 2000  # that are looked at: each costs 15 us of processor time
CONNECTED = "Connections"  # the status variable, and its count between two looks
READ_BUFFER = "read_buffer_size"


class Snapshot(NamedTuple):
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

    @property
    def swaps(self) -> bool:
        """Whether major faults mean that memory is short: nothing else of a database is mapped from disk.

        A JVM may read its data files so: Cassandra and Lucene do.
        """
        return self.process.name in PROGRAMS and self.status.swapped > 0

    @property
    def filled(self) -> float:
        """How much of its limit the open descriptors are at most, in per cent."""
        return round(100 * self.most_descriptors / self.limit, 2) if self.limit else 100.0


class Use(NamedTuple):
    """Processor time between two looks, in per cent of one processor."""

    user: float
    system: float

    @property
    def together(self) -> float:
        """All of it, as ``top`` shows it."""
        return self.user + self.system

    @property
    def system_share(self) -> float | None:
        """How much of it was system time, in per cent; None: there was none."""
        return 100 * self.system / self.together if self.together > 0 else None


class Role(NamedTuple):
    """What a thread does; ``which`` distinguishes it from others that do the same."""

    name: str
    which: str = ""

    def __str__(self) -> str:
        return f"{self.name} {self.which}".rstrip()


class Activity(NamedTuple):
    """What a process did between two looks."""

    snapshot: Snapshot  # at the end
    interval: Interval = NOTHING
    use: Use | None = None  # between two looks
    threads: Mapping[int, Use] = MappingProxyType({})  # likewise, by id
    roles: Mapping[int, Role] = MappingProxyType({})


def named(process: Running) -> str:
    """Name a process."""
    return f"{process.name} {process.pid}"


def of_process(interval: Interval) -> Use | None:
    """Return what the process used."""
    user, system = interval.rate("user"), interval.rate("system")
    return None if user is None or system is None else Use(100 * user, 100 * system)


def of_threads(snapshot: Snapshot, interval: Interval) -> dict[int, Use]:
    """Return what each thread used that is there now, by its id; one that is new has done all of it since."""
    if not interval.seconds:
        return {}
    began = snapshot.task.started + snapshot.age - interval.seconds
    found = {}
    for thread in snapshot.threads:
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
