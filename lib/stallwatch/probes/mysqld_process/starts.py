"""A process that does not stay up: somebody starts it again and again, and each look finds another one."""

from __future__ import annotations

from stallwatch.findings import Fault, State
from stallwatch.probes.mysqld_process.choosing import named
from stallwatch.startup import TYPE_CHECKING, NamedTuple
from stallwatch.units import is_number, say_duration

if TYPE_CHECKING:
    from typing import Any

    from stallwatch.probes.mysqld_process.use import Seen

_KEPT = "process"
_WINDOW, _OFTEN = 3600.0, 3  # so many starts within so many seconds are no accident, as of data nodes
_SLACK = 5.0  # seconds by which our clock may be set between two looks


class Known(NamedTuple):
    """The process of the last look, and its starts before and since that were seen."""

    id: list[float]  # its number, and when it was started
    at: float  # the last look, in seconds since the epoch
    starts: list[float]  # likewise, within the last hour


def known(memory: dict[str, Any]) -> Known | None:
    """Tell what is remembered; None: nothing, or it is none of ours."""
    match memory.get(_KEPT):
        case {"id": list(one), "at": at, "starts": list(starts)} if all(map(is_number, (*one, at, *starts))):
            return Known(one, at, starts)
    return None


def was_there(last: Known | None, seen: Seen) -> bool:
    """Whether this process was there at the last look already, which was at another one."""
    return last is not None and last.id != _id(seen) and not _is_new(last, seen)


def remember(last: Known | None, seen: Seen, memory: dict[str, Any]) -> bool:
    """Note which process this is and when it was started; whether there was another one at the last look.

    What is remembered of another process is forgotten.
    """
    starts = [when for when in last.starts if seen.at - when < _WINDOW] if last else []
    other = last is not None and last.id != _id(seen)
    if last and other and _is_new(last, seen):
        starts.append(seen.at - seen.age)
    if other:
        memory.clear()
    memory[_KEPT] = Known(_id(seen), seen.at, starts)._asdict()
    return other


def finding(seen: Seen, memory: dict[str, Any]) -> Fault | None:
    """Tell of a process that was started so often that it does not stay up."""
    now = known(memory)
    if now is None or len(now.starts) < _OFTEN:
        return None
    ago, times = say_duration(round(seen.age)), len(now.starts)
    return Fault(
        State.WARNING,
        f"{named(seen.process)} has started {ago} ago, and {times} times within the last hour",
        advice="it does not stay up: see its error log, and who starts it again",
    )


def _id(seen: Seen) -> list[float]:
    return [seen.process.pid, seen.task.started]


def _is_new(last: Known, seen: Seen) -> bool:
    return seen.age < seen.at - last.at + _SLACK
