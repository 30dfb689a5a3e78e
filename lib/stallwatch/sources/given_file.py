"""Files that an option names: a FIFO into which nobody writes must not cost the whole time.

A pipe that has data is read, as of ``--password-file <(pass show monitor)`` or ``/dev/stdin``.
"""

from __future__ import annotations

import errno
import os
import stat
import time
from contextlib import contextmanager

from stallwatch.findings import State
from stallwatch.startup import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import TypeVar

    from stallwatch.findings import ProbeError

    Unreachable = TypeVar("Unreachable", bound=ProbeError)

_AUTHORITIES = ("--ca-file", "--ssl-ca")  # options of files that need no key
PATIENCE = 1.0  # seconds for somebody to open it and write
_LONGER = 3.0  # seconds for whoever has opened it
_AT_ONCE = os.O_RDONLY | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC


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


def unreadable(said: str, path: str, error: Exception) -> str:
    """Return why a file cannot be read: after ``said``, or, where rights are missing, with the next step."""
    if isinstance(error, PermissionError):
        from stallwatch.sources.following import denied

        refused = denied(path)
        return f"{refused.what} - {refused.advice}"
    return f"{said}: {getattr(error, 'strerror', None) or 'is no text'}"


@contextmanager
def having_data(*paths: str | None) -> Iterator[None]:
    """Have FIFOs open while a library reads them; raises OSError for one that has no data."""
    held: list[int] = []  # SIGPIPE would end whoever writes if nobody had it open
    try:
        for path in filter(None, paths):
            if stat.S_ISFIFO(os.stat(path).st_mode):
                held.append(os.open(path, _AT_ONCE))
                if not _has_data(held[-1], PATIENCE):
                    raise _silent(PATIENCE)
        yield
    finally:
        for descriptor in held:
            os.close(descriptor)


def unusable(kind: type[Unreachable], option: str, path: str, error: OSError) -> Unreachable:
    """Return why a file for TLS cannot be used: that is UNKNOWN whatever a server that cannot be asked is."""
    from stallwatch.startup.tls import ssl

    why = error.strerror or "there is nothing of that kind in it"
    if isinstance(error, ssl.SSLError):
        why = "no certificate in PEM form"
        if option not in _AUTHORITIES:
            why += ", or no key for it that can be used without a password"
    said = kind(f"{option} {path}: {why}", "the server was not asked")
    said.state = State.UNKNOWN
    return said


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
    why = f"it is a FIFO, not a regular file, and no writer has completed it within {seconds:.0f} s"
    return OSError(errno.ETIME, why)
