"""What can go wrong between us and a JVM: the whole server, a bean, an attribute, its value."""

from __future__ import annotations

from stallwatch.findings import ProbeError


class JmxError(ProbeError):
    """Something could not be had over JMX."""


class UnreachableError(JmxError):
    """Nothing can be asked of the server: it is not there, is silent, accepts no log-in, or speaks no JMX."""

    ends_connection = True


class NoConnectionError(UnreachableError):
    """Nobody takes connections at that address; ``why`` is the reason without the address."""

    def __init__(self, where: str, why: str, advice: str = "") -> None:
        super().__init__(f"{where} {why}", advice)
        self.why = why


class NoSuchBeanError(JmxError):
    """The server has no MBean of that name."""


class NoSuchAttributeError(JmxError):
    """The MBean is there and has no attribute of that name."""


class UnreadableError(JmxError):
    """It is there, but its getter threw, or what it gave cannot be sent or decoded."""


class ForbiddenError(UnreadableError):
    """It may be there: the policy of Jolokia forbids reading it, whoever asks."""
