"""Numbers as people write and read them: sizes, durations, per cent."""

from __future__ import annotations

import math
import re

from stallwatch.startup import TYPE_CHECKING

if TYPE_CHECKING:
    from typing import TypeGuard

# Possessive, so that 100 000 digits are read once: options are read before any deadline runs. A group cannot
# be, as "(?:e\d++)?+" takes the "e" alone (CPython 3.11.2, gh-106052).
_NUMBER = re.compile(r"([+-]?(?:\d++\.?+\d*+|\.\d++)(?:[eE][+-]?\d++)?)([A-Za-z%]*+)", re.ASCII)

_SIZES = {
    "": 1,
    "B": 1,
    **{f"{letter}{end}": 1024**power for power, letter in enumerate("KMGT", 1) for end in ("", "B", "iB")},
}
_DURATIONS = {"": 1.0, "us": 1e-6, "ms": 1e-3, "s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0}

# For each base unit, what may follow a number, and how a message names that.
_WRITTEN: dict[str, tuple[dict[str, float], str]] = {
    "B": ({**_SIZES}, "a size in bytes such as 4096, 512M or 1.5GiB"),
    "s": (_DURATIONS, "a time in seconds such as 90, 500ms, 5m, 2h or 1d"),
    "%": ({"": 1.0, "%": 1.0}, "a percentage such as 90 or 90%"),
    "c": ({"": 1.0}, "a plain number"),
    "": ({"": 1.0}, "a plain number"),
}
UNITS = frozenset(_WRITTEN)
_LONG = 300  # digits, which a float still holds
IN_SECONDS = 1000.0  # up to here a lag or a limit is said in seconds, as thresholds are given


class NotUnderstoodError(ValueError):
    """What somebody wrote makes no sense; the message is a sentence for that person."""


class UnusableFileError(NotUnderstoodError):
    """A file that an option names cannot be read, or what is in it makes no sense: the help is no help."""


def quantity(text: str, unit: str) -> float:
    """Read a number with a suffix that suits ``unit``; the result is in base units, and finite.

    Raises NotUnderstoodError.
    """
    factors, such_as = _WRITTEN[unit]
    match = _NUMBER.fullmatch(text)
    if not match or match[2] not in factors:
        raise NotUnderstoodError(f'"{text}" is not {such_as}')
    value = float(match[1]) * factors[match[2]]
    if math.isinf(value):
        raise NotUnderstoodError(f'"{text}" is too large a number')
    return value


def _at_least_zero(text: str, unit: str) -> float:
    value = quantity(text, unit)
    if value < 0:
        raise NotUnderstoodError(f'"{text}" is less than nothing')
    return value


def number(text: str) -> float:
    """Read a plain number, for an option."""
    return quantity(text, "")


def whole(text: str, digits: int = 20) -> int | None:
    """Read a number of so many ASCII digits at most; None: it is none.

    CPython 3.11 refuses more than 4300 of them, and takes its time for those.
    """
    return int(text) if text.isascii() and text.isdigit() and len(text) <= digits else None


def count(text: str) -> int:
    """Read a whole number from 1 on, for an option."""
    if not re.fullmatch("0*[1-9][0-9]{0,8}", text):
        raise NotUnderstoodError(f'"{text}" is not a whole number from 1 to 999999999')
    return int(text)


def size(text: str) -> int:
    """Read a size such as ``256MB``, for an option; the result is in bytes, K M G T are binary."""
    return int(_at_least_zero(text, "B"))


def duration(text: str) -> float:
    """Read a time such as ``1h``, for an option; the result is in seconds."""
    return _at_least_zero(text, "s")


def percent(text: str) -> float:
    """Read a percentage such as ``90%``, for an option; the result is 90."""
    return _at_least_zero(text, "%")


def in_range(number: int) -> float:
    """Return a number of others; infinity for one that no float holds: it would end sums in OverflowError."""
    try:
        float(number)
    except OverflowError:
        return math.inf if number > 0 else -math.inf
    return number


def integer(text: str) -> float:
    """Read a whole number of others, infinity as ``in_range``; ValueError: it is none."""
    return int(text) if len(text) < _LONG else float(text)


def is_number(value: object) -> TypeGuard[float]:
    """Whether ``value`` is a finite number; True and False are not numbers, nor what no float holds."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return False
    return math.isfinite(in_range(value) if isinstance(value, int) else value)


def plain(value: float) -> str:
    """Write a finite number for the perfdata: no exponent, at most 9 decimals. Others: ValueError."""
    if not is_number(value):
        raise ValueError(f"{value!r} is not a finite number")
    if isinstance(value, int):
        return str(value)
    text = f"{value:.9f}".rstrip("0").rstrip(".")
    return "0" if text == "-0" else text


_SHORT = ((1e-6, "us", 2, 100), (1e-6, "us", 0, 1000), (1e-3, "ms", 1, 1000), (1, "s", 1, 60))


def say_duration(seconds: float) -> str:
    """Write a time as a person would: ``30.66 us``, ``2.9 s``, ``3 min 5 s``, ``5 d 3 h``."""
    if not math.isfinite(seconds):
        return f"{seconds} s"
    if seconds < 0:
        return "-" + say_duration(-seconds)
    for length, word, decimals, many in _SHORT:
        shown = round(seconds / length, decimals)
        if 0 < shown < many:
            return f"{shown:g} {word}"
    if round(seconds) < 3600:  # noqa: PLR2004
        return _two_words(seconds, 60, "min", 1, "s") if seconds >= 1 else "0 s"
    if round(seconds / 60) < 24 * 60:
        return _two_words(seconds, 3600, "h", 60, "min")
    return _two_words(seconds, 86400, "d", 3600, "h")


def say_roughly(seconds: float) -> str:
    """Write a time in three digits: ``8 min 57 s``, ``17 min``, ``9 h 10 min``, ``12 h``."""
    coarse = next((unit for unit in (86400, 3600, 60) if seconds >= 10 * unit), 0)
    return say_duration(round(seconds / coarse) * coarse if coarse else seconds)


def say_limit(value: float, unit: str) -> str:
    """Show a threshold as written, in base units: ``600 s``, ``90 %``, ``20``; or ``75 ms``, ``2 h``."""
    if unit == "B":
        return say_size(value)
    if unit == "s" and (value >= IN_SECONDS or 0 < value < 1):
        return say_duration(value)
    return f"{plain(value)} {unit}" if unit in ("s", "%") else plain(value)


def _two_words(seconds: float, large: int, word: str, small: int, rest: str) -> str:
    major, minor = divmod(round(seconds / small), large // small)
    return f"{major} {word} {minor} {rest}" if minor else f"{major} {word}"


def say_size(octets: float) -> str:
    """Write a size as a person would: ``512 MiB``."""
    words = ["PiB", "TiB", "GiB", "MiB", "KiB", "B"]
    word = words.pop()
    while words and abs(octets) >= 1023.95 and math.isfinite(octets):  # noqa: PLR2004
        octets, word = octets / 1024, words.pop()
    return f"{round(octets, 1):.10g} {word}"


def say_count(number: float) -> str:
    """Write a count in two or three digits: ``2.2 million``, ``33 000``, ``940``."""
    if number >= 1e6:  # noqa: PLR2004
        return f"{float(f'{number / 1e6:.3g}'):,.15g} million".replace(",", " ")
    digits = max(0, len(str(int(number))) - 2)
    return f"{round(number, -digits):,.0f}".replace(",", " ")


def say_short(number: float) -> str:
    """Write a number in two digits, or all before the point: ``0.25``, ``9.5``, ``1234``."""
    return f"{number:.0f}" if number >= 10 else f"{number:.2g}"  # noqa: PLR2004


def say_rate(per_second: float, thing: str = "") -> str:
    """Give how much that is per second: ``2.2 million/s``, ``0.05/s``; of a ``thing``: ``940 rows/s``."""
    few = per_second < 100  # noqa: PLR2004
    number = plain(float(f"{per_second:.2g}")) if few else say_count(per_second)
    return f"{number} {thing}{'s' * (number != '1')}/s" if thing else f"{number}/s"
