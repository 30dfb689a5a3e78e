"""What is too full, on how many looks in a row, and how fast what is used grows."""

from __future__ import annotations

import time

from stallwatch.findings import State
from stallwatch.history.streak import twice
from stallwatch.probes.ndb_memory.queries import UNDO_SPACE
from stallwatch.probes.ndbinfo.growth import History, of_logs
from stallwatch.startup import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from typing import Any

    from stallwatch.probes.ndb_memory.queries import Subject, Use
    from stallwatch.probes.ndbinfo.cluster import Cluster


class Filling(NamedTuple):
    """One subject: how much of it is used on each data node or of each tablespace."""

    subject: Subject
    uses: Sequence[Use]  # at least one, that used most first
    alerting: Sequence[Use]  # those that a threshold alerts on
    paces: Mapping[int | str, float]  # at which it grows, per second, by what it is of, where that is clear
    confirmed: bool  # False: critical for the first time, and the next look may be good
    ends: Mapping[int | str, float] = {}  # per cent at which it is full, where the cluster has shown it
    bound: tuple[float, float] | None = (
        None  # seconds until the fullest is full, where a checkpoint empties it
    )
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
        self._logs = of_logs(memory, self._now)
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
        bound = self._bound(subject, uses) if subject is UNDO_SPACE else None
        self.fillings.append(Filling(subject, uses, alerting, paces, confirmed, bound=bound, fastest=fastest))

    def _bound(self, subject: Subject, uses: Sequence[Use]) -> tuple[float, float] | None:
        bounds = [
            self._logs.full_within(
                f"{subject.name}/{use.of}", use.used, use.total, self._nodes[int(use.of)].uptime
            )
            for use in uses
        ]
        return bounds[0]

    def _paces(self, subject: Subject, uses: Sequence[Use]) -> dict[int | str, float]:
        paces = {}
        for use in uses:
            uptime = self._nodes[use.of].uptime if isinstance(use.of, int) else None
            pace = self.history.pace(f"{subject.name}/{use.of}", use.used, use.total, uptime)
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
