"""Which disks are looked at."""

from __future__ import annotations

import re

from stallwatch.findings import ProbeError
from stallwatch.sources import blocks, kernel
from stallwatch.startup import TYPE_CHECKING, NamedTuple
from stallwatch.words import listed

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

_IN_MEMORY = re.compile(r"(loop|ram|zram|fd|sr)\d+(p\d+)?")  # and what is no disk to a database
_PARTITION = re.compile(r"(.*\d)p\d+|(.*\D)\d+")  # nvme0n1p1, cciss/c0d0p1, sda1


def is_left_out(name: str, everything: Collection[str]) -> bool:
    """Whether a device is looked at only if it is asked for: partitions, loop, ram.

    A partition is called after a disk that is there, too.
    """
    part = _PARTITION.fullmatch(name)
    disk = (part[1] or part[2]) if part else None
    return bool(_IN_MEMORY.fullmatch(name)) or disk in everything


class Choice(NamedTuple):
    """The disks that the user asks for, and what of that is not here."""

    places: dict[str, str] | None  # directories that they are chosen for, or ""; None: all disks
    problems: list[ProbeError]


def chosen(patterns: Sequence[re.Pattern[str]], directories: Sequence[str]) -> Choice:
    """Choose the disks that patterns fit to, and those below directories."""
    if not patterns and not directories:
        return Choice(None, [])
    found: dict[str, str] = {}
    problems = []
    for directory in directories:
        try:
            for disk in blocks.below(directory):
                found.setdefault(disk, directory)
        except blocks.NoBlocksError as error:
            problems.append(ProbeError(f"--data-dir {error}"))
    there = _there()
    for pattern in patterns:
        matching = [name for name in there or () if pattern.fullmatch(name)]
        if not matching and there is not None:
            problems.append(ProbeError(f"--disk {pattern.pattern} is not here: there {_are(there)}"))
        for disk in matching:
            found.setdefault(disk, "")
    return Choice(found, problems)


def _there() -> list[str] | None:
    """Name all disks; None: the kernel does not tell them, which is told of everything that it does not."""
    try:
        return sorted(kernel.disks())
    except (OSError, ValueError, TypeError):
        return None


def _are(names: Sequence[str]) -> str:
    shown = [name for name in names if not is_left_out(name, names)] or names
    return f"are {listed(shown, 8)}" if shown else "is none"
