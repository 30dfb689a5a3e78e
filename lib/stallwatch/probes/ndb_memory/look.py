"""One look at what fills up in a cluster."""

from __future__ import annotations

import time
from typing import NamedTuple

from stallwatch.probes.ndb_memory import telling, uses
from stallwatch.probes.ndb_memory.growth import History
from stallwatch.probes.ndb_memory.subjects import DATA_MEMORY, OF_NODES, TABLESPACE, UNDO_SPACE
from stallwatch.probes.ndb_memory.telling import Filling
from stallwatch.probes.ndbinfo import cluster as data_nodes

TYPE_CHECKING = False  # typing itself costs every check 2 ms
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Any

    from stallwatch.probes.ndb_memory.growth import Growth
    from stallwatch.probes.ndb_memory.subjects import Subject
    from stallwatch.probes.ndb_memory.uses import Uses
    from stallwatch.probes.ndbinfo.asking import Ndbinfo
    from stallwatch.probes.ndbinfo.cluster import Cluster
    from stallwatch.reading import Finding


class Asked(NamedTuple):
    """What the user asked for."""

    is_problem: Callable[[Finding], bool]  # whether a threshold alerts on it
    horizon: float = 0.0  # seconds: what will be full so soon is a WARNING


def findings(ndbinfo: Ndbinfo, asked: Asked, memory: dict[str, Any]) -> Iterator[Finding]:
    """Judge how full everything is, and where that is going; raises a ProbeError."""
    cluster = data_nodes.look_at_started(ndbinfo, memory)
    found = uses.look(ndbinfo, cluster)
    fillings = _fillings(found, cluster, History(memory, time.time()))
    yield from telling.readings(fillings, asked.is_problem)
    yield from telling.breaches(fillings, asked.is_problem, asked.horizon)
    for filling in fillings:
        if filling.subject is DATA_MEMORY:
            yield from telling.of_each(filling, cluster.configured)
    yield from cluster.asides()
    yield from telling.not_seen(found)
    yield from found.missing


def _fillings(found: Uses, cluster: Cluster, history: History) -> list[Filling]:
    """Put together what there is of each subject, data memory first."""
    of_nodes = [(subject, found.memory.get(subject.said, {})) for subject in OF_NODES]
    fillings = []
    for subject, by_node in [*of_nodes, (UNDO_SPACE, found.undo_space)]:
        growths = {
            use.of: growth
            for node, use in by_node.items()
            if (growth := _growth(history, subject, use, cluster.nodes[node].uptime))
        }
        fillings.append(Filling(subject, uses.fullest(by_node.values()), growths, {}))
    spaces = found.tablespaces.values()
    growths = {use.of: growth for use in spaces if (growth := _growth(history, TABLESPACE, use))}
    fillings.append(Filling(TABLESPACE, uses.fullest(spaces), growths, found.extent_sizes))
    return [one for one in fillings if one.uses]


def _growth(history: History, subject: Subject, use: uses.Use, uptime: float | None = None) -> Growth | None:
    if not subject.grows:
        return None
    name = f"{subject.name}/{use.of}"
    return history.growth(name, use) if uptime is None else history.growth(name, use, uptime)
