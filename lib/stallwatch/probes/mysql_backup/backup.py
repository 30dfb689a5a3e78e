"""What is known of one backup, whoever made it."""

from __future__ import annotations

from typing import NamedTuple

TYPE_CHECKING = False  # typing itself costs every check 2 ms
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from stallwatch.reading import ProbeError
    from stallwatch.sources.backups.files import File

    Holds = Callable[["Table"], bool]


class Table(NamedTuple):
    """A base table of a server."""

    schema: str
    name: str
    engine: str = ""

    def __str__(self) -> str:
        return f"{self.schema}.{self.name}"


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

    ``taken`` is the moment of the data in it, in seconds since the epoch. ``finished`` is None where nothing
    tells; ``unfinished`` says how it is known that it was not. ``holds`` tells by names of files whether a
    table is in it; None: names tell nothing.
    """

    name: str  # below the directory that was asked about; "" is that itself
    kind: str  # who made it: "mydumper"
    files: Sequence[File]
    taken: float
    finished: bool | None
    unfinished: str = ""
    about: str = ""  # "not prepared"
    places: Sequence[Place] = ()
    holds: Holds | None = None
    found: frozenset[tuple[str, str]] = frozenset()  # schemas and names of tables, found by reading it
    all_found: bool = False  # whether these are all
    can_be_verified: bool = True
    by_mysqldump: bool = False
    damaged: Mapping[str, str] = {}  # what is wrong with a file, as far as one look tells
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

    def with_tables(self, found: Iterable[Sequence[Table]]) -> Backup:
        """Give the same with the tables that were found in each of its files that was read to its end."""
        read = [*found]
        tables = frozenset((table.schema, table.name) for each in read for table in each)
        return self._replace(found=tables, all_found=self.by_mysqldump and len(read) == len(self.files))

    def missing(self, tables: Sequence[Table]) -> list[Table] | None:
        """List which of these are not in it; None: what is in it is not known.

        The names of a dump's files that fit no table at all tell nothing: there are several in each.
        """
        if self.holds is None:
            return None
        absent = [
            table
            for table in tables
            if (table.schema, table.name) not in self.found and not self.holds(table)
        ]
        known = self.all_found or not self.by_mysqldump or not tables or len(absent) < len(tables)
        return absent if known else None
