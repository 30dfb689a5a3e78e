"""Text that we were given as it was meant: UTF-8, also in a locale that takes its bytes for other letters."""

from __future__ import annotations

import os


def utf8(text: str) -> str:
    """Read anew what Python has read in the letters of the locale: an argument, a variable."""
    return os.fsencode(text).decode(errors="surrogateescape")


def variable(name: str) -> str | None:
    """Give a variable of the environment, None: there is none."""
    value = os.environ.get(name)
    return None if value is None else utf8(value)
