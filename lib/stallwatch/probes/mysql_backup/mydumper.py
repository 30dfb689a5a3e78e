"""Dumps by mydumper: a directory with a file ``metadata``, and files for each table.

Measured with mydumper 0.10.0 (Debian 12) on MariaDB 10.11 and MySQL 9.7; the ini-like metadata since 0.14 as
its documentation ("Output Files") and dumps by 0.19 and 1.0 have it.
"""

from __future__ import annotations

import re

from stallwatch.findings import ProbeError
from stallwatch.probes.mysql_backup import moments, mysqldump, sql_text
from stallwatch.probes.mysql_backup.model import Backup, Place, by_names
from stallwatch.sources.backups import contents
from stallwatch.sources.backups import files as backup_files
from stallwatch.startup import TYPE_CHECKING
from stallwatch.units import whole

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from stallwatch.deadline import Children
    from stallwatch.probes.mysql_backup.model import Table
    from stallwatch.sources.backups.files import File, Folder, Room, Tree

METADATA, PARTIAL = "metadata", "metadata.partial"

_SAID = re.compile(r"^(?:# )?(Started|Finished) dump at: *(.+)$", re.MULTILINE)
_LINE = re.compile(r".+")
_SECTION = re.compile(r"^\[(.+)\]$|^(SHOW [A-Z ]+ STATUS):?$")
_TABLE = re.compile(r"^\[([`\"])(.+)\1\.\1(.+)\1\]\n((?:(?!\[).*(?:\n|\Z))*)", re.MULTILINE)
_SAID_OF_TABLE = re.compile(r"^(real_table_name|rows) *= *(.*?) *$", re.MULTILINE)
_CHUNK = re.compile(r"(\.\d{5,})*\.(sql|dat)$")
_ENTRY = re.compile(r"^[#\s]*(\w+)\s*[:=]\s*\"?([^\"\n]*?)\"?\s*$")
_FILES = {"log", "file", "source_log_file", "relay_master_log_file", "relay_source_log_file",
          "master_log_file"}  # fmt: skip
_POSITIONS = {"pos", "position", "source_log_pos", "exec_master_log_pos", "exec_source_log_pos",
              "master_log_pos"}  # fmt: skip
_OWN = {"master", "source", "show master status", "show binary log status"}
_OF_SOURCE = ("replication", "slave", "show slave status", "show replica status")
_SCHEMA = "-schema.sql"
_SCHEMA_FILE = re.compile(r"-schema\.sql(\.gz|\.zst|\.zstd)?$")
_LONGEST = 4 << 20  # bytes of metadata: 40 000 tables
_TINY = 160  # bytes of a file that can hardly make a table
_MOST = 1000  # files of that size that are looked into
_MOST_ZSTD = 20  # if they are packed by zstd, which costs a process each
NO_END = 'it does not end with ";"'
WITHOUT_TABLE = "it makes no table: mydumper failed there"
_OTHERS = ("-schema-create.sql", "-schema-post.sql", "-schema-view.sql", "-schema-triggers.sql")


def is_one(folder: Folder) -> bool:
    """Whether a directory is such a dump."""
    return any(file.name in {METADATA, PARTIAL} for file in folder.files)


def look(name: str, tree: Tree, children: Children, room: Room) -> Backup:
    """Look at one; raises ProbeError if its metadata cannot be read.

    Its metadata.partial is there as long as it runs; a ``metadata`` beside it is of the dump that it
    is written over.
    """
    by_name = {file.name: file for file in tree.files}
    marker = by_name.get(PARTIAL) or by_name[METADATA]
    if marker.size > _LONGEST:
        what = f"{marker.path} is larger than {_LONGEST >> 20} MiB, more than a check reads of it"
        raise ProbeError(what, "check the dump by hand")
    text = backup_files.text(marker.path, _LONGEST)
    said = {found[1]: moments.in_text(found[2]) for found in _SAID.finditer(text)}
    finished = marker.name == METADATA and "Finished" in said
    started = said.get("Started") or said.get("Finished")
    shift = moments.shift(said.get("Finished"), marker.written)
    names = _Names(by_name, text, room)
    dumps = [file for file in tree.files if sql_text.DUMP.search(file.name) and file.size]
    return Backup(
        name,
        "mydumper",
        tree.files,
        taken=marker.written if started is None else started + shift,
        finished=finished,
        unfinished="" if finished else _unfinished(marker.name),
        places=tuple(_places(text)),
        holds=by_names(names.holds),
        without_rows=names.without_rows,
        damaged={
            **mysqldump.damaged(tree),
            **dict(_without_data(tree.files)),
            **(dict(names.lost()) if finished else {}),
            **dict(_judged(mysqldump.looked_at(dumps), children, _wrong_end)),
            **dict(_judged(_small_schemas(tree.files), children, _without_table)),
        },
        doubts=names.doubts(),
        problems=tree.closed,
    )


