"""Files that an option names: a FIFO into which nobody writes must not cost the whole time.

A pipe that has data is read, as of ``--password-file <(pass show monitor)`` or ``/dev/stdin``.
"""

from __future__ import annotations

import errno
import os
import stat
import time

PATIENCE = 1.0  # seconds for somebody to open it and write
_LONGER = 3.0  # seconds for whoever has opened it
_AT_ONCE = os.O_RDONLY | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC
_held: list[int] = []


def first_line(path: str, most: int) -> bytes:
    """Read the first line of a file, at most so many bytes, without its end; raises OSError."""
    octets, _ = _read(path, most, to_line=True)
    return octets.partition(b"\n")[0].removesuffix(b"\r")


def content(path: str, most: int) -> tuple[bytes, int]:
    """Read a file, at most so many bytes of it; give them and its mode; raises OSError."""
    return _read(path, most, to_line=False)


def _read(path: str, most: int, *, to_line: bool) -> tuple[bytes, int]:
    with open(os.open(path, _AT_ONCE), "rb") as file:
        descriptor = file.fileno()
        mode = os.fstat(descriptor).st_mode
        if stat.S_ISFIFO(mode):
            return _piped(descriptor, most, to_line=to_line), mode
        os.set_blocking(descriptor, True)  # a terminal
        return (file.readline if to_line else file.read)(most), mode


def must_have_data(*paths: str | None) -> None:
    """Raise OSError for a FIFO that has none, before a library reads it, which would wait for ever."""
    for path in filter(None, paths):
        if stat.S_ISFIFO(os.stat(path).st_mode):
            descriptor = os.open(path, _AT_ONCE)
            _held.append(descriptor)  # SIGPIPE would end whoever writes if nobody had it open
            if not _has_data(descriptor, PATIENCE):
                raise _silent(PATIENCE)


def _piped(descriptor: int, most: int, *, to_line: bool) -> bytes:
    begun, patience, read = time.monotonic(), PATIENCE, b""
    while len(read) < most and not (to_line and b"\n" in read):
        comes = _has_data(descriptor, begun + patience - time.monotonic())
        try:
            part = os.read(descriptor, most - len(read))
        except BlockingIOError:  # somebody has it open, and may take longer
            if not comes and patience == _LONGER:
                raise _silent(patience) from None
            patience = _LONGER
            continue
        if not part and not (comes or read):
            raise _silent(patience)
        if not part:
            break
        read += part
    return read


def _has_data(descriptor: int, seconds: float) -> bool:
    """Whether something can be read within that time, or whoever wrote has closed it."""
    from select import POLLIN, poll

    wait = poll()
    wait.register(descriptor, POLLIN)
    return bool(wait.poll(1000 * max(0.0, seconds)))


def _silent(seconds: float) -> OSError:
    why = f"it is a FIFO, not a regular file, and nobody has written all of it within {seconds:.0f} s"
    return OSError(errno.ETIME, why)
