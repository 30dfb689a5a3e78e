"""What all subjects of a log share: how to judge, when a line counts, tables of lines, whose log it is."""

from __future__ import annotations

import os

from stallwatch.probes.ndb_log.events import WINDOW, one_each
from stallwatch.probes.ndb_log.lines import compiled, number
from stallwatch.startup import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    import re
    from collections.abc import Callable, Iterable, Sequence
    from typing import Any

    from stallwatch.probes.ndb_log.events import Instant
    from stallwatch.probes.ndb_log.lines import Line

    Match = Callable[[str], re.Match[str] | None]

_COUNTED_AT_MOST = 5000  # instants: one every 2 s for 2.8 hours
_SAME_DAY = 12 * 3600.0  # seconds; within these the time of day alone is clear
_SHAPES = 1024  # of lines, for which it is remembered whose they are
_FILE = r"ndb_(\d{1,5})_out"
_LONGEST_START = 3600.0  # seconds; old versions do not log when they are ready
_LONGEST_INTERVAL = 2**32 / 1000  # seconds: milliseconds in 32 bits


class Rules(NamedTuple):
    """How to judge; times in seconds."""

    now: float  # since the epoch
    hold: float = 3600.0
    spin: float = 1.25e-9  # one read from the L1 cache: 4 cycles at 3.2 GHz
    watchdog_interval: float | None = None  # None: as the log shows, else NDB's default
    backup_age: float | None = None
    whole: bool = False


class Present:
    """The moment of judgement, how far back an alert reaches, and how old a line without a time is.

    ``first``: what the log shows is history of before the first run.
    """

    def __init__(self, rules: Rules, *, first: bool = False) -> None:
        self.whole = rules.whole  # a log judged as a whole: the present is its last line
        self.first = first and not self.whole
        self.looks_back = self.whole or first  # a line without a time has that of a line before it
        self.now = 0.0 if self.whole else rules.now  # seconds since the epoch
        self._hold = float("inf") if self.whole else rules.hold
        # The time of lines that have none: that of the line before; None: history of unknown age.
        self._undated = 0.0 if self.whole else None if first else rules.now

    def passes(self, line: Line) -> None:
        """Move on to the time of a line."""
        if line.when is None:
            return
        if self.whole:
            self.now = max(self.now, line.when)
        if self.looks_back:
            self._undated = line.when

    def of(self, line: Line) -> float | None:
        """When a line was written, never in the future; None for history of unknown age."""
        when = self._undated if line.when is None else line.when
        return None if when is None else min(when, self.now)

    def holds(self, when: float, *, stays: bool = False) -> bool:
        """Whether what happened at ``when`` is still to be reported.

        What ``stays`` does so until a line clears it, unless it is history of before the first run.
        """
        return (stays and not self.first) or self.now - when <= self._hold

    def over(self, when: float) -> bool:
        """Whether nothing has been heard for so long since ``when`` that it does not go on.

        What lies ahead was remembered before the clock was set back.
        """
        return abs(self.now - when) > WINDOW

    def at(self, clock: str, when: float, word: str = "at") -> str:
        """Name a moment as the log does: " at 23:08:01", with the date where that is not clear."""
        if not clock:
            return ""
        return f"{word and ' '}{word} {clock[11:] if self.now - when < _SAME_DAY else clock}"

    def counted(self, stalls: Iterable[tuple[float, str]]) -> list[Instant]:
        """Return the instants that still count of stalls that are too many to keep, the last of very many."""
        by_end = {when: clock for when, clock in stalls if self.holds(when)}
        return [(when, by_end[when]) for when in one_each(by_end)[-_COUNTED_AT_MOST:]]

    def named(self, stalls: Iterable[tuple[float, str]]) -> list[Instant]:
        """Return these stalls with their ends as they are shown."""
        return [(when, self.at(clock, when, "")) for when, clock in stalls]


class Row(NamedTuple):
    """One kind of line in the table of a subject."""

    word: bytes  # in the line, for the first look; no digits
    pattern: str  # that the text of the line begins with
    understand: Callable[[Any, re.Match[str], Line], Any]  # the method of the subject that takes it in


