"""Subjects that a verdict can do without: what cannot be asked of one costs no other."""

from __future__ import annotations

import time

from stallwatch.findings import Fault, ProbeError, State
from stallwatch.probes.ndbinfo.asking import ClusterDownError
from stallwatch.sources.mysql import MissingTableError, MysqlError, NoAnswerError, UnreachableError
from stallwatch.startup import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import TypeVar

    from stallwatch.findings import Finding
    from stallwatch.frame.deadline import Deadline

    Found = TypeVar("Found")

_NO_COLUMN = 1054  # ER_BAD_FIELD_ERROR: a version whose table tells less


class Subjects:
    """Asks for one subject after the other, as long as there is time for one more.

    A statement takes 20 ms for each data node (measured on NDB 9.7.2): with 48 of them, there may not be
    time for all: ``left_out`` names the others. ``slowest`` is how many seconds one has taken.
    """

    def __init__(self, deadline: Deadline, slowest: float) -> None:
        self._deadline = deadline
        self._slowest = slowest
        self._is_closed = False
        self._lacking: list[str] = []  # what this version does not have
        self.left_out: list[str] = []
        self._failures: list[Finding] = []

    def have(
        self, subject: str, ask: Callable[[], Found], *, evidence: bool = False, asks: bool = True
    ) -> Found | None:
        """Give what is asked; None if it cannot be had, which is UNKNOWN, of mere evidence an aside.

        What ``asks`` the server no more, but understands what it said, takes no time. Of all ProbeErrors
        it raises ClusterDownError alone.
        """
        if asks and (self._is_closed or self._deadline.left() <= self._slowest):
            self.left_out.append(subject)
            return None
        begun = time.monotonic()
        try:
            return ask()
        except ClusterDownError:
            raise
        except ProbeError as error:
            self._note(subject, error, evidence=evidence)
        finally:
            self._slowest = max(self._slowest, time.monotonic() - begun)
        return None

    def _note(self, subject: str, error: ProbeError, *, evidence: bool) -> None:
        self._is_closed = self._is_closed or isinstance(error, NoAnswerError | UnreachableError)
        number = error.number if isinstance(error, MysqlError) else 0
        if isinstance(error, MissingTableError) or number == _NO_COLUMN:
            self._lacking += [] if evidence else [subject]
        else:
            self._failures.append(Fault(State.OK, error.what) if evidence else error)

    def told(self, *, everything: bool) -> Iterator[Finding]:
        """Tell what was not looked at, and why."""
        yield from self._failures
        if self.left_out:
            why = "after that" if self._is_closed else "as no time is left (--timeout)"
            names = ", ".join(dict.fromkeys(self.left_out))
            yield Fault(State.OK, f"not looked at, {why}: ndbinfo.{names}")
        if self._lacking and everything:
            names = ", ".join(dict.fromkeys(self._lacking))
            yield Fault(State.OK, f"not looked at, as this version does not have it: ndbinfo.{names}")
