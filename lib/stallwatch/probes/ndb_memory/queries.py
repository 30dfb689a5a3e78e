"""What can fill up, what happens then and what helps; and how much of it is used, as data nodes show it."""

from __future__ import annotations

from contextlib import suppress

from stallwatch import units
from stallwatch.findings import ProbeError
from stallwatch.probes.ndbinfo import cluster as data_nodes
from stallwatch.probes.ndbinfo import undo_log
from stallwatch.probes.ndbinfo.cluster import named
from stallwatch.probes.ndbinfo.queries import configured, number, whole
from stallwatch.sources.mysql import MissingColumnError
from stallwatch.startup import TYPE_CHECKING, NamedTuple
from stallwatch.words import have

if TYPE_CHECKING:
    from collections.abc import Sequence

    from stallwatch.probes.ndbinfo.cluster import Cluster
    from stallwatch.probes.ndbinfo.queries import Ndbinfo, Row

# Every data node has a redo log, so that a table without rows has a reason.
_LOGS = """
    SELECT node_id, log_type, MAX(used) AS used, MAX(total) AS total
    FROM ndbinfo.logspaces GROUP BY node_id, log_type
"""
# information_schema.files is what the view ndbinfo.files (8.0.29) reads, too, is there in all versions, and
# answers within 4 ms instead of 47 (NDB 9.7.2). Until 7.6 it has each file once per data node, named in
# "extra"; later, what one data node shows of it.
_FILES = """
    SELECT tablespace_name AS name, extra AS node, SUM(free_extents) AS free, SUM(total_extents) AS total,
        COUNT(free_extents) AS told, COUNT(*) AS files, MAX(extent_size) AS extent_size
    FROM information_schema.files WHERE engine = 'ndbcluster' AND file_type = 'DATAFILE'
    GROUP BY tablespace_name, extra
"""
_MIN_FREE_PERCENT = 630  # MinFreePct in ndbinfo.config_params (9.7.2)


class Subject(NamedTuple):
    """Something that fills up, on data nodes or in tablespaces."""

    name: str  # of the quantity
    what: str
    full: str  # what happens when it is full; {}: where that is
    why: str  # the cause, or as that is not known, in short what happens
    advice: str
    helps: str  # what else does, or what that takes
    end: float = 100.0  # per cent at which it is full, unless the cluster shows another one
    heals: bool = False  # it goes up and down by itself: its trend shows nothing, nor does one look
    memory_type: str = ""  # in ndbinfo.memoryusage; "": it is not there


# Measured on NDB 9.7.2, with the default MinFreePct = 5: inserts begin to fail at 94.9 %, as soon as a
# statement needs more pages than are left, and all do at 95.0 %; updates in place go on. Deleted rows give
# their pages back at once. A cluster log of the same version reports 80, 90, 99 and 100 % alone.
DATA_MEMORY = Subject(
    "data_memory",
    "data memory",
    "inserts fail at {} (1114 The table is full, NDB error 827)",
    "inserts fail at {}",
    "delete rows or enlarge DataMemory",
    "dropped tables or more data nodes help, too, a larger DataMemory takes a rolling restart",
    end=95.0,
    memory_type="Data memory",
)
INDEX_MEMORY = Subject(  # until 7.5; then a part of DataMemory (MySQL Cluster manual)
    "index_memory",
    "index memory",
    "inserts fail when it is full (NDB error 625)",
    "when full, inserts fail",
    "enlarge IndexMemory",
    "that takes a rolling restart, deleted rows help, too",
    memory_type="Index memory",
)
LONG_MESSAGE_BUFFER = Subject(  # exit code 2351 of the data nodes
    "long_message_buffer",
    "long message buffer",
    "a data node that runs out of it ends (error 2351)",
    "when full, the data node ends",
    "enlarge LongMessageBuffer",
    "that takes a rolling restart, smaller batches and transactions help, too",
    heals=True,
    memory_type="Long message buffer",
)
UNDO_SPACE = Subject("undo_space", *undo_log.UNDO_LOG, heals=True)  # a checkpoint frees it
TABLESPACE = Subject(
    "tablespace",
    "tablespace",
    "a disk table that needs one more extent fails (1114 The table is full, NDB error 1601), "
    "not for want of memory",
    "when full, inserts fail",
    "ALTER TABLESPACE ... ADD DATAFILE",
    "deleted rows and dropped tables help, too",
)
OF_NODES = (DATA_MEMORY, INDEX_MEMORY, LONG_MESSAGE_BUFFER)


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

    @property
    def rounded(self) -> float:
        """The same as thresholds judge it."""
        return round(self.percent, 2)


