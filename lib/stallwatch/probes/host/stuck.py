"""Disks that answer nothing: requests wait in them, and none is completed.

Their await is not measured, for the kernel counts the time of a request when it is completed; nor does a
queue of requests that never end show in aqu-sz. A disk that works takes milliseconds for a request, one that
has to spin up some seconds; the SCSI layer gives a request up after 30 s (Linux, SD_TIMEOUT in sd.h), an NVMe
disk too (nvme_core.io_timeout), and tries again.
"""

from __future__ import annotations

from stallwatch.startup import TYPE_CHECKING, NamedTuple
from stallwatch.units import is_number

if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any

    from stallwatch.probes.host.disks import DiskLoad

LEAST = 5.0  # seconds: so long a sample may take
CERTAIN = 2  # looks in a row
_KEPT = "stuck"


class Stuck(NamedTuple):
    """A disk that answers nothing."""

    disk: str
    seconds: float  # at least
    waiting: int  # requests
    looks: int  # in a row that have found it so


def stuck(memory: dict[str, Any], loads: Iterable[DiskLoad], uptime: float, *, again: bool) -> list[Stuck]:
    """Tell which disks answer nothing; ``memory`` keeps since when, by the host's ``uptime``.

    A look that is the last one ``again`` is not one more.
    """
    before = memory.get(_KEPT)
    kept = before if isinstance(before, dict) else {}
    found = {}
    for load in loads:
        if load.silent >= LEAST:
            since, looks = _since(kept.get(load.name)) or (uptime - load.silent, 0)
            found[load.name] = (min(since, uptime - load.silent), looks + (not again), load.waiting)
    if not again:
        memory[_KEPT] = {name: [since, looks] for name, (since, looks, _) in found.items()}
    return [Stuck(name, uptime - since, waiting, looks) for name, (since, looks, waiting) in found.items()]


def _since(kept: Any) -> tuple[float, int] | None:
    match kept:
        case [since, int(looks)] if is_number(since):
            return float(since), looks
    return None
