"""How much is used of what can fill up: one small statement per table."""

from __future__ import annotations

from contextlib import suppress

from stallwatch.findings import ProbeError
from stallwatch.probes.ndb_memory.subjects import DATA_MEMORY, OF_NODES
from stallwatch.probes.ndbinfo import ended
from stallwatch.probes.ndbinfo.numbers import number, whole
from stallwatch.probes.ndbinfo.parameters import configured
from stallwatch.probes.ndbinfo.words import named
from stallwatch.sources.mysql import MissingColumnError
from stallwatch.startup import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Sequence

    from stallwatch.probes.ndb_memory.subjects import Subject
    from stallwatch.probes.ndbinfo.asking import Ndbinfo, Row
    from stallwatch.probes.ndbinfo.cluster import Cluster

# Every data node has a redo log, so that a table without rows has a reason.
_LOGS = """
    SELECT node_id, log_type, MAX(used) AS used, MAX(total) AS total
    FROM ndbinfo.logspaces GROUP BY node_id, log_type
"""
# information_schema.files is what the view ndbinfo.files (8.0.29) reads, too, is there in all versions, and
# answers within 4 ms instead of 47 (NDB 9.7.2). Until 7.6 it has each file once per data node, named in
# "extra"; later, what one data node says of it.
_FILES = """
    SELECT tablespace_name AS name, extra AS node, SUM(free_extents) AS free, SUM(total_extents) AS total,
        COUNT(free_extents) AS told, COUNT(*) AS files, MAX(extent_size) AS extent_size
    FROM information_schema.files WHERE engine = 'ndbcluster' AND file_type = 'DATAFILE'
    GROUP BY tablespace_name, extra
"""
_MIN_FREE_PERCENT = 630  # MinFreePct in ndbinfo.config_params (9.7.2)


class Use(NamedTuple):
    """How much of something is used, of a data node (in bytes) or a tablespace (in extents)."""

    of: int | str  # the data node, or the name of the tablespace
    used: float
    total: float  # above 0
    extent_size: float = 0.0  # bytes, of a tablespace

    @property
    def percent(self) -> float:
        """The share that is used."""
        return 100 * self.used / self.total


class Found(NamedTuple):
    """How much is used of one thing, and why that is not known of all."""

    uses: Sequence[Use] = ()  # that used most first
    problems: Sequence[ProbeError] = ()


def memory(ndbinfo: Ndbinfo, cluster: Cluster) -> dict[Subject, Found]:
    """Ask for the memory of data nodes; raises a ProbeError."""
    by_type: dict[str, list[Row]] = {}
    for row in ndbinfo.some("SELECT * FROM ndbinfo.memoryusage"):
        # Versions of 7.1 have DATA_MEMORY and a column "max" instead of "total".
        memory_type = str(row["memory_type"]).capitalize().replace("_", " ")
        if "max" in row:
            row.setdefault("total", row["max"])
        by_type.setdefault(memory_type, []).append(row)
    return {
        subject: _of_nodes(
            ndbinfo, cluster, by_type.get(subject.memory_type, []), f"memoryusage ({subject.memory_type})"
        )
        for subject in OF_NODES
        if subject is DATA_MEMORY or subject.memory_type in by_type
    }


def undo_space(ndbinfo: Ndbinfo, cluster: Cluster) -> Found:
    """Ask for the undo log, which is there if disk data is; raises a ProbeError."""
    rows = [row for row in ndbinfo.some(_LOGS) if row["log_type"] == "DD-UNDO"]
    return _of_nodes(ndbinfo, cluster, rows, "logspaces (DD-UNDO)") if rows else Found()


def tablespaces(ndbinfo: Ndbinfo) -> Found:
    """Ask for all tablespaces, each as on the data node where it is fullest; raises a ProbeError."""
    fullest: dict[str, Use] = {}
    problems = []
    for row in ndbinfo.rows(_FILES):
        name = str(row["name"])
        try:
            use = _tablespace(name, row)
        except ProbeError as error:
            problems.append(error)
        else:
            fullest[name] = max(use, fullest.get(name, use), key=_percent)
    return Found(sorted(fullest.values(), key=_percent, reverse=True), problems)


def ends(ndbinfo: Ndbinfo) -> dict[int | str, float]:
    """Ask each data node at how many per cent of data memory inserts fail; {}: that cannot be told."""
    with suppress(ProbeError, ValueError):
        kept_free = configured(ndbinfo, _MIN_FREE_PERCENT)
        return {node: 100.0 - int(percent) for node, percent in kept_free.items()}
    return {}


def _percent(use: Use) -> float:
    return use.percent


def _of_nodes(ndbinfo: Ndbinfo, cluster: Cluster, rows: Sequence[Row], table: str) -> Found:
    """Take what started data nodes say, each for itself: one that starts is still being filled."""
    started = set(cluster.started)
    uses: dict[int, Use] = {}
    untold = []
    for row in (row for row in rows if whole(row, "node_id") in started):
        node = whole(row, "node_id")
        try:
            use = Use(node, number(row, "used"), number(row, "total"))
        except MissingColumnError:
            raise
        except ProbeError:
            untold.append(node)
        else:
            if use.total > 0:  # else there is none of it
                uses[node] = use
    problems = ended.without_row(ndbinfo, cluster, {*uses, *untold}, table)
    if untold:
        do = "have" if len(untold) > 1 else "has"
        problems.append(ProbeError(f"{named(sorted(untold))} {do} no numbers in ndbinfo.{table}"))
    return Found(sorted(uses.values(), key=_percent, reverse=True), problems)


def _tablespace(name: str, row: Row) -> Use:
    """Take the last extents for what they are: a data node keeps 4 % of them for its own start.

    A table gets one more only while that leaves used * 100 < total * 96; else NDB error 1601, with up to 1 of
    16, 2 of 32, 3 of 64 and 11 of 256 extents free (9.7.2, measured, and tsman.cpp).
    """
    if whole(row, "told") < whole(row, "files"):  # as while data nodes cannot be asked
        raise ProbeError(
            f"how full tablespace {name} is cannot be told: information_schema.files has no free_extents"
        )
    total = number(row, "total")
    can_be_had = max(1.0, (96 * total - 1) // 100)
    return Use(name, min(total - number(row, "free"), can_be_had), can_be_had, number(row, "extent_size"))