class Queries:
    """The statements of one run; ``problems`` name the data nodes and tablespaces of which it is not known.

    Each returns what is used most first, and raises a ProbeError if that cannot be asked.
    """

    def __init__(self, ndbinfo: Ndbinfo, cluster: Cluster) -> None:
        self.problems: list[ProbeError] = []
        self._ndbinfo, self._cluster = ndbinfo, cluster

    def memory(self) -> dict[Subject, list[Use]]:
        """Ask for the memory of data nodes."""
        by_type: dict[str, list[Row]] = {}
        for row in self._ndbinfo.some("SELECT * FROM ndbinfo.memoryusage"):
            # Versions of 7.1 have DATA_MEMORY and a column "max" instead of "total".
            memory_type = str(row["memory_type"]).capitalize().replace("_", " ")
            if "max" in row:
                row.setdefault("total", row["max"])
            by_type.setdefault(memory_type, []).append(row)
        return {
            one: self._of_nodes(by_type.get(one.memory_type, []), f"memoryusage ({one.memory_type})")
            for one in OF_NODES
            if one is DATA_MEMORY or one.memory_type in by_type
        }

    def undo_space(self) -> list[Use] | None:
        """Ask how much of the undo log is used, of what can be; None: there is no disk data."""
        rows = [row for row in self._ndbinfo.some(_LOGS) if row["log_type"] == "DD-UNDO"]
        if not rows:
            return None
        usable = undo_log.usable(self._ndbinfo)
        uses = self._of_nodes(rows, "logspaces (DD-UNDO)")
        return [
            one._replace(used=min(one.used, usable * one.total), total=usable * one.total) for one in uses
        ]

    def tablespaces(self) -> list[Use]:
        """Ask for all tablespaces, each as on the data node where it is fullest."""
        fullest: dict[str, Use] = {}
        for row in self._ndbinfo.rows(_FILES):
            name = str(row["name"])
            try:
                use = _tablespace(name, row)
            except ProbeError as error:
                self.problems.append(error)
            else:
                fullest[name] = max(use, fullest.get(name, use), key=_percent)
        return sorted(fullest.values(), key=_percent, reverse=True)

    def ends(self) -> dict[int | str, float]:
        """Ask each data node at how many per cent of data memory inserts fail; {}: that is not known."""
        with suppress(ProbeError):
            kept_free = configured(self._ndbinfo, _MIN_FREE_PERCENT)
            percents = {node: units.whole(percent) for node, percent in kept_free.items()}
            return {node: 100.0 - percent for node, percent in percents.items() if percent is not None}
        return {}

    def _of_nodes(self, rows: Sequence[Row], table: str) -> list[Use]:
        """Take what started data nodes show, each for itself: one that starts is still being filled."""
        started = set(self._cluster.started)
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
        self.problems += data_nodes.without_row(self._ndbinfo, self._cluster, {*uses, *untold}, table)
        if untold:
            no_numbers = f"{named(sorted(untold))} {have(untold)} no numbers in ndbinfo.{table}"
            self.problems.append(ProbeError(no_numbers))
        return sorted(uses.values(), key=_percent, reverse=True)


def _percent(use: Use) -> float:
    return use.percent


def _tablespace(name: str, row: Row) -> Use:
    """Take the last extents for what they are: a data node keeps 4 % of them for its own start.

    A table gets one more only while that leaves used * 100 < total * 96; else NDB error 1601, with up to 1 of
    16, 2 of 32, 3 of 64 and 11 of 256 extents free (9.7.2, measured, and tsman.cpp).
    """
    if whole(row, "told") < whole(row, "files"):  # as while data nodes cannot be asked
        raise ProbeError(
            f"the fill level of tablespace {name} is not known: information_schema.files has no free_extents"
        )
    total = number(row, "total")
    can_be_had = max(1.0, (96 * total - 1) // 100)
    return Use(name, min(total - number(row, "free"), can_be_had), can_be_had, number(row, "extent_size"))
