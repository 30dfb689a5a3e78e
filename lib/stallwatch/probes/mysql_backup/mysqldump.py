"""Dumps by mysqldump or mariadb-dump: one file for all, one for each database, or one for each table.

The latter is how mysqlpdump does it: shop-orders.sql.gz, and 00_master_data.sql.gz for the binary log. Such a
directory has nothing that shows that it is finished, only its files have. Measured with MariaDB's programs of
10.11 on MariaDB 10.11 and MySQL 9.7.
"""

from __future__ import annotations

import re
from functools import partial

from stallwatch.findings import ProbeError
from stallwatch.probes.mysql_backup import moments, sql_text
from stallwatch.probes.mysql_backup.model import Absent, Backup, Place, Table
from stallwatch.sources.backups import contents
from stallwatch.sources.backups import files as backup_files
from stallwatch.startup import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from stallwatch.deadline import Children
    from stallwatch.probes.mysql_backup.model import Read
    from stallwatch.sources.backups.files import File, Tree

_PLACE = re.compile(
    rb"(?:MASTER|SOURCE)_LOG_FILE='([^']+)',\s*(?:MASTER|SOURCE)_LOG_POS=(\d{1,20})(?!\d)", re.IGNORECASE
)
_HOST = re.compile(rb"(?:MASTER|SOURCE)_HOST=", re.IGNORECASE)  # of another server: --dump-slave, mysqlpdump
_GTIDS = re.compile(rb"^SET @@GLOBAL\.GTID_PURGED=", re.MULTILINE | re.IGNORECASE)

_LATEST = 200  # files whose ends are read: those written last, where a dump breaks off
_BEGINNINGS = 5  # files whose beginnings are read, for the place in the binary log
_SMALL = 4096  # bytes of files that are read to their end in every run, as far as they are among
_SMALLEST = 200  # those that are smallest
_MOST = 1 << 20  # bytes that a small file may be unpacked to
_ZSTD = 20  # files by zstd that are looked into, which costs a process each
_LEAST, _PACE = 3600.0, 1 << 20  # seconds, and bytes in a second: how long a dump may have taken
_OLD = 86400.0  # seconds between files of one dump
_NO_LAST_LINE = "no last line shows that it is whole"
_FILLS_NOTHING = "it makes no table and fills none, so it may be no backup"
_SEPARATORS = "-._/"  # of schema and table in the name of a file
_SEPARATOR = re.compile(r"[-._/]")


def look(name: str, tree: Tree, children: Children) -> Backup:
    """Look at one; programs that decompress are among ``children`` meanwhile. Raises ProbeError."""
    dumps = [file for file in tree.files if sql_text.DUMP.search(file.name)]
    edges = [Edges.of(file, children) for file in looked_at(dumps)]
    if scripts := _scripts_written_later(edges):
        dumps = [file for file in dumps if file not in scripts]
        edges = [one for one in edges if one.file not in scripts]
    broken = next((one for one in edges if one.cut), None)
    single = edges[0] if len(dumps) == 1 else None
    finished = True if single and single.cut == "" else None
    if broken:
        finished = False
    kind = "mysqldump" if single else f"mysqldump, {len(dumps)} files"
    if single and not single.is_by_them:
        kind = "SQL of unknown origin"
        if name != single.file.name:
            name = f"{name}/{single.file.name}".lstrip("/")
    ended = single.completed if single else None
    written = max(file.written for file in dumps)
    taken = moments.not_after(name, written) if ended is None else ended + moments.shift(ended, written)
    places = tuple(_places(dumps, children))
    doubts = [*_doubts(dumps, written)]
    if single and single.doubt:
        doubts.append(single.doubt)
    return Backup(
        name,
        kind,
        tree.files,
        taken=taken,
        finished=finished,
        begun=taken - _LEAST - sum(file.size for file in dumps) / _PACE,
        unfinished=f"{broken.file.name} {broken.cut}" if broken else "",
        about=single.about if single else "",
        places=tuple(place for place in places if place.file),
        gtids=any(not place.file for place in places),
        holds=partial(_absent, dumps),
        read={one.file.name: one.tables for one in edges if one.tables is not None},
        by_mysqldump=True,
        damaged={**damaged(tree), **{one.file.name: one.wrong for one in edges if one.wrong}},
        doubts=doubts,
        problems=[*tree.closed, *(one.problem for one in edges if one.problem)],
    )


