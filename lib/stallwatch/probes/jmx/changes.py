"""What changed between two runs, by the clock of the server itself.

``Uptime`` of the JVM's Runtime runs steadily whatever happens to any wall clock, and ``StartTime`` shows a
restart, after which counters begin anew. Where that bean cannot be read, our own clock has to do.

``history.delta`` describes which looks are compared: numbers that do not only grow are compared as well.
"""

from __future__ import annotations

import json
import time

from stallwatch.history.delta import Look, Looks, NoIntervalError
from stallwatch.sources.jmx.errors import JmxError, UnreachableError
from stallwatch.startup import TYPE_CHECKING
from stallwatch.units import is_number, plain

if TYPE_CHECKING:
    from typing import Any

    from stallwatch.probes.jmx.reader import Reader

_RUNTIME = "java.lang:type=Runtime"
CLOCK = ((_RUNTIME, "StartTime"), (_RUNTIME, "Uptime"))  # both in ms


class Changes:
    """What was remembered of the last runs, and what the next one is to know.

    ``seconds`` lie between this look and the one that it is compared with; 0 if there is none, as of a JVM
    that has started anew since.
    ``restarted`` is whether it is another start of the JVM, or another JVM, than at the last look: the start
    may be the earlier one (a failover of the address, a clock that was set back).
    ``restarted_for`` is how many seconds the JVM has run, if it was started since the last look.
    """

    def __init__(self, memory: dict[str, Any], reader: Reader) -> None:
        self._counts: dict[str, float] = {}
        start, clock = _clock(reader)
        self._looks = Looks(memory, Look(clock, clock, self._counts, start), "the JVM")
        self._last = last = self._looks.last
        self._why = self._looks.why if last else "this is the first look"
        if last and start is last.start is None and clock < last.uptime:
            self._why = "our clock has gone back since the last look"
        known = last.start if last and start is not None else None
        self.restarted = known is not None and (start != known or bool(last and clock < last.uptime))
        self.restarted_for: float | None = clock if known is not None and (start or 0.0) > known else None
        self.seconds = 0.0 if self._why else self._looks.interval.seconds

    def last(self, key: str) -> float | None:
        """Return the number of this key at the last look, whenever that was; None if it was not there."""
        return self._last.counts.get(key) if self._last else None

    def before(self, key: str) -> float | None:
        """Return the number of this key at the look that ``since`` compares with; None: it is not known."""
        compared = self._looks.compared
        return compared.counts.get(key) if compared and not self._why else None

    def note(self, key: str, number: float) -> None:
        """Keep a number for the next run."""
        self._counts[key] = number

    def since(self, key: str, number: float, *, only_grows: bool) -> float:
        """Return by how much the number of this key changed in ``seconds``, or raise NoIntervalError."""
        self.note(key, number)
        before = self.before(key)
        if before is None:
            raise NoIntervalError(self._why or "it was not there at the last look")
        if only_grows and number < before:
            raise NoIntervalError(f"it was reset, from {plain(before)} to {plain(number)}")
        return number - before

    def keep(self) -> None:
        """Remember this run for the next one."""
        self._looks.keep()


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
