"""What can fill up, what happens then, and what helps; how much of it is used, and how fast that grows."""

from __future__ import annotations

from stallwatch.startup import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence


class Subject(NamedTuple):
    """Something that fills up, on data nodes or in tablespaces."""

    name: str  # of the quantity
    what: str
    full: str  # what happens when it is full; {}: where that is
    advice: str
    end: float = 100.0  # per cent at which it is full, unless the cluster says otherwise
    heals: bool = False  # it goes up and down by itself: its trend tells nothing, nor does one look
    memory_type: str = ""  # in ndbinfo.memoryusage; "": it is not there


# Measured on NDB 9.7.2, with the default MinFreePct = 5: inserts begin to fail at 94.9 %, as soon as a
# statement needs more pages than are left, and all do at 95.0 %; updates in place go on. Deleted rows give
# their pages back at once. A cluster log of the same version tells of 80, 90, 99 and 100 % alone.
DATA_MEMORY = Subject(
    "data_memory",
    "data memory",
    "inserts fail at {} (1114 The table is full, NDB error 827)",
    "delete rows, drop tables, enlarge DataMemory (rolling restart), or add data nodes",
    end=95.0,
    memory_type="Data memory",
)
INDEX_MEMORY = Subject(  # until 7.5; then a part of DataMemory (MySQL Cluster manual)
    "index_memory",
    "index memory",
    "inserts fail when it is full (NDB error 625)",
    "enlarge IndexMemory (rolling restart), or delete rows",
    memory_type="Index memory",
)
LONG_MESSAGE_BUFFER = Subject(  # exit code 2351 of the data nodes
    "long_message_buffer",
    "long message buffer",
    "a data node that runs out of it ends (error 2351)",
    "enlarge LongMessageBuffer (rolling restart), or make batches and transactions smaller",
    heals=True,
    memory_type="Long message buffer",
)
UNDO_SPACE = Subject(  # a checkpoint frees it; check_ndb_redo_buffer says the same of it
    "undo_space",
    "undo log of disk tables",
    "when it is full, writes to them fail with error 1501",
    "checkpoints do not keep up: ALTER LOGFILE GROUP ... ADD UNDOFILE; faster disk",
    heals=True,
)
TABLESPACE = Subject(
    "tablespace",
    "tablespace",
    "a disk table that needs one more fails (1114 The table is full, NDB error 1601): not for want of memory",
    "ALTER TABLESPACE ... ADD DATAFILE, delete rows or drop tables",
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


class Growth(NamedTuple):
    """How something grows."""

    pace: float  # per second

    def time_to(self, end: float, use: Use) -> float:
        """Seconds until ``end`` per cent are used at this pace, never negative."""
        return max(0.0, end / 100 * use.total - use.used) / self.pace


class Filling(NamedTuple):
    """One subject: how much of it is used on each data node or of each tablespace."""

    subject: Subject
    uses: Sequence[Use]  # at least one, that used most first
    alerting: Sequence[Use]  # those that a threshold alerts on
    growths: Mapping[int | str, Growth]  # by what it is of, where that is clear
    confirmed: bool  # False: critical for the first time, and the next look may be good
    ends: Mapping[int | str, float] = {}  # per cent at which it is full, where the cluster has told

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
        times = [
            (growth.time_to(self.end(use), use), use)
            for use in self.uses
            if (growth := self.growths.get(use.of))
        ]
        return min(times, key=lambda one: one[0], default=None)

    def end(self, use: Use) -> float:
        """Give at how many per cent it is full."""
        return self.ends.get(use.of, self.subject.end)
