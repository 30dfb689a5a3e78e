"""One run: choose the backup, ask its server, verify its files, compare, report it."""

from __future__ import annotations

import time
from functools import partial

from stallwatch.findings import Fault, State
from stallwatch.probes.mysql_backup import collect, messages
from stallwatch.probes.mysql_backup.diagnosis import diagnose, size_before
from stallwatch.probes.mysql_backup.model import FULL, NONE, SAMPLE
from stallwatch.startup import TYPE_CHECKING
from stallwatch.units import say_size

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from stallwatch.findings import Finding
    from stallwatch.frame.run import Run
    from stallwatch.probes.mysql_backup.diagnosis import Rules
    from stallwatch.probes.mysql_backup.model import Backup
    from stallwatch.probes.mysql_backup.queries import Source
    from stallwatch.probes.mysql_backup.verify import Kept, Verified


def findings(
    run: Run, path: str, source: Source | None, rules: Rules, memory: dict[str, Any]
) -> Iterator[Finding]:
    """Judge the newest backup that is finished, and report why a newer one is not; raises ProbeError."""
    now = time.time()
    run.deadline.doing = f"reading {path}"
    newest, judged = collect.choose(path, run.deadline.children, now)
    if newest is None:
        yield Fault(State.CRITICAL, f"no backup in {path}", "", "check whether backups are made there")
        return
    about_newest = [] if newest is judged else [_of_newest(newest, judged, now, rules.grace)]
    if judged is None:
        yield from about_newest
        return
    headline = partial(messages.age, now=now, newest=newest is judged, place=path)
    run.so_far([headline(judged, known=[say_size(judged.size)]), *about_newest])
    may_run, wants_verify = judged.may_run(now), rules.verify != NONE
    kept = _kept(memory) if wants_verify and judged.can_be_verified else None
    if kept:
        judged = judged.with_tables(kept.tables(judged.files))
    server = source.look(judged, memory, verify=wants_verify) if source else None
    found = diagnose(judged, server, rules, may_run=may_run)
    run.so_far([headline(judged, known=found.known), *about_newest, *found.findings])
    verified = None
    if kept:
        verified = _verify(run, judged, rules, kept)
        judged = judged.with_tables(kept.tables(judged.files))
        found = diagnose(judged, server, rules, may_run=may_run)
    yield headline(judged, known=[*found.known, *messages.how_verified(judged, verified)])
    if judged.taken - now > messages.AHEAD:
        yield messages.ahead(judged, now)
    yield from about_newest
    yield from found.findings
    yield from messages.damage(judged, verified, may_run=may_run)
    yield messages.bytes_of(judged)
    if not may_run and (before := size_before(memory, judged)):
        yield messages.size_change(judged, before)
    yield from messages.asides(judged, verify=wants_verify)
    yield from judged.problems


def _of_newest(newest: Backup, judged: Backup | None, now: float, grace: float) -> Finding:
    if newest.finished is False and now - newest.written >= grace:
        return messages.unfinished(newest, now)
    return messages.running(newest, now, alone=judged is None)


def _kept(memory: dict[str, Any]) -> Kept:
    """Return what earlier runs have read."""
    from stallwatch.probes.mysql_backup.verify import Kept

    return Kept(memory)


def _verify(run: Run, backup: Backup, rules: Rules, kept: Kept) -> Verified:
    """Read the files as far as is wanted."""
    from stallwatch.probes.mysql_backup.verify import verify

    if rules.verify == FULL:
        run.deadline.extend(rules.verify_timeout)
    return verify(backup, kept, run.deadline, run.progress, sample=rules.verify == SAMPLE)
