"""What is not there."""

from __future__ import annotations

from stallwatch.reading import ProbeError
from stallwatch.sources.jmx.errors import NoSuchAttributeError, NoSuchBeanError

NOT_THERE = (NoSuchBeanError, NoSuchAttributeError)


class NoChangeError(Exception):
    """There is nothing to compare with; the text says why."""


class AbsentError(ProbeError):
    """There is no such bean, attribute or key, or it holds no number now: the user says what that means."""
