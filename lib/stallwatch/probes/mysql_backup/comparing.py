"""A backup beside the server that it is of: are all tables in it, can changes since be applied?"""

from __future__ import annotations

from typing import NamedTuple

from stallwatch.probes.mysql_backup import telling
from stallwatch.probes.mysql_backup.telling import Share
from stallwatch.reading import Fault, State
from stallwatch.sources.mysql import MysqlError

TYPE_CHECKING = False  # typing itself costs every check 2 ms
if TYPE_CHECKING:
    import re
    from collections.abc import Callable, Mapping, Sequence
    from contextlib import AbstractContextManager

    from stallwatch.probes.mysql_backup.backup import Backup, Place, Table
    from stallwatch.probes.mysql_backup.server import Has
    from stallwatch.reading import Finding
    from stallwatch.sources.mysql.server import Server


class Seen(NamedTuple):
    """What the server has shown; ``has`` is None if it has not answered, which ``problem`` says."""

    has: Has | None
    tables: Sequence[Table]  # that are wanted
    made: Mapping[Table, float]  # when those were made that seem to be missing, seconds since the epoch
    problem: Finding | None = None


class Source(NamedTuple):
    """The server that was backed up, and how to ask it."""

    connect: Callable[[], AbstractContextManager[Server]]
    unreachable: State  # what it means if it does not answer
    ignored: Sequence[re.Pattern[str]]  # tables, as SCHEMA.TABLE, that need not be in the backup

    def look(self, backup: Backup) -> Seen:
        """Ask for all that is to be compared with a backup."""
        from stallwatch.probes.mysql_backup import server as servers

        try:
            with self.connect() as server:
                has = servers.look(server)
                wanted = [table for table in has.tables if not self._is_ignored(table)]
                absent = backup.missing(wanted) or []
                return Seen(has, wanted, servers.made(server, absent) if absent else {})
        except MysqlError as error:
            return Seen(None, [], {}, Fault(self.unreachable, error.what, advice=error.advice))

    def _is_ignored(self, table: Table) -> bool:
        return any(pattern.fullmatch(str(table)) for pattern in self.ignored)


class Compared(NamedTuple):
    """What came out; ``known`` is for the headline."""

    known: Sequence[str]
    findings: Sequence[Finding]


def compared(backup: Backup, *, seen: Seen | None, binlog: bool, doubtful: bool = False) -> Compared:
    """Compare them; ``doubtful``: somebody may yet be at work on the backup."""
    known: list[str] = []
    findings: list[Finding] = []
    has = seen.has if seen else None
    if seen and has:
        shares, found = _tables(backup, seen, has, doubtful=doubtful)
        known += shares
        findings += found
    known.append(telling.size(backup))
    if binlog:
        words, faults = _place(backup, has)
        known += words
        findings += faults
    if seen and seen.problem:
        findings.append(seen.problem)
    findings += [Fault(State.WARNING, f"{telling.of(backup)}: {doubt}") for doubt in backup.doubts]
    return Compared(known, findings)


def _tables(backup: Backup, seen: Seen, has: Has, *, doubtful: bool) -> tuple[list[str], list[Finding]]:
    if not (has.tables or has.sees_all):
        return [], [telling.no_table_seen(has)]
    findings: list[Finding] = [] if has.sees_all else [telling.not_all_seen(has)]
    absent = backup.missing(seen.tables)
    if absent is None:
        return [], [*findings, telling.tables_hidden(backup)]
    missing = [table for table in absent if seen.made.get(table, 0.0) <= backup.taken]
    share = Share(len(seen.tables) - len(absent), len(seen.tables), len(absent) - len(missing))
    return [share.said], [telling.missing(backup, share, missing, doubtful=doubtful), *findings]


def _place(backup: Backup, has: Has | None) -> tuple[list[str], list[Finding]]:
    """Tell whether the changes since the backup are still in the binary log."""
    if not backup.places:
        if backup.is_sealed or (has and has.logs is None):
            return [], []
        return ["no place in the binary log"], [telling.without_place(backup)] if has else []
    first, *_ = backup.places
    if has is None:
        return [str(first)], []
    if has.no_logs:
        return [str(first)], [telling.place_unknown(first, has)]
    for place in backup.places:
        if _is_there(place, has.logs or {}):
            return [f"{place} is still on the source"], []
    return [str(first)], [telling.place_lost(backup, first, has)]


def _is_there(place: Place, logs: Mapping[str, int]) -> bool:
    return place.position <= logs.get(place.file, -1)
