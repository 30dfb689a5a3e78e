"""JMX: the managed beans of a JVM, asked over RMI without Java, or over HTTP where Jolokia's agent is in it.

Through jmxquery Java asks, where only Java can. ``connect`` returns a log-in; all kinds have the same
methods, which ``client.Client`` describes.
"""

from __future__ import annotations

from stallwatch import withheld
from stallwatch.sources import recording
from stallwatch.sources.jmx.errors import (
    ForbiddenError,
    JmxError,
    NoSuchAttributeError,
    NoSuchBeanError,
    UnreachableError,
    UnreadableError,
)
from stallwatch.sources.jmx.object_name import ObjectName
from stallwatch.sources.jmx.target import Target, Tls
from stallwatch.startup import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import TypeAlias

    from stallwatch.deadline import Deadline
    from stallwatch.sources.jmx.recorded import Asking
    from stallwatch.sources.jmx.recorded import Client as RecordedClient

    Server: TypeAlias = Asking | RecordedClient  # a log-in at a JVM, whoever carries the questions


__all__ = [
    "ForbiddenError",
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


def connect(target: Target, deadline: Deadline, trace: Callable[[str], None] = lambda _: None) -> Server:
    """Log in at ``target``, for a ``with`` statement; ``trace`` gets the way. Raises UnreachableError.

    Texts of the server with the password in them are withheld from then on.
    """
    withheld.keep(target.password)
    if recording.is_used():
        from stallwatch.sources.jmx import recorded

        return recorded.Client(target.where, lambda: _connected(target, deadline, trace))
    return _connected(target, deadline, trace)


def _connected(target: Target, deadline: Deadline, trace: Callable[[str], None]) -> Asking:
    if target.via == "jmxquery":
        from stallwatch.sources.jmx import jmxquery

        return jmxquery.Client(target, deadline, trace)
    if target.via == "jolokia":
        from stallwatch.sources.jmx.jolokia import client as http_client

        return http_client.Client(target, deadline, trace)
    from stallwatch.sources.jmx import client

    return client.Client(target, deadline, trace)
