"""Redo buffers that fill and disks that lag: which of the two is too small?

A data node logs when the buffer of a redo log part has less than 10 free pages and when it has 20 % again.
Measured on 9.7.2: a buffer too small for bursts is full for 9 ms (median) at a time on a fast disk; on a
disk capped at 2 MB/s it is full for 900 ms, and lines "Lag - time to complete" appear, which only a disk
that lags causes.
"""

from __future__ import annotations

from stallwatch.findings import Fault, Finding, Line, Reading, State
from stallwatch.probes.ndb_log.events import SLOW_DISK, WINDOW, Event, Kind
from stallwatch.probes.ndb_log.lines import number
from stallwatch.probes.ndb_log.model import Row, Subject
from stallwatch.startup import TYPE_CHECKING
from stallwatch.units import say_duration
from stallwatch.words import named, times

if TYPE_CHECKING:
    import re
    from collections.abc import Iterable, Iterator
    from typing import Any

    from stallwatch.probes.ndb_log import lines
    from stallwatch.probes.ndb_log.model import Node, Present, Rules

_WORD = b"edo log part "
_PART = r"(?:LQH \d+ : )?Redo log part (?P<part>\d+) ?(?:: )?"
_LAG = r"Lag - (?:time to complete : |.*time to complete: )(?P<seconds>\d+)s"
_PROBLEM = r"problem (?P<change>started|cleared) : (?P<problem>[^.]+)"
_SLOW_DISK = 0.2  # seconds; a median episode this long is no burst
_LONG = 1.0  # seconds; one episode this long is no burst: on a fast disk the longest of 65 took 0.094
_KEPT = 1000  # episodes
_SHORTEST = 0.001  # seconds; up to 9.3 a log has whole seconds, and within one an episode seems to take none

_DISK_ADVICE = "use faster or separate disks for redo and LCP"
_DISK = (SLOW_DISK, _DISK_ADVICE, ("a larger RedoBuffer will not help, more data nodes will",))
_BUFFER = (
    "RedoBuffer is too small for the bursts",
    "increase RedoBuffer",
    ("that takes a rolling restart, first check with iostat -kx 1 that the disk has room",),
)
# The disk lags by more than RedoOverCommitLimit, 20 s as default, RedoOverCommitCounter times in a row.
_TOO_FAST = "Generation rate exceeds write rate"
_FASTER = "use a faster disk for redo"
# The error that writes fail with, the next step, what else helps.
_PROBLEMS = {
    "Low space": (
        "error 410",
        "raise NoOfFragmentLogFiles",
        "a higher NoOfFragmentLogFiles or MaxDiskWriteSpeed helps, too, and so does a faster disk",
    ),
    _TOO_FAST: ("error 1234", _FASTER, "different disks for redo and LCP help, too"),
    "Next file not open on time": ("error 1220", "check the file system of the redo log", ""),
}


