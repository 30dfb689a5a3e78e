"""Values of options that several plugins read: ports, regular expressions, text as it was meant."""

from __future__ import annotations

import os
import re
import warnings

from stallwatch.units import NotUnderstoodError, whole

_LARGEST = 65535
_LONGEST = 9  # digits of a port, of which the first may be zeros


def port(text: str) -> int:
    """Read a TCP port, for an option."""
    number = whole(text, _LONGEST)
    if not number or number > _LARGEST:
        raise NotUnderstoodError(f'"{text}" is not a port: write a number from 1 to {_LARGEST}')
    return number


def host(text: str) -> str:
    """Read the name or address of a host, for an option. What is a URL is not repeated in whole."""
    if "@" in text or "/" in text:
        raise NotUnderstoodError("write the host's name or address alone, without user, password and path")
    if found := re.fullmatch(r"([^:]+|\[.+\]):(\d+)", text):
        raise NotUnderstoodError(f'"{text}" has a port: use -H {found[1]} -P {found[2]}')
    return text


def regex(text: str, flags: int = 0) -> re.Pattern[str]:
    """Read a regular expression, for an option."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of what "[[" may mean one day: to standard error (CPython 3.11)
            return re.compile(text, flags)
    except (re.error, OverflowError, RecursionError) as error:
        raise NotUnderstoodError(f'"{text}" is not a regular expression: {error}') from error


def utf8(text: str) -> str:
    """Read anew, as UTF-8, what Python has read in the letters of the locale: an argument, a variable."""
    return os.fsencode(text).decode(errors="surrogateescape")


def variable(name: str) -> str | None:
    """Give a variable of the environment, None: there is none."""
    value = os.environ.get(name)
    return None if value is None else utf8(value)
