"""Opening what is in folders that others write, and why that cannot be done.

A symbolic link leads no further than its owner may go.
"""

from __future__ import annotations

import errno
import os
import stat
from contextlib import suppress

from stallwatch.accounts import user_name
from stallwatch.findings import ProbeError
from stallwatch.startup import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

# Opens nothing: no device begins to do something, no writer of a pipe is let go.
_LOOK = os.O_PATH | os.O_NOFOLLOW | os.O_CLOEXEC
_READ = os.O_RDONLY | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC
_MOST = 40  # links on the way, as Linux has it: path_resolution(7)


class RefusedError(OSError):
    """It is there, and we do not read it; ``strerror`` is why."""

    def __init__(self, why: str) -> None:
        super().__init__(errno.EPERM, why)


def opened(path: str, strangers: Iterable[int] = ()) -> int:
    """Open a regular file or a directory for reading; raises OSError, at once for a named pipe, too.

    A link is followed that is root's, our own, or its owner's who also owns what it leads to. Else a server
    that may write into its folder of logs could have root read /etc/shadow to it. ``strangers`` are users
    whose links have led to this path.
    """
    met = {*strangers}
    found = _led(path, met)
    try:
        return _for_reading(path, found, met)
    finally:
        os.close(found)


def opener(path: str, _flags: int) -> int:
    """Open it as ``opened`` does, for ``open``, which closes it again if anything is wrong."""
    return opened(path)


def strangers(path: str) -> frozenset[int]:
    """Return whose links, but root's and our own, are on the way to a path, as far as it leads."""
    met: set[int] = set()
    with suppress(OSError):
        os.close(_led(path, met))
    return frozenset(met)


def unreadable(path: str, error: OSError, check: str) -> ProbeError:
    """Give for an operator why something cannot be read, and what to do: to ``check``, if it is not there."""
    if isinstance(error, FileNotFoundError):
        if os.path.islink(path):
            return ProbeError(f"{path} is a symbolic link to {os.readlink(path)}, which does not exist")
        return ProbeError(f"{path} does not exist", f"check {check}")
    if isinstance(error, PermissionError):
        return denied(path)
    return ProbeError(f"{path} cannot be read: {error.strerror}")


def denied(path: str) -> ProbeError:
    """Name the user that may not read it, and the command that lets them."""
    user = user_name(os.geteuid())
    for outer in _outwards(os.path.dirname(os.path.abspath(path))):
        if not os.access(outer, os.X_OK, effective_ids=True):
            way = f"let {user} in: setfacl -m u:{user}:x {outer}"
            return ProbeError(f"user {user} may not enter {outer}", way)
    if os.path.isdir(path):  # mydumper and mariadb-backup make theirs for nobody else: mode 0700
        way = f"setfacl -R -m u:{user}:rX {path}, or let the backup's script do so for the next one"
        return ProbeError(f"user {user} may not read the directory {path}", f"let {user} read it: {way}")
    return ProbeError(f"user {user} may not read {path}", f"let {user} read it: setfacl -m u:{user}:r {path}")


def _outwards(folder: str) -> list[str]:
    """List a directory and all around it, the outermost first."""
    outer = os.path.dirname(folder)
    return [*(_outwards(outer) if outer != folder else []), folder]


def _led(path: str, met: set[int]) -> int:
    """Give what a path leads to, to be looked at, and add to ``met`` the strangers whose links led there."""
    if "\0" in path:  # of a server, maybe
        raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT))
    names, links = path.split("/")[::-1], 0
    here = os.open("/" if path.startswith("/") else ".", _LOOK)
    try:
        while names:
            name = names.pop() or "."
            there: int | None = (found := _look(name, here))
            about = os.fstat(found)
            if stat.S_ISLNK(about.st_mode):
                links += 1
                met |= {about.st_uid} - {0, os.geteuid()}
                there = _followed(here, name, found, about, names)
            if there is not None:
                here, left = there, here
                os.close(left)
            if links > _MOST:
                raise OSError(errno.ELOOP, os.strerror(errno.ELOOP))  # noqa: TRY301 - ``here`` is open
    except BaseException:
        os.close(here)
        raise
    return here


def _look(name: str, folder: int) -> int:
    """Look at a name; a directory as one, so that what is mounted when it is needed is: autofs(5)."""
    with suppress(NotADirectoryError):
        return os.open(name, _LOOK | os.O_DIRECTORY, dir_fd=folder)
    return os.open(name, _LOOK, dir_fd=folder)


def _followed(folder: int, name: str, link: int, about: os.stat_result, names: list[str]) -> int | None:
    """Give where to go on, None: in the same folder; the names on the way there are put before the others."""
    try:
        target = os.readlink("", dir_fd=link)
    finally:
        os.close(link)
    if _is_the_kernels(about):
        return os.open(name, _LOOK & ~os.O_NOFOLLOW, dir_fd=folder)
    names += target.split("/")[::-1]
    return os.open("/", _LOOK) if target.startswith("/") else None


def _is_the_kernels(link: os.stat_result) -> bool:
    """Whether it is one of /proc, as /proc/PID/root: what it reads as may be elsewhere (man proc)."""
    try:
        return link.st_dev == os.lstat("/proc/self").st_dev
    except OSError:
        return False


def _for_reading(path: str, found: int, met: set[int]) -> int:
    about = os.fstat(found)
    if not (stat.S_ISREG(about.st_mode) or stat.S_ISDIR(about.st_mode)):
        raise RefusedError("it is neither a regular file nor a directory")
    if not met <= {about.st_uid}:
        whose = ", ".join(map(user_name, sorted(met)))
        raise RefusedError(
            f"a symbolic link of user {whose} leads to what user {user_name(about.st_uid)} owns"
        )
    try:
        return os.open(f"/proc/self/fd/{found}", _READ)
    except FileNotFoundError:  # no /proc here
        descriptor = os.open(path, _READ)
    if os.path.samestat(os.fstat(descriptor), about):
        return descriptor
    os.close(descriptor)
    raise RefusedError("another file has come into its place")
