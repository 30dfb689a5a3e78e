"""One log file, opened: its text at any position, plain or gzipped, in flat memory."""

from __future__ import annotations

import math
import os
import stat
import sys

from stallwatch.findings import ProbeError
from stallwatch.sources import following
from stallwatch.startup import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

BLOCK = 1 << 20  # bytes: what is read at once, and the longest line that is handed out
EDGE = 256  # bytes at the beginning and before a position by which a content is known again
GZIP = b"\x1f\x8b"
_RESERVE = 1.5  # seconds kept back for judging what was read; half the time, if that is less
FS_IOC_GETVERSION = 0x80087601  # linux/fs.h, on machines with 64 bits


class TimeShortError(Exception):
    """No time is left to decompress the rest of a file of so many bytes."""

    def __init__(self, size: int) -> None:
        super().__init__(size)
        self.size = size


class Budget:
    """What one run may read."""

    def __init__(self, max_bytes: float, left: Callable[[], float] | None) -> None:
        self.bytes_read = 0
        self._max_bytes = max_bytes
        self._left = left or (lambda: math.inf)
        self._reserve = min(_RESERVE, self._left() / 2)

    @property
    def room(self) -> int:
        """Bytes that the next block may have."""
        return int(max(0, min(BLOCK, self._max_bytes - self.bytes_read)))

    def time_is_short(self) -> bool:
        """Whether it is time to judge what was read."""
        return self._left() <= self._reserve

    def spent(self) -> bool:
        """Whether reading must stop."""
        return self.bytes_read >= self._max_bytes or self.time_is_short()


class LogFile:
    """A regular file, opened for reading; never waits for a writer.

    ``inode``, ``size`` (bytes on disk) and ``mtime`` (ns) are those of the moment it was opened: what is
    written later is for the next run, and what is read counts only while the file is not ``truncated``.
    ``birth`` distinguishes it from an earlier file of its inode; 0 where the file system does not show it.
    """

    packed = False
    damage = ""  # why the text ends before its end

    def __init__(self, path: str, descriptor: int) -> None:
        status = os.fstat(descriptor)
        self.path = path
        self.name = os.path.basename(path)
        self.inode = status.st_ino
        self.birth = _birth(descriptor)
        self.size = status.st_size
        self.mtime = status.st_mtime_ns
        self._descriptor = descriptor
        self.fingerprint = "" if self.packed else self.edges(self.size)  # of the text, as it was opened

    @property
    def truncated(self) -> bool:
        """Whether the text is not any more what was opened, perhaps with a beginning of its own by now."""
        return not self.packed and self.edges(self.size) != self.fingerprint

    def text(self, position: int, size: int) -> bytes:
        """Give up to ``size`` bytes of text from ``position`` on; fewer only at the end of the file."""
        try:
            return os.pread(self._descriptor, size, position)
        except OSError as error:
            raise unreadable(self.path, error) from error

    def head(self, size: int = EDGE) -> bytes:
        """Give the first bytes of the text, at most EDGE."""
        return self.text(0, min(size, EDGE))

    def length(self) -> int:
        """Bytes of text; of a gzipped file only reading it to its end can show."""
        return self.size

    def edges(self, position: int) -> str:
        """Give a fingerprint of the text up to ``position``: of its first bytes and those before it."""
        from stallwatch.startup.hashing import hashlib

        tail = self.text(position - EDGE, EDGE) if position > EDGE else self.head(position)
        return hashlib.blake2b(self.head(position) + tail, digest_size=8).hexdigest()

    def begins_with(self, other: LogFile) -> bool:
        """Whether the other's whole text is the beginning of this one: then it is a copy."""
        if not self.head().startswith(other.head()):
            return False
        length = other.length()
        return self.edges(length) == other.edges(length)

    def close(self) -> None:
        """Let go of the file."""
        os.close(self._descriptor)


def _birth(descriptor: int) -> int:
    """Ask for the number that ext4, XFS and Btrfs give to each use of an inode; they reuse them at once."""
    import fcntl

    try:
        return int.from_bytes(fcntl.ioctl(descriptor, FS_IOC_GETVERSION, bytes(8))[:4], sys.byteorder)
    except OSError:
        return 0


