"""How old is the last completed backup that a cluster log tells of?"""

from __future__ import annotations

from stallwatch.findings import Fault, Finding, ProbeError, Reading, State
from stallwatch.probes.ndb_log.lines import compiled
from stallwatch.probes.ndb_log.rules import COMPLETED
from stallwatch.startup import TYPE_CHECKING
from stallwatch.units import say_duration

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from stallwatch.probes.ndb_log.lines import Line
    from stallwatch.probes.ndb_log.moments import Present


class Backups:
    """The last backup of a cluster; ``memory`` is the JSON object that it keeps between runs."""

    WORDS = (b"Backup ",)

    def __init__(self, present: Present, memory: dict[str, Any]) -> None:
        self._present = present
        self._memory = memory

    def begins(self, line: Line) -> None:
        """Take note of the first line of the log: nothing is known of the time before."""
        if line.when is not None:
            self._memory.setdefault("begins", line.when)

    def hear(self, line: Line) -> None:
        """Take in one line of the log; its age matters, so a line without a time says nothing."""
        match = compiled(COMPLETED).match(line.text)
        if match and line.when is not None:
            self._memory["last"] = [min(line.when, self._present.now), line.clock, match["id"]]

    def last(self) -> tuple[float, str] | None:
        """Give the age in seconds of the last completed backup, and what there is to say of it."""
        if "last" not in self._memory:
            return None
        when, clock, number = self._memory["last"]
        age = self._present.now - when
        at = self._present.at(clock, when)
        return age, f"last backup {number} completed {say_duration(age)} ago{at}"

    def seen(self) -> float:
        """For how many seconds the log has told of the cluster."""
        now = self._present.now
        return float(now - self._memory.get("begins", now))


def findings(told: list[Backups], limit: float) -> Iterator[Finding]:
    """Judge the last backup that any cluster log tells of; one older than ``limit`` seconds is not well."""
    advice = "start a backup: ndb_mgm -e 'start backup'"
    completed = [last for log in told if (last := log.last())]
    if completed:
        age, what = min(completed)
        yield Reading("backup_age", age, "s", what)
    else:
        age = max(log.seen() for log in told)
        what = f"no backup completed in the {say_duration(age)} that the cluster log tells of"
    if age > limit:
        yield Fault(State.WARNING, what, f"more than {say_duration(limit)}", advice)
    elif not completed:
        yield ProbeError(what, advice)
