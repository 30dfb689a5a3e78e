"""Which files a backup has: one look at each directory, one at each file."""

from __future__ import annotations

import os
import stat
from contextlib import contextmanager

from stallwatch.findings import ProbeError
from stallwatch.sources.following import opened, unreadable
from stallwatch.startup import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator

DEEPEST = 4  # directories below each other: /backup/2026-11-20/shop/orders.sql.gz has two
_OF_FILE = 600  # bytes of memory besides its names: 50 000 files of a dump by mydumper take 38 MiB
EDGE = 4096  # bytes at the beginning and at the end of a file


class File(NamedTuple):
    """A regular file; ``name`` is its path below the directory of the backup."""

    path: str
    name: str
    size: int  # bytes
    written: float  # seconds since the epoch
    key: str  # changes when the file does: inode, size and time


class Room:
    """The memory that lists of files may still take, in bytes: of one run, whatever it looks into."""

    def __init__(self, size: int = 44 << 20) -> None:
        self.left = size

    def spend(self, path: str, name: str) -> None:
        """List one more; raises ProbeError if that is too much."""
        self.left -= _OF_FILE + 3 * len(name) + len(path)
        if self.left < 0:
            what = f"{path} has more files than a check lists: its memory is limited"
            raise ProbeError(what, "name a directory with fewer backups, or files")


class Folder(NamedTuple):
    """What is in a directory."""

    files: list[File]
    folders: list[str]  # their names; symbolic links to directories are none
    broken: list[str]  # names that lead nowhere: symbolic links to files that are gone


class Tree(NamedTuple):
    """What is in a directory and those below it."""

    files: list[File]
    broken: list[str]  # names that lead nowhere
    closed: list[ProbeError]  # directories below it that are not for us to read


def look_into(path: str, below: str = "", room: Room | None = None) -> Folder:
    """List a directory, whose files are called ``below`` and their names; raises ProbeError.

    A file that vanishes meanwhile was never there.
    """
    files, folders, broken = [], [], []
    room = room or Room()
    with reading(path) as descriptor, os.scandir(descriptor) as entries:
        for entry in entries:
            name = below + entry.name
            room.spend(path, name)
            if entry.is_dir(follow_symlinks=False):
                folders.append(entry.name)
                continue
            try:
                status = entry.stat()
            except PermissionError as error:
                raise _unreadable(os.path.join(path, entry.name), error) from error
            except OSError:
                if entry.is_symlink():
                    broken.append(name)
                continue
            if stat.S_ISREG(status.st_mode):
                files.append(_file(os.path.join(path, entry.name), name, status))
    return Folder(files, sorted(folders), broken)


def tree(path: str, folder: Folder, room: Room | None = None) -> Tree:
    """List all below a directory that was looked into; what we may not enter there is ``closed``."""
    files, broken = [*folder.files], [*folder.broken]
    closed: list[ProbeError] = []
    room = room or Room()
    inner = [(f"{path}/{name}", f"{name}/", 1) for name in folder.folders]
    while inner:
        place, below, depth = inner.pop()
        try:
            one = look_into(place, below, room)
        except ProbeError as error:
            if room.left < 0:
                raise
            closed.append(error)
            continue
        files += one.files
        broken += one.broken
        if depth < DEEPEST:
            inner += [(f"{place}/{name}", f"{below}{name}/", depth + 1) for name in one.folders]
    return Tree(files, broken, closed)


def one_file(path: str) -> File | None:
    """Look at one file; None: it is a directory. Raises ProbeError."""
    try:
        status = os.stat(path)
    except OSError as error:
        raise _unreadable(path, error) from error
    if stat.S_ISDIR(status.st_mode):
        return None
    if not stat.S_ISREG(status.st_mode):
        raise ProbeError(f"{path} is neither a directory nor a file", "name the directory of the backups")
    return _file(path, os.path.basename(path), status)


def _file(path: str, name: str, status: os.stat_result) -> File:
    key = f"{status.st_ino:x}.{status.st_size:x}.{status.st_mtime_ns:x}"
    return File(path, name, status.st_size, status.st_mtime, key)


def text(path: str, most: int = 64 << 20) -> str:
    """Read a small file of text, at most so many bytes; raises ProbeError."""
    blocks = []
    with reading(path) as descriptor:
        while most > 0 and (block := os.read(descriptor, min(most, 1 << 20))):
            most -= len(block)
            blocks.append(block)
    return b"".join(blocks).decode(errors="replace")


def beginning(file: File, size: int = EDGE) -> bytes:
    """Read the first bytes of a file as they are; raises ProbeError."""
    with reading(file.path) as descriptor:
        return os.pread(descriptor, size, 0)


def end(file: File) -> bytes:
    """Read the last bytes of a file as they are; raises ProbeError."""
    with reading(file.path) as descriptor:
        return os.pread(descriptor, EDGE, max(0, file.size - EDGE))


@contextmanager
def reading(path: str) -> Iterator[int]:
    """Open a file or directory for reading, and close it afterwards; an OSError becomes a ProbeError.

    What was opened is read: nobody can put a link into its place meanwhile.
    """
    try:
        descriptor = opened(path)
        try:
            yield descriptor
        finally:
            os.close(descriptor)
    except OSError as error:
        raise _unreadable(path, error) from error


def _unreadable(path: str, error: OSError) -> ProbeError:
    return unreadable(path, error, "the path, and that its file system is mounted")
