"""Backups in one file that nobody can look into without unpacking it: archives, encrypted files."""

from __future__ import annotations

import re

from stallwatch.findings import ProbeError
from stallwatch.probes.mysql_backup import moments
from stallwatch.probes.mysql_backup.model import Backup
from stallwatch.sources.backups import contents
from stallwatch.sources.backups import files as backup_files
from stallwatch.startup import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Sequence

    from stallwatch.deadline import Children
    from stallwatch.sources.backups.files import File

ARCHIVE = re.compile(
    r"\.(xb|xbs|xbstream|tar|tgz|tzst|xbcrypt|gpg|pgp|age|enc|aes|7z|zip)$"
    r"|\.(tar|sql|xb|xbstream|mbstream)\.\w+$|\.mbstream$|\.sql\.\w+\.(gpg|pgp|age|enc|aes)$",
    re.IGNORECASE,
)


_MOST = 200  # files whose beginnings are looked at: those written last


def look(name: str, files: Sequence[File], children: Children) -> Backup:
    """Look at what there is to see: how old and how large it is, and whether there is anything at all.

    What is packed by gzip or zstd can be read to its end; of what is in there, nothing is known even then.
    """
    latest = sorted(files, key=lambda file: -file.written)[:_MOST]
    judged = {file.name: _judged(file, children) for file in latest}
    readable = all(one.packing for one in judged.values())
    first = judged[files[0].name] if files[0].name in judged else next(iter(judged.values()))
    return Backup(
        name,
        "archive" if len(files) == 1 else f"archive, {len(files)} files",
        files,
        taken=moments.not_after(name, max(file.written for file in files)),
        finished=None,
        can_be_verified=readable,
        damaged={name: one.wrong for name, one in judged.items() if one.wrong},
        hidden=f"{files[0].name} is {first.what}: only its age and size are judged",
        problems=[one.problem for one in judged.values() if one.problem][:1],
    )


class _Judged(NamedTuple):
    what: str = "an archive"
    packing: str = ""
    wrong: str = ""
    problem: ProbeError | None = None


def _judged(file: File, children: Children) -> _Judged:
    """Look at the beginning of an archive."""
    if not file.size:
        return _Judged(wrong="it is empty")
    try:
        packing = contents.packing(file.path)
        head = contents.beginning(file, children, backup_files.EDGE)
    except contents.SealedError as sealed:
        return _Judged(str(sealed))
    except contents.DamagedError as damage:
        return _Judged(wrong=str(damage))
    except ProbeError as error:
        return _Judged(problem=error)
    wrong = "" if head.strip(b"\0") else "it begins with zeros" if head else "there is nothing in it"
    return _Judged(f"an archive in {packing}" if packing else "an archive", packing, wrong)
