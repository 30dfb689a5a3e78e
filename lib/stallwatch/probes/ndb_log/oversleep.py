"""Threads that wake up too late, as they and the watchdog of a data node report it.

The watchdog, too: the whole process or machine stood still. Threads alone while the watchdog is on time:
these threads or their processors. Verified with SIGSTOP and frozen threads on 9.7.2.
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

# 7.x: "thr: 1: Overslept 23577 ms, expected ~10ms"; 8.0 and later without the colon, with the thread's times.
THREAD = (
    r"thr: (?P<thread>\d+):? Overslept (?P<ms>\d+) ms"
    r"(?:.*user time: (?P<user>\d+) us, sys_time: (?P<system>\d+) us)?"
)
_OTHERS = (
    r"(?P<watchdog>Watchdog: Warning overslept (?P<late>\d+) ms)"
    r"|timerHandlingLab, .*not scheduled for: (?P<timer>\d+)"
)
TOGETHER = 2.0  # seconds within which threads were late for one reason
_STALL = 1000  # milliseconds; shorter ones mean nothing during a start-up
_KEPT = 100


class Oversleep(NamedTuple):
    """Threads that woke up too late, together."""

    when: float
    clock: str
    ms: int  # the longest of them
    threads: list[int]
    watchdog: bool  # the watchdog itself was late, too


class Oversleeps:
    """What overslept in one data node; ``memory`` is the JSON object that it keeps between runs."""

    WORDS = (b"verslept ", b"timerHandlingLab")

    def __init__(self, node: Node, present: Present, memory: dict[str, Any]) -> None:
        self._node = node
        self._present = present
        self._memory = memory
        self._held = remembered(memory, "held", Oversleep)

    def hear(self, line: Line) -> None:
        """Take in one line of the log."""
        when = self._present.of(line)
        if when is None:
            return
        if match := compiled(THREAD).match(line.text):
            self._put(number(match["ms"]), when, line.clock, thread=number(match["thread"]))
        elif match := compiled(_OTHERS).match(line.text):
            ms = number(match["late"] or match["timer"])
            self._put(ms, when, line.clock, watchdog=bool(match["watchdog"]))

    def begin(self) -> None:
        """Keep everything: nothing of it goes on in a new process."""

    def keep(self) -> None:
        """Put into the memory what still counts."""
        self._prune()
        remember(self._memory, "held", self._held)

    def _prune(self) -> None:
        held = sorted((o for o in self._held if self._present.holds(o.when)), key=lambda o: o.ms)
        self._held = sorted(held[-_KEPT:], key=lambda oversleep: oversleep.when)

    def findings(self) -> Iterator[Finding]:
        """Give the longest first."""
        worst = worst_first(self._held, lambda oversleep: oversleep.ms)
        for oversleep in worst:
            yield self._judge(oversleep, "overslept" if oversleep is worst[0] else "")
        if not worst:
            yield Reading("overslept", 0, "s", "no thread overslept")

    def _put(
        self, ms: int, when: float, clock: str, *, thread: int | None = None, watchdog: bool = False
    ) -> None:
        if self._node.starting and ms < _STALL:
            return
        last = self._held[-1] if self._held else None
        threads = [] if thread is None else [thread]
        if last and abs(when - last.when) <= TOGETHER:
            self._held[-1] = last._replace(
                ms=max(last.ms, ms),
                threads=list(dict.fromkeys([*last.threads, *threads])),
                watchdog=last.watchdog or watchdog,
            )
            return
        self._held.append(Oversleep(when, clock, ms, threads, watchdog))
        if len(self._held) > 4 * _KEPT:
            self._prune()

    def _judge(self, oversleep: Oversleep, label: str) -> Reading:
        if oversleep.watchdog:
            who = f"{self._node.prefix}all threads"
            why = "the whole process or machine stood still"
            advice = "look for a paused VM, SIGSTOP, CPU quota, swapping, VM steal"
        elif len(oversleep.threads) > 1:
            who = f"{self._node.prefix}threads {', '.join(map(str, sorted(oversleep.threads)))}"
            why = "these alone, the watchdog was on time"
            advice = "look at these threads and their CPUs: ndbinfo.threadstat"
        else:
            who = self._node.thread(oversleep.threads[0] if oversleep.threads else 0)
            why = "this thread alone, the watchdog was on time"
            advice = "look at that thread and its CPU: ndbinfo.threadstat"
        at = self._present.at(oversleep.clock, oversleep.when)
        what = f"{who} overslept {say_duration(oversleep.ms / 1000)}{at}"
        return Reading("overslept", oversleep.ms / 1000, "s", what, why, advice, label)
