"""What changed between two runs, by the clock of the server itself.

``Uptime`` of the JVM's Runtime runs steadily whatever happens to any wall clock, and ``StartTime`` tells a
restart, after which counters begin anew. Where that bean cannot be read, our own clock has to do.
"""

from __future__ import annotations

import time

from stallwatch.probes.jmx_attributes.absent import NoChangeError
from stallwatch.sources.jmx.errors import JmxError, UnreachableError
from stallwatch.units import is_number, plain

TYPE_CHECKING = False  # typing itself costs every check 2 ms
if TYPE_CHECKING:
    from typing import Any

    from stallwatch.probes.jmx_attributes.reader import Reader

_RUNTIME = "java.lang:type=Runtime"
CLOCK = ((_RUNTIME, "StartTime"), (_RUNTIME, "Uptime"))  # both in ms


class Changes:
    """What was remembered of the last run, and what the next one is to know."""

    def __init__(self, memory: dict[str, Any], reader: Reader) -> None:
        self._memory = memory
        self._now: dict[str, float] = {}
        self._start, self._clock = _clock(reader)
        at: Any = memory.get("at")
        if not (isinstance(memory.get("numbers"), dict) and is_number(at)):
            memory.clear()  # it is none of ours
            at = self._clock
        self.seconds: float = self._clock - at

    def since(self, key: str, number: float, *, only_grows: bool) -> float:
        """Give by how much the number of this key changed in ``seconds``, or raise NoChangeError."""
        self._now[key] = number
        if not self._memory:
            raise NoChangeError("this is the first look")
        if self._memory.get("start") != self._start:
            raise NoChangeError("the JVM has started anew since the last look")
        if self.seconds <= 0:
            passed = "the clock has gone back" if self.seconds < 0 else "no time has passed"
            raise NoChangeError(f"{passed} since the last look")
        before = self._memory["numbers"].get(key)
        if not isinstance(before, int | float) or not is_number(before):
            raise NoChangeError("it was not there at the last look")
        if only_grows and number < before:
            raise NoChangeError(f"it was reset, from {plain(before)} to {plain(number)}")
        return number - before

    def keep(self) -> None:
        """Remember this run for the next one."""
        if self._memory and self._memory.get("start") == self._start and self.seconds == 0:
            return
        self._memory.clear()
        self._memory.update(start=self._start, at=self._clock, numbers=self._now)


def _clock(reader: Reader) -> tuple[float | None, float]:
    """Give when the JVM started, if it says so, and the seconds on a clock that goes on from run to run."""
    try:
        start, uptime = (reader.value(*one) for one in CLOCK)
    except UnreachableError:
        raise
    except JmxError:
        return None, time.time()
    if isinstance(start, int | float) and isinstance(uptime, int | float):
        return start, uptime / 1000
    return None, time.time()
