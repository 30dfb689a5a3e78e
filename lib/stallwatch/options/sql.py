"""Statements of SQL as options."""

from __future__ import annotations

from stallwatch.units import NotUnderstoodError

_LARGEST = 1 << 20  # bytes


def sql(text: str) -> str:
    """Read a statement, for an option."""
    if not text.strip():
        raise NotUnderstoodError("there is no statement")
    try:
        text.encode()
    except UnicodeEncodeError:
        raise NotUnderstoodError("the statement is not UTF-8") from None
    return text


def sql_file(path: str) -> str:
    """Read the statement that is in a file, for an option."""
    try:
        with open(path, "rb") as file:
            octets = file.read(_LARGEST + 1)
    except OSError as error:
        raise NotUnderstoodError(f"{path}: {error.strerror}") from None
    if len(octets) > _LARGEST:
        raise NotUnderstoodError(f"{path} is larger than 1 MiB")
    try:
        return sql(octets.decode("utf-8-sig"))
    except NotUnderstoodError as error:
        raise NotUnderstoodError(f"{path}: {error}") from None
    except UnicodeDecodeError:
        raise NotUnderstoodError(f"{path} is not UTF-8") from None
