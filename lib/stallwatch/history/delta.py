"""Two looks at what something counts, and what it has counted between them.

Something is a server, a process, a host: its counters begin at 0 whenever it is started anew, and it shows
for how long it has been up. Our clock only excludes impossible uptimes: a server that is up for longer than
it was at the last look may have been started anew since, or another one may answer at its address.

A run that comes less than LEAST seconds after another is the same look again, as a retry or one by hand: it
gets what was counted since the look before that one, and is not remembered. So it neither raises an alert
nor hides one.
"""

from __future__ import annotations

import time

from stallwatch.findings import Fault, ProbeError, State
from stallwatch.history import has_restarted, own, recall, remember
from stallwatch.startup import TYPE_CHECKING, NamedTuple
from stallwatch.units import say_duration

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from stallwatch.deadline import Deadline

LEAST = 15.0  # seconds between two looks that count
SHORTEST = 1.0  # seconds between two looks of one run: servers show their uptime in whole ones
FIRST = "no earlier look to compare with"
_LATE = 60.0  # seconds by which two clocks may differ, of answers that were long in coming
_WHOLE = 2.0  # seconds by which they differ as long as none was set: an uptime may be in whole seconds


class Look(NamedTuple):
    """What something had counted at one moment."""

    uptime: float  # seconds that it has been up
    at: float  # seconds since the epoch, by our clock
    counts: dict[str, float]
    start: float | None = None  # when it was started, by its own clock, if it shows that


class Interval(NamedTuple):
    """What something counted between two looks, and over how long."""

    seconds: float  # 0: there is nothing to compare with, and nothing counted
    counts: dict[str, float]  # by name; what began anew meanwhile is not among them
    again: bool = False  # soon after another look: what it shows does not count as one more
    why: str | ProbeError = ""  # there is nothing to compare with: an error if a look was lost

    def rate(self, name: str) -> float | None:
        """Return how much that is per second; None: it was not there, or began anew."""
        counted = self.counts.get(name)
        return None if counted is None else counted / self.seconds

    @property
    def said_why(self) -> str | ProbeError:
        """Return why there is nothing to compare with, before a colon."""
        return "first look" if self.why == FIRST else self.why


NOTHING = Interval(0.0, {})  # there is nothing to compare with


class NoIntervalError(Exception):
    """There is nothing to compare with; the message is the reason, for a person."""


def measured(
    take: Callable[[], Look], memory: dict[str, Any], seconds: float | None, deadline: Deadline
) -> Interval:
    """Give what was counted since the last look that ``memory`` knows of, or in a sample of so many seconds.

    ``take`` looks once. Without a look to compare with, the interval has the reason. Raises ProbeError.
    """
    try:
        if seconds:
            return sample(take, seconds, deadline)
        return since_last_look(own(memory, "look"), take())
    except NoIntervalError as error:
        return NOTHING._replace(why=str(error))


def not_yet(what: str, interval: Interval) -> Fault:
    """Return what is not known, as there is nothing to compare with."""
    return Fault(State.OK, f"{interval.said_why}: {what} is known from the next run on, or by --sample")


class Looks:
    """A look and the last one that counts; ``memory`` is a dictionary of its own, for nothing else.

    ``compared`` is the look that this one is compared with: the one before the last if this is the last one
    ``again``. ``why`` is the reason for not comparing it; "": there is none. ``it`` is what was looked at.
    """

    def __init__(self, memory: dict[str, Any], now: Look, it: str = "it") -> None:
        self._memory, self._now = memory, now
        self.last = self.compared = last = recall(memory, "last", Look)
        self.why, self.interval, self.again = FIRST, NOTHING, False
        if last is None:
            return
        self.again = not _not_comparable(last, now, it) and now.uptime - last.uptime < LEAST
        self.compared = (self.again and recall(memory, "before", Look)) or last
        if self.again and self.compared is last and _seconds(last, now) < SHORTEST:
            self.why = "the first look was less than a second ago"
            return
        try:
            self.interval, self.why = between(self.compared, now, it)._replace(again=self.again), ""
        except NoIntervalError as error:
            self.why = str(error)

    def keep(self) -> None:
        """Remember this look, unless it is the last one again."""
        if self.again:
            return
        remember(self._memory, "last", self._now)
        if self.why:
            self._memory.pop("before", None)
        else:
            remember(self._memory, "before", self.last)


def since_last_look(memory: dict[str, Any], now: Look) -> Interval:
    """Return what was counted since the last look in ``memory``, and remember this one.

    ``memory`` is a dictionary of its own, for nothing else. Raises NoIntervalError.
    """
    looks = Looks(memory, now)
    looks.keep()
    if looks.why:
        raise NoIntervalError(looks.why)
    return looks.interval


def between(first: Look, second: Look, it: str = "it") -> Interval:
    """Return what was counted between these two; raises NoIntervalError if it was started anew meanwhile."""
    if why := _not_comparable(first, second, it):
        raise NoIntervalError(why)
    seconds = _seconds(first, second)
    if seconds <= 0:
        raise NoIntervalError("no time has passed since the last look")
    counts = {
        name: number - first.counts[name]
        for name, number in second.counts.items()
        if name in first.counts and number >= first.counts[name]
    }
    return Interval(seconds, counts)


def _seconds(first: Look, second: Look) -> float:
    """Return how much time has passed, by our clock unless it was set: an uptime moves by whole seconds."""
    up, passed = second.uptime - first.uptime, second.at - first.at
    return passed if abs(passed - up) < _WHOLE else up


def sample(take: Callable[[], Look], seconds: float, deadline: Deadline) -> Interval:
    """Look twice, so far apart, or less if the deadline is near; raises ProbeError, NoIntervalError."""
    begun = time.monotonic()
    first = take()
    pause(seconds, time.monotonic() - begun, deadline)
    return between(first, take())


def pause(seconds: float, took: float, deadline: Deadline) -> None:
    """Wait no longer than leaves time for a second look that takes as long as the first one took."""
    possible = min(seconds, deadline.left() - took)
    if possible < SHORTEST:
        deadline.must_have_had_time()
        raise ProbeError(
            f"no time is left for a sample: the first of its two looks took {say_duration(took)}",
            "give it a longer --timeout",
        )
    deadline.doing = "waiting for the end of the sample"
    deadline.rest(possible)
    deadline.doing = ""


def _not_comparable(last: Look, now: Look, it: str) -> str:
    """Return why two looks are not about the same run of the same thing; "": they are."""
    passed = now.at - last.at
    if (last.start is None) != (now.start is None):
        return f"whether {it} has restarted since the last look is not known"
    if last.start != now.start or has_restarted(now.uptime, last.uptime, passed):
        return f"{it} has restarted since the last look"
    if now.uptime > last.uptime + max(0.0, passed) + _LATE:
        return f"{it} is up for longer than it can be: another one answers, or a clock was set"
    return ""
