"""Regular expressions as options."""

from __future__ import annotations

import re
import warnings

from stallwatch.units import NotUnderstoodError


def regex(text: str, flags: int = 0) -> re.Pattern[str]:
    """Read a regular expression, for an option."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of what "[[" may mean one day: to standard error (CPython 3.11)
            return re.compile(text, flags)
    except (re.error, OverflowError, RecursionError) as error:
        raise NotUnderstoodError(f'"{text}" is not a regular expression: {error}') from error
