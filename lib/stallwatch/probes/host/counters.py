"""All that is looked at of a host at one moment."""

from __future__ import annotations

from stallwatch.findings import ProbeError
from stallwatch.history.delta import Look
from stallwatch.probes import steady
from stallwatch.probes.host import wrapping
from stallwatch.probes.host.choosing import is_left_out
from stallwatch.sources import kernel
from stallwatch.startup import TYPE_CHECKING, NamedTuple

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
    missing: list[Missing]


class Missing(NamedTuple):
    """A file of /proc that could not be read or understood."""

    what: str
    may_be: bool = False  # a kernel without disks of its own, as in some containers, has no such file


class Memory(NamedTuple):
    """Memory in bytes."""

    total: int
    available: int


def take(disks: Collection[str] | None, memory: dict[str, Any]) -> Sight:
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
        there = there | wrapping.counted_on(chosen, memory)
        counts |= _of_disks({name: there[name] for name in chosen})
    if swapped := _part("vmstat", kernel.swapped, missing):
        counts |= {"swap in": swapped[0], "swap out": swapped[1]}
    return Sight(
        Look(uptime, steady.now(memory, uptime), counts),
        there,
        max(0, len(processors) - 1),
        _part("loadavg", kernel.load, missing),
        _part("meminfo", _memory, missing),
        missing,
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
        missing.append(Missing(f"what {kernel.PLACE}/{file} tells cannot be understood"))
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


def _memory() -> Memory:
    memory = Memory(*kernel.memory())
    if not memory.total:
        raise ValueError
    return memory
