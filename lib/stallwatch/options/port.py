"""TCP ports as options."""

from __future__ import annotations

from stallwatch.units import NotUnderstoodError

_LARGEST = 65535
_LONGEST = 9  # digits, of which the first may be zeros


def port(text: str) -> int:
    """Read a TCP port, for an option."""
    if not (text.isascii() and text.isdigit() and len(text) <= _LONGEST and 0 < int(text) <= _LARGEST):
        raise NotUnderstoodError(f'"{text}" is not a port: write a number from 1 to {_LARGEST}')
    return int(text)
