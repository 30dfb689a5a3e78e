"""One run: ask what is used, diagnose each subject, and for data memory find out at what it is full."""

from __future__ import annotations

from stallwatch.findings import Fault, ProbeError, State
from stallwatch.probes.ndb_memory import messages
from stallwatch.probes.ndb_memory.diagnosis import Diagnosis
from stallwatch.probes.ndb_memory.queries import DATA_MEMORY, TABLESPACE, UNDO_SPACE, Queries
from stallwatch.probes.ndbinfo import cluster as data_nodes
from stallwatch.probes.ndbinfo.queries import not_seen
from stallwatch.sources.mysql import DeniedError
from stallwatch.startup import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from stallwatch.findings import Finding
    from stallwatch.frame.run import Run
    from stallwatch.probes.ndbinfo.queries import Ndbinfo


def findings(ndbinfo: Ndbinfo, run: Run, memory: dict[str, Any], horizon: float) -> Iterator[Finding]:
    """Judge how full everything is, and where that is going; raises a ProbeError.

    What will be full within ``horizon`` seconds is a WARNING.
    """
    yield from data_nodes.settled(lambda: list(_findings(ndbinfo, run, memory, horizon)))


def _findings(ndbinfo: Ndbinfo, run: Run, memory: dict[str, Any], horizon: float) -> Iterator[Finding]:
    cluster = data_nodes.look_at_started(ndbinfo, memory)
    queries = Queries(ndbinfo, cluster)
    found = Diagnosis(cluster, run.alerts, memory, horizon)
    for subject, uses in queries.memory().items():
        found.add(subject, uses)
    run.so_far([*messages.readings(found.fillings), *queries.problems, *cluster.asides()])
    missing = [*_ask_disk_data(queries, found)]
    for place, one in enumerate(found.fillings):
        if one.subject is DATA_MEMORY and (one.paces or one.is_problem):
            found.fillings[place] = one._replace(ends=queries.ends())
    yield from messages.readings(found.fillings)
    yield from messages.full_soon(found.fillings, horizon)
    yield from messages.of_each(found.fillings, cluster.configured)
    yield from queries.problems
    yield from cluster.asides()
    yield from missing
    yield from messages.too_few(found.fillings, found.history, horizon)


def _ask_disk_data(queries: Queries, found: Diagnosis) -> Iterator[Fault]:
    """Ask for the undo log, and for tablespaces unless there is none: each has a log file group."""
    try:
        undo = queries.undo_space()
    except ProbeError as error:
        queries.problems.append(error)
    else:
        if undo is None:
            return
        found.add(UNDO_SPACE, undo)
    try:
        found.add(TABLESPACE, queries.tablespaces())
    except DeniedError as error:
        yield Fault(State.OK, not_seen("how full tablespaces are", error))
    except ProbeError as error:
        queries.problems.append(error)
