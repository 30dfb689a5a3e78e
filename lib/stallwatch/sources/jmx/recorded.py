"""A log-in whose questions and answers pass through ``recording``, whether or not a server is asked."""

from __future__ import annotations

from contextlib import nullcontext
from itertools import tee

from stallwatch.sources import recording
from stallwatch.startup import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from contextlib import AbstractContextManager
    from typing import Any, Self, TypeAlias

    from stallwatch.sources.jmx.client import Client as RmiClient
    from stallwatch.sources.jmx.client import Wanted
    from stallwatch.sources.jmx.info import Bean
    from stallwatch.sources.jmx.jmxquery import Client as JavaClient
    from stallwatch.sources.jmx.jolokia.client import Client as HttpClient

    Asking: TypeAlias = RmiClient | JavaClient | HttpClient  # a log-in that asks the server


class Client:
    """A log-in at ``where`` by ``log_in``, with the methods of ``client.Client``."""

    def __init__(self, where: str, log_in: Callable[[], Asking]) -> None:
        self._of = recording.log_in("jmx", where)
        self._client: Asking | None = None  # None: a recording answers
        self.where: str = recording.answer(self._of, recording.LOG_IN, self._log_in, log_in)

    def _log_in(self, log_in: Callable[[], Asking]) -> str:
        self._client = log_in()
        return self._client.where

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *why: object) -> None:
        if self._client:
            self._client.__exit__(*why)

    def __getattr__(self, what: str) -> Callable[..., Any]:
        """Return what asks one question: domains, names, beans, deadlocked_threads."""
        ask: Any = getattr(self._client, what, None)
        return lambda *about: recording.answer(self._of, (what, *about), ask, *about)

    def names_ahead(self, wanted: Wanted) -> None:
        """Pass the patterns on, and the attributes that their beans will be asked for."""
        if self._client:
            self._client.names_ahead(wanted)

    def passing(self) -> AbstractContextManager[Callable[[int], None]]:
        """Keep nothing of what is read within except the bytes that the function gets."""
        return self._client.passing() if self._client else nullcontext(lambda _: None)

    def read(self, wanted: Wanted) -> Iterator[Any]:
        """Give the values of attributes, a question for each pair of bean and attributes."""
        asked, passed_on = tee(wanted)
        answers = self._client.read(passed_on) if self._client else iter(())
        for name, attributes in asked:
            yield recording.answer(self._of, ("read", name, *attributes), next, answers)

    def describe(self, found: Iterable[Bean]) -> Iterator[Any]:
        """Give the attributes of beans, a question for each."""
        asked, passed_on = tee(found)
        answers = self._client.describe(passed_on) if self._client else iter(())
        for bean in asked:
            yield recording.answer(self._of, ("describe", bean.name), next, answers)
