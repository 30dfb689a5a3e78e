"""What the logs of NDB data nodes and management nodes say: who stalls, why, and what to do about it.

`lines` takes a line apart, `shapes` passes over the others; `node` knows whose log it is; `watchdog`,
`redo`, `contention`, `shutdown`, `incidents` and `backups` each understand one subject; `story` is one log
with all of them. Formats, severities and rules: NDB 5.0 to 9.7, from its source and from measurements on a
real 9.7.2.
"""

from __future__ import annotations

import os

from stallwatch.findings import Fault, Finding, ProbeError, Reading, State
from stallwatch.probes.ndb_log import backups, shutdown
from stallwatch.probes.ndb_log.lines import speaks_ndb
from stallwatch.probes.ndb_log.moments import present
from stallwatch.probes.ndb_log.story import Story
from stallwatch.probes.ndb_log.watchdog import DEFAULT_INTERVAL, KILL
from stallwatch.startup import TYPE_CHECKING, NamedTuple
from stallwatch.units import is_number, say_duration, say_size
from stallwatch.words import worst_first

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from typing import Any, Protocol

    class Log(Protocol):
        """A log as its source hands it out: blocks of whole lines that were not handed out before."""

        kept: Any  # positions for the next run
        notes: list[str]  # what may have been lost
        asides: list[str]  # what is not worth an alert: the moment between copying and truncating
        behind: int  # bytes that are still to be read
        head: bytes  # the first bytes of the log itself
        problem: ProbeError | None  # why the log itself could not be read, although older parts of it could

        def __iter__(self) -> Iterator[bytes]:
            """Give blocks of whole lines; raises ProbeError."""


# Quantities in the order in which they are said; of one quantity the worst comes first.
QUANTITIES = (
    "missed_heartbeats", "gcp_commit_lag", "gcp_save_lag", "redo_full", "redo_lag",
    "stuck", "overslept", "spin",
)  # fmt: skip
_FORMAT = 1  # of what is remembered of a log: it changes with any tuple that is kept
# What a state file of another version, or a damaged one, makes of reading it.
_UNREADABLE_MEMORY = (AttributeError, IndexError, KeyError, OverflowError, TypeError, ValueError)


class Settings(NamedTuple):
    """How to judge; times in seconds."""

    now: float  # since the epoch
    hold: float = 3600.0
    spin: float = 1.25e-9  # one read from the L1 cache: 4 cycles at 3.2 GHz
    watchdog_interval: float | None = None  # None: as the log says, else NDB's default
    backup_age: float | None = None
    whole: bool = False


class Told(NamedTuple):
    """What all logs together told in one run."""

    stories: tuple[Story, ...]
    problems: tuple[ProbeError, ...]  # what could not be found out
    asides: tuple[str, ...]  # what is worth a word, but no problem
    settings: Settings

    @property
    def kill(self) -> float:
        """Seconds without a sign of life after which the watchdog ends a node; the smallest of all logs."""
        known = [story.node.watchdog_interval for story in self.stories]
        interval = min((seconds for seconds in known if seconds), default=DEFAULT_INTERVAL)
        return KILL * (self.settings.watchdog_interval or interval)

    def findings(self) -> Iterator[Finding]:
        """Give the number of lines first, then what could not be found out, then each subject."""
        if self.stories:
            yield _summary(self)
        yield from self.problems
        yield from (Fault(State.OK, aside) for aside in self.asides)
        if not self.stories:
            return
        yield from self._by_subject()
        if self.settings.backup_age:
            yield from self._backups(self.settings.backup_age)

    def _by_subject(self) -> Iterator[Finding]:
        """Give what the logs say, subject by subject."""
        yield from shutdown.findings([story.shutdown for story in self.stories])
        yield from _merged(finding for story in self.stories for finding in story.findings(self.settings))
        episodes = sum(story.watchdog.episodes for story in self.stories)
        yield Reading("stuck_episodes", episodes, what=f"stuck episodes: {episodes}")

    def _backups(self, limit: float) -> Iterator[Finding]:
        cluster_logs = [story.backups for story in self.stories if story.node.is_cluster_log]
        if cluster_logs:
            yield from backups.findings(cluster_logs, limit)
        else:
            what = "the age of backups is in cluster logs only"
            yield ProbeError(what, "name one with --log, ndb_1_cluster.log")

    def acknowledge(self, memory: dict[str, Any], is_problem: Callable[[Finding], bool]) -> Iterator[Finding]:
        """Forget all that was told up to here, and logs that are gone; says what that was."""
        held = [finding.what for finding in self._by_subject() if is_problem(finding)] if self.stories else []
        for story in self.stories:
            story.forget()
        for path in [path for path in memory if not os.path.lexists(path)]:
            del memory[path]
        yield _acknowledged(held, self.stories)
        yield from self.problems


