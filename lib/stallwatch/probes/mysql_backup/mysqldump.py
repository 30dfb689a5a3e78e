"""Dumps by mysqldump or mariadb-dump: one file for all, one for each database, or one for each table.

The latter is how mysqlpdump does it: shop-orders.sql.gz, and 00_master_data.sql.gz for the binary log. Such a
directory has nothing that says that it is finished, only its files have. Measured with MariaDB's programs of
10.11 on MariaDB 10.11 and MySQL 9.7.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from stallwatch.probes.mysql_backup import moments
from stallwatch.probes.mysql_backup.backup import Backup, Place, Table
from stallwatch.sources.backups import contents
from stallwatch.sources.backups import files as backup_files

TYPE_CHECKING = False  # typing itself costs every check 2 ms
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from stallwatch.probes.mysql_backup.backup import Holds
    from stallwatch.sources.backups.contents import Children
    from stallwatch.sources.backups.files import File, Tree

DUMP = re.compile(r"\.sql(\.gz|\.zst|\.zstd)?$")
PACKED = re.compile(r"\.(gz|zst|zstd)$")
HEAD = re.compile(rb"\A(?:/\*M?!.*\n|\s)*-- (MySQL|MariaDB) dump ")
COMPLETED = re.compile(rb"^-- Dump completed(?: on +(.+))?$", re.MULTILINE)
_LAST = b"SET SQL_NOTES=@OLD_SQL_NOTES */;"  # of a dump without comments, unless it is a --compact one
_PLACE = re.compile(
    rb"(?:MASTER|SOURCE)_LOG_FILE='([^']+)',\s*(?:MASTER|SOURCE)_LOG_POS=(\d+)", re.IGNORECASE
)
_HOST = re.compile(rb"(?:MASTER|SOURCE)_HOST=", re.IGNORECASE)  # of another server: --dump-slave, mysqlpdump
_OF_DATABASE = re.compile(rb"^-- Host: .*Database: (.+)$", re.MULTILINE)

LATEST = 200  # files whose ends are read: those written last, where a dump breaks off
BEGINNINGS = 5  # files whose beginnings are read, for the place in the binary log
_GZIP = 18  # bytes of the smallest gzip file there is
_OLD = 86400.0  # seconds between files of one dump
SEPARATORS = "-._/"  # of schema and table in the name of a file


def look(name: str, tree: Tree, children: Children) -> Backup:
    """Look at one; programs that decompress are among ``children`` meanwhile. Raises ProbeError."""
    dumps = [file for file in tree.files if DUMP.search(file.name)]
    latest = sorted(dumps, key=lambda file: -file.written)[:LATEST]
    ends = [_End.of(file) for file in latest]
    broken = next((end for end in ends if end.whole is False), None)
    single = ends[0] if len(dumps) == 1 else None
    ended = single.completed if single else None
    written = max(file.written for file in dumps)
    taken = written if ended is None else ended + moments.shift(ended, written)
    return Backup(
        name,
        "mysqldump" if single else f"mysqldump, {len(dumps)} files",
        tree.files,
        taken=taken,
        finished=False if broken else single.whole if single else None,
        unfinished=f'{broken.file.name} does not end with "-- Dump completed"' if broken else "",
        places=tuple(_places(dumps, children)),
        holds=_holds(dumps),
        by_mysqldump=True,
        damaged=damaged(tree),
        doubts=tuple(_doubts(dumps, written)),
        problems=tree.closed,
    )


def _doubts(dumps: Sequence[File], written: float) -> Iterator[str]:
    if old := [file.name for file in dumps if written - file.written > _OLD]:
        one = len(old) == 1
        what = f"{old[0]} is" if one else f"{len(old)} of its files, as {old[0]}, are"
        what += " more than a day older than the newest"
        yield f"{what}: {'it was' if one else 'they were'} not dumped again, or what is in there is gone"


class _End(NamedTuple):
    """How a file ends: ``whole`` is None if that is packed, or not by mysqldump with comments."""

    file: File
    whole: bool | None = None
    completed: float | None = None  # seconds since the epoch, by the clock of whoever made it

    @classmethod
    def of(cls, file: File) -> _End:
        """Look at its end, if it is not packed."""
        if PACKED.search(file.name):
            return cls(file)
        whole = is_whole(contents.beginning(file, [], backup_files.EDGE), end := backup_files.end(file))
        return cls(file, whole, completed(end))


def damaged(tree: Tree) -> dict[str, str]:
    """Tell which files of a dump are damaged by what their directory tells alone."""
    found = dict.fromkeys(tree.broken, "a symbolic link to a file that is not there")
    for file in tree.files:
        if DUMP.search(file.name):
            if not file.size:
                found[file.name] = "it is empty"
            elif file.name.endswith(".gz") and file.size < _GZIP:
                found[file.name] = f"{file.size} bytes are too few for gzip"
    return found


def is_whole(head: bytes, end: bytes) -> bool | None:
    """Whether a text is a whole dump, by its beginning and its end; None: it is nothing that tells."""
    if COMPLETED.search(end[-200:]) or end.rstrip().endswith(_LAST):
        return True
    return False if HEAD.match(head) or not head else None


def completed(end: bytes) -> float | None:
    """Tell when a dump was completed, by its last line."""
    found = COMPLETED.search(end[-200:])
    return moments.in_text(found[1].decode(errors="replace")) if found and found[1] else None


def _places(dumps: Iterable[File], children: Children) -> Iterator[Place]:
    """Read the place in the binary log: at the beginning of a dump, or in mysqlpdump's own file."""
    first = sorted(dumps, key=lambda file: ("master_data" not in file.name, file.name))[:BEGINNINGS]
    for file in first:
        try:
            head = contents.beginning(file, children)
        except (contents.DamagedError, contents.SealedError):
            continue
        if found := _PLACE.search(head):
            line = head[head.rfind(b"\n", 0, found.start()) + 1 : found.start()]
            yield Place(found[1].decode(errors="replace"), int(found[2]), bool(_HOST.search(line)))
            return


