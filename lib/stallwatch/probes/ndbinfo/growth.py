"""How fast what fills up has grown between looks, and within which bound it will be full.

What only grows has a pace once there are FEWEST looks. What a checkpoint empties again (redo log, undo log)
has a bound from the second look on: the time until it is full at the fastest and at the slowest pace since it
last fell.
"""

from __future__ import annotations

from itertools import pairwise

from stallwatch.history import own, recall
from stallwatch.probes.shared import theil_sen
from stallwatch.startup import TYPE_CHECKING
from stallwatch.units import say_roughly

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    Sample = tuple[float, float]  # seconds since the epoch, used

FEWEST = 5  # samples of a trend, the present one among them
_KEPT = "samples"
_MOST = 12  # samples of each that are kept: 14 kB for 48 data nodes
_APART = 300.0  # seconds between samples that are kept, or more:
_BASE = 0.5  # of the horizon, that they are to span: what a batch adds in an hour does not go on for a day
_EARLY = 10.0  # seconds by which a run may come early
_OLDEST = 7 * 86400.0  # seconds, or the horizon
_LAST = 3  # samples that show whether it still grows
_CLEAR = 0.01  # of the whole, by which it has to have grown
_LARGEST = 1e18  # bytes: more is none of ours
_SOON = 3600.0  # seconds; what a checkpoint empties is not foreseen for longer
_NOW = 10.0  # seconds: what is full by then is as good as full
_HALF = 0.5  # of the whole; what is emptied before that is no danger
_STEADY = 10.0  # paces that differ by more show nothing
_AGAIN = 30.0  # seconds between samples of what fills and is emptied within minutes


class History:
    """What was used at earlier looks; ``now`` is seconds since the epoch, ``horizon`` seconds to look ahead.

    ``apart`` is the least number of seconds between two samples. What ``memory`` has that makes no sense is
    forgotten.
    """

    def __init__(
        self, memory: dict[str, Any], now: float, horizon: float = 0.0, apart: float = _APART
    ) -> None:
        kept = recall(memory, _KEPT, dict[str, list[tuple[float, float]]]) or {}
        self._now = int(now)
        self.apart = max(apart, _BASE * horizon / _MOST)
        self.shortest = _MOST  # samples, of what has fewest
        self.fastest: dict[str, float] = {}  # growth per second between two looks, of what has too few
        oldest = now - max(_OLDEST, horizon)
        self._kept = {
            name: samples
            for name, listed in kept.items()
            if (
                samples := sorted(
                    one
                    for one in dict(listed).items()
                    if oldest < one[0] < self._now and 0 <= one[1] <= _LARGEST
                )
            )
        }
        memory[_KEPT] = self._kept

    def pace(self, name: str, used: float, total: float, since: float | None = None) -> float | None:
        """Give how much it grows per second, and keep this look; None: that is not clear, or it does not.

        ``since``: seconds for which it has been the same thing, if not for ever. A data node that has started
        anew has its memory filled and packed anew.
        """
        points = self._look(name, used, since)
        self.shortest = min(self.shortest, len(points))
        if len(points) < FEWEST and (fastest := _fastest(points, total)):
            self.fastest[name] = fastest
        return _pace(points, total)

    def full_within(self, name: str, used: float, total: float, since: float) -> tuple[float, float] | None:
        """Give in how many seconds it is full, at least and at most, and keep this look; None: not clear.

        That holds as long as nothing empties it. ``used`` and ``total`` have one unit; it has been filled for
        ``since`` seconds at most.
        """
        points = self._look(name, used, since)
        rising = points[-1:]
        for earlier in reversed(points[:-1]):
            if earlier[1] >= rising[0][1]:
                break
            rising.insert(0, earlier)
        grown = rising[-1][1] - rising[0][1]
        if used >= total or used < _HALF * total or grown <= 0 or grown < _CLEAR * total:
            return None
        paces = [(later[1] - one[1]) / (later[0] - one[0]) for one, later in pairwise(rising)]
        earliest, latest = (total - used) / max(paces), (total - used) / min(paces)
        if latest < _NOW or earliest > _SOON or latest > _STEADY * earliest:
            return None
        return earliest, latest

    def _look(self, name: str, used: float, since: float | None) -> list[Sample]:
        """Keep this look, and give it after those before it that can be compared."""
        kept = self._kept.get(name, [])
        if since is not None:
            kept = [one for one in kept if self._now - one[0] < since]
        present = (self._now, round(used))
        points = [one for one in kept if self._now - one[0] >= self.apart / 2] + [present]
        if not kept or self._now - kept[-1][0] >= self.apart - _EARLY:
            kept = [*kept, present][-_MOST:]
        self._kept[name] = kept
        return points


def of_logs(memory: dict[str, Any], now: float) -> History:
    """Give the history of logs that checkpoints empty; ``memory`` is all that the check remembers."""
    return History(own(memory, "logs"), now, apart=_AGAIN)


def say_full(bound: tuple[float, float]) -> str:
    """Write a bound: ``full in 10 to 25 min``, ``full in 50 s to 3 min``, ``full in 10 min``."""
    earliest, latest = map(say_roughly, bound)
    if earliest == latest:
        return f"full in {earliest}"
    number, _, unit = earliest.partition(" ")
    return f"full in {number if latest.endswith(f' {unit}') and ' ' not in unit else earliest} to {latest}"


def _pace(points: Sequence[Sample], total: float) -> float | None:
    """Give the pace if it is more than noise, and goes on: what a load has filled is no trend any more."""
    if len(points) < FEWEST:
        return None
    pace, span = theil_sen(points), points[-1][0] - points[0][0]
    if pace * span < _CLEAR * total or theil_sen(points[-_LAST:]) < pace / 2:
        return None
    return pace


def _fastest(points: Sequence[Sample], total: float) -> float | None:
    """Give the fastest pace between two looks, if it has grown by more than noise: a bound, no trend."""
    if points[-1][1] - points[0][1] < _CLEAR * total:
        return None
    return max((later[1] - one[1]) / (later[0] - one[0]) for one, later in pairwise(points))
