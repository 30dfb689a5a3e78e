"""What is not there."""

from __future__ import annotations

from stallwatch.findings import ProbeError
from stallwatch.sources.jmx.errors import NoSuchAttributeError, NoSuchBeanError
from stallwatch.startup import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from stallwatch.sources.jmx.errors import JmxError
    from stallwatch.sources.jmx.object_name import ObjectName

NOT_THERE = (NoSuchBeanError, NoSuchAttributeError)


class NoChangeError(Exception):
    """There is nothing to compare with; the text says why."""


class Sought(NamedTuple):
    """What was asked for in vain; the error of the first bean asked, or none if a pattern fits no bean."""

    asked: ObjectName
    attribute: str
    error: JmxError | None


class AbsentError(ProbeError):
    """There is no such bean, attribute or key, or it holds no number now: the user says what that means."""

    def __init__(self, what: str, advice: str = "", sought: Sought | None = None) -> None:
        super().__init__(what, advice)
        self.sought = sought  # a hint may be found at what was meant


def absent(asked: ObjectName, attribute: str, error: JmxError | None, where: str) -> AbsentError:
    """Say that there is no such bean, or that none has the attribute."""
    what = error.what if error else f"no MBean at {where} matches {asked}"
    if asked.is_pattern and error:
        what = f"no MBean at {where} that matches {asked} has an attribute {attribute}"
    return AbsentError(what, sought=Sought(asked, attribute, error))
