"""What a server answered, how its counters grew, and what a set of numbers knows of their limits."""

from __future__ import annotations

from stallwatch.probes.mysql.asking import meant
from stallwatch.probes.mysql_status.kinds import BYTES, COUNTER, UNKNOWN, is_reset, kind
from stallwatch.startup import TYPE_CHECKING, NamedTuple
from stallwatch.units import plain, say_count, say_rate, say_size
from stallwatch.words import plural

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from stallwatch.history.delta import Interval, Look
    from stallwatch.sources.mysql import Flavour

_SINCE_FLUSH = "Uptime_since_flush_status"
_SLACK = 5.0  # seconds by which two clocks may differ in what has passed


class Answer(NamedTuple):
    """The answer of one server at one moment."""

    where: str
    flavour: Flavour
    look: Look  # its numbers
    texts: Mapping[str, str]  # all of it, as it is


class Measured:
    """What a server answered last, and how its counters grew in the ``interval`` until then, or ``why_not``.

    ``kinds`` is what the user knows of variables that we do not, by names in small letters. What began anew
    is in ``fallen``: after FLUSH STATUS others may have, too, and have grown beyond what they were.
    """

    def __init__(
        self,
        answer: Answer,
        interval: Interval | None,
        why_not: str = "",
        kinds: Mapping[str, str] | None = None,
    ) -> None:
        self.answer = answer
        self.interval = interval
        self.why_not = why_not
        self._kinds = kinds or {}
        self.fallen = self._fallen()
        self._flushed = any(map(is_reset, self.fallen)) or self._tells_of_flush()

    def _fallen(self) -> list[str]:
        if not self.interval:
            return []
        grown = self.interval.counts
        return [name for name in self.answer.look.counts if name not in grown and self.kind(name) == COUNTER]

    def _tells_of_flush(self) -> bool:
        """Whether the server shows that counters were flushed, as MariaDB and MySQL until 8.0 do."""
        if not self.interval or _SINCE_FLUSH not in self.answer.look.counts:
            return False
        grown = self.interval.counts.get(_SINCE_FLUSH)
        return grown is None or grown < self.interval.seconds - _SLACK

    def is_withheld(self, name: str) -> bool:
        """Whether a counter began anew since the last look, or may have."""
        return bool(self.interval) and self.kind(name) == COUNTER and self.grown(name) is None

    def kind(self, name: str) -> str:
        """Return a counter from a gauge."""
        known = kind(name, self.answer.flavour)
        return self._kinds.get(name.lower(), known) if known is UNKNOWN else known

    def now(self, name: str) -> float | None:
        """Give the number as the server has it."""
        return self.answer.look.counts.get(name)

    def grown(self, name: str) -> float | None:
        """Give how much a counter has grown; None: that is not known, or it began anew."""
        if not self.interval or (self._flushed and is_reset(name)):
            return None
        return self.interval.counts.get(name)

    def rate(self, name: str) -> float | None:
        """Give how much that is per second."""
        grown = self.grown(name)
        return None if grown is None or not self.interval else grown / self.interval.seconds

    def value(self, name: str) -> float | None:
        """Give what is shown: of a counter its rate, in six digits, anything else as it is."""
        if self.kind(name) != COUNTER:
            return self.now(name)
        rate = self.rate(name)
        return None if rate is None else float(f"{rate:.6g}")

    def say(self, name: str) -> str:
        """Write the value of a variable: ``12 000/s``, ``37``, ``4.1 MiB``."""
        value = self.value(name)
        if value is None:
            return "unknown"
        rate = self.kind(name) == COUNTER
        if self.unit(name):
            return say_size(value)
        return say_rate(value) if rate else say_number(value)

    def unit(self, name: str) -> str:
        """Give the unit of a gauge; rates have none that Nagios knows."""
        return "B" if name in BYTES and self.kind(name) != COUNTER else ""


class Limit(NamedTuple):
    """A number with its meaning, and the ranges that hold unless the user sets others."""

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
        """Give how much a counter grows per second; 0 where that is not known."""
        return self.measured.rate(name) or 0.0

    def now(self, name: str) -> float:
        """Give a number as it is; 0 where it is not known."""
        return self.measured.now(name) or 0.0

    def share(self, part: str, whole: str) -> float:
        """Give how many per cent of one counter another one has grown by."""
        return min(100.0, 100 * self.rate(part) / self.rate(whole)) if self.rate(whole) else 0.0

    def setting(self, name: str) -> float:
        """Give a system variable that is a number; 0 where it is none, or not known."""
        return meant(self.variables.get(name)) or 0.0

    def per_second(self, name: str, what: str, *more: str) -> Limit:
        """Give how fast a counter grows: ``3 clients/s turned away (NAME)`` of ``client/s turned away``.

        ``more`` is as of Limit.
        """
        noun, _, rest = what.partition("/s")
        return Limit(name, f"{say_rate(self.rate(name), noun)}{rest} ({name})", *more)

    def say(self, name: str, how: Callable[[float], str] = plain) -> str:
        """Return how a system variable is set: ``max_connections is 151``."""
        return f"{name} is {how(self.setting(name)) if name in self.variables else 'not known'}"

    @property
    def at_work(self) -> float:
        """Give how many threads are at work for clients.

        Measured: Threads_running of MariaDB 10.11.19 has in it the appliers, slave_parallel_threads of them
        even if they have nothing to do, and the event scheduler; of MySQL 9.7.2 the scheduler alone. Threads
        that send the binary log run, too: MariaDB shows how many.
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
        return self.measured.answer.flavour.mariadb


class StatusSet(NamedTuple):
    """A set of numbers about one thing."""

    numbers: tuple[str, ...]
    limits: Callable[[Facts], Iterator[Limit]]
    variables: tuple[str, ...] = ()


def say_number(number: float) -> str:
    """Write a number: ``3``, ``2.5``, ``33 000``."""
    return say_count(number) if number >= 1000 else plain(float(f"{number:.3g}"))  # noqa: PLR2004


def are(number: float, things: str) -> str:
    """Return how many there are: ``1 client is``, ``37 clients are``."""
    return f"{plural(number, things)} {'is' if number == 1 else 'are'}"
