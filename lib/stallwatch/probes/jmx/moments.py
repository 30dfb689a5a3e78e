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


def age(value: Value, subject: str, unit: str, reader: Reader) -> float:
    """Give the seconds since a date, or since so many ms (or ``unit``) after 1970.

    0 and less, which stand for never, are an AbsentError.
    """
    moment = _moment(value, subject, unit or "ms")
    if moment <= 0:
        raise AbsentError(f"{subject} is {value}, which is no moment")
    return scale.neat(now(reader) - moment)


def _moment(value: Value, subject: str, unit: str) -> float:
    """Give it in seconds since 1970."""
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
