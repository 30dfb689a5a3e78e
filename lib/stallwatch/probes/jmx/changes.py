"""What changed between two runs, by the clock of the server itself.

``Uptime`` of the JVM's Runtime runs steadily whatever happens to any wall clock, and ``StartTime`` shows a
restart, after which counters begin anew. Where that bean cannot be read, our own clock has to do.

A run that comes less than a second after another is the same look again: it shows what changed since the
look before that one, and is not remembered. So a forced check neither raises an alert nor hides one.
"""

from __future__ import annotations

import json
import time

from stallwatch.history import recall, remember
from stallwatch.history.delta import NoIntervalError
from stallwatch.sources.jmx.errors import JmxError, UnreachableError
from stallwatch.startup import TYPE_CHECKING, NamedTuple
from stallwatch.units import is_number, plain, say_duration

if TYPE_CHECKING:
    from typing import Any

    from stallwatch.probes.jmx.reader import Reader

_RUNTIME = "java.lang:type=Runtime"
CLOCK = ((_RUNTIME, "StartTime"), (_RUNTIME, "Uptime"))  # both in ms
_LEAST = 1.0  # seconds between two looks that are compared: over less, a rate is noise


class _Look(NamedTuple):
    """The numbers of one run, and when that was, in seconds."""

    at: float
    numbers: dict[str, float]


class Changes:
    """What was remembered of the last runs, and what the next one is to know.

    ``seconds`` lie between this look and the one that it is compared with; 0 if there is none, as of a JVM
    that has started anew since.
    ``restarted`` is whether it is another start of the JVM, or another JVM, than at the last look: the start
    may be the earlier one (a failover of the address, a clock that was set back).
    ``restarted_for`` is how many seconds the JVM has run, if it was started since the last look.
    """

    def __init__(self, memory: dict[str, Any], reader: Reader) -> None:
        self._memory = memory
        self._now: dict[str, float] = {}
        self._start, self._clock = _clock(reader)
        self._last = recall(memory, "last", _Look)
        before = recall(memory, "start", float)
        self.restarted = self._last is not None and before != self._start
        is_newer = self._start is not None and before is not None and self._start > before
        self.restarted_for: float | None = self._clock if is_newer else None
        self._passed = self._clock - self._last.at if self._last else 0
        self._again = self._last is not None and not self.restarted and 0 <= self._passed < _LEAST
        self._compared = recall(memory, "before", _Look) if self._again else self._last
        self.seconds: float = 0
        if self._compared and not self.restarted:
            self.seconds = self._clock - self._compared.at

    def last(self, key: str) -> float | None:
        """Return the number of this key at the last look, whenever that was; None if it was not there."""
        return self._last.numbers.get(key) if self._last else None

    def before(self, key: str) -> float | None:
        """Return the number of this key at the look that ``since`` compares with; None: it is not known."""
        try:
            return self._earlier().get(key)
        except NoIntervalError:
            return None

    def note(self, key: str, number: float) -> None:
        """Keep a number for the next run."""
        self._now[key] = number

    def since(self, key: str, number: float, *, only_grows: bool) -> float:
        """Return by how much the number of this key changed in ``seconds``, or raise NoIntervalError."""
        self.note(key, number)
        before = self._earlier().get(key)
        if before is None:
            raise NoIntervalError("it was not there at the last look")
        if only_grows and number < before:
            raise NoIntervalError(f"it was reset, from {plain(before)} to {plain(number)}")
        return number - before

    def _earlier(self) -> dict[str, float]:
        """Return the numbers of the look that this one can be compared with; raises NoIntervalError."""
        if not self._last:
            raise NoIntervalError("this is the first look")
        if self.restarted:
            raise NoIntervalError("the JVM has restarted since the last look")
        if not self._compared:
            raise NoIntervalError(f"only {say_duration(self._passed)} have passed since the first look")
        if self.seconds <= 0:
            raise NoIntervalError("the clock has gone back since the last look")
        return self._compared.numbers

    def keep(self) -> None:
        """Remember this run for the next one."""
        if self._again:
            return
        self._memory.clear()
        self._memory["start"] = self._start
        remember(self._memory, "last", _Look(self._clock, self._now))
        if self._last and not self.restarted:
            remember(self._memory, "before", self._last)


def key(*parts: str) -> str:
    """Make one key of several texts; no other texts make the same one."""
    return json.dumps(parts)


def now(reader: Reader) -> float:
    """Return the time of the JVM, in seconds since 1970; our own where it does not show it."""
    start, clock = _clock(reader)
    return clock if start is None else start / 1000 + clock


def _clock(reader: Reader) -> tuple[float | None, float]:
    """Return when the JVM started, if known, and the seconds on a clock that goes on from run to run."""
    try:
        start, uptime = (reader.value(*one) for one in CLOCK)
    except UnreachableError:
        raise
    except JmxError:
        return None, time.time()
    if is_number(start) and is_number(uptime):
        return start, uptime / 1000
    return None, time.time()
