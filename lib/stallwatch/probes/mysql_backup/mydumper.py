"""Dumps by mydumper: a directory with a file ``metadata``, and files for each table.

Measured with mydumper 0.10.0 (Debian 12) on MariaDB 10.11 and MySQL 9.7; the ini-like metadata since 0.14 as
its documentation ("Output Files") and dumps by 0.19 and 1.0 have it.
"""

from __future__ import annotations

import itertools
import re

from stallwatch.probes.mysql_backup import moments, mysqldump
from stallwatch.probes.mysql_backup.backup import Backup, Place
from stallwatch.sources.backups import contents
from stallwatch.sources.backups import files as backup_files

TYPE_CHECKING = False  # typing itself costs every check 2 ms
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from stallwatch.probes.mysql_backup.backup import Holds, Table
    from stallwatch.sources.backups.files import File, Folder, Tree

METADATA, PARTIAL = "metadata", "metadata.partial"

_SAID = re.compile(r"^(?:# )?(Started|Finished) dump at: *(.+)$", re.MULTILINE)
_SECTION = re.compile(r"^\[(.+)\]$|^(SHOW [A-Z ]+ STATUS):?$")
_TABLE = re.compile(r"^\[([`\"])(.+)\1\.\1(.+)\1\]\n(?:(?!\[).*\n)*?real_table_name=(.*)$", re.MULTILINE)
_ENTRY = re.compile(r"^[#\s]*(\w+)\s*[:=]\s*\"?([^\"\n]*?)\"?\s*$")
_FILES = {
    "log",
    "file",
    "source_log_file",
    "relay_master_log_file",
    "relay_source_log_file",
    "master_log_file",
}
_POSITIONS = {"pos", "position", "source_log_pos", "exec_master_log_pos", "exec_source_log_pos",
              "master_log_pos"}  # fmt: skip
_OWN = {"master", "source", "show master status", "show binary log status"}
_OF_SOURCE = ("replication", "slave", "show slave status", "show replica status")
_PACKED = re.compile(r"\.(gz|zst|zstd)$")
_SCHEMA = "-schema.sql"
_SCHEMA_FILE = re.compile(r"-schema\.sql(\.gz)?$")
_TINY = 160  # bytes of a file that can hardly make a table
_MOST = 1000  # files of that size that are looked into
WITHOUT_TABLE = "it makes no table: mydumper failed there"
_OTHERS = ("-schema-create.sql", "-schema-post.sql", "-schema-view.sql", "-schema-triggers.sql")


def is_one(folder: Folder) -> bool:
    """Whether a directory is such a dump."""
    return any(file.name in {METADATA, PARTIAL} for file in folder.files)


def look(name: str, tree: Tree) -> Backup:
    """Look at one; raises ProbeError if its metadata cannot be read."""
    by_name = {file.name: file for file in tree.files}
    marker = by_name.get(METADATA) or by_name[PARTIAL]
    text = backup_files.text(marker.path)
    said = {word: moments.in_text(when) for word, when in _SAID.findall(text)}
    finished = marker.name == METADATA and "Finished" in said
    started = said.get("Started") or said.get("Finished")
    shift = moments.shift(said.get("Finished"), marker.written)
    return Backup(
        name,
        "mydumper",
        tree.files,
        taken=marker.written if started is None else started + shift,
        finished=finished,
        unfinished="" if finished else _unfinished(marker.name),
        places=tuple(_places(text)),
        holds=_holds(set(by_name), text),
        damaged={**mysqldump.damaged(tree), **dict(_without_table(tree.files))},
        doubts=_doubts(by_name),
        problems=tree.closed,
    )


def _unfinished(marker: str) -> str:
    if marker == PARTIAL:
        return "mydumper has not renamed metadata.partial to metadata, its last act"
    return 'its metadata has no "Finished dump at"'


def _places(text: str) -> Iterator[Place]:
    """Read the places in the binary logs: of the server that was dumped, and of its source."""
    section, file = "", ""
    for line in text.splitlines():
        if found := _SECTION.match(line):
            section, file = (found[1] or found[2]).strip().lower(), ""
            continue
        if not (entry := _ENTRY.match(line)):
            continue
        word, value = entry[1].lower(), entry[2]
        of_source = section.startswith(_OF_SOURCE)
        if word in _FILES:
            file = value
        elif word in _POSITIONS and file and value.isdecimal() and (of_source or section in _OWN):
            yield Place(file, int(value), of_source)
            file = ""


def _holds(names: set[str], text: str) -> Holds:
    """Tell by the names of the files which tables are in it.

    Each table has a file for its schema; without those (--no-schemas) those with rows have one for them.
    Since 0.14 files of tables with odd names are called otherwise, as the metadata tells.
    """
    stems = {_PACKED.sub("", name) for name in names}
    called = {
        (schema, real.replace("``", "`").strip()): table for _, schema, table, real in _TABLE.findall(text)
    }
    with_schemas = any(stem.endswith(_SCHEMA) for stem in stems)
    with_rows = set() if with_schemas else {re.sub(r"(\.\d{5,})*\.(sql|dat)$", "", stem) for stem in stems}

    def holds(table: Table) -> bool:
        name = f"{table.schema}.{called.get((table.schema, table.name), table.name)}"
        return f"{name}{_SCHEMA}" in stems or name in with_rows

    return holds


def _without_table(files: Iterable[File]) -> Iterator[tuple[str, str]]:
    """Find tables that mydumper 0.10 could not dump: it says "Finished" all the same."""
    small = (file for file in files if file.size <= _TINY and _SCHEMA_FILE.search(file.name))
    for file in itertools.islice(small, _MOST):
        try:
            if makes_no_table(file.name, contents.beginning(file, [], backup_files.EDGE)):
                yield file.name, WITHOUT_TABLE
        except (contents.DamagedError, contents.SealedError) as error:
            yield file.name, str(error)


def makes_no_table(name: str, text: bytes) -> bool:
    """Whether a file is to make a table, by its name, and does not, by its first bytes.

    The rows of a table ``t-schema`` are in such a file, too.
    """
    return bool(_SCHEMA_FILE.search(name)) and not any(word in text for word in (b"CREATE TABLE", b"INSERT "))


def _doubts(names: Iterable[str]) -> tuple[str, ...]:
    stems = [_PACKED.sub("", name) for name in names]
    rows = any(stem.endswith((".sql", ".dat")) and not stem.endswith((_SCHEMA, *_OTHERS)) for stem in stems)
    tables = any(stem.endswith(_SCHEMA) for stem in stems)
    return ("no table in it has any rows: was it made with --no-data?",) if tables and not rows else ()
