"""What a data node's log tells of the process that it is: "Angel pid: 996 started child: 1004"."""

from __future__ import annotations

import contextlib
import os
import re

_NAME = re.compile(r"ndb_\d+_out\.log")
_STARTED = b" started child: "
_LONGEST = 4 << 20  # bytes; a start among 48 nodes writes one of them


def start_of(pid: int, directory: str) -> bytes:
    """Read what a data node that works in a directory wrote when it started as this process.

    Nothing comes back if its last start was that of another process, or the log is not for us to read.
    """
    with contextlib.suppress(OSError, ValueError):  # ValueError: an empty log cannot be mapped
        for name in filter(_NAME.fullmatch, os.listdir(directory)):
            if start := _last_start(f"{directory}/{name}", pid):
                return start
    return b""


def _last_start(log: str, pid: int) -> bytes:
    from mmap import ACCESS_READ, mmap  # the last start may be gigabytes before the end

    with open(log, "rb") as file, mmap(file.fileno(), 0, access=ACCESS_READ) as whole:
        at = whole.rfind(_STARTED)
        start = whole[at : at + _LONGEST] if at >= 0 else b""
    return start if start.startswith(b"%b%d\n" % (_STARTED, pid)) else b""
