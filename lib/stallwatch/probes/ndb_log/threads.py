"""Threads that wake up too late, and threads that spin for a lock.

Both are what the threads of a data node report themselves; what its watchdog reports of them is in
`watchdog`.
"""

from __future__ import annotations

from stallwatch.findings import Finding, Line, Reading
from stallwatch.history import remember, remembered
from stallwatch.probes.ndb_log.events import TOGETHER, Event, Kind
from stallwatch.probes.ndb_log.lines import number
from stallwatch.probes.ndb_log.model import Row, Subject
from stallwatch.startup import TYPE_CHECKING, NamedTuple
from stallwatch.units import say_count, say_duration
from stallwatch.words import named

if TYPE_CHECKING:
    import re
    from collections.abc import Iterator, Mapping, Sequence
    from typing import Any

    from stallwatch.probes.ndb_log import lines
    from stallwatch.probes.ndb_log.events import Instant
    from stallwatch.probes.ndb_log.model import Node, Present, Rules

# 7.x: "thr: 1: Overslept 23577 ms, expected ~10ms"; 8.0 and later without the colon, with the thread's times.
THREAD = (
    r"thr: (?P<thread>\d+):? Overslept (?P<ms>\d+) ms"
    r"(?:.*user time: (?P<user>\d+) us, sys_time: (?P<system>\d+) us)?"
)
_REPORT = r"(?P<lock>.+?) waiting for lock, contentions: (\d+) spins: (\d+)"
_STALL = 1000  # milliseconds; shorter ones mean nothing during a start-up
_KEPT = 100  # oversleeps
_NAMED = 3  # threads
_WRAP = 2**32
_FEWEST = 100  # contentions between two reports that mean something; the first 20 are printed one by one
_MOST = 50_000  # ten reports of the widest step: more means that the counters began anew
_KEPT_LOCKS = 1000  # 255 nodes with a few kinds each


class Oversleep(NamedTuple):
    """Threads that woke up too late, together."""

    when: float
    clock: str
    ms: int  # the longest of them
    threads: list[int]
    watchdog: bool  # the watchdog itself was late, too
    watchdog_ms: int = 0  # for how long; 0: it was not remembered


