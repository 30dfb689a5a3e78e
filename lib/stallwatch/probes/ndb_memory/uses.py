"""How much is used of what can fill up: one small statement per table."""

from __future__ import annotations

from typing import NamedTuple

from stallwatch.probes.ndbinfo.numbers import whole
from stallwatch.sources.mysql import DeniedError

TYPE_CHECKING = False  # typing itself costs every check 2 ms
if TYPE_CHECKING:
    from collections.abc import Iterable

    from stallwatch.probes.ndbinfo.asking import Ndbinfo, Row
    from stallwatch.probes.ndbinfo.cluster import Cluster
    from stallwatch.reading import ProbeError

DATA, INDEX, MESSAGES = "data memory", "index memory", "long message buffer"  # memory_type in small letters
# information_schema.files is what the view ndbinfo.files (8.0.29) reads, too, is there in all versions, and
# answers within 4 ms instead of 47 (NDB 9.7.2). Until 7.6 it has each file once per data node, named in
# "extra"; later, what one data node says of it.
_FILES = """
    SELECT tablespace_name AS name, extra AS node, SUM(free_extents) AS free, SUM(total_extents) AS total,
        MAX(extent_size) AS extent_size
    FROM information_schema.files WHERE engine = 'ndbcluster' AND file_type = 'DATAFILE'
    GROUP BY tablespace_name, extra
"""


class Use(NamedTuple):
    """How much of something is used, of a data node or a tablespace; bytes, or extents."""

    of: str  # "node 3", "ts_1"
    used: float
    total: float  # above 0

    @property
    def percent(self) -> float:
        """The share that is used."""
        return 100 * self.used / self.total


class Uses(NamedTuple):
    """All that was found."""

    memory: dict[str, dict[int, Use]]  # by memory_type, by data node
    undo_space: dict[int, Use]  # by data node; {}: there is no undo log, so there is no disk data
    tablespaces: dict[str, Use]  # in extents that can be had
    extent_sizes: dict[str, float]  # bytes
    denied: DeniedError | None  # why tablespaces are not known
    missing: tuple[ProbeError, ...]  # nodes that are started and say nothing


def look(ndbinfo: Ndbinfo, cluster: Cluster) -> Uses:
    """Ask for everything; raises a ProbeError."""
    memory = _memory(ndbinfo, cluster)
    undo = _undo_space(ndbinfo, cluster)
    uses = Uses(memory, undo, {}, {}, None, (
        *cluster.without_row(memory.get(DATA, {}), "memoryusage"),
        *(cluster.without_row(undo, "logspaces (DD-UNDO)") if undo else ()),
    ))  # fmt: skip
    if not undo:  # each tablespace has a log file group
        return uses
    try:
        rows = ndbinfo.rows(_FILES)
    except DeniedError as error:
        return uses._replace(denied=error)
    for row in rows:
        name, total = str(row["name"]), row["total"]
        if isinstance(total, int | float) and total > 0 and isinstance(free := row["free"], int | float):
            use = _tablespace(name, total - free, total)
            uses.tablespaces[name] = max(use, uses.tablespaces.get(name, use), key=_percent)
            uses.extent_sizes[name] = float(str(row["extent_size"] or 0))
    return uses


def fullest(uses: Iterable[Use]) -> list[Use]:
    """Sort them, those that are used most first."""
    return sorted(uses, key=_percent, reverse=True)


def _percent(use: Use) -> float:
    return use.percent


def _memory(ndbinfo: Ndbinfo, cluster: Cluster) -> dict[str, dict[int, Use]]:
    found: dict[str, dict[int, Use]] = {}
    for row in ndbinfo.some("SELECT * FROM ndbinfo.memoryusage"):
        kind = (
            str(row["memory_type"]).lower().replace("_", " ")
        )  # DATA_MEMORY before 7.1.? and "max" for total
        total = row["total"] if "total" in row else row.get("max")
        _note(found.setdefault(kind, {}), row, total, cluster)
    return found


def _undo_space(ndbinfo: Ndbinfo, cluster: Cluster) -> dict[int, Use]:
    sql = "SELECT node_id, used, total FROM ndbinfo.logspaces WHERE log_type = 'DD-UNDO'"
    found: dict[int, Use] = {}
    for row in ndbinfo.rows(sql):
        _note(found, row, row["total"], cluster)
    return found


def _note(found: dict[int, Use], row: Row, total: object, cluster: Cluster) -> None:
    """Keep what a started data node says, if it makes sense: one that starts is still being filled."""
    node, used = whole(row, "node_id"), row["used"]
    if node not in cluster.started or not isinstance(used, int | float):
        return
    if isinstance(total, int | float) and total > 0:
        found[node] = Use(f"node {node}", used, total)


def _tablespace(name: str, used: float, total: float) -> Use:
    """Take the last extents for what they are: a data node keeps 4 % of them for its own start.

    A table gets one more only while that leaves used * 100 < total * 96; else NDB error 1601, with up to 1 of
    16, 2 of 32, 3 of 64 and 11 of 256 extents free (9.7.2, measured, and tsman.cpp).
    """
    can_be_had = max(1.0, (96 * total - 1) // 100)
    return Use(name, min(used, can_be_had), can_be_had)
