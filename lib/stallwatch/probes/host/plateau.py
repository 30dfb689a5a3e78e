"""Disks at their limit: more is asked of them, and they do no more.

The article "Tuning your Cluster with ndbinfo" finds such a disk by iostat, and a flat line in a graph shows
it. Here it is three intervals in a row in which the disk had something to do all the time (90 %), did the
same each time (its requests or its bytes per second differ by 10 % at most), and let each request wait longer
than in the interval before: by a tenth each time, by half in all. So its queue has grown, for those who wait
go on asking: by one request at least (Little's law: rate times wait), or it is a fast disk whose microseconds
vary. A disk under a steady load is not meant: its requests take as long as before.
"""

from __future__ import annotations

from itertools import pairwise

from stallwatch.startup import TYPE_CHECKING, NamedTuple
from stallwatch.units import is_number

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from typing import Any

    from stallwatch.probes.host.disks import DiskLoad

INTERVALS = 3
BUSY = 90.0  # per cent
_EVEN = 0.9  # the least of the rates, of the most
_LONGER, _LONGER_IN_ALL = 1.1, 1.5
_MORE = 1.0  # requests in the queue
_KEPT = "intervals"


class Spell(NamedTuple):
    """What a disk did in one interval."""

    seconds: float
    busy: float
    wait: float  # seconds
    requests: float  # per second
    octets: float  # per second


class Plateau(NamedTuple):
    """A disk at its limit."""

    disk: str
    spells: Sequence[Spell]  # in the order of time

    @property
    def seconds(self) -> float:
        """How long it has been so, at least."""
        return sum(spell.seconds for spell in self.spells)


def plateaus(
    memory: dict[str, Any], loads: Iterable[DiskLoad], seconds: float, *, again: bool
) -> list[Plateau]:
    """Tell which disks are at their limit; ``memory`` keeps the last intervals of those that may be.

    An interval that is the last one ``again`` is not one more.
    """
    before = memory.get(_KEPT)
    kept = before if isinstance(before, dict) else {}
    found: dict[str, list[Spell]] = {}
    for load in loads:
        if load.busy is not None and load.wait is not None and load.busy >= BUSY:
            row = _spells(kept.get(load.name))
            now = Spell(seconds, load.busy, load.wait, load.requests, load.read + load.written)
            found[load.name] = [*(row[:-1] if again else row), now][-INTERVALS:]
    if not again:
        memory[_KEPT] = {name: [list(spell) for spell in row] for name, row in found.items()}
    return [Plateau(name, row) for name, row in found.items() if is_plateau(row)]


def is_plateau(spells: Sequence[Spell]) -> bool:
    """Whether these intervals in a row are those of a disk at its limit."""
    if len(spells) < INTERVALS or any(spell.busy < BUSY for spell in spells):
        return False
    waits = [spell.wait for spell in spells]
    longer = all(later >= _LONGER * sooner for sooner, later in pairwise(waits))
    even = any(map(_even, ([spell.requests for spell in spells], [spell.octets for spell in spells])))
    grown = _queue(spells[-1]) - _queue(spells[0]) >= _MORE
    return even and longer and grown and waits[-1] >= _LONGER_IN_ALL * waits[0] > 0


def _queue(spell: Spell) -> float:
    return spell.requests * spell.wait


def _even(rates: Sequence[float]) -> bool:
    return 0 < _EVEN * max(rates) <= min(rates)


def _spells(kept: Any) -> list[Spell]:
    rows = kept if isinstance(kept, list) else []
    fields = len(Spell._fields)
    return [
        Spell(*row)
        for row in rows
        if isinstance(row, list) and len(row) == fields and all(map(is_number, row))
    ]