class GzippedLog(LogFile):
    """A gzipped log: its text streams forwards, a step back beyond the last block starts afresh.

    What gzip appends to it after it was opened is left out, or its text would differ from look to look.
    """

    packed = True

    def __init__(self, path: str, descriptor: int, time_is_short: Callable[[], bool]) -> None:
        super().__init__(path, descriptor)
        self._time_is_short = time_is_short
        self._head = b""
        self._start = 0  # where in the text the held block begins
        self._held = b""
        self._raw = b""
        self._rewind()

    def head(self, size: int = EDGE) -> bytes:
        """Give the first bytes of the text, remembered: to fetch them again would start afresh."""
        self._head = self._head or self.text(0, EDGE)
        return self._head[:size]

    def text(self, position: int, size: int) -> bytes:
        """Give up to ``size`` bytes of text from ``position`` on; TimeShortError on the way there."""
        if position < self._start:
            self._rewind()
        kept_from = max(self._start, position - EDGE)  # edges() will ask for what is before the position
        pieces = [self._held[kept_from - self._start :]]
        end = self._start + len(self._held)
        while end < position + size and (piece := self._inflate()):
            pieces.append(piece[max(0, kept_from - end) :])
            end += len(piece)
        self._held = b"".join(pieces)
        self._start = end - len(self._held)
        return self._held[position - self._start :][:size]

    def length(self) -> int:
        """Bytes of text, counted."""
        end = self._start + len(self._held)
        while self.text(end, BLOCK):
            end = self._start + len(self._held)
        return end

    def _rewind(self) -> None:
        import zlib

        self.damage = ""
        self._position = 0  # of what is to be read next, in bytes on disk
        self._start, self._held, self._raw = 0, b"", b""
        self._inflater = zlib.decompressobj(zlib.MAX_WBITS | 16)

    def _read(self) -> bytes:
        try:
            raw = os.pread(self._descriptor, min(BLOCK // 4, self.size - self._position), self._position)
        except OSError as error:
            raise unreadable(self.path, error) from error
        self._position += len(raw)
        return raw

    def _inflate(self) -> bytes:
        """Give the next piece of text, b"" at the end; several gzip streams in a row are one text."""
        import zlib

        if self._time_is_short():
            raise TimeShortError(self.size)
        piece = b""
        while not piece and not self.damage:
            raw = self._raw or self._read()
            if self._inflater.eof:
                if not raw.strip(b"\0"):  # tapes and some copiers pad with zeros
                    return b""
                self._inflater = zlib.decompressobj(zlib.MAX_WBITS | 16)
            if not raw:
                self.damage = "the compressed data end too early"
                return b""
            try:
                piece = self._inflater.decompress(raw, BLOCK)
            except zlib.error as error:
                self.damage = str(error)
            self._raw = self._inflater.unconsumed_tail or self._inflater.unused_data
        return piece


def open_log(path: str, time_is_short: Callable[[], bool], strangers: Iterable[int] = ()) -> LogFile:
    """Open a log, gzipped or not; ProbeError if it cannot be read or is no regular file.

    ``strangers`` are users whose links have led to this path.
    """
    try:
        mode = os.stat(path).st_mode
        if stat.S_ISDIR(mode):
            example = os.path.join(path, "ndb_4_out.log")
            raise ProbeError(f"{path} is a directory", f"name the log file in it, for example {example}")
        if not stat.S_ISREG(mode):
            raise ProbeError(f"{path} is {_kind(mode)}, not a log file", "name a regular file")
        descriptor = following.opened(path, strangers)
        packed = os.pread(descriptor, len(GZIP), 0) == GZIP
    except OSError as error:
        raise unreadable(path, error) from error
    return GzippedLog(path, descriptor, time_is_short) if packed else LogFile(path, descriptor)


def unreadable(path: str, error: OSError) -> ProbeError:
    """Return for an operator why a file cannot be read, and what to do."""
    where = "the path and where the server writes its log"
    if isinstance(error, FileNotFoundError) and any(sign in path for sign in "*?["):
        return ProbeError(f"no file fits {path}", f"check {where}")
    return following.unreadable(path, error, where)


def _kind(mode: int) -> str:
    if stat.S_ISFIFO(mode):
        return "a named pipe"
    return "a socket" if stat.S_ISSOCK(mode) else "a device"
