"""Our clock, as if nobody had set it since the host was started: what passes between two runs is true.

For probes that would take a clock set by a day for a day's trouble. Those that look at a server's own uptime
(history/delta.py) need none of it.
"""

from __future__ import annotations

import time

from stallwatch.sources import kernel
from stallwatch.startup import TYPE_CHECKING
from stallwatch.units import is_number

if TYPE_CHECKING:
    from typing import Any

KEPT = "boot"  # the name in memory of the host's start: which one, and seconds since the epoch


def now(memory: dict[str, Any], up: float | None = None) -> float:
    """Tell the time, in seconds since the epoch, by the clock as it stood at the first look since the boot.

    ``up`` is for how many seconds the host has been up, the time that it slept included.
    """
    up = time.clock_gettime(time.CLOCK_BOOTTIME) if up is None else up
    boot, started = kernel.boot(), time.time() - up
    match memory.get(KEPT):
        case [str(same), int() | float() as kept] if same == boot and is_number(kept):
            return kept + up
    memory[KEPT] = [boot, started]
    return started + up
