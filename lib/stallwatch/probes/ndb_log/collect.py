"""What is new in the logs, and what they mean together with what is known from earlier runs."""

from __future__ import annotations

import os
from contextlib import suppress

from stallwatch.findings import Fault, Finding, ProbeError, Reading
from stallwatch.probes.ndb_log.diagnosis import Alerts, Backups, of_backups
from stallwatch.probes.ndb_log.ends import of_shutdowns
from stallwatch.probes.ndb_log.events import Event
from stallwatch.probes.ndb_log.last_lines import last_with_time, last_words
from stallwatch.probes.ndb_log.lines import GarbledError, Line, Shapes, parse, speaks_ndb
from stallwatch.probes.ndb_log.model import Node, Present, Readers, Rules
from stallwatch.probes.ndb_log.process import Process
from stallwatch.probes.ndb_log.reasons import Reasons
from stallwatch.probes.ndb_log.redo import Redo
from stallwatch.probes.ndb_log.shutdown import Shutdown
from stallwatch.probes.ndb_log.starts import Starts
from stallwatch.probes.ndb_log.strangers import stranger
from stallwatch.probes.ndb_log.threads import Contention, Oversleeps
from stallwatch.probes.ndb_log.unknown import LEVELS, Unknown, of_unknown
from stallwatch.probes.ndb_log.watchdog import Watchdog
from stallwatch.probes.ndb_log.zone import Zone
from stallwatch.startup import TYPE_CHECKING, NamedTuple
from stallwatch.units import is_number, say_size

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from typing import Any

    from stallwatch.probes.ndb_log.error_log import ErrorLog
    from stallwatch.sources.logs import Log

    Follow = Callable[[str, Any], Log]  # opens a log at the position of the last run

_SUBJECTS = (Shutdown, Reasons, Alerts, Redo, Watchdog, Oversleeps, Contention, Starts, Backups)
_WORDS = frozenset(row.word for reader in (Node, *_SUBJECTS) for row in reader.LINES)
WORDS = (_WORDS | LEVELS) - Node.CONTEXT
FORMAT = 1  # of what is remembered of a log: it changes with any tuple that is kept
_BACK = 65536  # bytes to look back for the time of a line that has none
# What a state file of another version, or a damaged one, makes of reading it.
_UNREADABLE_MEMORY = (AttributeError, IndexError, KeyError, OverflowError, TypeError, ValueError)


class Snapshot(NamedTuple):
    """What all logs together show in one run."""

    logs: tuple[NodeLog, ...]
    problems: tuple[ProbeError, ...]  # what could not be found out
    asides: tuple[str, ...]  # what is worth a word, but no problem
    error_logs: tuple[ErrorLog, ...] = ()  # which have ends that are in no other log
    printed: tuple[str, ...] = ()  # files that hold what ndb_mgm printed


