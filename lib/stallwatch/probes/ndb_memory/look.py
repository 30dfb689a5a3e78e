"""One look at what fills up in a cluster."""

from __future__ import annotations

import time

from stallwatch.findings import Fault, ProbeError, State
from stallwatch.history.streak import twice
from stallwatch.probes.ndb_memory import telling, uses
from stallwatch.probes.ndb_memory.growth import FEWEST, History
from stallwatch.probes.ndb_memory.subjects import DATA_MEMORY, TABLESPACE, UNDO_SPACE
from stallwatch.probes.ndb_memory.telling import Filling
from stallwatch.probes.ndbinfo import cluster as data_nodes
from stallwatch.probes.ndbinfo import ended
from stallwatch.probes.ndbinfo.privileges import not_seen
from stallwatch.sources.mysql import DeniedError
from stallwatch.startup import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from typing import Any

    from stallwatch.findings import Finding
    from stallwatch.probes.ndb_memory.growth import Growth
    from stallwatch.probes.ndb_memory.subjects import Subject
    from stallwatch.probes.ndb_memory.uses import Found, Use
    from stallwatch.probes.ndbinfo.asking import Ndbinfo
    from stallwatch.probes.ndbinfo.cluster import Cluster

    Judgement = Callable[[str, float | None], bool]


class Asked(NamedTuple):
    """What the user asked for."""

    alerts: Judgement  # whether a threshold of a quantity alerts on a value
    is_critical: Judgement
    so_far: Callable[[Iterable[Finding]], None]  # is told what is known already
    horizon: float = 0.0  # seconds: what will be full so soon is a WARNING


def findings(ndbinfo: Ndbinfo, asked: Asked, memory: dict[str, Any]) -> Iterator[Finding]:
    """Judge how full everything is, and where that is going; raises a ProbeError."""
    yield from ended.settled(lambda: list(_findings(ndbinfo, asked, memory)))


def _findings(ndbinfo: Ndbinfo, asked: Asked, memory: dict[str, Any]) -> Iterator[Finding]:
    cluster = data_nodes.look_at_started(ndbinfo, memory)
    look = _Look(cluster, asked, memory)
    for subject, found in uses.memory(ndbinfo, cluster).items():
        look.note(subject, found)
    asked.so_far([*telling.readings(look.fillings, asked.alerts), *look.problems, *cluster.asides()])
    look.at_disk_data(ndbinfo)
    look.at_the_end_of_data_memory(ndbinfo)
    yield from telling.readings(look.fillings, asked.alerts)
    yield from telling.breaches(look.fillings, asked.alerts, asked.horizon)
    yield from telling.of_each(look.fillings, cluster.configured)
    yield from look.problems
    yield from cluster.asides()
    yield from look.asides
    if look.history.shortest < FEWEST:
        yield from telling.too_few(look.history, asked.horizon)


class _Look:
    """What has been found out so far."""

    def __init__(self, cluster: Cluster, asked: Asked, memory: dict[str, Any]) -> None:
        self.fillings: list[Filling] = []
        self.problems: list[ProbeError] = []
        self.asides: list[Fault] = []
        self._now = time.time()
        self.history = History(memory, self._now, asked.horizon)
        self._cluster = cluster
        self._asked = asked
        self._memory = memory

    def note(self, subject: Subject, found: Found) -> None:
        """Judge what was found of one subject."""
        self.problems += found.problems
        if not found.uses:
            return
        growths = {use.of: growth for use in found.uses if (growth := self._growth(subject, use))}
        doubtful = subject.heals and self._is_first(subject, found)
        self.fillings.append(Filling(subject, found.uses, growths, {}, doubtful))

    def at_disk_data(self, ndbinfo: Ndbinfo) -> None:
        """Look at the undo log, and at tablespaces unless there is none: each has a log file group."""
        try:
            undo = uses.undo_space(ndbinfo, self._cluster)
        except ProbeError as error:
            self.problems.append(error)
        else:
            if not (undo.uses or undo.problems):
                return
            self.note(UNDO_SPACE, undo)
        try:
            self.note(TABLESPACE, uses.tablespaces(ndbinfo))
        except DeniedError as error:
            self.asides.append(Fault(State.OK, not_seen("how full tablespaces are", error)))
        except ProbeError as error:
            self.problems.append(error)

    def at_the_end_of_data_memory(self, ndbinfo: Ndbinfo) -> None:
        """Find out when data memory is full, if something is to be said of that."""
        for place, one in enumerate(self.fillings):
            if one.subject is DATA_MEMORY and (one.growths or one.is_problem(self._asked.alerts)):
                self.fillings[place] = one._replace(ends=uses.ends(ndbinfo))

    def _growth(self, subject: Subject, use: Use) -> Growth | None:
        if subject.heals:
            return None
        uptime = self._cluster.nodes[use.of].uptime if isinstance(use.of, int) else None
        return self.history.growth(f"{subject.name}/{use.of}", use, uptime)

    def _is_first(self, subject: Subject, found: Found) -> bool:
        """Whether it is critical, and was not so on any of these data nodes at the last look."""
        critical = {
            use.of
            for use in found.uses
            if isinstance(use.of, int) and self._asked.is_critical(subject.name, use.percent)
        }
        lasts = twice(self._memory, f"critical_{subject.name}", critical, self._now)
        return bool(critical) and not lasts
