"""TCP ports as options."""

from __future__ import annotations

from stallwatch.units import NotUnderstoodError, whole

_LARGEST = 65535
_LONGEST = 9  # digits, of which the first may be zeros


def port(text: str) -> int:
    """Read a TCP port, for an option."""
    number = whole(text, _LONGEST)
    if not number or number > _LARGEST:
        raise NotUnderstoodError(f'"{text}" is not a port: write a number from 1 to {_LARGEST}')
    return number