def _unfinished(marker: str) -> str:
    if marker == PARTIAL:
        return "metadata.partial is still there, its last act is to rename that"
    return 'its metadata has no "Finished dump at"'


def _places(text: str) -> Iterator[Place]:
    """Read the places in the binary logs: of the server that was dumped, and of its source."""
    section, file = "", ""
    for found_line in _LINE.finditer(text):
        line = found_line[0].rstrip("\r")
        if found := _SECTION.match(line):
            section, file = (found[1] or found[2]).strip().lower(), ""
            continue
        if not (entry := _ENTRY.match(line)):
            continue
        word, value = entry[1].lower(), entry[2]
        of_source = section.startswith(_OF_SOURCE)
        if word in _FILES:
            file = value
        elif word in _POSITIONS and file and (of_source or section in _OWN):
            if (position := whole(value)) is None:
                continue
            yield Place(file, position, of_source)
            file = ""


class _Names:
    """What the names of the files show of the tables in it.

    Each table has a file for its schema; without those (--no-schemas) those with rows have one for them.
    Since 0.14 files of tables with odd names are called otherwise, and rows are counted: see the metadata.
    """

    def __init__(self, names: Iterable[str], text: str, room: Room) -> None:
        stems = {sql_text.PACKED.sub("", name) for name in names}
        self._called: dict[tuple[str, str], str] = {}
        self._rows: dict[str, int] = {}
        for one in _TABLE.finditer(text):
            schema, table, entries = map(str, one.groups()[1:])
            room.spend(METADATA, schema + table)
            said = dict(_SAID_OF_TABLE.findall(entries))
            real = said.get("real_table_name", table).replace("``", "`").strip()
            self._called[schema, real] = table
            self._rows[f"{schema}.{table}"] = whole(said.get("rows", "")) or 0
        self._schemas = {stem.removesuffix(_SCHEMA) for stem in stems if stem.endswith(_SCHEMA)}
        self._stems = {
            stem for stem in stems if stem.endswith((".sql", ".dat")) and not stem.endswith(_OTHERS)
        }
        self._with_rows = {_CHUNK.sub("", stem) for stem in self._stems}

    def holds(self, table: Table) -> bool:
        """Whether a table is in it."""
        return self._file(table) in (self._schemas or self._with_rows)

    def without_rows(self, table: Table) -> bool:
        """Whether a table has no file of rows, as those have that were empty."""
        return self._file(table) not in self._with_rows

    def lost(self) -> Iterator[tuple[str, str]]:
        """Find tables whose rows were counted, and have no file."""
        for name, count in self._rows.items():
            if count and name not in self._with_rows:
                yield name, f"it has no file of rows, and metadata has {count} rows"

    def doubts(self) -> tuple[str, ...]:
        """Report that there are tables in it and no rows."""
        without_rows = self._schemas and all(stem.endswith(_SCHEMA) for stem in self._stems)
        return ("no table in it has any rows, as after --no-data",) if without_rows else ()

    def _file(self, table: Table) -> str:
        return f"{table.schema}.{self._called.get((table.schema, table.name), table.name)}"


def _without_data(files: Iterable[File]) -> Iterator[tuple[str, str]]:
    """Find files for LOAD DATA (--load-data, --csv) that are empty; those are made for rows only."""
    for file in files:
        if not file.size and file.name.endswith((".dat", ".csv")):
            yield file.name, "it is empty"


def _judged(
    files: Iterable[File], children: Children, judge: Callable[[File, bytes], str]
) -> Iterator[tuple[str, str]]:
    """Judge files by their beginnings; what cannot be read --verify reports."""
    for file in files:
        try:
            wrong = judge(file, contents.beginning(file, children, backup_files.EDGE))
        except contents.DamagedError as damage:
            wrong = str(damage)
        except (contents.SealedError, ProbeError):
            continue
        if wrong:
            yield file.name, wrong


def _wrong_end(file: File, head: bytes) -> str:
    """Report that a file is empty, or ends within a statement."""
    if not head:
        return sql_text.NOTHING
    is_packed = sql_text.PACKED.search(file.name)
    return "" if is_packed or backup_files.end(file).rstrip().endswith(b";") else NO_END


def _small_schemas(files: Iterable[File]) -> list[File]:
    small = [file for file in files if 0 < file.size <= _TINY and _SCHEMA_FILE.search(file.name)]
    return small[: _MOST_ZSTD if small and ".zst" in small[0].name else _MOST]


def _without_table(file: File, head: bytes) -> str:
    """Report that mydumper 0.10 could not dump a table: it prints "Finished" all the same."""
    return WITHOUT_TABLE if makes_no_table(file.name, head) else ""


def makes_no_table(name: str, text: bytes) -> bool:
    """Whether a file is to make a table, by its name, and does not, by its first bytes.

    The rows of a table ``t-schema`` are in such a file, too.
    """
    return bool(_SCHEMA_FILE.search(name)) and not any(word in text for word in (b"CREATE TABLE", b"INSERT "))
