"""A log-in whose questions and answers pass through ``recording``, whether or not a server is asked."""

from __future__ import annotations

from contextlib import nullcontext
from itertools import tee

from stallwatch.sources import recording
from stallwatch.sources.jmx.errors import JmxError
from stallwatch.sources.jmx.info import Attribute, Bean
from stallwatch.startup import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from contextlib import AbstractContextManager
    from typing import Any, Self

    from stallwatch.sources.jmx.client import Client as RmiClient
    from stallwatch.sources.jmx.client import Wanted
    from stallwatch.sources.jmx.jmxquery import Client as JavaClient
    from stallwatch.sources.jmx.jolokia.client import Client as HttpClient
    from stallwatch.sources.jmx.values import Values


class Client:
    """A log-in at ``where`` by ``log_in``, with the methods of ``client.Client``."""

    def __init__(self, where: str, log_in: Callable[[], RmiClient | JavaClient | HttpClient]) -> None:
        self._of = recording.log_in("jmx", where)
        self._client: RmiClient | JavaClient | HttpClient | None = None  # None: a recording answers
        self.where: str = recording.answer(self._of, recording.LOG_IN, self._log_in, log_in)

    def _log_in(self, log_in: Callable[[], RmiClient | JavaClient | HttpClient]) -> str:
        self._client = log_in()
        return self._client.where

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *why: object) -> None:
        if self._client:
            self._client.__exit__(*why)

    def _ask(self, what: str, *about: str) -> Any:
        return recording.answer(self._of, (what, *about), getattr(self._client, what, len), *about)

    def domains(self) -> list[str]:
        """Give the domains of all beans, sorted."""
        found: list[str] = self._ask("domains")
        return found

    def names_ahead(self, wanted: Wanted) -> None:
        """Pass the patterns on, and the attributes that their beans will be asked for."""
        if self._client:
            self._client.names_ahead(wanted)

    def names(self, pattern: str = "*:*") -> list[str]:
        """Give the object names that match, sorted."""
        found: list[str] = self._ask("names", pattern)
        return found

    def beans(self, pattern: str = "*:*") -> list[Bean]:
        """Give the object names that match and their classes, sorted by name."""
        return [Bean(*one) for one in self._ask("beans", pattern)]

    def passing(self) -> AbstractContextManager[Callable[[int], None]]:
        """Keep nothing of what is read within except the bytes that the function gets."""
        return self._client.passing() if self._client else nullcontext(lambda _: None)

    def read(self, wanted: Wanted) -> Iterator[Values | JmxError]:
        """Give the values of attributes, pair for pair of bean and attributes, in the order asked."""
        asked, passed_on = tee(wanted)
        answers = self._client.read(passed_on) if self._client else iter(())
        for name, attributes in asked:
            yield recording.answer(self._of, ("read", name, *attributes), next, answers)

    def describe(self, found: Iterable[Bean]) -> Iterator[list[Attribute] | JmxError]:
        """Give the attributes of beans, in the order asked."""
        asked, passed_on = tee(found)
        answers = self._client.describe(passed_on) if self._client else iter(())
        for bean in asked:
            told = recording.answer(self._of, ("describe", bean.name), next, answers)
            yield told if isinstance(told, JmxError) else [Attribute(*one) for one in told]

    def deadlocked_threads(self) -> list[int]:
        """Give the ids of the threads that wait for each other for ever."""
        found: list[int] = self._ask("deadlocked_threads")
        return found