class Oversleeps(Subject):
    """What overslept in one data node.

    The watchdog, too: the whole process or machine stalled. Threads alone while the watchdog is on time:
    these threads or their processors. Verified with SIGSTOP and frozen threads on 9.7.2.
    """

    def __init__(self, node: Node, present: Present, memory: dict[str, Any]) -> None:
        super().__init__(node, present, memory)
        self._held = remembered(memory, "held", Oversleep)
        # When those ended that are not kept, by whether the whole process stalled.
        self._dropped: dict[str, list[tuple[float, str]]] = memory.setdefault("dropped", {})

    def keep(self) -> None:
        """Put into the memory what still counts."""
        self._prune()
        remember(self._memory, "held", self._held)

    def _prune(self) -> None:
        held = sorted((o for o in self._held if self._present.holds(o.when)), key=lambda o: o.ms)
        for oversleep in held[:-_KEPT]:
            whole = str(self._stood_still(oversleep))
            self._dropped.setdefault(whole, []).append((oversleep.when, oversleep.clock))
        for whole, moments in self._dropped.items():
            self._dropped[whole] = self._present.counted(moments)
        self._held = sorted(held[-_KEPT:], key=lambda oversleep: oversleep.when)

    def findings(self, _: Rules) -> Iterator[Finding | Event]:
        """Judge each oversleep."""
        like = {whole: self._present.named(dropped) for whole, dropped in self._dropped.items()}
        for oversleep in self._held:
            yield self._judge(oversleep, like)
        if not self._held:
            yield Reading("overslept", 0, "s", "no thread overslept")

    def _on_late(self, match: re.Match[str], line: lines.Line) -> None:
        """Take in who was late; who was late together is one."""
        ms, when, groups = number(match["ms"]), line.moment, match.groupdict()
        threads = [number(groups["thread"])] if "thread" in groups else []
        watchdog = "watchdog" in groups
        if self._node.starting and ms < _STALL:
            return
        last = self._held[-1] if self._held else None
        if last and abs(when - last.when) <= TOGETHER:
            self._held[-1] = last._replace(
                ms=max(last.ms, ms),
                threads=list(dict.fromkeys([*last.threads, *threads])),
                watchdog=last.watchdog or watchdog,
                watchdog_ms=max(last.watchdog_ms, ms * watchdog),
            )
            return
        self._held.append(Oversleep(when, line.clock, ms, threads, watchdog, ms * watchdog))
        if len(self._held) > 4 * _KEPT:
            self._prune()

    LINES = (
        Row(b"verslept ", THREAD, _on_late),
        Row(b"verslept ", r"(?P<watchdog>Watchdog): Warning overslept (?P<ms>\d+) ms", _on_late),
        Row(b"timerHandlingLab", r"timerHandlingLab, .*not scheduled for: (?P<ms>\d+)", _on_late),
    )

    def _judge(self, oversleep: Oversleep, like: Mapping[str, Sequence[Instant]]) -> Event:
        more = []
        seconds = oversleep.ms / 1000
        long = say_duration(seconds)
        until = self._present.at(oversleep.clock, oversleep.when, "until")
        if self._stood_still(oversleep):
            kind, cause = Kind.STOOD_STILL, f"stood still {long}"
            who = f"{self._node.prefix or 'process '}stood still"
            why = self._late(oversleep)
            advice = "check for a paused VM, SIGSTOP, CPU quota, swapping, VM steal"
        else:
            kind, who, why = Kind.LATE, f"{self._who(oversleep)} overslept", "the watchdog was on time"
            cause = f"{who.removeprefix(self._node.prefix)} {long}"
            if oversleep.watchdog:
                watchdog = say_duration(oversleep.watchdog_ms / 1000)
                as_long = 2 * oversleep.watchdog_ms >= oversleep.ms
                why = f"the watchdog {watchdog}, too" if as_long else f"the watchdog only {watchdog}"
            if len(oversleep.threads) > _NAMED:
                more = [f"late: threads {', '.join(map(str, sorted(oversleep.threads)))}"]
            advice = "check ndbinfo.threadstat"
            if why.endswith("too"):  # that is no one thread that works
                advice = "check swapping, VM steal, CPU quota"
        what = f"{who} {long}{until}"
        reading = Reading("overslept", seconds, "s", what, why, advice, line=Line(more=tuple(more)))
        over = self._present.over(oversleep.when)
        begin = oversleep.when - seconds
        return Event(
            kind, self._node.id, reading, begin, oversleep.when, over, seconds, cause=cause, who=who,
            at=self._present.at(oversleep.clock, oversleep.when, ""),
            like=like.get(str(kind is Kind.STOOD_STILL), ()),
        )  # fmt: skip

    def _stood_still(self, oversleep: Oversleep) -> bool:
        """Whether the whole process did: the watchdog as long as its threads, and most of these."""
        late, known = len(oversleep.threads), self._node.threads
        if not oversleep.watchdog or 2 * (oversleep.watchdog_ms or oversleep.ms) < oversleep.ms:
            return False
        return not late or (late > 1 and 2 * late >= known)

    def _late(self, oversleep: Oversleep) -> str:
        """Return which of its threads were late with the watchdog."""
        late, known = len(oversleep.threads), self._node.threads
        if not late:
            return "the watchdog overslept"
        if late == known:
            return "all threads overslept"
        return f"{late}{f' of {known}' if known else ''} threads and the watchdog overslept"

    def _who(self, oversleep: Oversleep) -> str:
        threads = sorted(oversleep.threads)
        if len(threads) > 1:
            return f"{self._node.prefix}{named('thread', _few([str(thread) for thread in threads]))}"
        return self._node.thread(threads[0] if threads else 0)