class Redo(Subject):
    """The redo log parts of one data node."""

    def __init__(self, node: Node, present: Present, memory: dict[str, Any]) -> None:
        super().__init__(node, present, memory)
        # Part: [when, clock].
        self._full: dict[str, list[Any]] = memory.setdefault("full", {})
        # Part and problem: [when, clock].
        self._problems: dict[str, list[Any]] = memory.setdefault("problems", {})
        # [when it ended, seconds, clock of its begin].
        self._episodes: list[list[Any]] = memory.get("episodes", [])
        # [when, clock, seconds, part], worst of each part.
        self._lags: list[list[Any]] = memory.get("lags", [])

    def _on_full(self, match: re.Match[str], line: lines.Line) -> None:
        self._full.setdefault(match["part"], [line.moment, line.clock])

    def _on_not_full(self, match: re.Match[str], line: lines.Line) -> None:
        self._end(match["part"], line.moment)
        self._memory["until"] = [line.clock, line.moment]

    def _on_lag(self, match: re.Match[str], line: lines.Line) -> None:
        self._lags.append([line.moment, line.clock, number(match["seconds"]), match["part"]])

    def _on_problem(self, match: re.Match[str], line: lines.Line) -> None:
        problem = f"{match['part']} {match['problem']}"
        if match["change"] == "started":
            self._problems.setdefault(problem, [line.moment, line.clock])
        else:
            self._problems.pop(problem, None)

    def _on_any(self, _: re.Match[str], line: lines.Line) -> None:
        self._memory["heard"] = max(line.moment, self._memory.get("heard", line.moment))
        if len(self._episodes) > 4 * _KEPT or len(self._lags) > _KEPT:
            self._prune()

    LINES = (
        Row(_WORD, _PART + "Redo buffer full", _on_full),
        Row(_WORD, _PART + "Redo buffer not full", _on_not_full),
        Row(_WORD, _PART + _LAG, _on_lag),
        Row(_WORD, _PART + _PROBLEM, _on_problem),
        Row(_WORD, _PART + ".", _on_any),
    )

    def restart(self) -> None:
        """Forget what ended with the process."""
        for part in list(self._full):
            self._end(part, self._memory.get("heard", 0))
        self._problems.clear()

    def keep(self) -> None:
        """Put into the memory what still counts."""
        if not self._present.holds(self._memory.get("heard", 0)):
            self._full.clear()  # its end was not seen
        for problem, (when, _) in list(self._problems.items()):
            if not self._present.holds(when, stays=True):
                del self._problems[problem]
        self._prune()
        self._memory["episodes"], self._memory["lags"] = self._episodes, self._lags

    def _prune(self) -> None:
        """Keep the last episodes that still count, and the worst lag of each log part."""
        holds = self._present.holds
        self._episodes = [episode for episode in self._episodes if holds(episode[0])][-_KEPT:]
        held = sorted((lag for lag in self._lags if holds(lag[0])), key=lambda lag: lag[2])
        self._lags = list({lag[3]: lag for lag in held}.values())

    def findings(self, _: Rules) -> Iterator[Finding | Event]:
        """Judge full buffers, lag and problems of the redo log."""
        full, lag = self.readings()
        episodes = self._all_episodes()
        yield from self._problem_events(episodes)
        if full.value:
            begin, end = _latest((end - seconds, end) for end, seconds, _ in episodes)
            yield self._event(full, begin, end, end - begin, "a redo buffer was full")
        else:
            yield full
        if lag.value:
            begin, end = _latest((lag[0] - lag[2], lag[0]) for lag in self._lags)
            yield self._event(lag, begin, end, 0, "the redo log lagged")
        else:
            yield lag

    def _event(self, reading: Reading, begin: float, end: float, seconds: float, cause: str) -> Event:
        over = self._present.over(end)
        return Event(Kind.REDO, self._node.id, reading, begin, end, over, seconds, cause=cause)

    @property
    def blames_disk(self) -> bool | None:
        """Whether the disk is too slow, or (False) the buffer too small; None: the log shows neither."""
        episodes = self._all_episodes()
        if not episodes and not self._lags:
            return None
        return bool(self._lags) or _typical(episodes) >= _SLOW_DISK

    def readings(self) -> tuple[Reading, Reading]:
        """Judge full buffers, then lag."""
        why, advice, more = _DISK if self.blames_disk else _BUFFER
        return self._judge_full(why, advice, more), self._judge_lag(why, advice, more)

    def _end(self, part: str, when: float) -> None:
        if started := self._full.pop(part, None):
            self._episodes.append([when, max(_SHORTEST, when - started[0]), started[1]])

    def _all_episodes(self) -> list[list[Any]]:
        """Return the episodes that ended, and those that have not, as if they ended now."""
        now = self._present.now
        unfinished = [[now, max(_SHORTEST, now - when), clock] for when, clock in self._full.values()]
        return [*self._episodes, *unfinished]

    def _judge_full(self, why: str, advice: str, more: tuple[str, ...]) -> Reading:
        episodes = self._all_episodes()
        if not episodes:
            return Reading("redo_full", 0, "s", "no redo buffer full")
        longest = max(seconds for _, seconds, _ in episodes)
        median = say_duration(_median(episodes))
        lengths = f"full {times(len(episodes))}, median {median}, longest {say_duration(longest)}"
        line = Line(more=(lengths, *more))
        if self._full:
            part, (when, clock) = min(self._full.items(), key=lambda full: full[1][0])
            since = self._present.at(clock, when, "since")
            what = f"{self._node.prefix}redo buffer of part {part} is full{since}"
            if self._present.now - when < _LONG and not self.blames_disk:
                why, advice = "its end is not in the log", "check whether it goes on"
        else:
            first, _, begun = min(episodes, key=lambda episode: episode[0] - episode[1])
            clock, when = self._memory.get("until", ("", 0))
            span = self._present.at(begun, first, "from") + self._present.at(clock, when, "until")
            what = f"{self._node.prefix}redo buffer was full {times(len(episodes))}{span}"
        return Reading("redo_full", _typical(episodes), "s", what, why, advice, line=line)

    def _judge_lag(self, why: str, advice: str, more: tuple[str, ...]) -> Reading:
        if not self._lags:
            return Reading("redo_lag", 0, "s", "no redo lag")
        when, clock, seconds, part = max(self._lags, key=lambda lag: lag[2])
        at = self._present.at(clock, when)
        what = f"{self._node.prefix}redo log part {part} lagged {seconds} s{at}"
        return Reading("redo_lag", seconds, "s", what, why, advice, line=Line(more=more))

    def _problem_events(self, episodes: list[list[Any]]) -> Iterator[Event]:
        """Yield the problems before buffers that were full and lag, of the same incident."""
        begins = [when for when, _ in self._problems.values()]
        begins += [end - seconds for end, seconds, _ in episodes]
        begins += [when - seconds for when, _, seconds, _ in self._lags]
        now = self._present.now
        for fault in self.problems():
            seconds = now - min(begins) + 1
            yield Event(Kind.REDO, self._node.id, fault, min(begins), now, over=False, seconds=seconds)

    def problems(self) -> Iterator[Fault]:
        """Return what was said to have started and not to be cleared: each kind once, for all log parts."""
        kinds: dict[str, list[tuple[int, float, str]]] = {}
        for problem, (when, clock) in self._problems.items():
            part, _, kind = problem.partition(" ")
            kinds.setdefault(kind, []).append((number(part), when, clock))
        for kind in sorted(kinds, key=lambda one: one == _TOO_FAST):  # no space lasts longer
            yield self._problem(kind, kinds[kind])

    def _problem(self, kind: str, of_parts: list[tuple[int, float, str]]) -> Fault:
        error, advice, helps = _PROBLEMS.get(kind, ("an error", "check the disk of the redo log", ""))
        _, when, clock = min(of_parts, key=lambda one: one[1])
        since = self._present.at(clock, when, "since")
        parts = named("part", [str(part) for part, _, _ in sorted(of_parts)])
        said = f"redo log {parts}: {kind.lower()}"
        fails = f"writes fail with {error}"
        what = f"{self._node.prefix}{said}{since}"
        lags = [lag[2] for lag in self._lags if lag[0] >= when - WINDOW]  # what was over before is no cause
        if not lags:
            return Fault(State.CRITICAL, what, fails, advice, Line(more=(helps,)))
        if kind == _TOO_FAST:
            what = f"{self._node.prefix}disk is too slow for the redo log{since}"
            return Fault(
                State.CRITICAL, what, f"lag {max(lags)} s, {fails}", advice, Line(more=(said, helps))
            )
        why = f"the disk is too slow ({error})"
        return Fault(State.CRITICAL, what, why, _FASTER, Line(more=(fails, helps)))


def _latest(spans: Iterable[tuple[float, float]]) -> tuple[float, float]:
    """Return begin and end of the last trouble: a good while in between explains nothing there."""
    (begin, end), *others = sorted(spans)
    for since, until in others:
        begin, end = (since, until) if since - end > WINDOW else (begin, max(end, until))
    return begin, end


def _typical(episodes: list[list[Any]]) -> float:
    """Return the seconds that represent these episodes: one long one is not outvoted by many short ones."""
    longest: float = max(seconds for _, seconds, _ in episodes)
    return longest if longest >= _LONG else _median(episodes)


def _median(episodes: list[list[Any]]) -> float:
    """Return the median of their seconds."""
    from statistics import median  # 2 ms, which a healthy log need not cost

    seconds: list[float] = [seconds for _, seconds, _ in episodes]
    return median(seconds)
