"""What several probes share: a clock that nobody sets, the slope of points that are not all to be trusted."""

from __future__ import annotations

import time
from itertools import combinations

from stallwatch.history import recall
from stallwatch.sources import kernel
from stallwatch.startup import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

KEPT = "boot"  # the name in memory of the host's start: which one, and seconds since the epoch


def steady_now(memory: dict[str, Any], up: float | None = None) -> float:
    """Return the time, in seconds since the epoch, by the clock as it stood at the first look since the boot.

    It is our clock, as if nobody had set it since: what passes between two runs is true. For probes that
    would take a clock set by a day for a day's trouble; a server's own uptime (history/delta.py) needs none.
    ``up`` is for how many seconds the host has been up, the time that it slept included.
    """
    up = time.clock_gettime(time.CLOCK_BOOTTIME) if up is None else up
    boot, started = kernel.boot(), time.time() - up
    same, kept = recall(memory, KEPT, tuple[str, float]) or ("", 0.0)
    if same == boot:
        return kept + up
    memory[KEPT] = [boot, started]
    return started + up


def theil_sen(points: Sequence[tuple[float, float]]) -> float:
    """Give the median of the slopes between any two points (x, y), by Theil and Sen (1968).

    Nearly a third of the points may lie anywhere. There are two at least, and no two have the same x.
    """
    slopes = sorted((two[1] - one[1]) / (two[0] - one[0]) for one, two in combinations(points, 2))
    middle = len(slopes) // 2
    return slopes[middle] if len(slopes) % 2 else (slopes[middle - 1] + slopes[middle]) / 2