class Reader:
    """Whoever understands lines: ``LINES`` is the table of them, one row for each kind."""

    EVERY_LINE = False  # whether lines that are in no row count, too
    LINES: Sequence[Any] = ()  # Row, or what has a word and a pattern, too

    def __init__(self) -> None:
        self._known: dict[bytes, Sequence[tuple[Any, Match]]] = {}  # the rows of each shape

    def matching(self, line: Line) -> list[tuple[Any, re.Match[str]]]:
        """Return each row that a line is of, in the order of the table."""
        text = line.text
        return [(row, found) for row, match in self._rows(line.shape) if (found := match(text))]

    def may_know(self, shape: bytes) -> bool:
        """Whether any row has its word in lines of this shape."""
        return bool(self._rows(shape))

    def _rows(self, shape: bytes) -> Sequence[tuple[Any, Match]]:
        """Return the rows whose word is in a line, with their patterns: a line has few of all words."""
        if (rows := self._known.get(shape)) is None:
            if len(self._known) == _SHAPES:
                self._known.clear()
            rows = tuple((row, compiled(row.pattern).match) for row in self.LINES if row.word in shape)
            self._known[shape] = rows
        return rows


class Readers:
    """Several readers, and which of them have rows for a line: of a storm's lines few have many."""

    def __init__(self, readers: Sequence[Reader]) -> None:
        self._readers = readers
        self._of_shape: dict[bytes, tuple[Reader, ...]] = {}

    def of(self, line: Line) -> tuple[Any, ...]:
        """Return those that may understand a line, and those that want every line."""
        if (readers := self._of_shape.get(line.shape)) is None:
            if len(self._of_shape) == _SHAPES:
                self._of_shape.clear()
            readers = tuple(one for one in self._readers if one.EVERY_LINE or one.may_know(line.shape))
            self._of_shape[line.shape] = readers
        return readers


class Subject(Reader):
    """What one log shows of one subject; ``memory`` is the JSON object that it keeps between runs."""

    UNDATED = False  # whether lines of unknown age count, too: their ``when`` is None

    def __init__(self, node: Node, present: Present, memory: dict[str, Any]) -> None:
        super().__init__()
        self._node = node
        self._present = present
        self._memory = memory

    def read(self, line: Line) -> None:
        """Take in one line: its ``when`` is never in the future, its ``node`` is the one that speaks."""
        for row, match in self.matching(line):
            row.understand(self, match, line)

    def restart(self) -> None:
        """Forget what ended with the process of the node: nothing, unless a subject defines it."""

    def keep(self) -> None:
        """Put into the memory what still counts, where that is not done with each line."""


