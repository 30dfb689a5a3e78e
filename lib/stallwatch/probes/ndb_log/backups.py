"""How old is the last completed backup that a cluster log tells of?"""

from __future__ import annotations

import re

from stallwatch.probes.ndb_log.rules import COMPLETED
from stallwatch.reading import Fault, Finding, ProbeError, Reading, State
from stallwatch.units import say_duration

TYPE_CHECKING = False  # typing itself costs every check 2 ms
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from stallwatch.probes.ndb_log.lines import Line
    from stallwatch.probes.ndb_log.moments import Present

_COMPLETED = re.compile(COMPLETED)


class Backups:
    """The last backup of a cluster; ``memory`` is the JSON object that it keeps between runs."""

    WORDS = (b"Backup ",)

    def __init__(self, present: Present, memory: dict[str, Any]) -> None:
        self._present = present
        self._memory = memory

    def hear(self, line: Line) -> None:
        """Take in one line of the log; its age matters, so a line without a time says nothing."""
        if line.when is not None:
            self._memory.setdefault("begins", line.when)
            if match := _COMPLETED.match(line.text):
                self._memory["last"] = [min(line.when, self._present.now), line.clock, match["id"]]

    def findings(self, limit: float) -> Iterator[Finding]:
        """Give the age in seconds of the last completed backup; ``limit`` is the oldest that is well."""
        advice = "start a backup: ndb_mgm -e 'start backup'"
        last = self._memory.get("last")
        if last:
            when, clock, number = last
            age = self._present.now - when
            what = f"last backup {number} completed {say_duration(age)} ago{self._present.at(clock, when)}"
        else:
            age = self._present.now - self._memory.get("begins", self._present.now)
            what = f"no backup completed in the {say_duration(age)} that the cluster log tells of"
        if age > limit:
            yield Fault(State.WARNING, what, f"more than {say_duration(limit)}", advice)
        elif not last:
            yield ProbeError(what, advice)
        if last:
            yield Reading("backup_age", age, "s", what)
