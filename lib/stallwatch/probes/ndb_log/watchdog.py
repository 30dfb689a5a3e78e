"""Stuck threads, as the watchdog of a data node reports them.

The watchdog looks every 100 ms at each thread's sign of life and kills the node when one is missing for three
times TimeBetweenWatchDogCheck (WatchDog.cpp; measured on 9.7.2: killed at elapsed=18022 with the default).
`stuck` finds why a thread was stuck.
"""

from __future__ import annotations

from stallwatch.findings import Fault, Finding, Line, Reading, State
from stallwatch.probes.ndb_log.events import TOGETHER, Event, Kind, one_each
from stallwatch.probes.ndb_log.lines import compiled, number
from stallwatch.probes.ndb_log.model import Row, Subject
from stallwatch.probes.ndb_log.stuck import FURTHER, judge
from stallwatch.probes.ndb_log.threads import THREAD
from stallwatch.startup import TYPE_CHECKING
from stallwatch.units import say_duration

if TYPE_CHECKING:
    import re
    from collections.abc import Iterator, Sequence
    from typing import Any

    from stallwatch.probes.ndb_log import lines
    from stallwatch.probes.ndb_log.events import Instant
    from stallwatch.probes.ndb_log.model import Node, Present, Rules

KILL = 3  # times TimeBetweenWatchDogCheck without a sign of life, and the watchdog ends the node
DEFAULT_INTERVAL = 6.0  # seconds, TimeBetweenWatchDogCheck

_STUCK = r".*?Ndb kernel (?:thread (?P<thread>\d+) )?is stuck in: (?P<place>.+?)(?: elapsed=(?P<ms>\d+)|$)"
_TIMES = r".*?Watchdog: User time: (\d+) +System time: (\d+)\b(?! \(errno=)"
_BLOCK = r"JobHandling in block: (\d+), gsn: (\d+)"
# Silence is in order then: a start allocates memory, and a thread that never worked has no place.
_IN_ORDER = r"Allocating memory|Unknown place 0$"
_STALL = 1000  # milliseconds; shorter stalls during a start-up mean nothing
_TICK = 0.01  # seconds: the watchdog prints times(2) of the whole process, CLK_TCK is 100
_OFTEN = 5  # stuck episodes ...
_OFTEN_WITHIN = 600.0  # ... in these seconds are worth a warning
_KEPT = 100  # episodes, the worst ones
_COUNTED = 1000  # episodes that are counted

# Kernel blocks by number, from BlockNumbers.h of NDB 9.7.2.
_NAMES = (
    "BACKUP", "DBTC", "DBDIH", "DBLQH", "DBACC", "DBTUP", "DBDICT", "NDBCNTR", "QMGR", "NDBFS", "CMVMI",
    "TRIX", "DBUTIL", "SUMA", "DBTUX", "TSMAN", "LGMAN", "PGMAN", "RESTORE", "DBINFO",
    "DBSPJ", "THRMAN", "TRPMAN",
)  # fmt: skip
_BLOCKS = dict(enumerate(_NAMES, 244))


class Episode:
    """One thread without a sign of life. Times in milliseconds, ticks of 10 ms, microseconds as logged."""

    def __init__(
        self,
        thread: int | None,
        place: str,
        when: float,
        clock: str,
        last_ms: int | None,
        ticks: list[list[int]],
        own: list[int] | None = None,
        load: int | None = None,
    ) -> None:
        self.thread = thread
        self.place = place
        self.when = when  # of the last line
        self.clock = clock
        self.last_ms = last_ms  # None: versions up to 6.x do not log for how long
        self.ticks = ticks  # [milliseconds stuck, user, system] at the first and at the last report of times
        self.own = own  # milliseconds overslept, user and system microseconds of the thread itself
        self.load = load  # operations that the node reported before

    @property
    def seconds(self) -> float | None:
        """For how long the thread showed no sign of life."""
        return None if self.last_ms is None else self.last_ms / 1000


