"""What a set knows of a number: what it means, what it means to be at its limit, and what to try then."""

from __future__ import annotations

from stallwatch.probes.mysql.statement import meant
from stallwatch.startup import TYPE_CHECKING, NamedTuple
from stallwatch.units import plain
from stallwatch.words import plural

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from stallwatch.probes.mysql_status.measured import Measured


class Limit(NamedTuple):
    """A number with its meaning, and the ranges that hold unless the user gives others."""

    name: str
    what: str
    why: str = ""
    advice: str = ""
    warning: str = ""  # a range; "": it is not at its limit, whatever the number
    critical: str = ""  # likewise, of what lasts


class Facts(NamedTuple):
    """What was measured of a server, and how it is set up."""

    measured: Measured
    variables: Mapping[str, str]
    processors: int | None = None  # of its host, if that is ours

    def rate(self, name: str) -> float:
        """Tell how much a counter grows per second; 0 where that is not known."""
        return self.measured.rate(name) or 0.0

    def now(self, name: str) -> float:
        """Give a number as it is; 0 where it is not known."""
        return self.measured.now(name) or 0.0

    def share(self, part: str, whole: str) -> float:
        """Tell how many per cent of one counter another one has grown by."""
        return min(100.0, 100 * self.rate(part) / self.rate(whole)) if self.rate(whole) else 0.0

    def setting(self, name: str) -> float:
        """Give a system variable that is a number; 0 where it is none, or not known."""
        return meant(self.variables.get(name)) or 0.0

    def say(self, name: str, how: Callable[[float], str] = plain) -> str:
        """Say how a system variable is set: ``max_connections is 151``."""
        return f"{name} is {how(self.setting(name)) if name in self.variables else 'not known'}"

    @property
    def at_work(self) -> float:
        """Tell how many threads are at work for clients.

        Measured: Threads_running of MariaDB 10.11.19 has in it the appliers, slave_parallel_threads of them
        even if they have nothing to do, and the event scheduler; of MySQL 9.7.2 the scheduler alone. Threads
        that send the binary log run, too: MariaDB tells how many.
        """
        own = float(self.variables.get("event_scheduler", "") == "ON")
        if self.mariadb:
            appliers = self.now("Slaves_running")  # each with a thread that receives
            own += self.now("Slaves_connected") + 2 * appliers
            own += self.setting("slave_parallel_threads") if appliers else 0
        running = self.now("Threads_running")
        return max(min(running, 1.0), running - own)  # we are at work

    @property
    def mariadb(self) -> bool:
        """Whether the server is MariaDB."""
        return self.measured.told.flavour.mariadb


class Subject(NamedTuple):
    """A set of numbers about one thing."""

    numbers: tuple[str, ...]
    limits: Callable[[Facts], Iterator[Limit]]
    variables: tuple[str, ...] = ()


def are(number: float, things: str) -> str:
    """Say how many there are: ``1 client is``, ``37 clients are``."""
    return f"{plural(number, things)} {'is' if number == 1 else 'are'}"
