"""A backup beside the server that it is of: are all tables in it, can changes since be applied?"""

from __future__ import annotations

from stallwatch.findings import Fault, ProbeError, State
from stallwatch.probes.mysql_backup import physical, telling
from stallwatch.probes.mysql_backup.telling import Share
from stallwatch.sources.mysql import DeniedError, MysqlError
from stallwatch.startup import TYPE_CHECKING, NamedTuple
from stallwatch.units import is_number

if TYPE_CHECKING:
    import re
    from collections.abc import Callable, Mapping, Sequence
    from contextlib import AbstractContextManager
    from typing import Any

    from stallwatch.findings import Finding
    from stallwatch.probes.mysql_backup.backup import Backup, Place, Table
    from stallwatch.probes.mysql_backup.server import Has, Rows
    from stallwatch.sources.mysql.server import Server


_KEPT = "absent_since"
_MOST = 10_000  # tables that are remembered


class Seen(NamedTuple):
    """What the server has shown; ``has`` is None if it has not answered, which ``problem`` says."""

    has: Has | None
    tables: Sequence[Table] = ()  # that are wanted
    made: Mapping[Table, float] = {}  # when those were made that seem to be missing, seconds since the epoch
    filled: Mapping[Table, Rows] = {}  # tables that have rows on the server, and none in the backup
    problem: Finding | None = None


class Source(NamedTuple):
    """The server that was backed up, and how to ask it."""

    connect: Callable[[], AbstractContextManager[Server]]
    unreachable: State  # what it means if it does not answer
    ignored: Sequence[re.Pattern[str]]  # tables, as SCHEMA.TABLE, that need not be in the backup

    def look(self, backup: Backup, memory: dict[str, Any], *, verify: bool) -> Seen:
        """Ask for all that is to be compared with a backup, which may yet be read to ``verify`` it."""
        try:
            with self.connect() as server:
                return self._look(server, backup, memory, verify=verify)
        except MysqlError as error:
            fault = Fault(self.unreachable, error.what, advice=error.advice)
            return Seen(None, problem=error if error.always_unknown else fault)

    def _look(self, server: Server, backup: Backup, memory: dict[str, Any], *, verify: bool) -> Seen:
        from stallwatch.probes.mysql_backup import server as servers

        has = servers.look(server)
        wanted = [table for table in has.tables if not self._is_ignored(table)]
        absent = backup.absent(wanted)
        problem = None
        if backup.is_copy and absent.missing:
            try:
                shared = physical.in_shared_tablespaces(servers.shared(server), absent.missing)
                wanted = [table for table in wanted if table not in shared]
                absent = backup.absent(wanted)
            except DeniedError as error:
                problem = ProbeError(
                    f"whether they are in a shared tablespace, is not known: {error.what}", error.advice
                )
        perhaps = absent.unknown if verify and not backup.is_sealed else ()
        made = servers.made(server, [*absent.missing, *perhaps]) if absent.missing or perhaps else {}
        made = _remembered(memory, [*absent.missing, *perhaps], made)
        gone = {*absent.missing, *absent.unknown}
        without_rows = backup.without_rows or (lambda _: False)
        empty = [table for table in wanted if table not in gone and without_rows(table)]
        filled = servers.filled(server, empty) if empty else {}
        return Seen(has, wanted, made, filled, problem)

    def _is_ignored(self, table: Table) -> bool:
        return any(pattern.fullmatch(str(table)) for pattern in self.ignored)


def _remembered(
    memory: dict[str, Any], missing: Sequence[Table], made: Mapping[Table, float]
) -> dict[Table, float]:
    """Tell when tables were made or, if that is earlier, since when they are known to be missing.

    OPTIMIZE TABLE, TRUNCATE and many an ALTER make a table anew: the server tells the time of the
    last one.
    """
    kept = memory.get(_KEPT)
    kept = kept if isinstance(kept, dict) else {}
    since = dict(made)
    for table in missing:
        before = kept.get(str(table))
        if before is not None and is_number(before):
            since[table] = min(before, since.get(table, before))
    memory[_KEPT] = {str(table): since[table] for table in missing[:_MOST] if table in since}
    return since


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
    if seen and seen.problem and (seen.has is None or backup.missing(seen.tables)):
        findings.append(seen.problem)
    findings += [Fault(State.WARNING, f"{telling.of(backup)}: {doubt}") for doubt in backup.doubts]
    return Compared(known, findings)


def _tables(backup: Backup, seen: Seen, has: Has, *, doubtful: bool) -> tuple[list[str], list[Finding]]:
    if not (has.tables or has.sees_all):
        return [], [telling.no_table_seen(has)]
    findings: list[Finding] = [] if has.sees_all else [telling.not_all_seen(has)]
    absent = backup.absent(seen.tables)
    known = [] if has.sees_all else ["other tables are not shown to this account"]
    findings += _filled(backup, seen)
    if len(absent.unknown) == len(seen.tables) and seen.tables:
        return ["which tables are in it is not known", *known], [*findings, telling.tables_hidden(backup)]
    begun = backup.taken if backup.begun is None else backup.begun
    missing = [table for table in absent.missing if seen.made.get(table, 0.0) <= begun]
    there = len(seen.tables) - len(absent.missing) - len(absent.unknown)
    share = Share(there, len(seen.tables), len(absent.missing) - len(missing), len(absent.unknown))
    return [share.said, *known], [telling.missing(backup, share, missing, doubtful=doubtful), *findings]


def _filled(backup: Backup, seen: Seen) -> list[Finding]:
    """Tell of tables with rows on the server and none in the backup; they may have been empty then."""
    lost: dict[Table, int] = {}
    later: dict[Table, int] = {}
    for table, rows in seen.filled.items():
        (later if rows.updated is not None and rows.updated > backup.taken else lost)[table] = rows.estimate
    return [telling.without_rows(backup, each, known=each is lost) for each in (lost, later) if each]


def _place(backup: Backup, has: Has | None) -> tuple[list[str], list[Finding]]:
    """Tell whether the changes since the backup are still in the binary log."""
    if not backup.places:
        if backup.gtids:
            return ["GTIDs noted"], []
        if backup.is_sealed or (has and has.logs is None):
            return [], []
        return ["no place in the binary log"], [telling.without_place(backup)] if has else []
    first, *_ = backup.places
    if has is None or has.no_logs:
        return [str(first)], [telling.place_unknown(first, has)] if has else []
    logs = has.logs or {}
    # The server that the others are of has logs that are called so: those of its source are not there.
    its_own = any(_called(place.file) in map(_called, logs) for place in backup.places if not place.of_source)
    for place in backup.places:
        if _is_there(place, logs) and not (place.of_source and its_own):
            return [f"{place} is still on the source"], []
    return [str(first)], [telling.place_lost(backup, first, has)]


def _called(log: str) -> str:
    return log.rpartition(".")[0]


def _is_there(place: Place, logs: Mapping[str, int]) -> bool:
    return place.position <= logs.get(place.file, -1)
