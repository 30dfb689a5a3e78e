"""What is too full, on how many looks in a row, and how fast what is used grows."""

from __future__ import annotations

import time
from itertools import pairwise

from stallwatch.findings import State
from stallwatch.history.streak import twice
from stallwatch.probes.shared import theil_sen
from stallwatch.startup import TYPE_CHECKING, NamedTuple
from stallwatch.units import is_number

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from typing import Any

    from stallwatch.probes.ndb_memory.queries import Subject, Use
    from stallwatch.probes.ndbinfo.cluster import Cluster

    Sample = tuple[float, float]  # seconds since the epoch, used

FEWEST = 5  # samples of a trend, the present one among them
_KEPT = "samples"
_MOST = 12  # samples of each that are kept: 14 kB for 48 data nodes
_APART = 300.0  # seconds between samples that are kept, or more:
_BASE = 0.5  # of the horizon, that they are to span: what a batch adds in an hour does not go on for a day
_EARLY = 10.0  # seconds by which a run may come early
_OLDEST = 7 * 86400.0  # seconds, or the horizon
_LAST = 3  # samples that tell whether it still grows
_CLEAR = 0.01  # of the whole, by which it has to have grown
_LARGEST = 1e18  # bytes: more is none of ours


class Filling(NamedTuple):
    """One subject: how much of it is used on each data node or of each tablespace."""

    subject: Subject
    uses: Sequence[Use]  # at least one, that used most first
    alerting: Sequence[Use]  # those that a threshold alerts on
    paces: Mapping[int | str, float]  # at which it grows, per second, by what it is of, where that is clear
    confirmed: bool  # False: critical for the first time, and the next look may be good
    ends: Mapping[int | str, float] = {}  # per cent at which it is full, where the cluster has told
    fastest: Mapping[int | str, float] = {}  # at which it grew between looks, of what has too few for a pace

    @property
    def fullest(self) -> Use:
        """What is used most."""
        return self.uses[0]

    @property
    def is_problem(self) -> bool:
        """Whether a threshold alerts on what is used most."""
        return self.fullest in self.alerting

    @property
    def soonest(self) -> tuple[float, Use] | None:
        """What will be full first, and in how many seconds; None: nothing grows clearly."""
        return self._first(self.paces)

    @property
    def earliest(self) -> tuple[float, Use] | None:
        """What would be full first if it went on as fast as it ever grew; None: nothing has grown."""
        return self._first(self.fastest)

    def _first(self, paces: Mapping[int | str, float]) -> tuple[float, Use] | None:
        times = [(self._time_left(use, paces[use.of]), use) for use in self.uses if use.of in paces]
        return min(times, key=lambda one: one[0], default=None)

    def end(self, use: Use) -> float:
        """Give at how many per cent it is full."""
        return self.ends.get(use.of, self.subject.end)

    def _time_left(self, use: Use, pace: float) -> float:
        """Seconds until it is full at this pace, never negative."""
        return max(0.0, self.end(use) / 100 * use.total - use.used) / pace


class Diagnosis:
    """What fills up, subject by subject."""

    def __init__(
        self, cluster: Cluster, alerts: Callable[..., bool], memory: dict[str, Any], horizon: float
    ) -> None:
        self.fillings: list[Filling] = []
        self._now = time.time()
        self.history = History(memory, self._now, horizon)
        self._nodes = cluster.nodes
        self._alerts = alerts  # whether a threshold of a quantity alerts on a value
        self._memory = memory

    def add(self, subject: Subject, uses: Sequence[Use]) -> None:
        """Diagnose one subject, of which so much is used; that used most comes first."""
        if not uses:
            return
        alerting = [use for use in uses if self._alerts(subject.name, use.rounded)]
        paces = {} if subject.heals else self._paces(subject, uses)
        confirmed = not (subject.heals and self._is_first(subject, uses))
        fastest = {
            use.of: pace for use in uses if (pace := self.history.fastest.get(f"{subject.name}/{use.of}"))
        }
        self.fillings.append(Filling(subject, uses, alerting, paces, confirmed, fastest=fastest))

    def _paces(self, subject: Subject, uses: Sequence[Use]) -> dict[int | str, float]:
        paces = {}
        for use in uses:
            uptime = self._nodes[use.of].uptime if isinstance(use.of, int) else None
            pace = self.history.pace(f"{subject.name}/{use.of}", use, uptime)
            if pace:
                paces[use.of] = pace
        return paces

    def _is_first(self, subject: Subject, uses: Sequence[Use]) -> bool:
        """Whether it is critical, and was not so on any of these data nodes at the last look."""
        critical = {
            use.of
            for use in uses
            if isinstance(use.of, int) and self._alerts(subject.name, use.rounded, State.CRITICAL)
        }
        lasts = twice(self._memory, f"critical_{subject.name}", critical, self._now)
        return bool(critical) and not lasts


class History:
    """What was used at earlier looks; ``now`` is seconds since the epoch, ``horizon`` seconds to look ahead.

    What ``memory`` has that makes no sense is forgotten.
    """

    def __init__(self, memory: dict[str, Any], now: float, horizon: float = 0.0) -> None:
        kept = memory.get(_KEPT)
        self._now = int(now)
        self.apart = max(_APART, _BASE * horizon / _MOST)  # seconds between samples
        self.shortest = _MOST  # samples, of what has fewest
        self.fastest: dict[str, float] = {}  # growth per second between two looks, of what has too few
        oldest = now - max(_OLDEST, horizon)
        self._kept = {
            name: samples
            for name, listed in (kept if isinstance(kept, dict) else {}).items()
            if (samples := [one for one in _samples(listed) if oldest < one[0] < self._now])
        }
        memory[_KEPT] = self._kept

    def pace(self, name: str, use: Use, since: float | None = None) -> float | None:
        """Give how much it grows per second, and keep this look; None: that is not clear, or it does not.

        ``since``: seconds for which it has been the same thing, if not for ever. A data node that has started
        anew has its memory filled and packed anew.
        """
        kept = self._kept.get(name, [])
        if since is not None:
            kept = [one for one in kept if self._now - one[0] < since]
        present = (self._now, round(use.used))
        points = [one for one in kept if self._now - one[0] >= self.apart / 2] + [present]
        if not kept or self._now - kept[-1][0] >= self.apart - _EARLY:
            kept = [*kept, present][-_MOST:]
        self._kept[name] = kept
        self.shortest = min(self.shortest, len(points))
        if len(points) < FEWEST and (fastest := _fastest(points, use.total)):
            self.fastest[name] = fastest
        return _pace(points, use.total)


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


def _samples(listed: object) -> list[Sample]:
    """Read what was kept; [] if it is none of ours."""
    try:
        samples = sorted(dict(listed).items())  # type: ignore[call-overload]
    except (TypeError, ValueError):
        return []
    of_ours = all(is_number(number) and 0 <= number <= _LARGEST for sample in samples for number in sample)
    return samples if of_ours else []
