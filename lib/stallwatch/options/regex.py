"""Regular expressions as options."""

from __future__ import annotations

import re

from stallwatch.units import NotUnderstoodError


def regex(text: str) -> re.Pattern[str]:
    """Read a regular expression, for an option."""
    try:
        return re.compile(text)
    except re.error as error:
        raise NotUnderstoodError(f'"{text}" is not a regular expression: {error}') from error
