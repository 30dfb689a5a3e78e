"""Which disks are looked at."""

from __future__ import annotations

import re

from stallwatch.reading import ProbeError
from stallwatch.sources import blocks, kernel
from stallwatch.words import listed

TYPE_CHECKING = False  # typing itself costs every check 2 ms
if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Sequence

_IN_MEMORY = re.compile(r"(loop|ram|zram|fd|sr)\d+(p\d+)?")  # and what is no disk to a database
_PARTITION = re.compile(r"(.*\d)p\d+|(.*\D)\d+")  # nvme0n1p1, cciss/c0d0p1, sda1


def is_left_out(name: str, everything: Collection[str]) -> bool:
    """Whether a device is looked at only if it is asked for: partitions, loop, ram.

    A partition is called after a disk that is there, too.
    """
    part = _PARTITION.fullmatch(name)
    disk = (part[1] or part[2]) if part else None
    return bool(_IN_MEMORY.fullmatch(name)) or disk in everything


def chosen(patterns: Iterable[re.Pattern[str]], directories: Sequence[str]) -> dict[str, str] | None:
    """Name the disks that the user asks for, and the directories that they are chosen for; None: all.

    Raises ProbeError.
    """
    found: dict[str, str] = {}
    for directory in directories:
        try:
            for disk in blocks.below(directory):
                found.setdefault(disk, directory)
        except blocks.NoBlocksError as error:
            raise ProbeError(f"--data-dir {error}") from None
    patterns = list(patterns)
    if not patterns:
        return found if directories else None
    there = _there()
    for pattern in patterns:
        matching = [name for name in there if pattern.fullmatch(name)]
        if not matching:
            raise ProbeError(f"--disk {pattern.pattern} is not here: there {_are(there)}")
        for disk in matching:
            found.setdefault(disk, "")
    return found


def _there() -> list[str]:
    try:
        there = kernel.disks()
    except OSError as error:
        raise ProbeError(f"--disk: {error.filename}: {error.strerror}") from None
    return sorted(there)


def _are(names: Sequence[str]) -> str:
    shown = [name for name in names if not is_left_out(name, names)] or names
    return f"are {listed(shown, 8)}" if shown else "is none"
