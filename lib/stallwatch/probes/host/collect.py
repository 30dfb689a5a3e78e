"""What the kernel shows of a host: which disks are looked at, and all that has been counted."""

from __future__ import annotations

import re
import time

from stallwatch.findings import ProbeError
from stallwatch.history import delta, recall, remember
from stallwatch.history.delta import Look
from stallwatch.probes import shared
from stallwatch.sources import host, kernel
from stallwatch.sources.kernel import Disk
from stallwatch.startup import TYPE_CHECKING, NamedTuple
from stallwatch.units import say_duration
from stallwatch.words import listed

if TYPE_CHECKING:
    from argparse import Namespace
    from collections.abc import Callable, Collection, Mapping, Sequence
    from typing import Any, TypeVar

    from stallwatch.frame.run import Run
    from stallwatch.history.delta import Interval
    from stallwatch.sources.kernel import Memory

    Part = TypeVar("Part")

ALL = "cpu"  # the name of all processors together
_BUSY = frozenset(("user", "nice", "system", "irq", "softirq", "steal"))
_IN_MEMORY = re.compile(r"(loop|ram|zram|fd|sr)\d+(p\d+)?")  # and what is no disk to a database
_PARTITION = re.compile(r"(.*\d)p\d+|(.*\D)\d+")  # nvme0n1p1, cciss/c0d0p1, sda1
# The kernel shows the milliseconds of disks as 32 bits, on 64-bit processors too (%u in diskstats_show of
# block/genhd.c): they begin again after 50 days of work, that of a queue of 275 requests after 4 hours.
_TURN = 1 << 32
_TURNS = "turns"
_TIMES = ("read_ms", "write_ms", "busy_ms", "queue_ms")
_OTHERS = ("reads", "writes", "sectors_read", "sectors_written")


class Snapshot(NamedTuple):
    """What the kernel shows at one moment, and has counted since another; None: it does not."""

    look: Look
    disks: Mapping[str, Disk] | None
    processors: int
    load: tuple[float, float, float] | None
    memory: Memory | None
    missing: list[Missing]
    interval: Interval  # since that other moment
    again: bool = False  # it comes so soon after the last look that it is not remembered


class Missing(NamedTuple):
    """A file of /proc that could not be read or understood."""

    what: str
    may_be: bool = False  # a kernel without disks of its own, as in some containers, has no such file


def chosen(
    patterns: Sequence[re.Pattern[str]], directories: Sequence[str]
) -> tuple[dict[str, str] | None, list[ProbeError]]:
    """Choose the disks that patterns fit to, and those below directories; report what of that is not here.

    The disks have the directories that they are chosen for, or "". None: all disks.
    """
    if not patterns and not directories:
        return None, []
    found: dict[str, str] = {}
    problems = []
    for directory in directories:
        try:
            for disk in host.below(directory):
                found.setdefault(disk, directory)
        except host.NoBlocksError as error:
            problems.append(ProbeError(f"--data-dir {error}"))
    there = _there()
    for pattern in patterns:
        matching = [name for name in there or () if pattern.fullmatch(name)]
        if not matching and there is not None:
            problems.append(ProbeError(f"--disk {pattern.pattern} is not here: there {_are(there)}"))
        for disk in matching:
            found.setdefault(disk, "")
    return found, problems


def _there() -> list[str] | None:
    """Name all disks; None: the kernel does not show them, which is reported of all that it does not show."""
    try:
        return sorted(kernel.disks())
    except (OSError, ValueError, TypeError):
        return None


def _are(names: Sequence[str]) -> str:
    shown = [name for name in names if not is_left_out(name, names)] or names
    return f"are {listed(shown, 8)}" if shown else "is none"


def is_left_out(name: str, everything: Collection[str]) -> bool:
    """Whether a device is looked at only if it is asked for: partitions, loop, ram.

    A partition is called after a disk that is there, too.
    """
    part = _PARTITION.fullmatch(name)
    disk = (part[1] or part[2]) if part else None
    return bool(_IN_MEMORY.fullmatch(name)) or disk in everything


def take_snapshot(
    options: Namespace, run: Run, places: Mapping[str, str] | None, memory: dict[str, Any]
) -> Snapshot:
    """Look at the disks of ``places``, or at all of them, and at everything else.

    ``memory`` has the last look, unless a sample is to be taken. Raises ProbeError.
    """
    seen: list[Snapshot] = []

    def take_look() -> Look:
        begun = time.monotonic()
        seen.append(_take(places, memory))
        counters = len(seen[-1].look.counts)
        run.trace(f"{kernel.PLACE} showed {counters} counters in {say_duration(time.monotonic() - begun)}")
        return seen[-1].look

    interval = delta.measured(take_look, memory, options.sample, run.deadline)
    again = not options.sample and memory["look"]["last"]["uptime"] != seen[-1].look.uptime
    return seen[-1]._replace(interval=interval, again=again)


