"""Where what is used is going: how fast it grows, and when it will be full."""

from __future__ import annotations

from typing import NamedTuple

from stallwatch.slope import theil_sen
from stallwatch.units import is_number

TYPE_CHECKING = False  # typing itself costs every check 2 ms
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from stallwatch.probes.ndb_memory.uses import Use

    Sample = tuple[float, float]  # seconds since the epoch, used

_KEPT = "samples"
_EVERY = 290.0  # seconds between samples that are kept: 5 minutes, less what engines are early
_MOST = 12  # samples of each that are kept: an hour, and 14 kB for 48 data nodes
_OLDEST = 86400.0  # seconds
_FEWEST = 5  # samples of a trend, the present one among them
_LAST = 3  # samples that tell whether it still grows
_CLEAR = 0.01  # of the whole, by which it has to have grown


class Growth(NamedTuple):
    """How something grows."""

    pace: float  # per second

    def time_to(self, end: float, use: Use) -> float:
        """Seconds until ``end`` per cent are used at this pace, never negative."""
        return max(0.0, end / 100 * use.total - use.used) / self.pace


class History:
    """What was used at earlier looks; ``now`` is seconds since the epoch.

    What ``memory`` has that makes no sense is forgotten.
    """

    def __init__(self, memory: dict[str, Any], now: float) -> None:
        kept = memory.get(_KEPT)
        self._now = now
        self._kept = {
            name: samples
            for name, listed in (kept if isinstance(kept, dict) else {}).items()
            if (samples := [one for one in _samples(listed) if now - _OLDEST < one[0] < now])
        }
        memory[_KEPT] = self._kept

    def growth(self, name: str, use: Use, since: float = _OLDEST) -> Growth | None:
        """Tell how it grows, and keep this look; None: that is not clear, or it does not.

        ``since``: seconds for which it has been the same thing. A data node that has started anew has its
        memory filled and packed anew.
        """
        kept = [one for one in self._kept.get(name, []) if self._now - one[0] < since]
        present = (round(self._now), round(use.used))
        points = [one for one in kept if one[0] < present[0]] + [present]
        if not kept or present[0] - kept[-1][0] >= _EVERY:
            kept = points[-_MOST:]
        self._kept[name] = kept
        return _growth(points, use.total)


def _growth(points: Sequence[Sample], total: float) -> Growth | None:
    """Give the pace if it is more than noise, and goes on: what a load has filled is no trend any more."""
    if len(points) < _FEWEST:
        return None
    pace, span = theil_sen(points), points[-1][0] - points[0][0]
    if pace * span < _CLEAR * total or theil_sen(points[-_LAST:]) < pace / 2:
        return None
    return Growth(pace)


def _samples(listed: object) -> list[Sample]:
    """Read what was kept; [] if it is none of ours."""
    try:
        samples = sorted(dict(listed).items())  # type: ignore[call-overload]
    except (TypeError, ValueError):
        return []
    return samples if all(is_number(number) for sample in samples for number in sample) else []
