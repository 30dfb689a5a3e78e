"""What is wrong with a backup beside its server: are all tables in it, can changes since be applied?"""

from __future__ import annotations

from stallwatch.findings import Fault, State
from stallwatch.history import own, recall, remember
from stallwatch.probes.mysql_backup import messages
from stallwatch.probes.mysql_backup.model import Share
from stallwatch.probes.mysql_backup.queries import Snapshot
from stallwatch.startup import TYPE_CHECKING, NamedTuple
from stallwatch.units import say_size

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

    from stallwatch.findings import Finding
    from stallwatch.probes.mysql_backup.model import Backup, Place, Table

_KEPT = "sizes"


class Rules(NamedTuple):
    """How backups are judged."""

    grace: float  # seconds without a write, for which an unfinished backup may yet be at work
    binlog: bool  # whether its place in a binary log matters
    verify: str  # NONE, SAMPLE or FULL
    verify_timeout: float  # seconds, besides the deadline


class _Size(NamedTuple):
    """The last backup of a kind."""

    taken: float  # seconds since the epoch
    size: int  # bytes
    before: int | None  # of the one before it


class Diagnosis(NamedTuple):
    """What was found; ``known`` is for the headline."""

    known: Sequence[str]
    findings: Sequence[Finding]


def diagnose(backup: Backup, server: Snapshot | Finding | None, rules: Rules, *, may_run: bool) -> Diagnosis:
    """Compare a backup with its server, if there is one; ``may_run``: somebody may be at work on it."""
    snapshot = server if isinstance(server, Snapshot) else None
    problem = server.problem if isinstance(server, Snapshot) else server
    tables = _tables(backup, snapshot, may_run=may_run) if snapshot else Diagnosis((), ())
    known, findings = [*tables.known, say_size(backup.size)], [*tables.findings]
    if rules.binlog:
        place = _place(backup, snapshot)
        known += place.known
        findings += place.findings
    if problem and (snapshot is None or backup.absent(snapshot.wanted).missing):
        findings.append(problem)
    findings += [Fault(State.WARNING, f"{messages.title(backup)}: {doubt}") for doubt in backup.doubts]
    return Diagnosis(known, findings)


def _tables(backup: Backup, server: Snapshot, *, may_run: bool) -> Diagnosis:
    if not (server.tables or server.sees_all):
        return Diagnosis((), [messages.no_table_seen(server)])
    findings: list[Finding] = [] if server.sees_all else [messages.not_all_seen(server)]
    known = [] if server.sees_all else ["other tables are not shown to this account"]
    findings += _without_rows(backup, server)
    absent = backup.absent(server.wanted)
    if len(absent.unknown) == len(server.wanted) and server.wanted:
        findings.append(messages.tables_hidden(backup))
        return Diagnosis(["which tables are in it is not known", *known], findings)
    begun = backup.taken if backup.begun is None else backup.begun
    missing = [table for table in absent.missing if server.made.get(table, 0.0) <= begun]
    there = len(server.wanted) - len(absent.missing) - len(absent.unknown)
    share = Share(there, len(server.wanted), len(absent.missing) - len(missing), len(absent.unknown))
    findings.insert(0, messages.missing(backup, share, missing, confirmed=not may_run))
    return Diagnosis([messages.share(share), *known], findings)


def _without_rows(backup: Backup, server: Snapshot) -> list[Finding]:
    """Report tables with rows on the server and none in the backup; they may have been empty then."""
    lost: dict[Table, int] = {}
    later: dict[Table, int] = {}
    for table, rows in server.filled.items():
        (later if rows.updated is not None and rows.updated > backup.taken else lost)[table] = rows.estimate
    return [messages.without_rows(backup, each, known=each is lost) for each in (lost, later) if each]


def _place(backup: Backup, server: Snapshot | None) -> Diagnosis:
    """Return whether the changes since the backup are still in the binary log."""
    if not backup.places:
        if backup.gtids:
            return Diagnosis(["GTIDs noted"], ())
        if backup.is_sealed or (server and server.logs is None):
            return Diagnosis((), ())
        return Diagnosis(["no place in the binary log"], [messages.without_place(backup)] if server else ())
    first, *_ = backup.places
    if server is None or server.no_logs:
        return Diagnosis([str(first)], [messages.place_unknown(first, server)] if server else ())
    logs = server.logs or {}
    # The server that the others are of has logs that are called so: those of its source are not there.
    is_its_own = any(_stem(place.file) in map(_stem, logs) for place in backup.places if not place.of_source)
    for place in backup.places:
        if _is_there(place, logs) and not (place.of_source and is_its_own):
            return Diagnosis([f"{place} is still on the source"], ())
    return Diagnosis([str(first)], [messages.place_lost(backup, first, server)])


def _stem(log: str) -> str:
    return log.rpartition(".")[0]


def _is_there(place: Place, logs: Mapping[str, int]) -> bool:
    return place.position <= logs.get(place.file, -1)


def size_before(memory: dict[str, Any], backup: Backup) -> int | None:
    """Return the bytes of the backup of the same kind before this one, and remember this one.

    None: there is none that earlier runs have seen. It stays the same until a newer backup comes.
    """
    kept = own(memory, _KEPT)
    maker = backup.kind.partition(",")[0]  # what comes then is how many files there are
    kind = f"{maker} {'incremental' if 'incremental' in backup.about else ''}".strip()
    taken = round(backup.taken)
    last = recall(kept, kind, _Size) or _Size(taken, 0, None)
    before = last.before if taken == last.taken else last.size if taken > last.taken else None
    before = before if before and before > 0 else None
    remember(kept, kind, _Size(taken, backup.size, before))
    return before
