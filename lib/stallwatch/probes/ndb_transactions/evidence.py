"""Statements that only explain what is wrong: without an answer the verdict is the same."""

from __future__ import annotations

from stallwatch.findings import Fault, ProbeError, State
from stallwatch.probes.ndbinfo.privileges import not_seen
from stallwatch.sources.mysql import DeniedError, MissingTableError
from stallwatch.startup import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Collection

    from stallwatch.probes.ndbinfo.asking import Ndbinfo, Row

_SPARE = 2.0  # seconds: with 48 data nodes a statement on ndbinfo takes one


class Evidence:
    """Asks for it; ``unseen`` says what is not known, and why."""

    def __init__(self, ndbinfo: Ndbinfo) -> None:
        self._ndbinfo = ndbinfo
        self._unseen: dict[str, Fault] = {}

    @property
    def unseen(self) -> list[Fault]:
        """Give an aside for each reason."""
        return list(self._unseen.values())

    def rows_in(self, what: str, sql: str, values: Collection[int]) -> list[Row]:
        """Give rows, or none if nobody tells ``what`` they would; a version may lack the table."""
        if values and "ndbinfo." in sql and self._ndbinfo.deadline.left() < _SPARE:
            self._miss("time", f"{what} was not asked any more: the data nodes take long to answer")
            return []
        try:
            return self._ndbinfo.rows_in(sql, sorted(values))
        except MissingTableError:
            pass
        except DeniedError as error:
            self._miss("denied", not_seen(what, error))
        except ProbeError as error:
            self._miss("failed", f"{what} is not seen: {error.what}")
        return []

    def _miss(self, reason: str, words: str) -> None:
        self._unseen.setdefault(reason, Fault(State.OK, words))
