"""Two looks at a server, and at a reference at the same time: since the last run, or within this one."""

from __future__ import annotations

import time

from stallwatch.findings import ProbeError
from stallwatch.history import delta, own
from stallwatch.history.delta import NoIntervalError
from stallwatch.probes.mysql_status.measured import Measured, Told, ask
from stallwatch.startup import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from contextlib import AbstractContextManager
    from typing import Any

    from stallwatch.frame.deadline import Deadline
    from stallwatch.history.delta import Interval, Look
    from stallwatch.sources.mysql.server import Server

    Opened = Callable[[], AbstractContextManager[Server]]

_SERVER, _REFERENCE = "server", "reference"  # in the memory
_NO_SECOND = "no time was left for a second look"


class Looking:
    """How a server is looked at, and a reference, of which nothing is to hold up the server's verdict.

    The reference is logged in at for each look anew: a silent one costs no more than its own patience.
    """

    def __init__(self, server: Server, reference: Opened | None, kinds: Mapping[str, str]) -> None:
        self._server = server
        self._reference = reference
        self._kinds = kinds

    def _ask_reference(self) -> Told | ProbeError | None:
        if not self._reference:
            return None
        try:
            with self._reference() as server:
                return ask(server)
        except ProbeError as error:
            return error

    def _measured(self, told: Told, since: Callable[[Look], Interval]) -> Measured:
        try:
            return Measured(told, since(told.look), "", self._kinds)
        except NoIntervalError as error:
            return Measured(told, None, str(error), self._kinds)


class SinceLastRun(Looking):
    """One look at each, compared with the one that ``memory`` has."""

    def __init__(
        self, server: Server, reference: Opened | None, kinds: Mapping[str, str], memory: dict[str, Any]
    ) -> None:
        super().__init__(server, reference, kinds)
        self._memory = memory

    def server(self) -> Measured:
        """Measure the server; raises ProbeError."""
        return self._since(_SERVER, ask(self._server))

    def reference(self) -> Measured | ProbeError | None:
        """Measure the reference, if there is one, or tell why not."""
        theirs = self._ask_reference()
        if isinstance(theirs, Told):
            return self._since(_REFERENCE, theirs)
        self._memory.pop(_REFERENCE, None)  # its next interval is to be no longer than the server's
        return theirs

    def _since(self, whose: str, told: Told) -> Measured:
        kept = own(self._memory, whose)
        return self._measured(told, lambda look: delta.since_last_look(kept, look))


class Sample(Looking):
    """Two looks at each, so many seconds apart."""

    def __init__(
        self, server: Server, reference: Opened | None, kinds: Mapping[str, str], seconds: float
    ) -> None:
        super().__init__(server, reference, kinds)
        self._seconds = seconds
        self._theirs: Told | ProbeError | None = None  # the first look at the reference

    def server(self, deadline: Deadline, known: Callable[[Measured], None]) -> Measured:
        """Measure the server; ``known`` is told what the first look has found. Raises ProbeError."""
        begun = time.monotonic()
        first = ask(self._server)
        known(Measured(first, None, _NO_SECOND, self._kinds))
        took = time.monotonic() - begun
        self._theirs = self._ask_reference()
        if isinstance(self._theirs, Told):
            took = time.monotonic() - begun
        delta.pause(self._seconds, took, deadline)
        return self._measured(ask(self._server), lambda look: delta.between(first.look, look))

    def reference(self) -> Measured | ProbeError | None:
        """Measure the reference, if there is one, or tell why not."""
        first = self._theirs
        if not isinstance(first, Told):
            return first
        second = self._ask_reference()
        if not isinstance(second, Told):
            return second
        return self._measured(second, lambda look: delta.between(first.look, look))
