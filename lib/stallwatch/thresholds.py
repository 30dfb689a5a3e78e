"""Thresholds: the ranges of Nagios, in the units in which people write them."""

from __future__ import annotations

import math

from stallwatch.startup import TYPE_CHECKING
from stallwatch.startup.nagiosplugin import Range as NagiosRange
from stallwatch.units import NotUnderstoodError, quantity, say_limit

if TYPE_CHECKING:
    from typing import Self


class Range(NagiosRange):  # type: ignore[misc]  # nagiosplugin has no types
    """A Nagios range ``[@]start:end`` with inclusive ends: alert outside it, with ``@`` inside it.

    Bounds may carry the suffixes of ``unit``; they are kept in base units. ``~`` is minus infinity, a
    missing start is 0, a missing end infinity (Monitoring Plugins Development Guidelines, "Threshold and
    Ranges"). Raises NotUnderstoodError.
    """

    text: str  # as it was written
    start: float
    end: float

    def __new__(cls, text: str, unit: str = "") -> Self:
        """Read it; nagiosplugin's own way to do so knows neither units nor why it refuses a text."""
        start, colon, end = _bounds(text)
        try:
            first = -math.inf if start == "~" else quantity(start or "0", unit)
            last = quantity(end, unit) if end else math.inf
        except NotUnderstoodError as error:
            raise NotUnderstoodError(f'range "{text}": {error}') from error
        inside = text.startswith("@")
        if first > last and not colon:
            at = "@" if inside else ""
            raise NotUnderstoodError(
                f'range "{text}" means 0 to {end}, which is empty: write "{at}~:{end}" or "{at}{end}:"'
            )
        if first > last:
            raise NotUnderstoodError(f'range "{text}" starts after it ends: write the smaller number first')
        self: Self = cls._make((inside, first, last))
        self.text = text
        return self

    @property
    def inside(self) -> bool:
        """Whether it alerts inside; nagiosplugin calls that ``invert``."""
        return bool(self.invert)

    @property
    def bare(self) -> bool:
        """Whether it was written as a single number, which alerts above it (and below 0)."""
        return ":" not in self.text and not self.inside

    def alerts(self, value: float) -> bool:
        """Whether ``value`` (in base units) is worth an alert. NaN is no value: ValueError."""
        if math.isnan(value):
            raise ValueError("NaN is neither inside nor outside a range")
        return not bool(self.match(value))

    def reached_in(self, value: float, slope: float) -> float | None:
        """Give the seconds until ``value``, which grows by ``slope`` a second, is above the range.

        None: it will not be, or is already.
        """
        if self.inside or slope <= 0 or value >= self.end:
            return None
        seconds = (self.end - value) / slope
        return seconds if seconds < math.inf else None

    @property
    def plain_limit(self) -> float | None:
        """The number that represents this range in the perfdata, if there is one.

        ``N`` and ``@N:`` alert from N on. Icinga 2.13 and 2.16 drop every other form.
        """
        if self.inside:
            return self.start if self.end == math.inf and self.start != -math.inf else None
        return self.end if self.start == 0 and self.end != math.inf else None

    def broken_by(self, value: float, unit: str) -> str:
        """Write the limit that a value breaks: ``limit 60 s``, ``minimum 20``; "": none, or 0 from above."""
        if not self.alerts(value):
            return ""
        if self.inside and self.start != -math.inf and self.end != math.inf:
            return f"alerts from {say_limit(self.start, unit)} to {say_limit(self.end, unit)}"
        is_upper = self.end == math.inf if self.inside else value > self.end
        broken = self.start if is_upper == self.inside else self.end
        if math.isinf(broken) or (broken == 0 and value >= 0):
            return ""
        return f"{'limit' if is_upper else 'minimum'} {say_limit(broken, unit)}"

    def distance(self, value: float) -> float:
        """Give how far a value is outside of the range; 0 within, and for a range that alerts inside."""
        return 0.0 if self.inside else max(self.start - value, value - self.end, 0.0)

    def is_beyond(self, critical: Range) -> bool:
        """Whether this warning shows on no side, or not on one that it names: ``critical`` comes before it.

        Two equal ranges are in order: whoever writes them wants no warning.
        """
        if self == critical:
            return False
        if self.inside or critical.inside:
            return (
                self.inside and critical.inside and critical.start <= self.start and self.end <= critical.end
            )
        names_lower = ":" in self.text and self.start > -math.inf
        return critical.end < self.end < math.inf or (names_lower and self.start < critical.start)

    def __str__(self) -> str:
        """Write it in base units, so that ``Range(str(r), unit) == r``."""
        start = "~:" if self.start == -math.inf else f"{_exact(self.start)}:"
        end = "" if self.end == math.inf else _exact(self.end)
        return ("@" if self.inside else "") + ("" if start == "0:" and end else start) + end

    def __repr__(self) -> str:
        return f"Range({str(self)!r})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Range) and str(self) == str(other)

    def __ne__(self, other: object) -> bool:
        return not self == other

    def __hash__(self) -> int:
        return hash(str(self))

    def __reduce__(self) -> tuple[type[Self], tuple[str]]:  # for copies: in base units
        return type(self), (str(self),)


def must_be_in_order(
    warning: Range, critical: Range, names: tuple[str, str] = ("--warning", "--critical")
) -> None:
    """Refuse a warning range that the critical one hides; ``names`` are their options."""
    if warning.is_beyond(critical):
        raise NotUnderstoodError(
            f"{names[0]} {warning.text} is beyond {names[1]} {critical.text}: no value would be a warning"
        )


def _bounds(text: str) -> tuple[str, str, str]:
    """Split a range into start, colon and end, as written."""
    body = text.removeprefix("@")
    if not body.strip(" :"):
        raise NotUnderstoodError(f'range "{text}" has no bounds: write "~:" to allow everything')
    if any(letter.isspace() for letter in body):
        raise NotUnderstoodError(f'range "{text}" has a blank in it: leave it out')
    if body.count(":") > 1:
        raise NotUnderstoodError(f'range "{text}" has more than one ":": write start:end')
    return body.rpartition(":")


def _exact(value: float) -> str:
    """Write a finite number so that it reads back as the same number."""
    return str(int(value)) if value == int(value) and abs(value) < 1e15 else repr(value)  # noqa: PLR2004
