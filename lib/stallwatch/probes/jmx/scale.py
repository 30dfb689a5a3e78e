"""In what an attribute is counted, and how that is written."""

from __future__ import annotations

import re

from stallwatch.thresholds import Range
from stallwatch.units import NotUnderstoodError, plain, say_duration, say_size

# Of each unit: the base unit of the report, and how much of that it is.
UNITS = {
    "B": ("B", 1), "KiB": ("B", 1024), "MiB": ("B", 1024**2), "GiB": ("B", 1024**3),
    "s": ("s", 1), "ms": ("s", 1e-3), "us": ("s", 1e-6), "ns": ("s", 1e-9),
    "%": ("%", 1), "share": ("%", 100), "c": ("c", 1), "": ("", 1),
}  # fmt: skip
_BARE = r"(?<![^@:])[+-]?(?:\d++\.?+\d*+|\.\d++)(?:[eE][+-]?\d++)?(?=:|$)"  # in linear time


def in_base(value: float, unit: str) -> float:
    """Turn a number that was counted in ``unit`` into the base unit; a whole number stays one."""
    factor = UNITS[unit][1]
    if unit == "share":
        return neat(value * factor)
    return value / round(1 / factor) if factor < 1 else value * factor


def neat(value: float) -> float:
    """Round what was divided to six digits: the others are noise."""
    return float(f"{value:.6g}")


def limit(text: str, unit: str) -> Range:
    """Read a range whose numbers without a suffix are counted in ``unit``; raises NotUnderstoodError."""
    base = UNITS[unit][0]
    if unit == "share" and any(float(bare) for bare in re.findall(_BARE, text)):
        # 0.2 would be taken for 20 % by one and for 0.2 % by another.
        raise NotUnderstoodError(f'range "{text}": write a share in per cent with its sign, 0.2 as 20%')
    if unit in (base, "", "share"):
        return Range(text, base)
    try:
        return Range(re.sub(_BARE, lambda bare: repr(in_base(float(bare[0]), unit)), text), base)
    except NotUnderstoodError:
        Range(text, base)  # complains in the user's own numbers
        raise


def say(value: float, base: str) -> str:
    """Write a number in a base unit as a person would: ``312.4 MiB``, ``2.9 s``, ``31.2 %``, ``1.25``."""
    if base == "B":
        return say_size(value)
    if base == "s":
        return say_duration(value)
    if base == "%":
        return f"{plain(round(value, 1))} %"
    return plain(value) if isinstance(value, int) or not 0 < abs(value) < 1 else f"{value:.3g}"
