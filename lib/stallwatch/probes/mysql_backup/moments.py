"""Moments in names and texts, in the local time of whoever wrote them."""

from __future__ import annotations

import re
import time

_DATE = r"(20\d\d)([-_.]?)(0[1-9]|1[0-2])\2(0[1-9]|[12]\d|3[01])"
_TIME = r"(?:[-_T .]{0,2}([01]\d|2[0-3])[-_.:h]?([0-5]\d)(?:[-_.:m]?([0-5]\d))?s?)?"
IN_NAME = re.compile(rf"(?<!\d){_DATE}{_TIME}(?!\d)")
_IN_TEXT = re.compile(r"(\d{4})-(\d\d)-(\d\d)[T ]+(\d{1,2}):(\d\d):(\d\d)")

_ZONES = 14 * 3600.0  # seconds: no two clocks differ by more, except for whole days
_DAY = 86400.0
_STEP = 1800.0  # seconds by which zones differ
_CLOSE = 10.0  # seconds within which a file is written once its text names its end


def in_name(name: str) -> float | None:
    """Return the moment in a name like ``shop-2026-11-20_0200.sql.gz``, by our clock; None: there is none."""
    if not (found := IN_NAME.search(name)):
        return None
    year, _, month, day, *clock = found.groups()
    return _moment(int(year), int(month), int(day), *(int(part or 0) for part in clock))


def in_text(text: str) -> float | None:
    """Return the moment in a text such as ``2026-11-20 23:34:33``, by our clock."""
    found = _IN_TEXT.search(text)
    return _moment(*map(int, found.groups())) if found else None


def not_after(name: str, written: float) -> float:
    """Return the latest time at which a backup without a moment was made: when it was written, by its files.

    A copy is written later than what it is a copy of. A date in its name is that of the day on which it was
    begun.
    """
    named = in_name(name)
    return written if named is None else min(written, named + _DAY - 1)


def shift(ended: float | None, written: float) -> float:
    """Return by how many seconds the clock that wrote a text differs from ours, as clocks in other zones do.

    The text shows when it ``ended``, and the file when it was ``written``. A file that was copied later
    is not mistaken for one from another zone, unless it was done half an hour later to the second.
    """
    if ended is None:
        return 0.0
    apart = written - ended
    whole = round(apart / _STEP) * _STEP
    return whole if 0 < abs(whole) <= _ZONES and 0 <= apart - whole <= _CLOSE else 0.0


def _moment(year: int, month: int, day: int, hour: int, minute: int, second: int) -> float | None:
    try:
        return time.mktime((year, month, day, hour, minute, second, 0, 0, -1))
    except (OverflowError, ValueError):
        return None
