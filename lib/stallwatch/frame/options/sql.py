"""Statements of SQL as options."""

from __future__ import annotations

import os
import stat

from stallwatch.units import NotUnderstoodError, UnusableFileError

_LARGEST = 1 << 16  # bytes


def sql(text: str) -> str:
    """Read a statement, for an option."""
    if not text.strip():
        raise NotUnderstoodError("there is no statement")
    try:
        octets = text.encode()
    except UnicodeEncodeError:
        raise NotUnderstoodError("the statement is not UTF-8") from None
    if len(octets) > _LARGEST:
        raise NotUnderstoodError("the statement is larger than 64 KiB")
    return text


def sql_file(path: str) -> str:
    """Read the statement that is in a regular file; UnusableFileError.

    It may be far away: to be called when the deadline is running.
    """
    try:
        return sql(_octets(path).decode("utf-8-sig"))
    except OSError as error:
        raise UnusableFileError(f"{path}: {error.strerror}") from None
    except UnicodeDecodeError:
        raise UnusableFileError(f"{path} is not UTF-8") from None
    except NotUnderstoodError as error:
        raise UnusableFileError(f"{path}: {error}") from None


def _octets(path: str) -> bytes:
    with open(path, "rb", opener=_at_once) as file:
        if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
            raise NotUnderstoodError("it is no regular file")
        octets = file.read(_LARGEST + 1)
    if len(octets) > _LARGEST:
        raise NotUnderstoodError("it is larger than 64 KiB")
    return octets


def _at_once(path: str, flags: int) -> int:
    """Open it without a wait for whoever is to write into a named pipe."""
    return os.open(path, flags | os.O_NONBLOCK | os.O_NOCTTY)
