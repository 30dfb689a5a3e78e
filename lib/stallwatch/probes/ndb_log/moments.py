"""When something happened, and for how long it counts."""

from __future__ import annotations

from stallwatch.startup import TYPE_CHECKING

if TYPE_CHECKING:
    from stallwatch.probes.ndb_log.lines import Line

_SAME_DAY = 12 * 3600.0  # seconds; within these the time of day alone is clear


class Present:
    """The moment of judgement, how far back an alert reaches, and how old a line without a time is."""

    def __init__(
        self, now: float, hold: float, undated: float | None, *, whole: bool = False, first: bool = False
    ) -> None:
        self.now = now  # seconds since the epoch
        self.hold = hold  # seconds that an alert stays
        self.undated = undated  # the time of lines that have none; None: history of unknown age
        self.whole = whole  # a log judged as a whole: the present is its last line
        # History of before the first run: a line without a time is as old as the one before it.
        self.first = first

    def passes(self, line: Line) -> None:
        """Move on to the time of a line."""
        if line.when is None:
            return
        if self.whole:
            self.now = max(self.now, line.when)
        if self.asks_before:
            self.undated = line.when

    @property
    def asks_before(self) -> bool:
        """Whether a line without a time has that of a line before it."""
        return self.whole or self.first

    def of(self, line: Line) -> float | None:
        """When a line was written, never in the future; None for history of unknown age."""
        when = self.undated if line.when is None else line.when
        return None if when is None else min(when, self.now)

    def holds(self, when: float, *, stays: bool = False) -> bool:
        """Whether what happened at ``when`` is still to be reported.

        What ``stays`` does so until a line clears it, unless it is history of before the first run.
        """
        return (stays and not self.first) or self.now - when <= self.hold

    def at(self, clock: str, when: float, word: str = "at") -> str:
        """Name a moment as the log does: " at 23:08:01", with the date where that is not clear."""
        if not clock:
            return ""
        return f" {word} {clock[11:] if self.now - when < _SAME_DAY else clock}"


def present(*, now: float, hold: float, whole: bool, first: bool) -> Present:
    """Make the present of one log at the beginning of a run."""
    if whole:
        return Present(0.0, float("inf"), 0.0, whole=True)
    return Present(now, hold, None if first else now, first=first)
