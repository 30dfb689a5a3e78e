"""Opening what is in folders that others write: a symbolic link leads no further than its owner may go."""

from __future__ import annotations

import errno
import os
import stat
from typing import NamedTuple

_FOLDER = os.O_PATH | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_FILE = os.O_RDONLY | os.O_NONBLOCK | os.O_NOCTTY | os.O_NOFOLLOW | os.O_CLOEXEC
_MOST = 40  # links on the way, as Linux has it: path_resolution(7)


class _Link(NamedTuple):
    target: str
    owner: int


def opened(path: str) -> int:
    """Open a regular file or a directory for reading; raises OSError, at once for a named pipe, too.

    A link is followed that is root's, our own, or its owner's who also owns what it leads to. Else a server
    that may write into its folder of logs could have root read /etc/shadow to it.
    """
    names = path.split("/")[::-1]
    folder = os.open("/" if path.startswith("/") else ".", _FOLDER)
    strangers, links = set(), 0
    try:
        while True:
            name = names.pop() or "."
            try:
                found = os.open(name, _FOLDER if names else _FILE, dir_fd=folder)
            except OSError as error:
                link = _link(name, folder) if error.errno in (errno.ELOOP, errno.ENOTDIR) else None
                if link is None or (links := links + 1) > _MOST:
                    raise
                strangers |= {link.owner} - {0, os.geteuid()}
                names += link.target.split("/")[::-1]
                if not link.target.startswith("/"):
                    continue
                found = os.open("/", _FOLDER)
            else:
                if not names:
                    return _permitted(found, strangers)
            folder, left = found, folder
            os.close(left)
    finally:
        os.close(folder)


def _link(name: str, folder: int) -> _Link | None:
    """Look where a link leads and whose it is, both of the same one; None: it is no link."""
    try:
        link = os.open(name, os.O_PATH | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=folder)
    except FileNotFoundError:
        return None
    try:
        about = os.fstat(link)
        return _Link(os.readlink("", dir_fd=link), about.st_uid) if stat.S_ISLNK(about.st_mode) else None
    finally:
        os.close(link)


def _permitted(descriptor: int, strangers: set[int]) -> int:
    about = os.fstat(descriptor)
    if not (stat.S_ISREG(about.st_mode) or stat.S_ISDIR(about.st_mode)):
        why = "it is neither a regular file nor a directory"
    elif strangers <= {about.st_uid}:
        return descriptor
    else:
        whose = ", ".join(map(_user, sorted(strangers)))
        why = f"a symbolic link of user {whose} leads to what user {_user(about.st_uid)} owns"
    os.close(descriptor)
    raise OSError(errno.ELOOP, why)


def _user(uid: int) -> str:
    import pwd

    try:
        return pwd.getpwuid(uid).pw_name
    except KeyError:
        return str(uid)
