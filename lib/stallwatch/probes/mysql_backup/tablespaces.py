"""What sizes and first pages show of the files in a copy of a data directory: are they long enough?

Where the header of a tablespace is: MySQL's fsp0fsp.h and fsp0types.h, MariaDB's for the flags of
innodb_checksum_algorithm=full_crc32 (10.5 and later).
"""

from __future__ import annotations

import os
import re

from stallwatch.sources.backups import files as backup_files
from stallwatch.startup import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from stallwatch.sources.backups.files import File

_NEVER_EMPTY = re.compile(r"(\.(ibd|new|MYI|MAI|frm)|^ibdata\d+|^undo_?\d+\S*|^backup-my\.cnf)$")
_TABLESPACE = re.compile(r"\.ibd$")
_PARTNERS = (("MYD", "MYI"), ("MAD", "MAI"))  # rows and index of MyISAM and of Aria
_PATH = re.compile(r"^\s*innodb_data_file_path\s*=\s*(.+)$", re.MULTILINE)
_CONFIGURATION = "backup-my.cnf"
_HEADER = 58  # bytes of a tablespace up to the end of its flags
_SIZE, _FLAGS = slice(46, 50), slice(54, 58)
_LEAST_PAGE = 1024
_USUAL = 16384
_LARGEST = 8  # as a power of two, from 512 bytes on
_ABSENT = "it is not there"


def damaged(files: Iterable[File], *, prepared: bool) -> dict[str, str]:
    """Return what is wrong with the files of a copy; if it is ``prepared``, headers have their lengths."""
    by_name = {file.name: file for file in files}
    found = {
        name: "it is empty" for name, file in by_name.items() if not file.size and _NEVER_EMPTY.search(name)
    }
    for name in (_CONFIGURATION, *_system_tablespace(by_name.get(_CONFIGURATION))):
        if not any(
            each == name or each.startswith(f"{name}.") for each in by_name
        ):  # ibdata1.qp, ibdata1.delta
            found[name] = _ABSENT
    found.update(_without_partner(by_name))
    for name, file in by_name.items():
        if name not in found and _TABLESPACE.search(name) and (wrong := _cut(file, prepared=prepared)):
            found[name] = wrong
    return found


def _system_tablespace(configuration: File | None) -> list[str]:
    """List the files that InnoDB's own tables are in."""
    path = _PATH.search(backup_files.text(configuration.path, 1 << 16)) if configuration else None
    parts = path[1].split(";") if path else ["ibdata1"]
    names = (os.path.basename(part.partition(":")[0].strip()) for part in parts)
    return [name for name in names if name]  # its last part may be empty


def _without_partner(names: Iterable[str]) -> Iterator[tuple[str, str]]:
    stems: dict[str, set[str]] = {}
    for name in names:
        stem, _, ending = name.partition(".")
        stems.setdefault(stem, set()).add(ending.partition(".")[0])
    for stem, endings in stems.items():
        for pair in _PARTNERS:
            if len(absent := set(pair) - endings) == 1:
                yield f"{stem}.{absent.pop()}", _ABSENT


def _cut(file: File, *, prepared: bool) -> str:
    """Return whether a tablespace is shorter than it should be, by its first page."""
    if file.size % _LEAST_PAGE:
        return f"{file.size} bytes are no whole pages"
    if prepared and (length := _length(backup_files.beginning(file, _HEADER))) > file.size:
        return f"it has {file.size} bytes, and its header has a length of {length}"
    return ""


def _length(header: bytes) -> int:
    """Return how many bytes a tablespace has by its header; 0 if that makes no sense."""
    pages, flags = (int.from_bytes(header[part], "big") for part in (_SIZE, _FLAGS))
    page = flags & 15 if flags & 16 else (flags >> 1 & 15) or (flags >> 6 & 15)
    return pages * (512 << page if page else _USUAL) if page <= _LARGEST else 0
