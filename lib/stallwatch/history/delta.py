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


def since_last_look(memory: dict[str, Any], now: Look) -> Interval:
    """Return what was counted since the last look in ``memory``, and remember this one.

    ``memory`` is a dictionary of its own, for nothing else. Raises NoIntervalError.
    """
    last, before = recall(memory, "last", Look), recall(memory, "before", Look)
    why = _not_comparable(last, now) if last else FIRST
    if last is None or why:
        remember(memory, "last", now)
        memory.pop("before", None)
        raise NoIntervalError(why)
    again = now.uptime - last.uptime < LEAST
    if not again:
        remember(memory, "last", now)
        remember(memory, "before", last)
    elif before:
        last = before
    elif _seconds(last, now) < SHORTEST:
        raise NoIntervalError("the first look was less than a second ago")
    return between(last, now)._replace(again=again)


def between(first: Look, second: Look) -> Interval:
    """Return what was counted between these two; raises NoIntervalError if it was started anew meanwhile."""
    if why := _not_comparable(first, second):
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


def _not_comparable(last: Look, now: Look) -> str:
    """Return why two looks are not about the same run of the same thing; "": they are."""
    passed = now.at - last.at
    if has_restarted(now.uptime, last.uptime, passed):
        return "it has restarted since the last look"
    if now.uptime > last.uptime + max(0.0, passed) + _LATE:
        return "it is up for longer than it can be: another one answers, or a clock was set"
    return ""