class NodeLog:
    """What one log shows, subject by subject; ``memory`` is the JSON object kept between runs."""

    def __init__(self, path: str, memory: dict[str, Any], present: Present) -> None:
        def part(name: str) -> Any:
            return memory.setdefault(name, {})

        self.path = path
        self.problems: list[ProbeError] = []  # what could not be found out in this run
        self.asides: list[str] = []  # what is worth a word, but no problem
        self.printed = False  # it is no log but what ndb_mgm printed
        self._memory = memory
        self.present = present
        self._shapes = Shapes(WORDS, Node.CONTEXT)
        self._garbled = 0  # lines with numbers that nobody can have written
        self.zone = Zone(part("zone"), present.now, follows=not present.looks_back)
        self.node = Node(path, part("node"))
        self.process = Process(self.node, part("process"))
        self.shutdown = Shutdown(self.node, present, part("shutdown"))
        alerts = Alerts(self.node, present, part("alerts"))
        self.redo = Redo(self.node, present, part("redo"))
        self.watchdog = Watchdog(self.node, present, part("watchdog"))
        oversleeps = Oversleeps(self.node, present, part("oversleeps"))
        contention = Contention(self.node, present, part("contention"))
        self.backups = Backups(self.node, present, part("backups"))
        starts = Starts(self.node, present, part("starts"))
        self._judged_alone = (alerts, self.redo, self.watchdog, oversleeps, contention, starts)
        self._reasons = Reasons(self.node, present, part("reasons"), self.shutdown)
        subjects = (self.shutdown, self._reasons, *self._judged_alone, self.backups)
        self.unknown = Unknown(self.node, present, part("unknown"), (self.node, *subjects))
        self._subjects = (*subjects, self.unknown)
        self._readers = Readers(self._subjects)

    @property
    def lines(self) -> int:
        """How many lines were read in this run."""
        return self._shapes.lines

    @property
    def is_ndb(self) -> bool:
        """Whether any line so far, in this run or before, was one of an NDB process."""
        return bool(self._memory.get("ndb"))

    def follow(self, source: Log) -> None:
        """Read every new line; what goes wrong is among the ``problems``."""
        try:
            block = b""
            for block in source:
                self._read(block)
            last = last_with_time(block[-_BACK:]) if self.present.first else None
            if last and last.local:
                self.zone.guess(last.moment, source.written)
            if source.problem:
                self.problems.append(source.problem)
            elif not self.is_ndb:
                self._is_strange(source.head)
        except ProbeError as error:
            self.problems.append(error)
        if source.behind:
            what = f"{os.path.basename(self.path)}: {say_size(source.behind)} are still to be read"
            advice = "the next run goes on, --whole reads all again, a longer --timeout reads more"
            self.problems.append(ProbeError(what, advice))
        if self._garbled:
            what = f"{os.path.basename(self.path)}: {self._garbled} damaged lines skipped"
            self.problems.append(ProbeError(what, "look at the disk that it is on"))
        self.problems += map(ProbeError, source.notes)
        self.asides = source.asides

    def see_process(self) -> None:
        """Note the end of a node whose process is gone without a word, or that it runs."""
        when, clock = self._memory.get("last", (None, ""))
        if when is not None and (pid := self.process.gone):
            self.shutdown.vanished(pid, float(when), str(clock))
        self.process.keep()

    def keep(self) -> None:
        """Put into the memory what still counts."""
        for subject in self._subjects:
            subject.keep()

    def _is_strange(self, head: bytes) -> None:
        """Note as a problem what a file without any line of NDB is, unless it is what ndb_mgm prints."""
        from stallwatch.probes.ndb_log.mgm_text import is_printed

        if not is_printed(head):
            self.problems.append(stranger(self.path, head))
        elif self.present.whole:
            self.printed = True
        else:
            what = f"{os.path.basename(self.path)} is no log but what ndb_mgm printed in one moment"
            advice = "check_ndb_nodes and check_ndb_memory ask the cluster itself; --whole judges this text"
            self.problems.append(ProbeError(what, advice))

    def forget(self) -> None:
        """Acknowledge everything up to here: only positions, threads and counters are kept."""
        for name in ("alerts", "redo", "watchdog", "oversleeps", "starts", "unknown"):
            self._memory[name] = {}
        kept = ("ordered", "data_nodes", "addresses", "up", "clients")
        self._memory["shutdown"] = {name: self._memory["shutdown"][name] for name in kept}
        self._memory["contention"].pop("worst", None)

    def findings(self, rules: Rules) -> Iterator[Finding | Event]:
        """Yield all that still counts, without the shutdowns, which other logs may have, too."""
        self.node.until = float(self._memory.get("last", (0.0, ""))[0])
        for subject in self._judged_alone:
            yield from subject.findings(rules)

    def _read(self, block: bytes) -> None:
        """Take in a block of whole lines."""
        if not self.lines:
            self._meet(block)
        if not self.is_ndb and speaks_ndb(block):
            self._memory["ndb"] = True
        passed = 0  # up to which place is known what was picked
        for raw in self._shapes.pick(block):
            undated = self.present.looks_back and not raw[:1].isdigit()
            between = b""
            if undated or Reasons.END in raw:  # to look for a line takes as long as to read it
                place = block.index(raw, passed)
                between, passed = block[passed:place], place + len(raw)
                if Reasons.END in raw:
                    self._reasons.last = last_words(block[max(place - _BACK, 0) : place])
            try:
                self._read_line(raw, between if undated else b"")
            except GarbledError:
                self._garbled += 1
        if last := last_with_time(block[-_BACK:], self._parse):  # no rule may know it
            self.present.passes(last)
            self._memory["last"] = [last.when, last.clock]

    def _meet(self, block: bytes) -> None:
        """Learn from the first whole line of a run whose log it is, and since when it has lines."""
        for raw in block[:_BACK].split(b"\n"):
            with suppress(GarbledError):
                line = self._parse(raw)
                self.node.is_written_by(line.source)
                self.backups.begins(line)
                if line.source:
                    break
        self.shutdown.meet(block[:_BACK])

    def _read_line(self, raw: bytes, before: bytes) -> None:
        line = self._parse(raw)
        if line.when is None and before:
            self._look_back(before)
        self.present.passes(line)
        self.node.is_written_by(line.source)
        if self.node.read(line):
            for subject in self._subjects:
                subject.restart()
        when, node = self.present.of(line), line.node or self.node.id
        line = Line(line.text, when, line.clock, line.source, node, line.times, line.shape, line.grave)
        for subject in self._readers.of(line):
            if line.when is not None or subject.UNDATED:
                subject.read(line)

    def _look_back(self, before: bytes) -> None:
        """Find the time of the nearest line of those passed over before one that has no time."""
        if line := last_with_time(before[-_BACK:], self._parse):
            self.present.passes(line)

    def _parse(self, raw: bytes) -> Line:
        """Take a line apart, with its time corrected where the log has another zone."""
        line = parse(raw)
        if line.when is None or not line.local:
            return line
        offset = self.zone.of(line.when)
        return line._replace(when=line.when + offset) if offset else line


