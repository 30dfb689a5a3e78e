"""Copies of the data directory: by mariadb-backup (mariabackup) or Percona XtraBackup.

Measured with mariabackup 10.11: the sign that it is finished is written last, xtrabackup_info at the very
end; one that failed leaves ib_logfile0 alone. Newer ones call their files mariadb_backup_* (MariaDB's "Files
Created by mariadb-backup"); Percona XtraBackup's are called as ever ("Index of files created").

An incremental copy is of use only with the one that it goes on from.
"""

from __future__ import annotations

import os
import re

from stallwatch import withheld
from stallwatch.findings import ProbeError
from stallwatch.probes.mysql_backup import moments
from stallwatch.probes.mysql_backup.model import Backup, Place, by_names
from stallwatch.sources.backups import files as backup_files
from stallwatch.startup import TYPE_CHECKING
from stallwatch.units import whole

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from stallwatch.probes.mysql_backup.model import Table
    from stallwatch.sources.backups.files import File, Folder, Tree

PREFIXES = ("mariadb_backup_", "xtrabackup_")
LOG = re.compile(r"(\.log|\.err|\.out)$")
OK = b"completed OK!"

_BEGUN = {"xtrabackup_logfile", "ib_logfile0", "backup-my.cnf"}
_MOST = 1 << 16  # bytes of a file of settings
_WANTED, _LONGEST = ("backup_type", "from_lsn", "to_lsn"), 40  # letters of a log sequence number
_LONGEST_LOG = 16 << 20  # bytes: any longer, and it is not one of ours
_PREPARED = {"full-prepared", "log-applied"}  # XtraBackup, mariadb-backup
_PLACE = re.compile(r"filename '([^']+)', position '(\d{1,20})'")
_OF_LOG = re.compile(r"mariabackup|mariadb-backup|xtrabackup|^\[\d\d\] 20\d\d-", re.IGNORECASE | re.MULTILINE)
_SCHEMA_ONLY = {"frm", "sdi", "cfg", "par", "isl", "TRG", "TRN", "opt", "MYI", "MAI"}
_WITH_ROWS = {"InnoDB", "MyISAM", "Aria", "ARCHIVE", "CSV"}  # engines with files of rows
_CODE = re.compile(r"@([0-9a-f]{4})|@(?:@[a-z]|..)", re.DOTALL)


def is_one(folder: Folder) -> bool:
    """Whether a directory is such a copy, finished or not."""
    names = {file.name for file in folder.files}
    return any(name.startswith(PREFIXES) for name in names) or bool(names & _BEGUN)


def look(name: str, path: str, tree: Tree, logs: Iterable[File]) -> Backup:
    """Look at one, and at what ``logs`` show of it; raises ProbeError."""
    from stallwatch.probes.mysql_backup import tablespaces

    info, checkpoints = (_settings(tree.files, what) for what in ("info", "checkpoints"))
    files = [file for file in tree.files if not LOG.search(file.name)]
    ended, started = (moments.in_text(info.get(what, "")) for what in ("end_time", "start_time"))
    written = max((file.written for file in files), default=0.0)
    marker = max((file.written for file in files if file.name.endswith("_info")), default=written)
    shift = moments.shift(ended, marker)
    unfinished = _unfinished(tree.files, info, checkpoints) or _said_in(logs)
    damaged = (
        {} if unfinished else tablespaces.damaged(files, prepared=checkpoints["backup_type"] in _PREPARED)
    )
    lacking = lacks(path, checkpoints)
    elsewhere = bool(lacking) and not _beside(path)  # those that it is based on may be kept elsewhere
    if lacking and not elsewhere:
        damaged = {**damaged, path: lacking}
    return Backup(
        name,
        _who(info, tree.files),
        files,
        taken=written if ended is None else ended + shift,
        finished=not unfinished,
        begun=None if started is None else started + shift,
        unfinished=unfinished,
        about=_about(info, checkpoints),
        places=tuple(_places(info, tree.files)),
        holds=by_names(_holds(files)),
        is_copy=True,
        can_be_verified=False,
        damaged={**dict.fromkeys(tree.broken, "a symbolic link to a file that is not there"), **damaged},
        doubts=(lacking,) if elsewhere else (),
        hidden="pages are not verified here: innochecksum does that, and in part the preparation",
        problems=tree.closed,
    )


def _own(files: Iterable[File], what: str) -> File | None:
    """Find one of the files that it writes about itself."""
    return next((file for file in files if file.name in {prefix + what for prefix in PREFIXES}), None)


def _settings(files: Iterable[File], what: str) -> dict[str, str]:
    """Read one of the files that are like ``name = value``; {} if it is not there."""
    file = _own(files, what)
    return settings(file.path) if file else {}


def _unfinished(files: Iterable[File], info: dict[str, str], checkpoints: dict[str, str]) -> str:
    if not checkpoints.get("backup_type"):
        return "it has no xtrabackup_checkpoints, which are written at its end"
    # XtraBackup may pack it, as xtrabackup_info.qp.
    if not any(file.size for file in files if file.name.startswith(tuple(one + "info" for one in PREFIXES))):
        return "it has no xtrabackup_info, or an empty one, which is written last"
    if info and "end_time" not in info:
        return "its xtrabackup_info has no end_time"
    return ""


