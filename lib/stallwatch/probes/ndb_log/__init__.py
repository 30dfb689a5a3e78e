"""What the logs of NDB data nodes and management nodes say: who stalls, why, and what to do about it.

`lines` takes a line apart, `shapes` passes over the others; `node` knows whose log it is; `watchdog`,
`redo`, `contention`, `shutdown`, `incidents` and `backups` each understand one subject; `story` is one log
with all of them. Formats, severities and rules: NDB 5.0 to 9.7, from its source and from measurements on a
real 9.7.2.
"""

from __future__ import annotations

import os
from dataclasses import dataclass, replace

from stallwatch.probes.ndb_log import shutdown
from stallwatch.probes.ndb_log.moments import present
from stallwatch.probes.ndb_log.story import Story
from stallwatch.probes.ndb_log.watchdog import DEFAULT_INTERVAL, KILL
from stallwatch.reading import Finding, ProbeError, Reading
from stallwatch.units import say_duration, say_size

TYPE_CHECKING = False  # typing itself costs every check 2 ms
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from typing import Any, Protocol

    class Log(Protocol):
        """A log as its source hands it out: blocks of whole lines that were not handed out before."""

        kept: Any  # positions for the next run
        notes: list[str]  # what may have been lost
        behind: int  # bytes that are still to be read
        problem: ProbeError | None  # why the log itself could not be read, although older parts of it could

        def __iter__(self) -> Iterator[bytes]:
            """Give blocks of whole lines; raises ProbeError."""


@dataclass(frozen=True)
class Settings:
    """How to judge; times in seconds."""

    now: float  # since the epoch
    hold: float = 3600.0
    spin: float = 1.25e-9  # one read from the L1 cache: 4 cycles at 3.2 GHz
    watchdog_interval: float | None = None  # None: as the log says, else NDB's default
    backup_age: float | None = None
    whole: bool = False


@dataclass(frozen=True)
class Told:
    """What all logs together told in one run."""

    stories: tuple[Story, ...]
    problems: tuple[ProbeError, ...]  # what could not be found out
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
            yield _summary(self.stories, self.settings)
        yield from self.problems
        if not self.stories:
            return
        yield from shutdown.findings([story.shutdown for story in self.stories])
        yield from _merged(finding for story in self.stories for finding in story.findings(self.settings))
        episodes = sum(story.watchdog.episodes for story in self.stories)
        yield Reading("stuck_episodes", episodes, what=f"stuck episodes: {episodes}")
        if self.settings.backup_age and not any(story.node.is_cluster_log for story in self.stories):
            yield ProbeError(
                "the age of backups is in cluster logs only", "name one with --log, ndb_1_cluster.log"
            )

    def acknowledge(self, memory: dict[str, Any]) -> Iterator[Finding]:
        """Forget all that was told up to here, and logs that are gone; says what that was."""
        held = [
            finding.what for finding in self.findings() if not isinstance(finding, Reading) or finding.value
        ]
        for story in self.stories:
            story.forget()
        for path in [path for path in memory if not os.path.lexists(path)]:
            del memory[path]
        yield Reading("lines", 0, what=f"acknowledged: {'; '.join(held[1:]) or 'nothing was held'}")


def read(
    paths: Iterable[str], follow: Callable[[str, Any], Log], memory: dict[str, Any], settings: Settings
) -> Told:
    """Read what is new in each log; ``memory`` holds, for each path, what is known from earlier runs.

    ``follow`` opens a log where the positions that it kept in the last run say.
    """
    stories: list[Story] = []
    problems: list[ProbeError] = []
    for path in paths:
        kept = memory.setdefault(path, {})
        first = kept.get("positions") is None or kept.get("history", False)
        now = present(now=settings.now, hold=settings.hold, whole=settings.whole, first=first)
        story = Story(path, kept, now)
        log = follow(path, kept.get("positions"))
        problems += _listen(log, story)
        story.keep()
        kept["positions"] = log.kept
        kept["history"] = first and log.behind > 0  # a long log takes more than one run to catch up with
        if story.is_ndb:
            stories.append(story)
    return Told(tuple(stories), tuple(problems), settings)


def _listen(log: Log, story: Story) -> Iterator[ProbeError]:
    """Tell the story every new line; gives what went wrong."""
    sample = b""
    try:
        for block in log:
            sample = sample or block[:4096]
            story.read(block)
        if log.problem:
            yield log.problem
        elif not story.is_ndb:
            yield _stranger(story.path, sample)
    except ProbeError as error:
        yield error
    if log.behind:
        what = f"{os.path.basename(story.path)}: {say_size(log.behind)} are still to be read"
        yield ProbeError(what, "the next run goes on, --whole begins anew; a longer --timeout reads more")
    for note in log.notes:
        yield ProbeError(note)


def _stranger(path: str, sample: bytes) -> ProbeError:
    """Say what a log is that holds no line of NDB."""
    name = os.path.basename(path)
    if not sample:
        return ProbeError(
            f"{name} is empty, no line of NDB was ever seen in it", "look whether this is the right file"
        )
    if sample[:2] in (b"\xff\xfe", b"\xfe\xff") or b"\0[\0n\0d\0b" in sample or b"[\0n\0d\0b\0" in sample:
        return ProbeError(f"{name} is UTF-16", "make it plain text: iconv -f UTF-16 -t UTF-8")
    what = "does not look like an NDB log"
    if b"\0" in sample:
        what += " but binary"
    return ProbeError(f"{name} {what}", "name a data node's ndb_N_out.log or a cluster log ndb_N_cluster.log")


def _summary(stories: tuple[Story, ...], settings: Settings) -> Reading:
    """Say what was read; the line stands first when nothing else has to be said."""
    lines = sum(story.lines for story in stories)
    names = os.path.basename(stories[0].path) if len(stories) == 1 else f"{len(stories)} logs"
    longest = max(story.watchdog.longest for story in stories)
    stuck = f"longest stuck {say_duration(longest)}" if longest else "no thread stuck"
    return Reading(
        "lines", lines, what=f"{lines} {'' if settings.whole else 'new '}lines of {names}, {stuck}"
    )


def _merged(findings: Iterable[Finding]) -> Iterator[Finding]:
    """Give each quantity to the perfdata once, with the worst value of all logs; counts are added up."""
    told = list({_words(finding): finding for finding in findings}.values())
    readings = [finding for finding in told if isinstance(finding, Reading)]
    worst: dict[str, Reading] = {}
    for reading in sorted((r for r in readings if r.label != ""), key=lambda r: r.value or 0):
        worst[reading.name] = reading
    for finding in told:
        if not isinstance(finding, Reading) or finding is worst.get(finding.name):
            yield finding
        elif finding.value:
            yield replace(finding, label="")


def _words(finding: Finding) -> tuple[object, ...]:
    """Make one of two findings that say the same: a cluster log repeats its nodes' lines."""
    return (type(finding), getattr(finding, "name", ""), finding.what)
