"""Which logs a user names, and the files of each: itself, and what rotation made of its older content."""

from __future__ import annotations

import os
import re
from contextlib import suppress

from stallwatch.findings import ProbeError
from stallwatch.sources.following import strangers
from stallwatch.sources.logs.logfile import LogFile, open_log
from stallwatch.startup import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

ATTEMPTS = 5  # looks at a directory in which files are being renamed
OPENED = 100  # rotated files at most, the youngest: a process may often open no more than 1024

_NUMBER = r"\.\d{1,3}"
_DATE = r"[-._]\d{4}-?\d\d-?\d\d(?:[-._T]?\d\d(?:[-.:]?\d\d){0,2}|-\d{10})?"
_PACKED = r"\.(?:gz|bz2|xz|zst|lz4|Z)"
_NOT_GZIP = (".bz2", ".xz", ".zst", ".lz4", ".Z")


class Closed(NamedTuple):
    """A rotated file that cannot be read, and why (a sentence)."""

    inode: int | None  # None: a compressed one, in which nothing was read before
    mtime: int
    why: str


class Rotation:
    """The files of one log at one moment, all of them open.

    ``live`` is the log itself; without it ``problem`` is the reason. ``rotated`` are the others that can be
    read, plain ones first, then older ones, as copies are younger; ``closed`` those that cannot.
    """

    def __init__(self, path: str, time_is_short: Callable[[], bool]) -> None:
        self.name = os.path.basename(path)
        self.live: LogFile | None = None
        self.problem: ProbeError | None = None
        self.rotated: list[LogFile] = []
        self.closed: list[Closed] = []
        try:
            self.live = open_log(path, time_is_short)
        except ProbeError as problem:
            self.problem = problem
        met = strangers(path)  # who has led us to where it really is may have done so for what is beside it
        for mtime, entry in _siblings(path):
            self._add(entry, mtime, time_is_short, met)
        self.rotated.sort(key=lambda file: (file.packed, file.mtime))

    @property
    def files(self) -> list[LogFile]:
        """All that can be read, the log itself first."""
        return [*([self.live] if self.live else []), *self.rotated]

    @property
    def truncated(self) -> bool:
        """Whether any of them has lost what it was opened with."""
        return any(file.truncated for file in self.files)

    @property
    def newest(self) -> int:
        """When anything was last written (ns); 0 if there is nothing."""
        readable = [file.mtime for file in self.files]
        return max(readable + [closed.mtime for closed in self.closed], default=0)

    def _add(
        self, entry: os.DirEntry[str], mtime: int, time_is_short: Callable[[], bool], met: frozenset[int]
    ) -> None:
        if entry.name.endswith(_NOT_GZIP):
            why = f"{entry.path} cannot be read: of compressed logs, only gzipped ones can"
            self.closed.append(Closed(None, mtime, why))
            return
        try:
            file = open_log(entry.path, time_is_short, met)
        except ProbeError as problem:
            if not isinstance(problem.__cause__, FileNotFoundError):
                self.closed.append(Closed(entry.inode(), mtime, problem.what))
            return
        if file.inode in [known.inode for known in self.files]:
            file.close()  # a link to it, or it was renamed after it was opened
        else:
            self.rotated.append(file)

    def close(self) -> None:
        """Let go of the files."""
        for file in self.files:
            file.close()


def look(path: str, time_is_short: Callable[[], bool]) -> Rotation:
    """Open the files of the log ``path``, at a moment when nobody renames or compresses them."""
    for _ in range(ATTEMPTS):
        before = _names(path)
        rotation = Rotation(path, time_is_short)
        if _names(path) == before:
            break
        rotation.close()
    else:
        rotation = Rotation(path, time_is_short)
    return rotation


def rotated_name(name: str) -> re.Pattern[str]:
    """Match what rotation calls older generations: ``name.1``, ``name-20261120.gz``, ``stem.2026-11-20.log``.

    Neither editors' backups nor a neighbour's log (``ndb_40_out.log``, ``app-2.log`` beside ``app.log``).
    """
    stem, extension = os.path.splitext(name)
    whole, stem, extension = re.escape(name), re.escape(stem), re.escape(extension)
    mark = f"(?:{_NUMBER}|{_DATE})"
    return re.compile(f"{whole}{_PACKED}|(?:{whole}{mark}|{stem}{mark}{extension})(?:{_PACKED})?")


def without_copies(files: list[LogFile], originals: list[LogFile]) -> list[LogFile]:
    """Leave out those whose whole text is the beginning of another's; nothing begins everything."""
    ranked = [*originals, *files]  # of two equals, the first counts as the original

    def is_copy(rank: int, file: LogFile) -> bool:
        others = ((place < rank, other) for place, other in enumerate(ranked) if place != rank)
        return any(
            other.begins_with(file) and (before or not file.begins_with(other)) for before, other in others
        )

    return [
        file for rank, file in enumerate(files, len(originals)) if file.head() and not is_copy(rank, file)
    ]