def _said_in(logs: Iterable[File]) -> str:
    """Return by the last line of the log of the backup, or of its preparation, if that is to be found."""
    for log in sorted(logs, key=lambda file: -file.written):
        if log.size > _LONGEST_LOG or not _OF_LOG.search(backup_files.text(log.path, _MOST)):
            continue
        end = backup_files.end(log)
        if OK not in end:
            last = (end.decode(errors="replace").strip().splitlines() or ["nothing"])[-1]
            return f'its log {log.name} does not end with "completed OK!" but with "{withheld.message(last)}"'
    return ""


def _who(info: dict[str, str], files: Iterable[File]) -> str:
    if tool := info.get("tool_name"):
        return tool.rpartition("/")[2]
    names = {file.name for file in files}
    return "mariadb-backup" if any(name.startswith(PREFIXES[0]) for name in names) else "xtrabackup"


def _about(info: dict[str, str], checkpoints: dict[str, str]) -> str:
    kind = checkpoints.get("backup_type", "")
    words = ["prepared" if kind in _PREPARED else "incremental" if kind == "incremental" else "not prepared"]
    words += [word for word in ("compressed", "encrypted") if info.get(word, "N").lower() not in {"n", ""}]
    return ", ".join(words) if kind else ""


def _places(info: dict[str, str], files: Iterable[File]) -> Iterator[Place]:
    if found := _PLACE.search(info.get("binlog_pos", "")):
        yield Place(found[1], int(found[2]))
    elif file := _own(files, "binlog_info"):
        name, _, rest = backup_files.text(file.path, _MOST).strip().partition("\t")
        if (position := whole(rest.partition("\t")[0].strip())) is not None:
            yield Place(name, position)


def _holds(files: Iterable[File]) -> Callable[[Table], bool]:
    """Return by the names of the files which tables are in it: ``shop/orders.ibd``, ``shop/part#P#p0.ibd``.

    Letters outside of ASCII are written as codes (MySQL manual, "Mapping of Identifiers to File Names"), most
    of them without a rule: two names that differ in nothing else are taken for the same.
    """
    with_rows, with_schema = set(), set()
    for file in files:
        schema, _, rest = file.name.rpartition("/")
        stem, *endings = rest.split("#", 1)[0].split(".")
        if schema and stem:
            key = (_decoded(schema), _decoded(stem))
            with_schema.add(key)
            if not endings or endings[0] not in _SCHEMA_ONLY:
                with_rows.add(key)

    def holds(table: Table) -> bool:
        key = (_plain(table.schema), _plain(table.name))
        return key in (with_rows if table.engine in _WITH_ROWS else with_schema)

    return holds


def in_shared_tablespaces(names: Iterable[str], tables: Iterable[Table]) -> set[Table]:
    """Return which of these are among those in ibdata1 or a general tablespace, as InnoDB calls them."""
    decoded = {tuple(map(_decoded, name.split("#", 1)[0].partition("/")[::2])) for name in names}
    return {table for table in tables if (_plain(table.schema), _plain(table.name)) in decoded}


def _plain(name: str) -> str:
    return "".join(letter if letter.isascii() else "?" for letter in name)


def _decoded(name: str) -> str:
    def letter(code: re.Match[str]) -> str:
        return _plain(chr(int(code[1], 16))) if code[1] else "?"

    return _CODE.sub(letter, name)


def settings(path: str) -> dict[str, str]:
    """Read a file of lines like ``name = value``; raises ProbeError."""
    pairs = (line.partition("=") for line in backup_files.text(path, _MOST).splitlines())
    return {name.strip(): value.strip() for name, equals, value in pairs if equals}


def lacks(path: str, checkpoints: dict[str, str]) -> str:
    """Report that a copy is not beside it that the one in ``path`` is based on; "": nothing is lacking."""
    if checkpoints.get("backup_type") != "incremental":
        return ""
    beside = _beside(path)
    reached: set[str] = set()  # log sequence numbers that it goes back to
    wanted = {checkpoints.get("from_lsn", "")}
    while wanted:
        reached |= wanted
        bases = [one for one in beside if one.get("to_lsn") in wanted]
        if any(one.get("backup_type") != "incremental" for one in bases):
            return ""
        wanted = {one.get("from_lsn", "") for one in bases} - reached
    first = min(reached, key=lambda lsn: (len(lsn), lsn))
    return f"its base is not here, the copy up to log sequence number {first}: without that it is of no use"


def _beside(path: str) -> list[dict[str, str]]:
    """Read the checkpoints of the copies beside one; what cannot be read is not there."""
    place, found = os.path.dirname(os.path.abspath(path)), []
    try:
        folders = backup_files.look_into(place).folders
    except ProbeError:
        return []
    for folder in folders:
        for prefix in PREFIXES:
            try:
                read = settings(f"{place}/{folder}/{prefix}checkpoints")
                one = {name: read[name][:_LONGEST] for name in _WANTED if name in read}
            except ProbeError:
                continue
            if os.path.abspath(path) != f"{place}/{folder}":
                found.append(one)
    return found
