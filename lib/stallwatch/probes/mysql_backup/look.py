"""One look at the backups at a place, and at the server that they are to bring back."""

from __future__ import annotations

import time
from functools import partial

from stallwatch.findings import Fault, State
from stallwatch.probes.mysql_backup import choosing, comparing, telling
from stallwatch.probes.mysql_backup.sizes import size_before
from stallwatch.sources.backups.files import Room
from stallwatch.startup import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from typing import Any

    from stallwatch.findings import Finding
    from stallwatch.frame.deadline import Deadline
    from stallwatch.probes.mysql_backup.backup import Backup
    from stallwatch.probes.mysql_backup.comparing import Source
    from stallwatch.probes.mysql_backup.verifying import Verified
    from stallwatch.sources.backups.contents import Children

QUIET = 600.0  # seconds without a write, after which nobody is at work on a dump that does not say so itself
NONE, SAMPLE, FULL = "none", "sample", "full"


class Asked(NamedTuple):
    """What the user asked for."""

    path: str
    deadline: Deadline
    progress: Callable[[str], None]
    so_far: Callable[[Iterable[Finding]], None]  # is told what is known already
    source: Source | None = None  # the server that was backed up
    grace: float = 7200.0  # seconds without a write, for which an unfinished backup may yet be at work
    binlog: bool = True  # whether its place in a binary log matters
    verify: str = NONE
    verify_timeout: float = 600.0  # seconds, besides the deadline


class Choice(NamedTuple):
    """The newest backup, and the one to be judged: the newest that is finished, or may be."""

    newest: Backup | None
    judged: Backup | None


def findings(asked: Asked, memory: dict[str, Any]) -> Iterator[Finding]:
    """Judge the newest backup that is finished, and say of a newer one why it is not; raises ProbeError."""
    now = time.time()
    asked.deadline.doing = f"reading {asked.path}"
    newest, judged = _choice(asked.deadline.children, asked.path, now)
    if newest is None:
        yield Fault(State.CRITICAL, f"no backup in {asked.path}", "", "is that where they are made?")
        return
    about_newest = [] if newest is judged else [_of_newest(newest, judged, now, asked.grace)]
    if judged is None:
        yield from about_newest
        return
    head = partial(telling.age, now=now, newest=newest is judged, place=asked.path)
    asked.so_far([head(judged, known=[telling.size(judged)]), *about_newest])
    judged = _with_known_tables(asked, judged, memory)
    seen = asked.source.look(judged, memory, verify=asked.verify != NONE) if asked.source else None
    compare = partial(comparing.compared, seen=seen, binlog=asked.binlog, doubtful=_may_run(judged, now))
    so_far = compare(judged)
    asked.so_far([head(judged, known=so_far.known), *about_newest, *so_far.findings])
    verified, judged = _verified(asked, judged, memory)
    compared = compare(judged)
    yield head(judged, known=[*compared.known, *telling.how_verified(judged, verified)])
    if judged.taken - now > telling.AHEAD:
        yield telling.ahead(judged, now)
    yield from about_newest
    yield from compared.findings
    yield from telling.damage(judged, verified, doubtful=_may_run(judged, now))
    yield telling.bytes_of(judged)
    if not _may_run(judged, now) and (before := size_before(memory, judged)):
        yield telling.size_change(judged, before)
    yield from telling.asides(judged, verify=asked.verify != NONE)
    yield from judged.problems


def _choice(children: Children, path: str, now: float) -> Choice:
    newest = perhaps = None
    room = Room()
    reader = choosing.Reader(children, room)
    for candidate in choosing.candidates(path, room):
        before = room.left
        backup = reader.look(candidate)
        if newest and (backup is None or backup.finished is False):
            room.left = before  # what was listed is thrown away
        if backup is None:
            continue
        newest = newest or backup
        if backup.finished or (backup.finished is None and not _may_run(backup, now)):
            return Choice(newest, backup)
        if backup.finished is None:
            perhaps = perhaps or backup
    return Choice(newest, perhaps)


def _may_run(backup: Backup, now: float) -> bool:
    """Whether somebody may be at work on a dump that does not say whether it is finished."""
    return backup.finished is None and now - backup.written < QUIET


def _of_newest(newest: Backup, judged: Backup | None, now: float, grace: float) -> Finding:
    if newest.finished is False and now - newest.written >= grace:
        return telling.unfinished(newest, now)
    return telling.running(newest, now, alone=judged is None)


def _with_known_tables(asked: Asked, backup: Backup, memory: dict[str, Any]) -> Backup:
    """Give the backup with what earlier runs have read of its tables."""
    if asked.verify == NONE or not backup.can_be_verified:
        return backup
    from stallwatch.probes.mysql_backup.verifying import Kept

    return backup.with_tables(Kept(memory).tables(backup.files))


def _verified(asked: Asked, backup: Backup, memory: dict[str, Any]) -> tuple[Verified | None, Backup]:
    """Read the files as far as is wanted; give the backup with what that tells of its tables."""
    if asked.verify == NONE or not backup.can_be_verified:
        return None, backup
    from stallwatch.probes.mysql_backup.verifying import Kept, verify

    if asked.verify == FULL:
        asked.deadline.extend(asked.verify_timeout)
    kept = Kept(memory)
    found = verify(backup, kept, asked.deadline, asked.progress, sample=asked.verify == SAMPLE)
    return found, backup.with_tables(kept.tables(backup.files))
