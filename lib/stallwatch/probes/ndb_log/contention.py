"""Lock contention as old data nodes print it: how long did a thread spin for a lock?

NDB counts contentions and spins of a lock in two 32-bit numbers that wrap, and prints them at each
contention up to 20, each 200th up to 10,000 and each 5000th beyond (mt-lock.hpp; not compiled in since 7.3:
on newer versions the absence of these lines means nothing). 99 % of them are harmless, says the article of
2010 that the rule comes from: spins for each contention, times 1.25 ns for a read from the L1 cache.
"""

from __future__ import annotations

from stallwatch.findings import Finding, Reading
from stallwatch.history.problems import remember, remembered
from stallwatch.probes.ndb_log.lines import compiled, number
from stallwatch.startup import TYPE_CHECKING, NamedTuple
from stallwatch.units import say_duration
from stallwatch.words import worst_first

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from stallwatch.probes.ndb_log.lines import Line
    from stallwatch.probes.ndb_log.moments import Present
    from stallwatch.probes.ndb_log.node import Node

_REPORT = r"(?P<lock>.+?) waiting for lock, contentions: (\d+) spins: (\d+)"
_WRAP = 2**32
_FEWEST = 100  # contentions between two reports that say something; the first 20 are printed one by one
_MOST = 50_000  # ten reports of the widest step: more means that the counters began anew
_KEPT = 1000  # locks: 255 nodes with a few kinds each


class Spin(NamedTuple):
    """The worst wait for one lock: spins for each contention."""

    lock: str
    when: float
    clock: str
    spins: float


class Contention:
    """The locks of one data node; ``memory`` is the JSON object that it keeps between runs."""

    WORDS = (b" waiting for lock, contentions: ",)

    def __init__(self, node: Node, present: Present, memory: dict[str, Any]) -> None:
        self._node = node
        self._present = present
        self._memory = memory
        self._counters: dict[str, list[int]] = memory.setdefault("counters", {})
        self._worst = {spin.lock: spin for spin in remembered(memory, "worst", Spin)}

    def hear(self, line: Line) -> None:
        """Take in one line of the log."""
        match = compiled(_REPORT).match(line.text)
        if not match:
            return
        lock, counters = match["lock"], [number(match[2]), number(match[3])]
        before = self._counters.pop(lock, None)  # the last one used is the last one in the memory
        self._counters[lock] = counters
        when = self._present.of(line)
        spins = spins_per_contention(before, counters)
        if when is None or spins is None:
            return
        worst = self._worst.get(lock)
        if worst is None or spins >= worst.spins or not self._present.holds(worst.when):
            self._worst[lock] = Spin(lock, when, line.clock, spins)

    def begin(self) -> None:
        """Forget the counters: those of a new process start at 0."""
        self._counters.clear()

    def keep(self) -> None:
        """Put into the memory what still counts."""
        held = sorted(
            (s for s in self._worst.values() if self._present.holds(s.when)), key=lambda s: -s.spins
        )
        self._worst = {spin.lock: spin for spin in held[:_KEPT]}
        remember(self._memory, "worst", self._worst.values())
        self._memory["counters"] = dict(list(self._counters.items())[-_KEPT:])

    def findings(self, spin_seconds: float) -> Iterator[Finding]:
        """Give the longest spin first; ``spin_seconds`` is the time of one spin."""
        worst = worst_first(self._worst.values(), lambda spin: spin.spins)
        for spin in worst:
            yield self._judge(spin, spin_seconds, "spin" if spin is worst[0] else "")
        if not worst:
            yield Reading("spin", 0, "s", "no lock contention reported")

    def _judge(self, spin: Spin, spin_seconds: float, label: str) -> Reading:
        seconds = spin.spins * spin_seconds
        at = self._present.at(spin.clock, spin.when)
        return Reading(
            "spin",
            seconds,
            "s",
            f'{self._node.prefix}lock "{spin.lock}" spins {say_duration(seconds)} for each contention{at}',
            f"{spin.spins:.1f} spins each",
            "rarely harmful: look whether the cluster is busy; on an idle one look at the machine",
            label,
        )


def spins_per_contention(before: list[int] | None, after: list[int]) -> float | None:
    """Spins for each contention between two reports ``[contentions, spins]`` of one lock, or None.

    Both counters wrap at 2^32. None where the pair says nothing: no report before, too few contentions, or
    counters that a restart has set back.
    """
    if before is None:
        return None
    contentions = (after[0] - before[0]) % _WRAP
    if not _FEWEST <= contentions <= _MOST:
        return None
    return ((after[1] - before[1]) % _WRAP) / contentions
