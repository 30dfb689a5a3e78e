"""Two looks at a server, and at a reference at the same time: since the last run, or within this one."""

from __future__ import annotations

import time
from typing import NamedTuple

from stallwatch.probes import looks
from stallwatch.probes.looks import NoIntervalError
from stallwatch.probes.mysql_status.measured import Measured, ask
from stallwatch.reading import ProbeError

TYPE_CHECKING = False  # typing itself costs every check 2 ms
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from contextlib import AbstractContextManager
    from typing import Any

    from stallwatch.deadline import Deadline
    from stallwatch.probes.looks import Interval
    from stallwatch.probes.mysql_status.measured import Told
    from stallwatch.sources.mysql.server import Server

    Opened = Callable[[], AbstractContextManager[Server]]

_SERVER, _REFERENCE = "server", "reference"  # in the memory


class Seen(NamedTuple):
    """What was measured of the server, and of the reference or why not."""

    server: Measured
    reference: Measured | ProbeError | None = None


class Looking:
    """How the server is looked at, and a reference, of which nothing is to hold up the server's verdict.

    The reference is logged in at for each look anew: a silent one costs no more than its own patience.
    """

    def __init__(self, server: Server, reference: Opened | None, kinds: Mapping[str, str]) -> None:
        self._server = server
        self._reference = reference
        self._kinds = kinds

    def since_last_run(self, memory: dict[str, Any], known: Callable[[Measured], None]) -> Seen:
        """Look once; ``known`` is told what is known before the reference is asked. Raises ProbeError."""
        mine = self._measured(ask(self._server), lambda told: _since(memory, _SERVER, told))
        known(mine)
        theirs = self._ask_reference()
        if isinstance(theirs, ProbeError) or theirs is None:
            memory.pop(_REFERENCE, None)  # its next interval is to be no longer than the server's
            return Seen(mine, theirs)
        return Seen(mine, self._measured(theirs, lambda told: _since(memory, _REFERENCE, told)))

    def sample(self, seconds: float, deadline: Deadline, known: Callable[[Measured], None]) -> Seen:
        """Look twice; raises ProbeError."""
        begun = time.monotonic()
        first = ask(self._server)
        known(Measured(first, None, "no time was left for a second look", self._kinds))
        took = time.monotonic() - begun
        theirs = self._ask_reference()
        if self._reference and not isinstance(theirs, ProbeError):
            took = time.monotonic() - begun
        looks.pause(seconds, took, deadline)
        mine = self._measured(ask(self._server), lambda told: looks.between(first.look, told.look))
        known(mine)
        if isinstance(theirs, ProbeError) or theirs is None:
            return Seen(mine, theirs)
        before, theirs = theirs.look, self._ask_reference()
        if isinstance(theirs, ProbeError) or theirs is None:
            return Seen(mine, theirs)
        return Seen(mine, self._measured(theirs, lambda told: looks.between(before, told.look)))

    def _ask_reference(self) -> Told | ProbeError | None:
        if not self._reference:
            return None
        try:
            with self._reference() as server:
                return ask(server)
        except ProbeError as error:
            return error

    def _measured(self, told: Told, since: Callable[[Told], Interval]) -> Measured:
        try:
            return Measured(told, since(told), "", self._kinds)
        except NoIntervalError as error:
            return Measured(told, None, str(error), self._kinds)


def _since(memory: dict[str, Any], whose: str, told: Told) -> Interval:
    kept = memory.get(whose)
    memory[whose] = own = kept if isinstance(kept, dict) else {}
    return looks.since_last_look(own, told.look)
