"""JMX: the managed beans of a JVM, asked over RMI without Java, or through jmxquery where only Java can.

``connect`` gives a log-in; both kinds have the same methods, see ``client.Client``.
"""

from __future__ import annotations

from stallwatch import withheld
from stallwatch.sources.jmx.errors import (
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
    from collections.abc import Callable, Iterable, Iterator, Sequence
    from contextlib import AbstractContextManager
    from typing import Protocol, Self

    from stallwatch.frame.deadline import Deadline
    from stallwatch.sources.jmx.info import Attribute, Bean
    from stallwatch.sources.jmx.values import Value

    class Server(Protocol):
        """A log-in at a JVM, whoever carries the questions; ``client.Client`` says what each method does."""

        where: str

        def __enter__(self) -> Self: ...
        def __exit__(self, *_: object) -> None: ...
        def close(self) -> None: ...
        def domains(self) -> list[str]: ...
        def names_ahead(self, wanted: Iterable[tuple[str, Sequence[str]]]) -> None: ...
        def names(self, pattern: str = "*:*") -> list[str]: ...
        def beans(self, pattern: str = "*:*") -> list[Bean]: ...
        def attribute(self, name: str, attribute: str) -> Value: ...
        def read(
            self, wanted: Iterable[tuple[str, Sequence[str]]]
        ) -> Iterator[dict[str, Value | JmxError] | JmxError]: ...
        def describe(self, found: Iterable[Bean]) -> Iterator[list[Attribute] | JmxError]: ...
        def passing(self) -> AbstractContextManager[Callable[[int], None]]: ...
        def deadlocked_threads(self) -> list[int]: ...


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


def connect(target: Target, deadline: Deadline, trace: Callable[[str], None] = lambda _: None) -> Server:
    """Log in at ``target``, for a ``with`` statement; ``trace`` is told how. Raises UnreachableError.

    What the server says with the password in it is withheld from then on.
    """
    withheld.keep(target.password)
    if target.via == "jmxquery":
        from stallwatch.sources.jmx import jmxquery

        return jmxquery.Client(target, deadline, trace)
    from stallwatch.sources.jmx import client

    return client.Client(target, deadline, trace)
