"""What is known of one backup, whoever made it, and the quantities that are judged."""

from __future__ import annotations

from stallwatch.startup import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from stallwatch.findings import ProbeError
    from stallwatch.sources.backups.files import File

    Read = Mapping[str, Sequence["Table"]]
    Holds = Callable[[Sequence["Table"], Read], "Absent"]

AGE, MISSING, SIZE_CHANGE, DAMAGED = "age", "missing_tables", "size_change", "damaged_files"
NONE, SAMPLE, FULL = "none", "sample", "full"  # how much of a backup is verified
_QUIET = 600.0  # seconds without a write, after which a dump that does not show its end is at rest


class Table(NamedTuple):
    """A base table of a server."""

    schema: str
    name: str
    engine: str = ""

    def __str__(self) -> str:
        return f"{self.schema}.{self.name}"


class Absent(NamedTuple):
    """Tables that were looked for in a backup."""

    missing: Sequence[Table]  # are not in it
    unknown: Sequence[Table] = ()  # may be in what has not been read, or cannot be


def by_names(holds: Callable[[Table], bool]) -> Holds:
    """Look for tables in a backup where the names of its files show whether it holds a table."""
    return lambda tables, _: Absent([table for table in tables if not holds(table)])


class Share(NamedTuple):
    """How many tables of the server are in the backup; ``newer`` are those made later or meanwhile."""

    there: int
    wanted: int
    newer: int
    unknown: int  # may be in what has not been read


class Place(NamedTuple):
    """Where a binary log was when the backup was taken.

    ``of_source``: the log is not that of the server that was backed up, a replica, but of its source.
    """

    file: str
    position: int
    of_source: bool = False

    def __str__(self) -> str:
        return f"{self.file}:{self.position}"


class Backup(NamedTuple):
    """One backup.

    ``taken`` is the moment of the data in it, in seconds since the epoch, or of their end where only that is
    noted; what was made after ``begun`` need not be in it. ``finished`` is None where nothing shows it;
    ``unfinished`` is how it is known that it was not. ``holds`` finds by the names of files, and by what
    is in those that were read, which tables are not in it; None: not known.
    """

    name: str  # below the directory that was asked about; "" is that itself
    kind: str  # who made it: "mydumper"
    files: Sequence[File]
    taken: float
    finished: bool | None
    begun: float | None = None  # None: as ``taken``
    unfinished: str = ""
    about: str = ""  # "not prepared"
    places: Sequence[Place] = ()
    holds: Holds | None = None
    without_rows: Callable[[Table], bool] | None = None  # whether a table that it holds has no file of rows
    read: Mapping[str, Sequence[Table]] = {}  # tables in the files that were read to their end
    gtids: bool = False  # whether it shows which transactions are in it
    is_copy: bool = False  # of files of a server
    can_be_verified: bool = True
    by_mysqldump: bool = False
    damaged: Mapping[str, str] = {}  # what is wrong with a file, as far as one look shows
    hidden: str = ""  # what cannot be seen of it, and why
    doubts: Sequence[str] = ()  # why it may be of less use than it seems
    problems: Sequence[ProbeError] = ()  # what could not be read

    @property
    def size(self) -> int:
        """Bytes of all its files."""
        return sum(file.size for file in self.files)

    @property
    def written(self) -> float:
        """When it was written to last, in seconds since the epoch."""
        return max((file.written for file in self.files), default=self.taken)

    @property
    def is_sealed(self) -> bool:
        """Whether nothing can be seen of it but age and size."""
        return self.holds is None

    def may_run(self, now: float) -> bool:
        """Whether somebody may be at work on a dump that does not show whether it is finished."""
        return self.finished is None and now - self.written < _QUIET

    def with_tables(self, read: Read) -> Backup:
        """Return the same with the tables that were found in files that were read to their end."""
        return self._replace(read={**self.read, **read})

    def absent(self, tables: Sequence[Table]) -> Absent:
        """Return which of these are not in it, and of which that is not known."""
        return self.holds(tables, self.read) if self.holds else Absent([], tables)