def age(file: LogFile) -> tuple[int, int]:
    """Give a key that sorts generations, the oldest first: by when they were last written, then by name.

    Numbers alone would not do: the management node reuses .1 to .6 in a ring.
    """
    number = re.search(r"\.(\d{1,3})(?:\.|$)", file.name)
    date = re.search(_DATE, file.name)
    if date:
        return file.mtime, int(re.sub(r"\D", "", date[0]))
    return file.mtime, -int(number[1]) if number else 0


def _places(path: str) -> list[str]:
    """Give the log's path, and where it really is: either may be what is rotated."""
    named = os.path.abspath(path)
    folder = os.path.dirname(named)
    try:
        real, real_folder = os.path.realpath(path), os.path.realpath(folder)
    except OSError:  # a link on the way that is not for us to read (CPython 3.11 lets that out)
        return [named]
    # A path through /proc/PID/root reads as one of this host, and is another.
    is_there = _same(folder, real_folder) and (_same(named, real) or not os.path.exists(named))
    return list(dict.fromkeys((named, real))) if is_there else [named]


def _same(one: str, other: str) -> bool:
    try:
        return os.path.samefile(one, other)
    except OSError:
        return False


def _siblings(path: str) -> list[tuple[int, os.DirEntry[str]]]:
    """Give the youngest rotated files of a log and when they were last written (ns), the youngest first."""
    dated: list[tuple[int, os.DirEntry[str]]] = []
    for entry in _entries(path):
        with suppress(FileNotFoundError):  # look() will see that the directory has changed
            if entry.is_file(follow_symlinks=False):
                dated.append((entry.stat(follow_symlinks=False).st_mtime_ns, entry))
        if len(dated) > 2 * OPENED:  # of a million files no more are ever in memory
            dated = _youngest(dated)
    return _youngest(dated)


def _youngest(dated: list[tuple[int, os.DirEntry[str]]]) -> list[tuple[int, os.DirEntry[str]]]:
    return sorted(dated, key=lambda pair: (-pair[0], pair[1].name))[:OPENED]


def _names(path: str) -> tuple[int, int]:
    """Return a number that changes with which file (inode) has which name, the log's own too; and how many.

    The time of the directory would not do: it moves on every 4 ms only (Linux, HZ=250), and a rotation that
    renames ten files takes less.
    """
    told = count = 0
    with suppress(OSError):  # its folder may be one that nobody may list
        told = hash((path, os.stat(path).st_ino))
    for entry in _entries(path, whole=True):
        told += hash((entry.path, entry.inode()))
        count += 1
    return told, count


def _entries(path: str, *, whole: bool = False) -> Iterator[os.DirEntry[str]]:
    """Give the rotated files of a log; the ``whole`` of them with the log itself."""
    for place in _places(path):
        folder, name = os.path.split(place)
        rotated = rotated_name(name)
        with suppress(OSError), os.scandir(folder) as entries:  # perhaps it may be entered but not listed
            yield from (
                entry for entry in entries if rotated.fullmatch(entry.name) or (whole and entry.name == name)
            )


def named(patterns: Iterable[str], known: Iterable[str] = (), *, fold: bool = True) -> list[str]:
    """Absolute paths of the logs, each once, in order; a pattern's rotated files belong to their log.

    Without ``fold`` rotated files are logs of their own.

    A name without ``*``, ``?`` or ``[``, and a pattern that fits nothing, stand for themselves: opening them
    reports what is wrong. So does a log of ``known`` that a pattern fits but that is gone.
    """
    paths: dict[str, None] = {}
    for pattern in map(os.path.abspath, patterns):
        paths.update(
            dict.fromkeys(_matching(pattern, known, fold=fold) if _is_pattern(pattern) else [pattern])
        )
    return list(paths)


def _is_pattern(path: str) -> bool:
    return not os.path.lexists(path) and any(sign in path for sign in "*?[")


def _matching(pattern: str, known: Iterable[str], *, fold: bool) -> list[str]:
    from fnmatch import fnmatch
    from glob import glob

    found = set(glob(pattern)) | {path for path in known if fnmatch(path, pattern)}
    rotated = {path for path in found if fold and any(_is_rotated(path, log) for log in found)}
    return sorted(found - rotated) or [pattern]


def _is_rotated(path: str, log: str) -> bool:
    folder, name = os.path.split(path)
    stem = os.path.splitext(os.path.basename(log))[0]
    if path == log or not name.startswith(stem):  # of a thousand files: no pattern for each pair
        return False
    return folder == os.path.dirname(log) and rotated_name(os.path.basename(log)).fullmatch(name) is not None
