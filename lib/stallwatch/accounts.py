"""Accounts of this host: what a user is called, and whom a server may run as."""

from __future__ import annotations

import os
import pwd
import re
from contextlib import suppress

_DEFINITIONS = "/etc/login.defs"
_FIRST_OF_PEOPLE = 1000  # UID_MIN, where that file does not set it
_OF_UNITS = range(61184, 65520)  # users that systemd makes for units with DynamicUser=yes
_SERVERS = "mysql"  # whom the packages of MySQL and MariaDB let their servers run as, whatever its number


def user_name(uid: int) -> str:
    """Return what a user is called; the number if it has no name."""
    try:
        return pwd.getpwuid(uid).pw_name
    except KeyError:
        return str(uid)


def is_trusted(uid: int) -> bool:
    """Whether this is root, the user that we run as, or mysql."""
    if uid in (0, os.geteuid()):
        return True
    try:
        return uid == pwd.getpwnam(_SERVERS).pw_uid
    except KeyError:
        return False


def may_be_server(uid: int) -> bool:
    """Whether a server may run as this user: one that is trusted, or another system account.

    Whoever logs in to this host can start a program that looks like a server, and so can whoever took over
    one that runs as nobody. To start it as a system account (a number below UID_MIN, or DynamicUser=yes)
    takes root, or a hole in another service of this host: that is not detected.
    """
    return uid < _first_of_people() or uid in _OF_UNITS or is_trusted(uid)


def _first_of_people() -> int:
    with suppress(OSError), open(_DEFINITIONS, encoding="ascii", errors="replace") as file:
        for line in file:
            if found := re.match(r"UID_MIN\s+(\d{1,9})\s*$", line):
                return int(found[1])
    return _FIRST_OF_PEOPLE
