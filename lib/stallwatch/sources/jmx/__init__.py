"""JMX: the managed beans of a JVM, asked over RMI without Java, or through jmxquery where only Java can.

``connect`` gives a log-in; both kinds have the same methods, see ``client.Client``.
"""

from __future__ import annotations

from stallwatch.sources.jmx.errors import (
    JmxError,
    NoSuchAttributeError,
    NoSuchBeanError,
    UnreachableError,
    UnreadableError,
)
from stallwatch.sources.jmx.object_name import ObjectName
from stallwatch.sources.jmx.target import Target, Tls

TYPE_CHECKING = False  # typing itself costs every check 2 ms
if TYPE_CHECKING:
    from collections.abc import Callable

    from stallwatch.deadline import Deadline
    from stallwatch.sources.jmx.client import Client
    from stallwatch.sources.jmx.jmxquery import Client as JavaClient

__all__ = [
    "JmxError",
    "NoSuchAttributeError",
    "NoSuchBeanError",
    "ObjectName",
    "Target",
    "Tls",
    "UnreachableError",
    "UnreadableError",
    "connect",
]


def connect(
    target: Target, deadline: Deadline, trace: Callable[[str], None] = lambda _: None
) -> Client | JavaClient:
    """Log in at ``target``, for a ``with`` statement; ``trace`` is told how. Raises UnreachableError."""
    if target.via == "jmxquery":
        from stallwatch.sources.jmx import jmxquery

        return jmxquery.Client(target, deadline, trace)
    from stallwatch.sources.jmx import client

    return client.Client(target, deadline, trace)
