"""Which backups there are at a place, the newest first.

A place is a backup, or the directory of several:

- A file is one.
- A directory with the signs of a whole backup (mydumper's metadata, a copied data directory) is one.
- Files and directories with a date in their names are one each: /backup/2026-11-20, shop-20261120.sql.gz.
  Where most files have none, those without are another one, by their time.
  Of files that differ in more than the date, such as one for each database, those within a day of the newest
  are one.
- Each directory in it with the signs of a whole backup is one, as /backup/full-1.
- Else all dumps in it and below are one: a file for each table, a directory for each database.

A date in the name outranks the time of the file, which a copy may have changed.
"""

from __future__ import annotations

import os

from stallwatch.findings import ProbeError
from stallwatch.probes.mysql_backup import archive, moments, mydumper, mysqldump, physical, sql_text
from stallwatch.sources.backups import files as backup_files
from stallwatch.sources.backups.files import Room, Tree
from stallwatch.startup import TYPE_CHECKING, NamedTuple
from stallwatch.words import listed

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from stallwatch.deadline import Children
    from stallwatch.probes.mysql_backup.model import Backup
    from stallwatch.sources.backups.files import File

_DAY = 86400.0
_LATE = 1.5  # times the interval of a series
_NOT_THEIRS = ("lost+found", ".")  # how names of directories begin that backups are not in


class Candidate(NamedTuple):
    """What may be a backup: a directory, or some files."""

    name: str  # "" is the place itself
    moment: float  # by its name or its time, for the order only
    path: str = ""  # of a directory
    files: Sequence[File] = ()
    logs: Sequence[File] = ()  # beside it, and called like it
    without: Sequence[str] = ()  # names of files in the directory that are none of it
    doubts: Sequence[str] = ()  # what seems to be lacking


class Choice(NamedTuple):
    """The newest backup, and the one to be judged: the newest that is finished, or may be."""

    newest: Backup | None
    judged: Backup | None


def choose(path: str, children: Children, now: float) -> Choice:
    """Look at backups, the newest first, until one is finished; raises ProbeError."""
    newest = perhaps = None
    room = Room()
    reader = Reader(children, room)
    for candidate in candidates(path, room):
        before = room.left
        backup = reader.look(candidate)
        if newest and (backup is None or backup.finished is False):
            room.left = before  # what was listed is thrown away
        if backup is None:
            continue
        newest = newest or backup
        if backup.finished or (backup.finished is None and not backup.may_run(now)):
            return Choice(newest, backup)
        if backup.finished is None:
            perhaps = perhaps or backup
    return Choice(newest, perhaps)


class Reader(NamedTuple):
    """How backups are looked at; programs that decompress are among ``children`` as long as they run."""

    children: Children
    room: Room

    def look(self, candidate: Candidate) -> Backup | None:
        """Look at one; None: it is no backup, or was removed meanwhile. Raises ProbeError."""
        try:
            return self._look(candidate)
        except ProbeError:
            if candidate.name and candidate.path and not os.path.lexists(candidate.path):
                return None
            raise

    def _look(self, candidate: Candidate) -> Backup | None:
        if candidate.files:
            return self._of_files(candidate)
        folder = backup_files.look_into(candidate.path, room=self.room)
        if mydumper.is_one(folder):
            tree = backup_files.tree(candidate.path, folder, self.room)
            return mydumper.look(candidate.name, tree, self.children, self.room)
        if physical.is_one(folder):
            own = [file for file in folder.files if physical.LOG.search(file.name)]
            tree = backup_files.tree(candidate.path, folder, self.room)
            return physical.look(candidate.name, candidate.path, tree, [*own, *candidate.logs])
        tree = backup_files.tree(candidate.path, folder, self.room)
        backups = [file for file in tree.files if _is_backup(file) and file.name not in candidate.without]
        if not backups:
            if tree.closed:
                raise tree.closed[0]
            return None
        return self._of_files(candidate._replace(files=backups), tree)

    def _of_files(self, candidate: Candidate, tree: Tree | None = None) -> Backup:
        name, files = candidate.name, candidate.files
        if any(sql_text.DUMP.search(file.name) for file in files):
            tree = Tree([*files], tree.broken, tree.closed) if tree else Tree([*files], [], [])
            backup = mysqldump.look(name, tree, self.children)
            return backup._replace(doubts=(*backup.doubts, *candidate.doubts))
        return archive.look(name, files, self.children)


