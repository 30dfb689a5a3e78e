"""What the last look left: how many pools there were, and which of their counters have begun since then."""

from __future__ import annotations

from contextlib import suppress

from stallwatch.probes.jmx_attributes.changes import CLOCK
from stallwatch.sources.jmx.errors import JmxError
from stallwatch.startup import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from typing import Any

    from stallwatch.probes.jmx_attributes.reader import Reader

POOLS = "pools"  # beside what changes.Changes keeps in the memory


class Last(NamedTuple):
    """The last look, as far as this one has to know of it."""

    pools: int  # that there were when any were seen
    numbers: dict[str, Any]
    uptime: float | None  # seconds for which the JVM runs, if it was started since then

    def begun(self, pool: str, seconds: float) -> float | None:
        """Give the seconds within which the counters of a pool began at 0; None if they are older.

        ``seconds`` have passed since the last look, 0 if there was none.
        """
        if self.uptime is not None:
            return self.uptime
        known = any(counter(pool, of) in self.numbers for of in ("blocked", "completed"))
        return seconds if seconds > 0 and not known else None


def counter(pool: str, of: str) -> str:
    """Name a counter of a pool in the memory."""
    return f"{pool} {of}"


def last(memory: dict[str, Any], reader: Reader) -> Last:
    """Read the memory, before this look is put into it."""
    pools, numbers = memory.get(POOLS), memory.get("numbers")
    known = numbers if isinstance(numbers, dict) else {}
    return Last(pools if isinstance(pools, int) else 0, known, _uptime(memory.get("start"), reader))


def _uptime(before: Any, reader: Reader) -> float | None:
    with suppress(JmxError):
        start, uptime = (reader.value(*one) for one in CLOCK)
        times = [one for one in (before, start, uptime) if isinstance(one, int | float)]
        if len(times) == len((before, *CLOCK)) and times[1] > times[0]:
            return times[2] / 1000
    return None
