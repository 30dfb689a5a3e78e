"""A sentence that lists names: as many as fit into a text message; the lines below it list all."""

from __future__ import annotations

from stallwatch.startup import TYPE_CHECKING, NamedTuple
from stallwatch.words import listed

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import TypeVar

    from stallwatch.findings import ProbeError

    ProbeErr = TypeVar("ProbeErr", bound=ProbeError)

MOST = 12  # names in a sentence
_ALONE = 143  # letters of a sentence and its next step: 160 less "JMX UNKNOWN - " and " - "
_ROOM = 123  # where " (+12 more problems)" is to fit, too
_BELOW = 100  # names on the line below
_KNOWN = 60  # letters of an object name, of which the line below has the rest


class Names(NamedTuple):
    """Names, and what is before and behind them in a sentence."""

    begin: str = ""  # "did you mean "
    names: Sequence[str] = ()
    last: str = "and"  # what joins the last of few
    end: str = ""

    def __str__(self) -> str:
        return self._said(MOST)

    def beside(self, what: str, *, alone: bool = False) -> tuple[str, tuple[str, ...]]:
        """Return the sentence as the next step of ``what``, and a line below if it lacks names.

        ``alone``: there is no other problem to be counted on the line.
        """
        few = min(len(self.names), MOST)
        while few and len(what) + len(self._said(few)) > (_ALONE if alone else _ROOM):
            few -= 1
        if few == len(self.names):
            return self._said(few), ()
        return self._said(few) if few else "see below", (self._said(_BELOW),)

    def _said(self, few: int) -> str:
        return f"{self.begin}{listed(self.names, few, self.last)}{self.end}"


def with_names(error: ProbeErr, names: Names, *, alone: bool = False) -> ProbeErr:
    """Add the names to an error as its next step."""
    error.advice, error.more = names.beside(error.what, alone=alone)
    return error


def brief(name: str) -> str:
    """Cut an object name for a sentence."""
    return name if len(name) <= _KNOWN else f"{name[: _KNOWN - 3]}..."