def candidates(path: str, room: Room) -> list[Candidate]:
    """List what may be a backup at a place, the newest first; raises ProbeError."""
    if file := backup_files.one_file(path):
        return [Candidate("", file.written, files=[file])]
    before = room.left
    folder = backup_files.look_into(path, room=room)
    itself = Candidate("", 0.0, path)
    if mydumper.is_one(folder) or physical.is_one(folder):
        room.left = before  # nothing of the list is kept
        return [itself._replace(logs=_logs_beside(path))]
    backups = [file for file in folder.files if _is_backup(file)]
    folders = [name for name in folder.folders if not name.startswith(_NOT_THEIRS)]
    logs = [file for file in folder.files if physical.LOG.search(file.name)]
    series = _of_series(backups)
    dated = [*_dated_files(series), *_dated_folders(path, folders, logs)]
    if len(series) < len(backups) and not any(one.path for one in dated) and not _most_are(series, backups):
        names = [file.name for file in series]
        moment = max(file.written for file in backups if file.name not in names)
        dated.append(itself._replace(moment=moment, without=names))
    found = dated or [*_whole_folders(path, folders, logs)] or [itself]
    if found == [itself]:
        room.left = before
    return sorted(found, key=lambda one: one.moment, reverse=True)


def _is_backup(file: File) -> bool:
    return bool(sql_text.DUMP.search(file.name) or archive.ARCHIVE.search(file.name))


def _most_are(some: Sequence[File], files: Sequence[File]) -> bool:
    return 2 * len(some) > len(files)


def _of_series(files: Sequence[File]) -> list[File]:
    """List the files with a date that is their own.

    Where most have none, one that was written when they were is a part of the same backup, of a table with a
    date in its name.
    """
    dated = [file for file in files if moments.in_name(file.name) is not None]
    if not dated or _most_are(dated, files):
        return dated
    newest = max(file.written for file in files if file not in dated)
    return [file for file in dated if abs(newest - file.written) > _DAY]


def _dated_files(files: Iterable[File]) -> Iterator[Candidate]:
    """Put together the newest file of each series, and so on with those before."""
    series: dict[str, list[tuple[float, File]]] = {}
    for file in files:
        if (moment := moments.in_name(file.name)) is not None:
            series.setdefault(moments.IN_NAME.sub("", file.name), []).append((moment, file))
    ordered = [sorted(one, key=lambda each: each[0]) for one in series.values()]
    left = [[*one] for one in ordered]
    while left := [one for one in left if one]:
        newest = max(one[-1][0] for one in left)
        members = [one.pop()[1] for one in left if newest - one[-1][0] < _DAY]
        name = listed([one.name for one in members], 1)
        yield Candidate(name, newest, files=members, doubts=[*_ended(ordered, newest)])


def _ended(series: Iterable[Sequence[tuple[float, File]]], newest: float) -> Iterator[str]:
    """Return which series have no file any more, though by their own rhythm there should be one."""
    for *_, (before, _), (last, file) in (one for one in series if len(one) > 1):
        if newest - last > max(_DAY, _LATE * (last - before)):
            yield f"{file.name} has had no successor since: if its database is gone, remove its old files"


def _dated_folders(path: str, names: Iterable[str], logs: Sequence[File]) -> Iterator[Candidate]:
    for name in names:
        if (moment := moments.in_name(name)) is not None:
            yield Candidate(name, moment, f"{path}/{name}", logs=_called(name, logs))


def _whole_folders(path: str, names: Iterable[str], logs: Sequence[File]) -> Iterator[Candidate]:
    for name in names:
        try:
            folder = backup_files.look_into(f"{path}/{name}")
        except ProbeError:
            continue  # reported as closed, if there is nothing else
        if mydumper.is_one(folder) or physical.is_one(folder):
            moment = max(file.written for file in folder.files)
            yield Candidate(name, moment, f"{path}/{name}", logs=_called(name, logs))


def _called(name: str, logs: Iterable[File]) -> list[File]:
    return [log for log in logs if log.name.rpartition(".")[0] == name]


def _logs_beside(path: str) -> list[File]:
    found = []
    for ending in (".log", ".err", ".out"):
        try:
            file = backup_files.one_file(path.rstrip("/") + ending)
        except ProbeError:
            continue
        if file:
            found.append(file)
    return found
