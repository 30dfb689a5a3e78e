"""What lasts between the runs of a check, each concept once.

``delta`` is what counters counted between two looks, ``streak`` how many looks in a row something was bad;
here are for how long something has been so, and what was wrong and is still to be reported.

Each works on a part of the memory of the check: the dictionary that the frame reads from the state file, and
writes back as JSON. What somebody else wrote, or damaged, is never trusted, and begins anew.
"""

from __future__ import annotations

from stallwatch.startup import TYPE_CHECKING
from stallwatch.units import is_number

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from typing import Any, Protocol, TypeVar

    class Record(Protocol):
        """A NamedTuple of what JSON can keep."""

        def _asdict(self) -> dict[str, Any]: ...

    One = TypeVar("One", bound=Record)

SLACK = 5.0  # seconds by which our clock and another may differ in what has passed


def own(memory: dict[str, Any], name: str) -> dict[str, Any]:
    """Give the dictionary in ``memory`` of this name, a new one if there is none, or it is damaged."""
    kept = memory.get(name)
    memory[name] = mine = kept if isinstance(kept, dict) else {}
    return mine


def has_restarted(uptime: float, last: float, passed: float) -> bool:
    """Whether something is up for less than it was at the last look, or than has ``passed`` since.

    A slow answer, or our clock being set, makes a few seconds more or less of what has passed.
    """
    return uptime < last or (uptime < passed + 1 and uptime < last + passed - SLACK)


class Since:
    """Since when things have been so, by name: since the first look in a row that found it.

    ``kept`` is a dictionary of the memory for nothing else, as ``{"bond0": 1234.5}``. ``now`` and what is
    kept are seconds on one clock, which goes on between the runs: the uptime of a host, or that of a server,
    or ``probes.shared.steady_now``. What is kept and no number, or later than ``now``, is damage and
    forgotten: it begins at this look. Nothing is forgotten for not being asked for.
    """

    def __init__(self, kept: dict[str, Any], now: float) -> None:
        for what in [what for what, begun in kept.items() if not (is_number(begun) and begun <= now)]:
            del kept[what]
        self._kept, self._now = kept, now

    def seconds(self, what: str, *, holds: bool = True) -> float:
        """Return for how many seconds it has been so; 0 at the first look, and if it ``holds`` no more."""
        if not holds:
            self._kept.pop(what, None)
            return 0.0
        return float(self._now - self._kept.setdefault(what, self._now))


def remembered(memory: dict[str, Any], key: str, record: Callable[..., One]) -> list[One]:
    """Give the problems that ``memory[key]`` keeps, in its order; none if it has none.

    They are kept as ``remember`` writes them: ``[{"lock": "x", "when": 1234.5}]`` has a dictionary for each,
    with the fields of ``record``, seconds in them since the epoch. Raises what Python raises on what is
    damaged or of another version: TypeError mostly. The caller then forgets the whole memory and reports
    that: a problem that is lost silently would be OK by accident.
    """
    return [record(**kept) for kept in memory.get(key, [])]


def remember(memory: dict[str, Any], key: str, problems: Iterable[Record]) -> None:
    """Keep ``problems`` as ``memory[key]`` for the next run, in their order."""
    memory[key] = [problem._asdict() for problem in problems]
