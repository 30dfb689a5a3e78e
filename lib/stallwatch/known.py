"""What is known of errors, in tables by their numbers or by patterns for their texts."""

from __future__ import annotations

import re

from stallwatch.startup import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import TypeVar

    One = TypeVar("One")


class Known(NamedTuple):
    """What an error means, and what to do about it; "": nothing more is known."""

    what: str = ""
    advice: str = ""


def first(table: Mapping[str, One], text: str, flags: int = 0) -> tuple[One, re.Match[str]] | None:
    """Return what the first pattern of a table stands for that is found in a text, and where."""
    found = ((one, match) for pattern, one in table.items() if (match := re.search(pattern, text, flags)))
    return next(found, None)