def _few(threads: list[str]) -> list[str]:
    """Name so many threads as a line has room for."""
    rest = len(threads) - _NAMED + 1
    return [*threads[: _NAMED - 1], f"{rest} more"] if rest > 1 else threads


class Spin(NamedTuple):
    """The worst wait for one lock: spins for each contention."""

    lock: str
    when: float
    clock: str
    spins: float


class Contention(Subject):
    """How long threads of one data node spun for its locks, as old versions print it.

    NDB counts contentions and spins of a lock in two 32-bit numbers that wrap, and prints them at each
    contention up to 20, each 200th up to 10,000 and each 5000th beyond (mt-lock.hpp; not compiled in since
    7.3: on newer versions the absence of these lines means nothing). 99 % of them are harmless, by the
    article of 2010 that the rule comes from: spins for each contention, times 1.25 ns for a read from the L1
    cache.
    """

    UNDATED = True  # the counters of a line of unknown age are those that the next one is compared with

    def __init__(self, node: Node, present: Present, memory: dict[str, Any]) -> None:
        super().__init__(node, present, memory)
        self._counters: dict[str, list[int]] = memory.setdefault("counters", {})
        self._worst = {spin.lock: spin for spin in remembered(memory, "worst", Spin)}

    def _on_report(self, match: re.Match[str], line: lines.Line) -> None:
        lock, counters = match["lock"], [number(match[2]), number(match[3])]
        before = self._counters.pop(lock, None)  # the last one used is the last one in the memory
        self._counters[lock] = counters
        spins = spins_per_contention(before, counters)
        if line.when is None or spins is None:
            return
        worst = self._worst.get(lock)
        if worst is None or spins >= worst.spins or not self._present.holds(worst.when):
            self._worst[lock] = Spin(lock, line.when, line.clock, spins)

    LINES = (Row(b" waiting for lock, contentions: ", _REPORT, _on_report),)

    def restart(self) -> None:
        """Forget the counters: those of a new process start at 0."""
        self._counters.clear()

    def keep(self) -> None:
        """Put into the memory what still counts."""
        held = [spin for spin in self._worst.values() if self._present.holds(spin.when)]
        held.sort(key=lambda spin: -spin.spins)
        self._worst = {spin.lock: spin for spin in held[:_KEPT_LOCKS]}
        remember(self._memory, "worst", self._worst.values())
        self._memory["counters"] = dict(list(self._counters.items())[-_KEPT_LOCKS:])

    def findings(self, rules: Rules) -> Iterator[Finding]:
        """Judge the worst wait for each lock."""
        for spin in self._worst.values():
            yield self._judge(spin, rules.spin)
        if not self._worst:
            yield Reading("spin", 0, "s", "no lock contention reported")

    def _judge(self, spin: Spin, spin_seconds: float) -> Reading:
        seconds = spin.spins * spin_seconds
        at = self._present.at(spin.clock, spin.when)
        spins = f"spins {say_duration(float(f'{seconds:.3g}'))} for each contention{at}"
        what, why = f'{self._node.prefix}lock "{spin.lock}" {spins}', f"{say_count(spin.spins)} spins each"
        advice = "check whether the cluster is busy"
        return Reading("spin", seconds, "s", what, why, advice)


def spins_per_contention(before: list[int] | None, after: list[int]) -> float | None:
    """Spins for each contention between two reports ``[contentions, spins]`` of one lock, or None.

    Both counters wrap at 2^32. None where the pair means nothing: no report before, too few contentions, or
    counters that a restart has set back.
    """
    if before is None:
        return None
    contentions = (after[0] - before[0]) % _WRAP
    if not _FEWEST <= contentions <= _MOST:
        return None
    return ((after[1] - before[1]) % _WRAP) / contentions