def _scripts_written_later(edges: Sequence[Edges]) -> set[File]:
    """Return what makes and fills no table, and was written after a dump: no part of it, and not its age.

    mysqlpdump's own file of the place in the binary log is such one as well, and written first.
    """
    ended = max((one.file.written for one in edges if not one.doubt), default=float("inf"))
    return {one.file for one in edges if one.doubt and one.file.written > ended + _LEAST}


def _doubts(dumps: Sequence[File], written: float) -> Iterator[str]:
    if old := [file.name for file in dumps if written - file.written > _OLD]:
        one = len(old) == 1
        what = f"{old[0]} is" if one else f"{len(old)} of its files, as {old[0]}, are"
        what += " more than a day older than the newest"
        yield f"{what}: {'it was' if one else 'they were'} not dumped again, or what is in there is gone"


def looked_at(dumps: Sequence[File]) -> list[File]:
    """Choose the files to look at: those where a dump breaks off, and those where nothing is."""
    latest = sorted(dumps, key=lambda file: -file.written)[:_LATEST]
    small = sorted(dumps, key=lambda file: file.size)
    by_zstd = [file for file in small if ".zst" in file.name][:_ZSTD]
    chosen = [file for file in [*latest, *small[:_SMALLEST]] if ".zst" not in file.name]
    return [*dict.fromkeys([*chosen, *by_zstd])]


class Edges(NamedTuple):
    """How a file begins and ends.

    ``cut`` is how it is cut off, "" if it is whole; None: its end was not read, as it is packed, or does
    not show it, or it is ``wrong``. ``tables`` are None unless it was read as a whole.
    """

    file: File
    cut: str | None = None
    completed: float | None = None  # seconds since the epoch, by the clock of whoever made it
    wrong: str = ""
    tables: Sequence[Table] | None = None
    problem: ProbeError | None = None
    is_by_them: bool = True  # or its beginning was not read
    about: str = ""  # what its end does not show
    doubt: str = ""  # why it may be no backup

    @classmethod
    def of(cls, file: File, children: Children) -> Edges:
        """Look at them; of a packed file that is not small only at its beginning."""
        if not file.size:
            return cls(file)
        try:
            return cls._of(file, children)
        except contents.DamagedError as damage:
            return cls(file, wrong=str(damage))
        except contents.SealedError:
            return cls(file)
        except ProbeError as error:
            return cls(file, problem=error)

    @classmethod
    def _of(cls, file: File, children: Children) -> Edges:
        doubt, found = "", None
        text = contents.beginning(file, children, _MOST) if file.size <= _SMALL else b""
        if file.size <= _SMALL and len(text) < _MOST:
            list(contents.text(file.path, children))  # to its end, where packed data show that they are whole
            tables = sql_text.Tables()
            tables.feed(text)
            head, end, found = text[: backup_files.EDGE], text[-backup_files.EDGE :], tables.end_of_few()
            doubt = _FILLS_NOTHING if sql_text.fills_nothing(text) else ""
        elif sql_text.PACKED.search(file.name):
            head = contents.beginning(file, children, backup_files.EDGE)
            wrong = sql_text.wrong_head(head)
            return cls(file, wrong=wrong, is_by_them=bool(wrong) or sql_text.is_by_them(head))
        else:
            head, end = contents.beginning(file, children, backup_files.EDGE), backup_files.end(file)
        completed = sql_text.completed(end)
        if wrong := sql_text.wrong_head(head):
            return cls(file, completed=completed, wrong=wrong)
        cut, is_by_them = sql_text.cut_off(head, end), sql_text.is_by_them(head)
        return cls(
            file, cut, completed, tables=None if cut else found, is_by_them=is_by_them,
            about=_NO_LAST_LINE if cut is None else "", doubt="" if is_by_them else doubt,
        )  # fmt: skip


def damaged(tree: Tree) -> dict[str, str]:
    """Return which files of a dump are damaged by what their directory shows alone."""
    found = dict.fromkeys(tree.broken, "a symbolic link to a file that is not there")
    found.update(
        (file.name, "it is empty") for file in tree.files if not file.size and sql_text.DUMP.search(file.name)
    )
    return found


