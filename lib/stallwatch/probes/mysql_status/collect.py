"""What a server and its reference are asked: all status variables, compared with those of an earlier look."""

from __future__ import annotations

import time

from stallwatch.findings import ProbeError
from stallwatch.history import delta, own
from stallwatch.history.delta import Look, NoIntervalError
from stallwatch.probes.mysql.asking import having, text
from stallwatch.probes.mysql.status import numbers
from stallwatch.probes.mysql_status.model import Answer, Measured
from stallwatch.startup import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from contextlib import AbstractContextManager
    from typing import Any

    from stallwatch.deadline import Deadline
    from stallwatch.history.delta import Interval
    from stallwatch.sources.mysql.server import Server

    Opened = Callable[[], AbstractContextManager[Server]]

_SQL = "SHOW GLOBAL STATUS"
_MOST = 20_000  # MySQL 9.7.2 has 560, each of which takes 2 KiB of memory when it is judged
_MINUS_ONE = float(2**64 - 1)  # what an unsigned variable is that has no value (wsrep_local_index)
_SERVER, _REFERENCE = "server", "reference"  # in the memory
_NO_SECOND = "no time was left for a second look"


def ask(server: Server) -> Answer:
    """Ask for all status variables, which needs no privilege; raises ProbeError."""
    at = time.time()  # servers reckon their uptime when a statement begins
    rows = having(server.rows(_SQL), "Variable_name", "Value")
    if len(rows) > _MOST:
        what = f"{server.where} shows {len(rows)} status variables, more than a check judges: {_MOST}"
        raise ProbeError(what, "check that it is a MySQL server")
    texts = {text(row, "Variable_name"): text(row, "Value") for row in rows}
    known = {name: number for name, number in numbers(texts).items() if number != _MINUS_ONE}
    if "Uptime" not in known:
        raise ProbeError(f"{server.where} does not show its uptime: asked {_SQL}")
    return Answer(server.where, server.flavour, Look(known["Uptime"], at, known), texts)


class Collector:
    """Looks at a server, and at a reference, of which nothing is to hold up the server's verdict.

    With ``sample`` it looks twice at each, so many seconds apart; else once, and ``memory`` has the look
    before. Each look logs in at the reference anew: a silent one costs no more than its own patience.
    """

    def __init__(
        self,
        server: Server,
        memory: dict[str, Any],
        kinds: Mapping[str, str],
        *,
        sample: float | None = None,
        reference: Opened | None = None,
    ) -> None:
        self._server = server
        self._memory = memory
        self._kinds = kinds
        self._sample = sample
        self._reference = reference
        self._first: Answer | ProbeError | None = None  # of a sample: the first look at the reference

    def server(self, deadline: Deadline, so_far: Callable[[Measured], None]) -> Measured:
        """Measure the server; ``so_far`` gets what the first look of a sample found. Raises ProbeError."""
        begun = time.monotonic()
        first = ask(self._server)
        if not self._sample:
            return self._since_last_run(_SERVER, first)
        so_far(Measured(first, None, _NO_SECOND, self._kinds))
        took = time.monotonic() - begun
        self._first = self._ask_reference()
        if isinstance(self._first, Answer):
            took = time.monotonic() - begun
        delta.pause(self._sample, took, deadline)
        return self._measured(ask(self._server), lambda look: delta.between(first.look, look))

    def reference(self) -> Measured | ProbeError | None:
        """Measure the reference, if there is one, or give why not."""
        first = self._first
        if self._sample and not isinstance(first, Answer):
            return first
        theirs = self._ask_reference()
        if isinstance(theirs, Answer):
            if isinstance(first, Answer):
                before = first.look
                return self._measured(theirs, lambda look: delta.between(before, look))
            return self._since_last_run(_REFERENCE, theirs)
        self._memory.pop(_REFERENCE, None)  # its next interval is to be no longer than the server's
        return theirs

    def _ask_reference(self) -> Answer | ProbeError | None:
        if not self._reference:
            return None
        try:
            with self._reference() as server:
                return ask(server)
        except ProbeError as error:
            return error

    def _since_last_run(self, whose: str, answer: Answer) -> Measured:
        kept = own(self._memory, whose)
        return self._measured(answer, lambda look: delta.since_last_look(kept, look))

    def _measured(self, answer: Answer, since: Callable[[Look], Interval]) -> Measured:
        try:
            return Measured(answer, since(answer.look), "", self._kinds)
        except NoIntervalError as error:
            return Measured(answer, None, str(error), self._kinds)
