"""How long ago a moment is that an attribute has, by the clock of the JVM."""

from __future__ import annotations

from stallwatch.findings import ProbeError
from stallwatch.probes.jmx import scale, values
from stallwatch.probes.jmx.changes import now
from stallwatch.probes.jmx.model import AbsentError
from stallwatch.startup import TYPE_CHECKING

if TYPE_CHECKING:
    from stallwatch.probes.jmx.reader import Reader
    from stallwatch.sources.jmx.values import Value

_NEVER = 253_402_300_800  # seconds to the year 10000
_SKEW = 60.0  # seconds by which two clocks may differ


def age(value: Value, subject: str, unit: str, reader: Reader) -> float:
    """Return the seconds since a date, or since so many ms (or ``unit``) after 1970.

    0 and less, and Java's largest number, which mean never, are an AbsentError. What is a little in the
    future was just now: the JVM's clock is its start and how long it has run, so that the clock of its host,
    which the moment is from, may have been set since.
    """
    moment = _moment(value, subject, unit or "ms")
    if not 0 < moment < _NEVER:
        raise AbsentError(f"{subject} is {value}, which is no moment")
    passed = scale.neat(now(reader) - moment)
    return 0 if -_SKEW < passed < 0 else passed


def _moment(value: Value, subject: str, unit: str) -> float:
    """Return it in seconds since 1970."""
    from datetime import UTC, datetime

    try:
        written = datetime.fromisoformat(value) if isinstance(value, str) else None
    except ValueError:
        written = None
    if written is not None:
        return (written if written.tzinfo else written.replace(tzinfo=UTC)).timestamp()
    if isinstance(value, bool | list):
        raise ProbeError(f"{subject} is no moment", "--age is for dates and for times since 1970")
    return scale.in_base(values.number(value, subject), unit)