def _places(dumps: Iterable[File], children: Children) -> Iterator[Place]:
    """Read the place in the binary log: at the beginning of a dump, or in mysqlpdump's own file."""
    first = sorted(dumps, key=lambda file: ("master_data" not in file.name, file.name))[:_BEGINNINGS]
    for file in first:
        try:
            head = contents.beginning(file, children)
        except (contents.DamagedError, contents.SealedError, ProbeError):
            continue  # which is reported by whatever judges it
        if found := _PLACE.search(head):
            line = head[head.rfind(b"\n", 0, found.start()) + 1 : found.start()]
            yield Place(found[1].decode(errors="replace"), int(found[2]), bool(_HOST.search(line)))
            return
        if _GTIDS.search(head):  # mysqldump's own way where gtid_mode is ON
            yield Place("", 0)


def _absent(dumps: Sequence[File], tables: Sequence[Table], read: Read) -> Absent:
    """Return by the names of files, and by what is in those that were read, which tables are not in a dump.

    Where some tables of a schema have a file of their own, all have. Else its tables are in a file that is
    called after it, or in any that is called after no schema: missing they are only if those were read.
    """
    names = _Names(dumps, tables)
    found = {(table.schema, table.name) for inside in read.values() for table in inside}
    somewhere = set()  # names of tables in files that do not show of which schema they are
    for file, inside in read.items():
        bare = {table.name for table in inside if not table.schema and file not in names.of_tables}
        schemas = names.schemas_of(file) if bare else set()
        found.update((schema, name) for schema in schemas for name in bare)
        somewhere |= bare if not schemas else set()
    missing: list[Table] = []
    unknown: list[Table] = []
    absent = [
        table for table in tables if (table.schema, table.name) not in found and not names.has_own(table)
    ]
    unread = {schema for schema in {table.schema for table in absent} if names.may_hold(schema) - read.keys()}
    for table in absent:
        (unknown if table.schema in unread or table.name in somewhere else missing).append(table)
    return Absent(missing, unknown)


class _Names:
    """What the names of a dump's files show of the tables of a server."""

    def __init__(self, dumps: Iterable[File], tables: Iterable[Table]) -> None:
        files: dict[str, set[str]] = {}  # by what they are called, with and without a date
        for file in dumps:
            for stem in _stems(file):
                files.setdefault(stem, set()).add(file.name)
        self._own: set[tuple[str, str]] = set()  # tables with a file of their own
        self._schemas: dict[str, set[str]] = {}  # files that may hold tables of a schema, by their names
        self.of_tables: set[str] = set()  # these files
        for table in tables:
            self._schemas.setdefault(table.schema, set(files.get(table.schema, ())))
            for separator in _SEPARATORS:
                if own := files.get(f"{table.schema}{separator}{table.name}"):
                    self._own.add((table.schema, table.name))
                    self.of_tables |= own
        taken = self.of_tables | {name for named in self._schemas.values() for name in named}
        for stem, named in files.items():
            for found in _SEPARATOR.finditer(stem):
                if (may_hold := self._schemas.get(stem[: found.start()])) is not None:
                    may_hold |= named - taken
        apart = {schema for schema, _ in self._own}
        self._others = {name for named in files.values() for name in named} - taken
        self._others -= {name for named in self._schemas.values() for name in named}
        for schema in apart:  # a view, or what came and went: nothing but itself
            self._schemas[schema] = set(files.get(schema, ()))

    def has_own(self, table: Table) -> bool:
        """Whether a file is called after a table."""
        return (table.schema, table.name) in self._own

    def schemas_of(self, file: str) -> set[str]:
        """Return after which schemas a file is called."""
        return {schema for schema, named in self._schemas.items() if file in named}

    def may_hold(self, schema: str) -> set[str]:
        """List the files that may hold tables of a schema that have no file of their own."""
        return self._schemas[schema] | self._others


def _stems(file: File) -> Iterator[str]:
    name = sql_text.DUMP.sub("", file.name)
    for called in {name, moments.IN_NAME.sub("", name)}:
        path = called.strip(_SEPARATORS).split("/")
        yield path[-1].strip(_SEPARATORS)
        yield "/".join(path[-2:])
