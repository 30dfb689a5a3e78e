"""What a data node's log tells of the process that it is: "Angel pid: 996 started child: 1004"."""

from __future__ import annotations

import contextlib
import os
import re

from stallwatch.sources.following import opener

_NAME = r"ndb_\d+_out\.log"
_STARTED = b" started child: "
_LENGTHS = (1 << 20, 8 << 20, 64 << 20)  # bytes, one after another: to read these takes 30 ms
_LONGEST = 4 << 20  # bytes; a start among 48 nodes writes one of them


def start_of(pid: int, directory: str) -> bytes:
    """Read what a data node that works in a directory wrote when it started as this process.

    Nothing comes back if its last start was that of another process, or is not in the last 64 MiB of the log,
    or this is not for us to read.
    """
    with contextlib.suppress(OSError):
        for name in os.listdir(directory):
            if re.fullmatch(_NAME, name) and (start := _last_start(f"{directory}/{name}", pid)):
                return start
    return b""


def _last_start(log: str, pid: int) -> bytes:
    """Look for it from the end of the log, which may be cut off or renamed meanwhile."""
    with open(log, "rb", opener=opener) as file:
        size = file.seek(0, os.SEEK_END)
        for length in _LENGTHS:
            file.seek(max(0, size - length))
            end = file.read(length)
            at = end.rfind(_STARTED)
            if at >= 0 or length >= size:
                break
    start = end[at : at + _LONGEST] if at >= 0 else b""
    return start if start.startswith(b"%b%d\n" % (_STARTED, pid)) else b""