class Node(Reader):
    """The node whose log this is; ``memory`` is the JSON object that it keeps between runs."""

    CONTEXT = frozenset({b"Operations="})  # words of lines that count only beside lines of other words

    def __init__(self, path: str, memory: dict[str, Any]) -> None:
        super().__init__()
        self._memory = memory
        self._roles: dict[str, str] = dict(memory.get("roles", {}))
        memory["roles"] = self._roles
        if not 0 <= memory.get("interval", 0) <= _LONGEST_INTERVAL:
            raise ValueError(memory["interval"])
        if "id" in memory:
            memory["id"] = int(memory["id"])
        self._load: tuple[float | None, int] | None = None
        self._now: float | None = None  # the time of the last line that had one
        self.is_seen, self.until = False, 0.0  # its process runs here; when its last line was written
        if match := compiled(_FILE).search(os.path.basename(path)):
            memory.setdefault("id", number(match[1]))

    @property
    def id(self) -> int | None:
        """The node's number, from the name of the log or its start-up lines; None in a cluster log."""
        return self._memory.get("id")

    @property
    def is_cluster_log(self) -> bool:
        """Whether a management node wrote the log: then each line names its node."""
        return bool(self._memory.get("cluster"))

    @property
    def pids(self) -> list[int]:
        """The angel and the node proper, as the log names them; none if not known or ended."""
        return [int(pid) for pid in self._memory.get("pids", [])]

    @property
    def starting(self) -> bool:
        """Whether the node's process has begun and has not logged that it is started."""
        begun = self._memory.get("starting")
        return begun is not None and self._now is not None and self._now - begun <= _LONGEST_START

    @property
    def watchdog_interval(self) -> float | None:
        """TimeBetweenWatchDogCheck in seconds, as the node logged it at its start."""
        return self._memory.get("interval")

    @property
    def prefix(self) -> str:
        """The node's name and a blank, to begin a sentence with; empty where the node is not known."""
        return "" if self.id is None else f"node {self.id} "

    def thread(self, number: int | None) -> str:
        """Name a thread of the node: "node 4 thread 2 (ldm)"."""
        if number is None:  # up to 6.x there was only one
            return f"{self.prefix}kernel thread"
        role = self._roles.get(str(number))
        return f"{self.prefix}thread {number}{f' ({role})' if role else ''}"

    @property
    def threads(self) -> int:
        """How many threads the node listed at its start; 0 if that is not known."""
        return len(self._roles)

    def load(self, when: float | None) -> int | None:
        """Operations that the node last reported before ``when``; None where the log does not show it."""
        if self._load is None or when is None or self._load[0] is None:
            return None
        return self._load[1] if abs(when - self._load[0]) <= WINDOW else None

    def read(self, line: Line) -> bool:
        """Take note of a line; true when a process ends or begins: then counters start at 0."""
        self._now = line.when or self._now
        if line.node and line.source == "ndbd":  # its own name, in old versions
            self._memory.setdefault("id", line.node)
        return any(row.understand(self, match, line) for row, match in self.matching(line))

    def is_written_by(self, source: str) -> None:
        """Learn from the source of a log's lines whose log it is."""
        if source.startswith("Mgm"):
            self._memory["cluster"] = True

    def _on_thread(self, match: re.Match[str], _: Line) -> None:
        self._roles[match[1]] = match[2]

    def _on_interval(self, match: re.Match[str], _: Line) -> None:
        self._memory["interval"] = number(match[1]) / 1000

    def _on_load(self, match: re.Match[str], line: Line) -> None:
        self._load = (line.when, number(match[1]))

    def _on_begin(self, match: re.Match[str], _: Line) -> bool:
        """Learn that a process begins; it and its phases each log this, before it lists its threads."""
        groups = match.groupdict()
        if self.is_cluster_log:
            return False
        if "node" in groups:
            self._memory["id"] = number(groups["node"])
        if "child" in groups:
            self._memory["pids"] = [number(groups["angel"]), number(groups["child"])]
        if self.starting and "child" not in groups:
            return False
        self._roles.clear()
        self._memory["starting"] = self._now
        return True

    def _on_ready(self, _: re.Match[str], _line: Line) -> None:
        self._memory["starting"] = None

    def _on_end(self, _: re.Match[str], _line: Line) -> bool:
        self._memory.update(starting=None, pids=[])
        return not self.is_cluster_log

    LINES = (
        Row(b"thr: ", r"thr: (\d+) tid: \d+ \((\w+)\)", _on_thread),
        Row(b"WatchDog timer is set to ", r"WatchDog timer is set to (\d+) ms", _on_interval),
        Row(b"Operations=", r"Operations=(\d+)$", _on_load),
        Row(b"Angel pid: ", r"Angel pid: (?P<angel>\d+) started child: (?P<child>\d+)", _on_begin),
        Row(b"NDB Cluster -- DB node ", r"NDB Cluster -- DB node (?P<node>\d+)", _on_begin),
        Row(b"Start initiated", r"Start initiated", _on_begin),
        Row(b"Started (", r"Started \(", _on_ready),
        Row(b"Node started", r"Node started$", _on_ready),
        Row(b"Start phase  completed", r"Start phase 101 completed", _on_ready),
        Row(b"ode shutdown completed", r"(?:Forced node|Node) shutdown completed", _on_end),
        Row(b"Child process terminated", r"Child process terminated", _on_end),
        Row(b"Child has terminated", r"Child has terminated", _on_end),
    )