class Watchdog(Subject):
    """What the watchdog logged of one data node."""

    def __init__(self, node: Node, present: Present, memory: dict[str, Any]) -> None:
        super().__init__(node, present, memory)
        self._stuck = [Episode(**kept) for kept in memory.get("stuck", [])]
        self._begun: list[float] = memory.get("begun", [])  # when episodes began, those not kept included
        # When those ended that are not kept.
        self._dropped: list[tuple[float, str]] = memory.get("dropped", [])
        self._of_thread = {episode.thread: episode for episode in self._stuck}  # the last one of each
        # The one that the next line of process times belongs to; that line may come in the next run.
        self._last = self._of_thread.get(memory["awaits"]) if "awaits" in memory else None

    def restart(self) -> None:
        """Forget what cannot go on in a new process."""
        self._last = None
        self._of_thread.clear()

    def keep(self) -> None:
        """Put into the memory what still counts."""
        self._prune()
        self._memory["stuck"] = [dict(vars(episode)) for episode in self._stuck]
        self._memory["begun"], self._memory["dropped"] = self._begun, self._dropped
        self._memory.pop("awaits", None)
        if self._last and self._last in self._stuck:
            self._memory["awaits"] = self._last.thread

    def _prune(self) -> None:
        """Keep what still counts: the worst episodes, and the last one of each thread, which may go on."""
        holds = self._present.holds
        held = sorted((episode for episode in self._stuck if holds(episode.when)), key=_severity)
        last = [episode for episode in held[:-_KEPT] if self._of_thread.get(episode.thread) is episode]
        dropped = [(one.when, one.clock) for one in held[:-_KEPT] if one not in last]
        self._dropped = self._present.counted([*self._dropped, *dropped])
        self._stuck = sorted([*last, *held[-_KEPT:]], key=lambda episode: episode.when)
        self._begun = [when for when in self._begun if holds(when)][-_COUNTED:]

    @property
    def episodes(self) -> int:
        """How many times a thread was stuck."""
        return len(self._begun)

    @property
    def longest(self) -> float:
        """The longest time in seconds for which a thread showed no sign of life; 0 if none was stuck."""
        return max((episode.seconds or 0 for episode in self._stuck), default=0)

    def findings(self, rules: Rules) -> Iterator[Finding | Event]:
        """Judge each episode, then how many there were."""
        interval = rules.watchdog_interval or self._node.watchdog_interval or DEFAULT_INTERVAL
        like = self._present.named(self._dropped)
        for episode in self._stuck:
            yield self._judge(episode, KILL * interval, like)
        if all(episode.last_ms is None for episode in self._stuck):
            yield Reading("stuck", 0, "s", "no thread stuck")
        yield from self._often()

    def _on_stuck(self, match: re.Match[str], line: lines.Line) -> None:
        place, when, clock = match["place"], line.moment, line.clock
        self._last = None
        if compiled(_IN_ORDER).match(place):
            return
        thread = number(match["thread"]) if match["thread"] else None
        ms = number(match["ms"]) if match["ms"] else None
        if self._node.starting and (ms or 0) < _STALL:
            return
        episode = self._open(thread)
        if episode and _goes_on(episode, ms, when, dated=bool(clock)):
            episode.last_ms, episode.when, episode.clock = ms, when, clock
            episode.place = _say_place(place)
        else:
            load = self._node.load(when)
            episode = Episode(thread, _say_place(place), when, clock, ms, [], load=load)
            self._stuck.append(episode)
            self._of_thread[thread] = episode
            self._begun.append(when)
            # A log of standstills must not take ever more time and memory.
            if len(self._stuck) > 4 * _KEPT or len(self._begun) > 2 * _COUNTED:
                self._prune()
        self._last = episode

    def _open(self, thread: int | None) -> Episode | None:
        """Return the last episode of a thread unless the thread has reported since."""
        episode = self._of_thread.get(thread)
        return episode if episode and episode.own is None else None

    def _on_times(self, match: re.Match[str], _: lines.Line) -> None:
        user, system = number(match[1]), number(match[2])
        if self._last is None:
            return
        self._last.ticks = [*self._last.ticks[:1], [self._last.last_ms or 0, user, system]]
        self._last = None

    def _on_overslept(self, match: re.Match[str], line: lines.Line) -> None:
        """Take a thread's own times, which it logs when it wakes up, for better than the process's."""
        episode = self._open(number(match["thread"]))
        if episode and match["user"] and abs(line.moment - episode.when) <= TOGETHER:
            episode.own = [number(match["ms"]), number(match["user"]), number(match["system"])]

    LINES = (
        Row(b"is stuck in: ", _STUCK, _on_stuck),
        Row(b"verslept ", THREAD, _on_overslept),
        Row(b"Watchdog: User time: ", _TIMES, _on_times),
    )

    def _judge(self, episode: Episode, kill: float, like: Sequence[Instant]) -> Event:
        at = self._present.at(episode.clock, episode.when, "until")
        who, over = self._node.thread(episode.thread), self._present.over(episode.when)
        if episode.seconds is None:
            why, advice = "this version does not log how long", "check swapping, load and steal time"
            what = f'{who} was stuck in "{episode.place}"{self._present.at(episode.clock, episode.when)}'
            fault = Fault(State.WARNING, what, why, advice)
            return Event(Kind.STUCK, self._node.id, fault, episode.when, episode.when, over)
        cause = judge(*_used(episode), own=episode.own is not None, busy=bool(episode.load))
        stuck = f"was stuck {say_duration(episode.seconds)}"
        more = [f'it was stuck in "{episode.place}"', FURTHER.get(cause.who.removeprefix("probably "), "")]
        if episode.load is not None:
            more.append(f"cluster {'busy' if episode.load else 'idle'} (Operations={episode.load})")
        left = kill - episode.seconds
        if left > 0:
            more.append(f"{say_duration(left)} were left before the watchdog ends the node")
        else:
            more.append(f"the watchdog ends a node after {say_duration(kill)}")
        reading = Reading(
            "stuck", episode.seconds, "s", f"{who} {stuck}{at}", str(cause), cause.advice,
            line=Line(more=tuple(more)),
        )  # fmt: skip
        begin, short = episode.when - episode.seconds, f"{who.removeprefix(self._node.prefix)} {stuck}"
        return Event(
            Kind.STUCK, self._node.id, reading, begin, episode.when, over, episode.seconds,
            cause=short, who=f"{who} was stuck", like=like,
            at=self._present.at(episode.clock, episode.when, ""),
        )  # fmt: skip

    def _often(self) -> Iterator[Event]:
        """Report that threads were stuck again and again; several in one instant are once."""
        instants = one_each(self._begun)
        crowds = zip(instants, instants[_OFTEN - 1 :], strict=False)
        begin, end = max((crowd for crowd in crowds if crowd[1] - crowd[0] <= _OFTEN_WITHIN), default=(0, 0))
        if end:
            what = f"{self._node.prefix}had {len(self._begun)} stuck episodes, {_OFTEN} of them within 10 min"
            why, advice = "threads stall again and again", "check swapping, VM steal and CPU quota"
            fault = Fault(State.WARNING, what, why, advice)
            yield Event(Kind.LATE, self._node.id, fault, begin, end, self._present.over(end))