def collect(paths: Iterable[str], follow: Follow, memory: dict[str, Any], rules: Rules) -> Snapshot:
    """Read what is new in each log; ``memory`` holds, for each path, what is known from earlier runs."""
    logs: list[NodeLog] = []
    problems: list[ProbeError] = []
    paths = [*paths]
    error_logs = [path for path in paths if path.endswith("_error.log")]
    for path in (path for path in paths if path not in error_logs):
        try:
            log = _one_log(path, follow, memory, rules)
        except _UNREADABLE_MEMORY as error:
            if path not in memory:
                raise
            del memory[path]
            what = f"the memory of earlier runs of {os.path.basename(path)}"
            what += " is lost and this run counts as the first"
            problems.append(ProbeError(f"{what}: {type(error).__name__} in it"))
            log = _one_log(path, follow, memory, rules)
        problems += log.problems
        logs.append(log)
    known = tuple(log for log in logs if log.is_ndb)
    asides = tuple(aside for log in logs for aside in log.asides)
    printed = tuple(log.path for log in logs if log.printed)
    snapshot = Snapshot(known, tuple(problems), asides, printed=printed)
    if not error_logs and not any(log.shutdown.ended() for log in known):
        return snapshot
    from stallwatch.probes.ndb_log.error_log import consult

    ends, unread, more = consult({log.path: log.shutdown for log in known}, error_logs, follow, rules, memory)
    return Snapshot(known, (*problems, *unread), (*asides, *more), ends, printed)


def _one_log(path: str, follow: Follow, memory: dict[str, Any], rules: Rules) -> NodeLog:
    """Read what is new in one log."""
    kept = memory.get(path, {"format": FORMAT})
    if kept["format"] != FORMAT:
        raise KeyError("format")
    first = kept.get("positions") is None or kept.get("history", False)
    log = NodeLog(path, kept, Present(rules, first=first))
    source = follow(path, kept.get("positions"))
    if not rules.whole:
        log.process.look()
    log.follow(source)
    if not rules.whole and not source.behind and not source.problem:
        log.see_process()
    log.keep()
    log.zone.keep(behind=source.behind > 0)
    if path in memory:
        _must_make_sense(log, rules)
    kept["positions"] = source.kept
    kept["history"] = first and source.behind > 0  # a long log takes more than one run to catch up with
    if source.kept is not None:
        memory[path] = kept
    return log


def _must_make_sense(log: NodeLog, rules: Rules) -> None:
    """Judge once what was remembered: whoever wrote it, all others can rely on it. Raises as Python does."""
    found = [*log.findings(rules), *of_shutdowns([log.shutdown]), *of_unknown([log.unknown])]
    if log.node.is_cluster_log:
        found += of_backups([log.backups], 0.0)
    for event in (one for one in found if isinstance(one, Event)):
        if not all(is_number(number) for number in (event.begin, event.end, event.seconds)):
            raise TypeError(event)
    for one in (one.finding if isinstance(one, Event) else one for one in found):
        if isinstance(one, Reading) and not is_number(one.value):
            raise TypeError(one.value)
        texts: tuple[Any, ...] = ()
        if isinstance(one, Reading | Fault):
            texts = (one.what, one.why, one.advice, *(one.line.more if one.line else ()))
        if not all(isinstance(text, str) for text in texts):
            raise TypeError(texts)