def _take(disks: Collection[str] | None, memory: dict[str, Any]) -> Snapshot:
    """Look at everything, at these disks or at all of them; raises ProbeError if there is no /proc at all.

    ``memory`` keeps what it takes to count on where counters of 32 bits begin at 0 again, and when the host
    was started.
    """
    try:
        uptime = kernel.uptime()
    except OSError as error:
        raise ProbeError(f"{error.filename}: {error.strerror}", "check_host looks at Linux's /proc") from None
    missing: list[Missing] = []
    there = _part("diskstats", kernel.disks, missing)
    processors = _part("stat", kernel.processors, missing) or {}
    counts = _of_processors(processors) | _of_network(missing)
    if there is not None:
        chosen = {name: one for name, one in there.items() if _is_chosen(name, disks, there)}
        there = there | _counted_on(chosen, memory)
        counts |= _of_disks({name: there[name] for name in chosen})
    if swapped := _part("vmstat", kernel.swapped, missing):
        counts |= {"swap in": swapped[0], "swap out": swapped[1]}
    return Snapshot(
        Look(uptime, shared.steady_now(memory, uptime), counts),
        there,
        max(0, len(processors) - 1),
        _part("loadavg", kernel.load, missing),
        _part("meminfo", kernel.memory, missing),
        missing,
        delta.NOTHING,
    )


def of_disk(name: str, field: str) -> str:
    """Name a counter of a disk."""
    return f"disk {name} {field}"


def _is_chosen(name: str, disks: Collection[str] | None, everything: Mapping[str, Disk]) -> bool:
    return not is_left_out(name, everything) if disks is None else name in disks


def _part(file: str, read: Callable[[], Part], missing: list[Missing]) -> Part | None:
    try:
        return read()
    except OSError as error:
        may_be = read is kernel.disks and isinstance(error, FileNotFoundError)
        missing.append(Missing(f"{error.filename}: {error.strerror}", may_be))
    except (ValueError, IndexError, TypeError, KeyError, AssertionError):  # not what we, or psutil, know
        missing.append(Missing(f"the contents of {kernel.PLACE}/{file} cannot be understood"))
    return None


def _of_processors(processors: Mapping[str, kernel.Processor]) -> dict[str, float]:
    """Count what all of them do, and how busy each one is."""
    counts: dict[str, float] = {}
    for name, times in processors.items():
        each = times._asdict()
        del each["guest"], each["guest_nice"]  # they are in user and nice, too
        if name == ALL:
            counts |= {f"{ALL} {what}": seconds for what, seconds in each.items()}
        else:
            counts[f"{name} busy"] = sum(seconds for what, seconds in each.items() if what in _BUSY)
    return counts


def _of_disks(disks: Mapping[str, Disk]) -> dict[str, float]:
    return {
        of_disk(name, field): count for name, disk in disks.items() for field, count in disk._asdict().items()
    }


def _of_network(missing: list[Missing]) -> dict[str, float]:
    interfaces = _part("net/dev", kernel.interfaces, missing) or {}
    return {
        f"net {name} {field}": count
        for name, one in interfaces.items()
        if name != "lo"
        for field, count in one._asdict().items()
    }


def _counted_on(disks: Mapping[str, Disk], memory: dict[str, Any]) -> dict[str, Disk]:
    """Give the same with times that go on where they have begun again since the last look."""
    before = recall(memory, _TURNS, dict[str, tuple[Disk, dict[str, int]]]) or {}
    turns = {name: _turns(disk, before.get(name)) for name, disk in disks.items()}
    remember(memory, _TURNS, {name: (disk, turns[name]) for name, disk in disks.items()})
    return {
        name: disk._replace(
            **{time: getattr(disk, time) + turn * _TURN for time, turn in turns[name].items()}
        )
        for name, disk in disks.items()
    }


def _turns(disk: Disk, before: tuple[Disk, dict[str, int]] | None) -> dict[str, int]:
    """Return how often each time has begun again; never, if the disk itself is another one."""
    last, turns = before or (disk, {})
    if any(getattr(disk, name) < getattr(last, name) for name in _OTHERS):
        last, turns = disk, {}
    # Old kernels count back a little where requests were miscounted.
    begun = {time: getattr(disk, time) < _TURN // 2 <= getattr(last, time) for time in _TIMES}
    return {time: turns.get(time, 0) + begun[time] for time in _TIMES}
