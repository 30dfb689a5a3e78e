"""All that is looked at of a host at one moment."""

from __future__ import annotations

import time
from typing import NamedTuple

from stallwatch.probes.host import wrapping
from stallwatch.probes.host.choosing import is_left_out
from stallwatch.probes.looks import Look
from stallwatch.reading import ProbeError
from stallwatch.sources import kernel

TYPE_CHECKING = False  # typing itself costs every check 2 ms
if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping
    from typing import Any, TypeVar

    from stallwatch.sources.kernel import Disk

    Part = TypeVar("Part")

ALL = "cpu"  # the name of all processors together
_BUSY = frozenset(("user", "nice", "system", "irq", "softirq", "steal"))


class Sight(NamedTuple):
    """What the kernel tells at one moment; None: it does not."""

    look: Look
    disks: Mapping[str, Disk] | None
    processors: int
    load: tuple[float, float, float] | None
    memory: Memory | None
    missing: list[str]  # files of /proc that could not be read, and why


class Memory(NamedTuple):
    """Memory in bytes."""

    total: int
    available: int


def take(disks: Collection[str] | None, memory: dict[str, Any]) -> Sight:
    """Look at everything, at these disks or at all of them; raises ProbeError if there is no /proc at all.

    ``memory`` keeps what it takes to count on where counters of 32 bits begin at 0 again.
    """
    try:
        uptime = kernel.uptime()
    except OSError as error:
        raise ProbeError(f"{error.filename}: {error.strerror}", "check_host looks at Linux's /proc") from None
    missing: list[str] = []
    of_disks = _part(kernel.disks, missing)
    processors = _part(kernel.processors, missing) or {}
    counts = _of_processors(processors) | _of_network(missing)
    if of_disks is not None:
        chosen = {name: one for name, one in of_disks.items() if _is_chosen(name, disks, of_disks)}
        counts |= _of_disks(wrapping.counted_on(chosen, memory))
    if swapped := _part(kernel.swapped, missing):
        counts |= {"swap in": swapped[0], "swap out": swapped[1]}
    return Sight(
        Look(uptime, time.time(), counts),
        of_disks,
        max(0, len(processors) - 1),
        _part(kernel.load, missing),
        _part(_memory, missing),
        missing,
    )


def of_disk(name: str, field: str) -> str:
    """Name a counter of a disk."""
    return f"disk {name} {field}"


def _is_chosen(name: str, disks: Collection[str] | None, everything: Mapping[str, Disk]) -> bool:
    return not is_left_out(name, everything) if disks is None else name in disks


def _part(read: Callable[[], Part], missing: list[str]) -> Part | None:
    try:
        return read()
    except OSError as error:
        missing.append(f"{error.filename}: {error.strerror}")
    except (ValueError, IndexError, TypeError, KeyError):  # not what we know
        missing.append(f"what {kernel.PLACE} tells of {read.__name__.strip('_')} cannot be understood")
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
        of_disk(name, field): count
        for name, disk in disks.items()
        for field, count in disk._asdict().items()
        if field != "in_flight"
    }


def _of_network(missing: list[str]) -> dict[str, float]:
    interfaces = _part(kernel.interfaces, missing) or {}
    return {
        f"net {name} {field}": count
        for name, one in interfaces.items()
        if name != "lo"
        for field, count in one._asdict().items()
    }


def _memory() -> Memory:
    told = kernel.memory()
    available = told.get("MemAvailable")
    return Memory(told["MemTotal"], kernel.available() if available is None else available)
