"""For how long something has been so, over the runs of a check."""

from __future__ import annotations

from stallwatch.startup import TYPE_CHECKING
from stallwatch.units import is_number

if TYPE_CHECKING:
    from typing import Any


class Since:
    """Since when things have been so, by name: since the first look in a row that found it.

    ``kept`` is a dictionary of the memory for nothing else, as ``{"bond0": 1234.5}``. ``now`` and what is
    kept are seconds on one clock, which goes on between the runs: the uptime of a host, or that of a server,
    or ``probes.shared.steady_clock``. What is kept and no number, or later than ``now``, is damage and
    forgotten: it begins at this look. Nothing is forgotten for not being asked for.
    """

    def __init__(self, kept: dict[str, Any], now: float) -> None:
        for what in [what for what, begun in kept.items() if not (is_number(begun) and begun <= now)]:
            del kept[what]
        self._kept, self._now = kept, now

    def seconds(self, what: str, *, holds: bool = True) -> float:
        """Tell for how many seconds it has been so; 0 at the first look, and if it ``holds`` no more."""
        if not holds:
            self._kept.pop(what, None)
            return 0.0
        return float(self._now - self._kept.setdefault(what, self._now))
