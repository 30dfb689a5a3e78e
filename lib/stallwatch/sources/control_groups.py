"""The control groups (cgroups) that a process of our host is in: whether they freeze it, or ration it.

psutil knows nothing of them. All files that are read here are for everybody to read (Linux 6.18).
"""

from __future__ import annotations

import contextlib
import os

from stallwatch.sources import kernel
from stallwatch.sources.kernel import counted
from stallwatch.sources.recording import of_host
from stallwatch.startup import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

PLACE = "/sys/fs/cgroup"
_UNIFIED = ("", "unified")  # where version 2 is mounted: alone, or beside version 1


class Rationed(NamedTuple):
    """How often a group with a limit has used up its share of the processors since it was made."""

    periods: int  # in which it had something to do
    exhausted: int  # of them, in which it had to wait for the next one


def is_frozen(pid: int) -> bool:
    """Whether a group keeps the process from running (docker pause, systemctl freeze).

    The kernel calls such a process sleeping (version 2) or waiting for a disk (version 1).
    """
    for group in _groups(pid, "freezer"):
        if _read(f"{group}/freezer.state").strip() in {"FROZEN", "FREEZING"}:
            return True
        if _numbers(f"{group}/cgroup.events").get("frozen"):
            return True
    return False


def rationed(pid: int) -> dict[str, Rationed]:
    """Report the group of a process, and of those around it, how it is limited, by the group's folder."""
    counts = {group: _numbers(f"{group}/cpu.stat") for group in _groups(pid, "cpu")}
    return {
        group: Rationed(one["nr_periods"], one["nr_throttled"])
        for group, one in counts.items()
        if one.get("nr_periods") and "nr_throttled" in one
    }


def exhausted(before: Mapping[str, Rationed], after: Mapping[str, Rationed]) -> float:
    """Return in what share of its periods the tightest group had used up its own, in per cent."""
    nothing = Rationed(0, 0)
    grown = [
        (one.exhausted - was.exhausted, one.periods - was.periods)
        for group, one in after.items()
        for was in [before.get(group, nothing)]
    ]
    return max((100 * min(1.0, waited / periods) for waited, periods in grown if periods > 0), default=0.0)


def _groups(pid: int, controller: str) -> Iterator[str]:
    """Give the folders of its group and of those around it, of version 2 and of version 1's controller."""
    for line in _read(f"{kernel.PLACE}/{pid}/cgroup").splitlines():
        _, _, named = line.partition(":")
        controllers, _, path = named.partition(":")
        if controllers and controller not in controllers.split(","):
            continue
        for mounted in (controllers,) if controllers else _UNIFIED:
            inside = path.strip("/")
            while True:
                yield os.path.join(PLACE, mounted, inside)
                if not inside:
                    break
                inside = os.path.dirname(inside)


def _numbers(path: str) -> dict[str, int]:
    found = {}
    for line in _read(path).splitlines():
        name, _, number = line.partition(" ")
        with contextlib.suppress(ValueError):
            found[name] = counted(number)
    return found


@of_host
def _read(path: str) -> str:
    """Read a file; "": it is not there, or not for us."""
    try:
        with open(path, encoding="ascii", errors="replace") as file:
            return file.read()
    except OSError:
        return ""