def read(
    paths: Iterable[str], follow: Callable[[str, Any], Log], memory: dict[str, Any], settings: Settings
) -> Told:
    """Read what is new in each log; ``memory`` holds, for each path, what is known from earlier runs.

    ``follow`` opens a log where the positions that it kept in the last run say.
    """
    stories: list[Story] = []
    problems: list[ProbeError] = []
    asides: list[str] = []
    for path in paths:
        try:
            story = _read(path, follow, memory, settings, problems, asides)
        except _UNREADABLE_MEMORY as error:
            if path not in memory:
                raise
            del memory[path]
            what = f"the memory of earlier runs of {os.path.basename(path)} is lost, this run begins anew"
            problems.append(ProbeError(f"{what}: {type(error).__name__} in it"))
            story = _read(path, follow, memory, settings, problems, asides)
        if story.is_ndb:
            stories.append(story)
    return Told(tuple(stories), tuple(problems), tuple(asides), settings)


def _read(
    path: str,
    follow: Callable[[str, Any], Log],
    memory: dict[str, Any],
    settings: Settings,
    problems: list[ProbeError],
    asides: list[str],
) -> Story:
    """Read what is new in one log; adds to ``problems`` and ``asides`` what there is to say of that."""
    kept = memory.get(path, {"format": _FORMAT})
    if kept["format"] != _FORMAT:
        raise KeyError("format")
    first = kept.get("positions") is None or kept.get("history", False)
    now = present(now=settings.now, hold=settings.hold, whole=settings.whole, first=first)
    story = Story(path, kept, now)
    log = follow(path, kept.get("positions"))
    found = list(_listen(log, story))
    story.keep()
    if path in memory:
        _must_make_sense(story, settings)
    kept["positions"] = log.kept
    kept["history"] = first and log.behind > 0  # a long log takes more than one run to catch up with
    if log.kept is not None:
        memory[path] = kept
    problems += found
    asides += log.asides
    return story


def _must_make_sense(story: Story, settings: Settings) -> None:
    """Judge once what was remembered: whoever wrote it, all others can rely on it. Raises as Python does."""
    found = [*story.findings(settings), *shutdown.findings([story.shutdown])]
    if story.node.is_cluster_log:
        found += backups.findings([story.backups], 0.0)
    for one in found:
        if isinstance(one, Reading) and not is_number(one.value):
            raise TypeError(one.value)
        texts = (one.what, one.why, one.advice) if isinstance(one, Reading | Fault) else ()
        if not all(isinstance(text, str) for text in texts):
            raise TypeError(texts)


def _listen(log: Log, story: Story) -> Iterator[ProbeError]:
    """Tell the story every new line; gives what went wrong."""
    try:
        for block in log:
            story.read(block)
        if log.problem:
            yield log.problem
        elif not story.is_ndb:
            yield _stranger(story.path, log.head)
    except ProbeError as error:
        yield error
    name = os.path.basename(story.path)
    if log.behind:
        what = f"{name}: {say_size(log.behind)} are still to be read"
        yield ProbeError(what, "the next run goes on, --whole begins anew; a longer --timeout reads more")
    if story.garbled:
        yield ProbeError(f"{name}: {story.garbled} damaged lines skipped", "look at the disk that it is on")
    for note in log.notes:
        yield ProbeError(note)


def _stranger(path: str, head: bytes) -> ProbeError:
    """Say what a log is that holds no line of NDB."""
    name = os.path.basename(path)
    if not head:
        return ProbeError(
            f"{name} is empty, no line of NDB was ever seen in it", "look whether this is the right file"
        )
    if any(
        speaks_ndb(head.decode(code, "replace").encode()) for code in ("utf-16", "utf-16-le", "utf-16-be")
    ):
        return ProbeError(f"{name} is UTF-16", "make it plain text: iconv -f UTF-16 -t UTF-8")
    what = f"{name} does not look like an NDB log{' but binary' if bytes(1) in head else ''}"
    return ProbeError(what, "name a data node's ndb_N_out.log or a cluster log ndb_N_cluster.log")


def _acknowledged(held: list[str], stories: tuple[Story, ...]) -> Reading:
    lines = sum(story.lines for story in stories)
    return Reading("lines", lines, what=f"acknowledged: {'; '.join(held) or 'nothing was held'}")


def _summary(told: Told) -> Reading:
    """Say what was read; the line stands first when nothing else has to be said."""
    stories = told.stories
    lines = sum(story.lines for story in stories)
    names = os.path.basename(stories[0].path) if len(stories) == 1 else f"{len(stories)} logs"
    longest = max(story.watchdog.longest for story in stories)
    stuck = f"longest stuck {say_duration(longest)}" if longest else "no thread stuck"
    noun = f"{'' if told.settings.whole else 'new '}{'line' if lines == 1 else 'lines'}"
    return Reading("lines", lines, what=f"{lines} {noun} of {names}, {stuck}")


def _merged(findings: Iterable[Finding]) -> Iterator[Finding]:
    """Give faults first, then each quantity, the worst of all logs first and alone in the perfdata."""
    told = list({_words(finding): finding for finding in findings}.values())
    yield from (finding for finding in told if not isinstance(finding, Reading))
    readings = [finding for finding in told if isinstance(finding, Reading)]
    for name in QUANTITIES:
        worst = worst_first((one for one in readings if one.name == name), lambda one: one.value or 0)
        yield from worst[:1]
        yield from (reading._replace(label="") for reading in worst[1:] if reading.value)


def _words(finding: Finding) -> tuple[object, ...]:
    """Make one of two findings that say the same: a cluster log repeats its nodes' lines."""
    return (type(finding), getattr(finding, "name", ""), finding.what)
