"""Files with a secret in them: the password, and what others than their owner can do with them."""

from __future__ import annotations

import os
import stat

from stallwatch.startup import TYPE_CHECKING
from stallwatch.units import UnusableFileError

if TYPE_CHECKING:
    from stallwatch.frame.check import Check


_LONGEST_LINE = 4096


def password(path: str, errors: str = "strict") -> str:
    """Read the first line of --password-file; ``errors`` as for ``bytes.decode``; UnusableFileError."""
    from stallwatch.sources import given_file

    try:
        if line := given_file.first_line(path, _LONGEST_LINE).decode(errors=errors):
            return line
    except (OSError, UnicodeError) as error:
        raise UnusableFileError(given_file.unreadable(f"--password-file {path}", path, error)) from None
    raise UnusableFileError(f"--password-file {path}: its first line is empty")


def tell(check: Check, path: str, *, secret: bool = True) -> None:
    """Warn with -v if everybody can read a ``secret``, or if others can change the file.

    That a group may read it is meant: /etc/stallwatch/mysql.cnf is root's and for the group nagios, 0640.
    """
    try:
        mode = os.stat(path).st_mode
    except (OSError, ValueError):  # whoever reads it reports that; ValueError: a NUL in it
        return
    cures = {"everybody can read": "o-r"} if secret and mode & stat.S_IROTH else {}
    cures |= {"its group can change": "g-w"} if mode & stat.S_IWGRP else {}
    cures |= {"everybody can change": "o-w"} if mode & stat.S_IWOTH else {}
    if cures and stat.S_ISREG(mode):
        who, how = " and ".join(cures), ",".join(cures.values())
        check.aside(f"{who} {path}{', with a secret in it' * secret}: chmod {how} {path}")
