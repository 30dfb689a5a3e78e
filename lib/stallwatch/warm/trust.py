"""Whom stallwatchd and its fronts trust: processes of the same user, as the kernel names it."""

from __future__ import annotations

import os
import socket
import stat
import struct
from contextlib import suppress

_SET_DUMPABLE = 4  # prctl(2)
_CREDENTIALS = struct.Struct("3i")  # process, user, group: unix(7), SO_PEERCRED


def is_ours(connection: socket.socket) -> bool:
    """Whether the process at the other end has our user; of a listener, who called listen(2)."""
    return _user_of(connection) == os.geteuid()


def is_trusted_server(connection: socket.socket) -> bool:
    """Whether a front may hand its command line to the listener: our own user, or root, as systemd is."""
    return _user_of(connection) in (0, os.geteuid())


def _user_of(connection: socket.socket) -> int:
    answer = connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, _CREDENTIALS.size)
    user: int = _CREDENTIALS.unpack(answer)[1]
    return user


def refusal(folder: str) -> str:
    """Return why a socket in this folder could be replaced by somebody else; "": it could not."""
    try:
        found = os.stat(folder)
    except FileNotFoundError:
        return f"{folder} does not exist: create it as the user that runs the checks"
    except OSError as error:
        return f"{folder}: {error.strerror}"
    if not stat.S_ISDIR(found.st_mode):
        return f"{folder} is not a directory"
    if found.st_uid not in (0, os.geteuid()):
        return f"{folder} belongs to another user"
    return f"{folder} can be written by other users" if found.st_mode & 0o022 else ""


def hide_memory() -> None:
    """Let root alone read the memory of this process and of what it forks, in which there are passwords.

    Without this each process of the same user can, and a crash may write it to a disk.
    """
    with suppress(ImportError, OSError):  # a Python without ctypes
        import ctypes

        ctypes.CDLL(None).prctl(_SET_DUMPABLE, 0, 0, 0, 0)
