"""The zone of a log whose times have none: found by lines that are new, as these cannot be hours old.

Those of a log that is copied here once an hour can: a zone counts if all new lines of two runs fit it. A
first run has no new lines: it compares the last line with the date of the file, and only reports a zone.
"""

from __future__ import annotations

from stallwatch.findings import Fault, Finding, Reading, State
from stallwatch.findings import Line as Said
from stallwatch.startup import TYPE_CHECKING
from stallwatch.units import is_number, say_duration

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

_STEP = 900.0  # seconds: the zones of the world differ by quarters of an hour
_LEAST = 1800.0  # seconds; less may be a log that is copied here late
_SLACK = 60.0  # seconds that clocks may differ, or a line may be late
_MOST = 26 * 3600.0  # seconds, from UTC+14 to UTC-12


class Zone:
    """How much is added to the times of a log; ``memory`` is the JSON object that it keeps between runs."""

    def __init__(self, memory: dict[str, Any], now: float, *, follows: bool) -> None:
        """Learn from new lines only if this run ``follows`` one that read all there was."""
        self._memory = memory
        self.offset: float = memory.get("offset", 0.0)
        if not is_number(self.offset) or abs(self.offset) > _MOST:
            raise ValueError(self.offset)
        self._now = now
        seen: Any = memory.get("seen")
        knows = follows and not memory.get("behind") and is_number(seen)
        self._since: float | None = seen if knows and seen <= now else None
        self._until = 0.0  # no line of this run is later
        self._likely: float = memory.get("likely", 0.0)  # an offset that the last run with new lines saw
        if not is_number(self._likely):
            raise ValueError(self._likely)
        self._guess = 0.0  # an offset that the date of the file shows
        self._age: float | None = None  # of a new line, where no offset explains it

    def of(self, when: float) -> float:
        """Return the seconds to add to a time, and learn from the first of a run."""
        if self._since is not None:
            self._learn(when, self._since)
            self._since = None
        elif self._until and when + self._likely > self._until:
            self.offset = self._likely = 0.0  # the lines are of a longer time than that since the last run
        return self.offset

    def _learn(self, when: float, since: float) -> None:
        """Find out by how much a line differs that was written after ``since``."""
        begin, end = since - _SLACK, self._now + _SLACK
        if begin <= when <= end:
            self.offset = self._likely = 0.0
        elif not begin <= when + self.offset <= end or not self.offset:
            offset = _STEP * round(((begin + end) / 2 - when) / _STEP)
            fits = begin <= when + offset <= end and _LEAST <= abs(offset) <= _MOST
            if fits and end - begin < _STEP:
                self.offset = offset if offset == self._likely else 0.0
                self._likely, self._until = offset, end
            elif abs(self._now - when) >= _LEAST + (end - begin):
                self._age = self._now - when

    def guess(self, last: float, written: float | None) -> None:
        """Learn on a first run from the time of the last line, and from when the file was written to."""
        late = 0.0 if written is None else written - last
        offset = _STEP * round(late / _STEP)
        if abs(late - offset) <= _SLACK and _LEAST <= abs(offset) <= _MOST:
            self._guess = offset

    def keep(self, *, behind: bool) -> None:
        """Put into the memory what the next run learns from; ``behind``: lines are left to be read."""
        self._memory.update(offset=self.offset, likely=self._likely, seen=self._now, behind=behind)

    def findings(self, name: str) -> Iterator[Finding]:
        """Return what is corrected, and what cannot be."""
        if self._age is not None:
            age = say_duration(abs(self._age))
            what = f"new lines of {name} are {age} {'old' if self._age > 0 else 'in the future'}"
            advice = "run the check with the node's TZ, or set the clock"
            yield Fault(State.WARNING, what, "the zone or clock of the node differs", advice, Said())
        elif offset := self.offset or self._likely or self._guess:
            far = f"{say_duration(abs(offset))} {'behind' if offset > 0 else 'ahead of'} this host's"
            if self.offset:
                what = f"times of {name} are {far}, corrected"
                yield Reading("time_zone", self.offset, "s", what, label="")
            else:
                until = "they are corrected when new lines of two runs show the same"
                yield Fault(State.OK, f"times of {name} are probably {far}, {until}")
