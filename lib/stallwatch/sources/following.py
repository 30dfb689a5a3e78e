"""Opening what is in folders that others write: a symbolic link leads no further than its owner may go."""

from __future__ import annotations

import errno
import os
import stat

_LOOK = (
    os.O_PATH | os.O_CLOEXEC
)  # opens nothing: no device begins to do something, no writer of a pipe is let go
_READ = os.O_RDONLY | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC
_MOST = 40  # links on the way, as Linux has it: path_resolution(7)


def opened(path: str) -> int:
    """Open a regular file or a directory for reading; raises OSError, at once for a named pipe, too.

    A link is followed that is root's, our own, or its owner's who also owns what it leads to. Else a server
    that may write into its folder of logs could have root read /etc/shadow to it.
    """
    if "\0" in path:  # of a server, maybe
        raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT))
    names = path.split("/")[::-1]
    here = os.open("/" if path.startswith("/") else ".", _LOOK)
    strangers, links = set(), 0
    try:
        while names:
            name = names.pop() or "."
            there: int | None = (found := os.open(name, _LOOK | os.O_NOFOLLOW, dir_fd=here))
            about = os.fstat(found)
            if stat.S_ISLNK(about.st_mode):
                links += 1
                strangers |= {about.st_uid} - {0, os.geteuid()}
                there = _followed(here, name, found, about, names)
            if there is not None:
                here, left = there, here
                os.close(left)
            if links > _MOST:
                raise OSError(errno.ELOOP, os.strerror(errno.ELOOP))
        return _for_reading(path, here, strangers)
    finally:
        os.close(here)


def _followed(folder: int, name: str, link: int, about: os.stat_result, names: list[str]) -> int | None:
    """Give where to go on, None: in the same folder; the names on the way there are put before the others."""
    try:
        target = os.readlink("", dir_fd=link)
    finally:
        os.close(link)
    if about.st_size != len(os.fsencode(target)):
        # One of /proc, as /proc/PID/root: the kernel leads on, and what it reads as may be elsewhere, proc(5)
        return os.open(name, _LOOK, dir_fd=folder)
    names += target.split("/")[::-1]
    return os.open("/", _LOOK) if target.startswith("/") else None


def _for_reading(path: str, found: int, strangers: set[int]) -> int:
    about = os.fstat(found)
    if not (stat.S_ISREG(about.st_mode) or stat.S_ISDIR(about.st_mode)):
        raise OSError(errno.ELOOP, "it is neither a regular file nor a directory")
    if not strangers <= {about.st_uid}:
        whose = ", ".join(map(_user, sorted(strangers)))
        why = f"a symbolic link of user {whose} leads to what user {_user(about.st_uid)} owns"
        raise OSError(errno.ELOOP, why)
    try:
        return os.open(f"/proc/self/fd/{found}", _READ)
    except FileNotFoundError:  # no /proc here
        descriptor = os.open(path, _READ)
    if os.path.samestat(os.fstat(descriptor), about):
        return descriptor
    os.close(descriptor)
    raise OSError(errno.ESTALE, "another file has come into its place")


def _user(uid: int) -> str:
    import pwd

    try:
        return pwd.getpwuid(uid).pw_name
    except KeyError:
        return str(uid)
