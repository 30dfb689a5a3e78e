"""Backups in one file that nobody can look into without unpacking it: archives, encrypted files."""

from __future__ import annotations

import re

from stallwatch.probes.mysql_backup.backup import Backup
from stallwatch.sources.backups import contents

TYPE_CHECKING = False  # typing itself costs every check 2 ms
if TYPE_CHECKING:
    from collections.abc import Sequence

    from stallwatch.sources.backups.files import File

ARCHIVE = re.compile(
    r"\.(xb|xbs|xbstream|tar|tgz|tzst|xbcrypt|gpg|pgp|age|enc|aes|7z|zip)$"
    r"|\.(tar|sql|xb|xbstream|mbstream)\.\w+$|\.mbstream$|\.sql\.\w+\.(gpg|pgp|age|enc|aes)$",
    re.IGNORECASE,
)


def look(name: str, files: Sequence[File]) -> Backup:
    """Look at what there is to see: how old and how large it is."""
    return Backup(
        name,
        "archive" if len(files) == 1 else f"{len(files)} archives",
        files,
        taken=max(file.written for file in files),
        finished=None,
        can_be_verified=False,
        hidden=f"{files[0].name} is {_what(files[0])}: only its age and size are judged",
    )


def _what(file: File) -> str:
    try:
        packing = contents.packing(file.path)
    except contents.SealedError as sealed:
        return str(sealed)
    return f"an archive in {packing}" if packing else "an archive"
