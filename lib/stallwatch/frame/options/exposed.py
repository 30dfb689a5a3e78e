"""Files with a secret in them: what others than their owner can do with them."""

from __future__ import annotations

import os
import stat

from stallwatch.startup import TYPE_CHECKING

if TYPE_CHECKING:
    from stallwatch.frame.check import Check


def tell(check: Check, path: str, *, secret: bool = True) -> None:
    """Tell with -v that everybody can read a ``secret``, or that others can change what a check is told.

    That a group may read it is meant: /etc/stallwatch/mysql.cnf is root's and for the group nagios, 0640.
    """
    try:
        mode = os.stat(path).st_mode
    except (OSError, ValueError):  # whoever reads it says so; ValueError: a NUL in it
        return
    cures = {"everybody can read": "o-r"} if secret and mode & stat.S_IROTH else {}
    cures |= {"its group can change": "g-w"} if mode & stat.S_IWGRP else {}
    cures |= {"everybody can change": "o-w"} if mode & stat.S_IWOTH else {}
    if cures and stat.S_ISREG(mode):
        who, how = " and ".join(cures), ",".join(cures.values())
        check.aside(f"{who} {path}{', with a secret in it' * secret}: chmod {how} {path}")