def _severity(episode: Episode) -> float:
    return float("inf") if episode.last_ms is None else episode.last_ms


def _goes_on(episode: Episode, ms: int | None, when: float, *, dated: bool) -> bool:
    """Whether a report of ``ms`` milliseconds is of the same standstill as the last one of its thread."""
    if ms is None or episode.last_ms is None:
        return when - episode.when <= TOGETHER
    if ms <= episode.last_ms:
        return False
    return not dated or abs((when - episode.when) - (ms - episode.last_ms) / 1000) <= TOGETHER


def _used(episode: Episode) -> tuple[float, float, float]:
    """User and system seconds of the episode, and the seconds in which they were used."""
    if episode.own:
        ms, user, system = episode.own
        return user / 1e6, system / 1e6, ms / 1e3
    if len(episode.ticks) < 2:  # noqa: PLR2004 - one report of the times only
        return 0, 0, 0
    (began, user_first, system_first), (ended, user_last, system_last) = episode.ticks
    span = (ended - began) / 1000
    return (user_last - user_first) * _TICK, (system_last - system_first) * _TICK, span


def _say_place(place: str) -> str:
    """Name the kernel block, of which 7.6 and later print the number."""
    if match := compiled(_BLOCK).match(place):
        block = number(match[1])
        return f"JobHandling in {_BLOCKS.get(block, f'block {block}')}, gsn {match[2]}"
    return place
