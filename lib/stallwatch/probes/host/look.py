"""One look at the host."""

from __future__ import annotations

import os
import time

from stallwatch.findings import Fault, ProbeError, State
from stallwatch.history import delta, own
from stallwatch.history.delta import NoIntervalError
from stallwatch.probes.host import counters, disks, telling, use
from stallwatch.probes.host.choosing import chosen
from stallwatch.probes.host.plateau import plateaus
from stallwatch.probes.host.stuck import CERTAIN, stuck
from stallwatch.sources import kernel
from stallwatch.startup import TYPE_CHECKING, NamedTuple
from stallwatch.units import say_duration
from stallwatch.words import listed

if TYPE_CHECKING:
    import re
    from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
    from typing import Any

    from stallwatch.findings import Finding, Reading
    from stallwatch.frame.deadline import Deadline
    from stallwatch.history.delta import Interval
    from stallwatch.probes.host.confirming import Rules
    from stallwatch.probes.host.counters import Sight

_OF_DISKS = ("disk_busy", "disk_await")  # what there are limits for


class Asked(NamedTuple):
    """What the user asked for."""

    rules: Rules
    deadline: Deadline
    trace: Callable[[str], None]
    sample: float | None = None  # seconds between two looks of one run
    disks: Sequence[re.Pattern[str]] = ()
    directories: Sequence[str] = ()


def findings(asked: Asked, memory: dict[str, Any]) -> Iterator[Finding]:
    """Judge what the host did since the last look that ``memory`` knows of, or in a sample.

    Raises ProbeError.
    """
    choice = chosen(asked.disks, asked.directories)
    sight, interval, why = _look(asked, choice.places, memory)
    again = not asked.sample and memory["look"].get("uptime") != sight.look.uptime  # it is not remembered
    found = _found(sight, interval, choice.places)
    found = found._replace(labelled=_labelled(memory, found))
    readings = asked.rules.doubted(telling.readings(found), memory, again=again)
    silent = stuck(memory, found.disks, sight.look.uptime, again=again)
    yield from telling.stuck(silent, found, min(CERTAIN, asked.rules.confirm))
    yield from telling.limits(plateaus(memory, found.disks, found.seconds or 0.0, again=again), found)
    yield from _said(readings, telling.summed_up(found), asked.rules)
    yield from choice.problems
    yield from _missing(sight, choice.places, asked.rules)
    if sight.disks is not None:
        yield from _untimed(found, choice.places, asked.rules)
    yield from _asides(sight, why)


def _look(
    asked: Asked, places: Mapping[str, str] | None, memory: dict[str, Any]
) -> tuple[Sight, Interval | None, str]:
    """Give what is seen now, and what was counted until now or why that is not known."""
    last: list[Sight] = []

    def take() -> delta.Look:
        begun = time.monotonic()
        sight = counters.take(places, memory)
        took = say_duration(time.monotonic() - begun)
        asked.trace(f"{kernel.PLACE} told {len(sight.look.counts)} counters in {took}")
        last.append(sight)
        return sight.look

    try:
        if asked.sample:
            interval = delta.sample(take, asked.sample, asked.deadline)
        else:
            interval = delta.since_last_look(own(memory, "look"), take())
    except NoIntervalError as error:
        return last[-1], None, str(error)
    return last[-1], interval, ""


def _found(sight: Sight, interval: Interval | None, places: Mapping[str, str] | None) -> telling.Found:
    found = telling.Found(
        processors=sight.processors, load=sight.load, memory=sight.memory, places=places or {}
    )
    if interval is None:
        return found
    loads = disks.loads(interval, sight.disks or {}, places)
    return found._replace(
        seconds=interval.seconds,
        use=use.processors(interval, sight.processors),
        disks=loads,
        slowest=disks.slowest(loads),
        swapping=use.swapping(interval),
        network=use.network(interval),
    )


def _labelled(memory: dict[str, Any], found: telling.Found) -> list[str]:
    """Name the disks with perfdata of their own: the first few, and those that had it once keep it."""
    names = sorted(disk.name for disk in found.disks)
    kept = memory.get("labelled")
    before = [name for name in kept if isinstance(name, str)] if isinstance(kept, list) else []
    told = [name for name in before if name in names]
    room = telling.CHOSEN if found.places else telling.LABELLED
    told = [*told, *(name for name in names if name not in told)][:room]
    memory["labelled"] = [*told, *(name for name in before if name not in told)][:room]
    return sorted(told)


def _said(readings: Sequence[Reading], summary: str, rules: Rules) -> Iterator[Reading]:
    """Let the first one speak for all, unless it is wrong itself; why is said of what is wrong only."""
    for number, reading in enumerate(readings):
        if rules.alerts(reading):
            yield reading
        else:
            yield reading._replace(what=reading.what if number else summary, why="")


def _missing(sight: Sight, places: Collection[str] | None, rules: Rules) -> Iterator[Finding]:
    """Tell what the kernel does not; that it counts no disks matters to whoever asks for some."""
    matters = places is not None or rules.judges(*_OF_DISKS)
    for what, may_be in sight.missing:
        if may_be and not matters:
            yield Fault(State.OK, f"not looked at: {what}")
        else:
            yield ProbeError(what)
    if gone := [name for name in places or () if sight.disks is not None and name not in sight.disks]:
        yield ProbeError(f"the kernel counts nothing for {listed(gone)}")


def _untimed(found: telling.Found, places: Mapping[str, str] | None, rules: Rules) -> Iterator[Finding]:
    """Tell of disks without times, unless nobody asks, or what they are made of has them."""
    if found.seconds and not found.disks and places is None and rules.judges(*_OF_DISKS):
        yield ProbeError("no disk has done anything yet that the kernel counts")
    untimed = [disk.name for disk in found.disks if disk.busy is None]
    named = [name for name in untimed if places and not places[name]]
    if not (names := untimed if len(untimed) == len(found.disks) else named):
        return
    what = f"the kernel has counted no times for {listed(names)}: how busy, and how slow, is not known"
    if rules.judges(*_OF_DISKS):
        yield ProbeError(what, "choose what it is made of (--disk); Linux 5.14 counts times of md, too")
    elif named:
        yield Fault(State.OK, what)


def _asides(sight: Sight, why: str) -> Iterator[Fault]:
    if why:
        yield Fault(State.OK, f"what the host has counted is told from the next run on: {why}")
    ours = len(os.sched_getaffinity(0))
    if 0 < ours < sight.processors:
        what = f"told is the whole host with {sight.processors} processors, of which we may use {ours}"
        yield Fault(State.OK, what)