def database(head: bytes) -> str:
    """Tell of which database a dump is by its first lines; "": of several."""
    found = _OF_DATABASE.search(head[:2000])
    return found[1].decode(errors="replace").strip() if found else ""


def _holds(dumps: Iterable[File]) -> Holds:
    """Tell by the names of files which tables are in the dump."""
    stems: set[str] = set()

    def holds(table: Table) -> bool:
        stems.update([] if stems else _stems(dumps))
        return any(f"{table.schema}{separator}{table.name}" in stems for separator in SEPARATORS)

    return holds


def _stems(dumps: Iterable[File]) -> Iterator[str]:
    for file in dumps:
        path = moments.IN_NAME.sub("", DUMP.sub("", file.name)).strip(SEPARATORS).split("/")
        yield path[-1]
        yield "/".join(path[-2:])


_TABLE, _USE = b"\nCREATE TABLE ", b"\nUSE "
_NAME = re.compile(rb"\n(CREATE TABLE|USE) (?:IF NOT EXISTS )?`((?:[^`]|``)+)`")
_OVERLAP = 300  # bytes: longer than any such line up to the end of its name


class Tables:
    """The tables that a dump makes, gathered from its text piece by piece."""

    def __init__(self) -> None:
        self.found: list[Table] = []
        self._schema: str | None = None
        self._kept = b"\n"

    def hear(self, piece: bytes) -> None:
        """Take in the next piece of the text; within rows, which mysqldump escapes, no line begins."""
        if self._schema is None:
            self._schema = database(piece)
        text = self._kept + piece
        if _TABLE in text or _USE in text:
            end = max(0, len(text) - _OVERLAP)
            for found in _NAME.finditer(text):
                if found.start() < end:
                    self._take(*found.groups())
        self._kept = text[-_OVERLAP:]

    def end(self) -> list[Table]:
        """Give them all; there is no more."""
        for found in _NAME.finditer(self._kept):
            self._take(*found.groups())
        return self.found

    def _take(self, word: bytes, quoted: bytes) -> None:
        name = quoted.replace(b"``", b"`").decode(errors="replace")
        if word == b"USE":
            self._schema = name
        else:
            self.found.append(Table(self._schema or "", name))
