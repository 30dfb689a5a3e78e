"""Incremental copies of a data directory: each is of use only with the one that it goes on from."""

from __future__ import annotations

import os

from stallwatch.findings import ProbeError
from stallwatch.sources.backups import files as backup_files

PREFIXES = ("mariadb_backup_", "xtrabackup_")
_MOST = 1 << 16  # bytes of a file of settings
_WANTED, _LONGEST = ("backup_type", "from_lsn", "to_lsn"), 40  # letters of a log sequence number


def settings(path: str) -> dict[str, str]:
    """Read a file of lines like ``name = value``; raises ProbeError."""
    pairs = (line.partition("=") for line in backup_files.text(path, _MOST).splitlines())
    return {name.strip(): value.strip() for name, equals, value in pairs if equals}


def lacks(path: str, checkpoints: dict[str, str]) -> str:
    """Tell that a copy is not beside it that the one in ``path`` is based on; "": nothing is lacking."""
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


def is_alone(path: str) -> bool:
    """Whether there is no other copy beside this one: those that it is based on may be kept elsewhere."""
    return not _beside(path)


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
                told = settings(f"{place}/{folder}/{prefix}checkpoints")
                one = {name: told[name][:_LONGEST] for name in _WANTED if name in told}
            except ProbeError:
                continue
            if os.path.abspath(path) != f"{place}/{folder}":
                found.append(one)
    return found
