"""One look at the host."""

from __future__ import annotations

import os
from typing import NamedTuple

from stallwatch.probes import looks
from stallwatch.probes.host import counters, disks, telling, use
from stallwatch.probes.host.choosing import chosen
from stallwatch.probes.host.plateau import plateaus
from stallwatch.probes.looks import NoIntervalError
from stallwatch.reading import Fault, ProbeError, State

TYPE_CHECKING = False  # typing itself costs every check 2 ms
if TYPE_CHECKING:
    import re
    from collections.abc import Collection, Iterator, Mapping, Sequence
    from typing import Any

    from stallwatch.deadline import Deadline
    from stallwatch.probes.host.counters import Sight
    from stallwatch.probes.host.lasting import Rules
    from stallwatch.probes.looks import Interval
    from stallwatch.reading import Finding, Reading

_FEWEST = 1.0  # requests per second: fewer say nothing of how long a disk takes


class Asked(NamedTuple):
    """What the user asked for."""

    rules: Rules
    deadline: Deadline
    sample: float | None = None  # seconds between two looks of one run
    disks: Sequence[re.Pattern[str]] = ()
    directories: Sequence[str] = ()


def findings(asked: Asked, memory: dict[str, Any]) -> Iterator[Finding]:
    """Judge what the host did since the last look that ``memory`` knows of, or in a sample.

    Raises ProbeError.
    """
    places = chosen(asked.disks, asked.directories)
    sight, interval, why = _look(asked, places, memory)
    again = bool(interval and interval.again)
    found = _found(sight, interval, places)
    readings = asked.rules.doubted(telling.readings(found), memory, again=again)
    yield from telling.limits(plateaus(memory, found.disks, found.seconds or 0.0, again=again), found)
    yield from _said(readings, telling.summed_up(found), asked.rules)
    yield from _asides(sight, places, why)


def _look(
    asked: Asked, places: Mapping[str, str] | None, memory: dict[str, Any]
) -> tuple[Sight, Interval | None, str]:
    """Give what is seen now, and what was counted until now or why that is not known."""
    last: list[Sight] = []

    def take() -> looks.Look:
        last.append(counters.take(places, memory))
        return last[-1].look

    try:
        if asked.sample:
            interval = looks.sample(take, asked.sample, asked.deadline)
        else:
            interval = looks.since_last_look(_part(memory, "look"), take())
    except NoIntervalError as error:
        return last[-1], None, str(error)
    return last[-1], interval, ""


def _part(memory: dict[str, Any], name: str) -> dict[str, Any]:
    if not isinstance(memory.get(name), dict):  # as in the first run, or a file that was damaged
        memory[name] = {}
    part: dict[str, Any] = memory[name]
    return part


def _found(sight: Sight, interval: Interval | None, places: Mapping[str, str] | None) -> telling.Found:
    found = telling.Found(
        processors=sight.processors, load=sight.load, memory=sight.memory, places=places or {}
    )
    if interval is None:
        return found
    loads = disks.loads(interval, sight.disks or {}, places)
    return found._replace(
        seconds=interval.seconds,
        use=use.processors(interval),
        disks=loads,
        slowest=disks.slowest(loads, _FEWEST),
        swapping=use.swapping(interval),
        network=use.network(interval),
    )


def _said(readings: Sequence[Reading], summary: str, rules: Rules) -> Iterator[Reading]:
    """Let the first one speak for all, unless it is wrong itself; why is said of what is wrong only."""
    for number, reading in enumerate(readings):
        if rules.alerts(reading):
            yield reading
        else:
            yield reading._replace(what=reading.what if number else summary, why="")


def _asides(sight: Sight, places: Collection[str] | None, why: str) -> Iterator[Finding]:
    if why:
        yield Fault(State.OK, f"what the host has counted is told from the next run on: {why}")
    for missing in sight.missing:
        is_asked_for = places is not None and "diskstats" in missing
        yield ProbeError(missing) if is_asked_for else Fault(State.OK, f"not looked at: {missing}")
    if gone := [name for name in places or () if sight.disks is not None and name not in sight.disks]:
        yield ProbeError(f"the kernel counts nothing for {', '.join(gone)}")
    ours = len(os.sched_getaffinity(0))
    if 0 < ours < sight.processors:
        what = f"told is the whole host with {sight.processors} processors, of which we may use {ours}"
        yield Fault(State.OK, what)
