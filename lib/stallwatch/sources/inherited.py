"""What a program that we run inherits of our environment, and where it is looked for."""

from __future__ import annotations

import os
import stat

_OURS = "STALLWATCH_"  # a password, maybe: no business of other programs, nor of the processes they start


def environment(**more: str) -> dict[str, str]:
    """Give our variables without those that are made for us alone, and with ``more``."""
    inherited = {name: value for name, value in os.environ.items() if not name.startswith(_OURS)}
    return inherited | {"PATH": search_path()} | more


def search_path() -> str:
    """Give PATH without "." and the like, and without folders that everybody may put programs into."""
    folders = filter(_trusted, os.environ.get("PATH", os.defpath).split(os.pathsep))
    return os.pathsep.join(folders) or os.defpath


def _trusted(folder: str) -> bool:
    try:
        return os.path.isabs(folder) and not os.stat(folder).st_mode & stat.S_IWOTH
    except OSError:
        return True  # nothing is there that could be run
