"""The words and the numbers for what is known of a backup."""

from __future__ import annotations

import time

from stallwatch.findings import Fault, ProbeError, Reading, State
from stallwatch.probes.mysql_backup import mysqldump
from stallwatch.probes.mysql_backup.privileges import TABLES
from stallwatch.startup import TYPE_CHECKING, NamedTuple
from stallwatch.table import Table as Rows
from stallwatch.units import say_duration, say_size
from stallwatch.words import FEW, listed, plural

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from stallwatch.findings import Finding
    from stallwatch.probes.mysql_backup.backup import Backup, Place, Table
    from stallwatch.probes.mysql_backup.server import Has
    from stallwatch.probes.mysql_backup.verifying import Verified

AHEAD = 300.0  # seconds by which clocks may differ
AGE, MISSING, SIZE_CHANGE, DAMAGED = "age", "missing_tables", "size_change", "damaged_files"
_LISTED = 200  # rows of a table: more are cut off anyhow


class Share(NamedTuple):
    """How many tables of the server are in the backup; ``newer`` are those made later or meanwhile."""

    there: int
    wanted: int
    newer: int
    unknown: int = 0  # may be in what has not been read

    @property
    def said(self) -> str:
        """Say it."""
        notes = [f"{self.newer} made later"] if self.newer else []
        notes += [f"{self.unknown} not known yet"] if self.unknown else []
        more = f" ({', '.join(notes)})" if notes else ""
        return f"{plural(self.there, 'table')} of {self.wanted}{more}"


def of(backup: Backup) -> str:
    """Name a backup by its moment, its maker, and its place if it is one of several."""
    place = f" in {backup.name}" if backup.name else ""
    maker = f"{backup.kind}, {backup.about}" if backup.about else backup.kind
    return f"backup of {_moment(backup.taken)} ({maker}){place}"


def _moment(seconds: float) -> str:
    return time.strftime("%Y-%m-%d %H:%M", time.localtime(seconds))


def size(backup: Backup) -> str:
    """Say how large it is."""
    return say_size(backup.size)


def age(backup: Backup, *, now: float, known: Sequence[str], newest: bool, place: str) -> Reading:
    """Give the headline: what is ``known`` of the backup stands in it."""
    seconds = now - backup.taken
    old = (
        "in the future by our clock" if seconds < -AHEAD else f"{say_duration(round(max(0.0, seconds)))} old"
    )
    what = ", ".join([of(backup), old, *known])
    why = f"there is no newer one in {place}" if newest else f"no newer one in {place} is finished"
    return Reading(
        AGE,
        round(max(0.0, seconds)),
        "s",
        what,
        why,
        "does its job still run? Look at its log and at free space",
    )


def ahead(backup: Backup, now: float) -> Fault:
    """Say that its age is not known, as clocks differ."""
    when = f"in {say_duration(round(backup.taken - now))} by our clock"
    what = f"{of(backup)} was made {when}: its age is not known"
    return Fault(State.WARNING, what, "", "set the clocks right, of this host and of the one that makes it")


def without_rows(backup: Backup, tables: Mapping[Table, int], *, known: bool) -> Fault:
    """Say that rows are not in it; they may have come later, unless the contrary is ``known``."""
    names = listed([f"{table} (about {rows})" for table, rows in tables.items()])
    what = f"there are no rows of {names} in the {of(backup)}"
    if not known:
        return Fault(State.OK, f"{what}: they may have come later")
    return Fault(
        State.WARNING,
        what,
        "nothing was written to them since, as far as the server knows",
        "did it break off?",
    )


def unfinished(backup: Backup, now: float) -> Fault:
    """Say of the newest backup that it broke off."""
    last = say_duration(round(max(0.0, now - backup.written)))
    why = f"{backup.unfinished}; last written to {last} ago"
    return Fault(State.CRITICAL, f"{of(backup)} was not finished", why, "look at its log and at free space")


def running(backup: Backup, now: float, *, alone: bool) -> Fault:
    """Say of the newest backup that it may be at work; that is wrong only if there is no other."""
    last = f"last written to {say_duration(round(max(0.0, now - backup.written)))} ago"
    if not alone:
        return Fault(State.OK, f"a newer one is not finished yet, {last}: {of(backup)}")
    what = f"there is no finished backup, and one that is being written: {of(backup)}"
    return Fault(
        State.WARNING, what, f"{backup.unfinished}; {last}", "write it beside the last one, not over it"
    )


def missing(backup: Backup, share: Share, tables: Sequence[Table], *, doubtful: bool) -> Reading:
    """Tell which tables are not in it; ``doubtful``: it may be at work."""
    if not tables:
        return Reading(MISSING, 0, "", f"{share.said} in the backup")
    names = [str(table) for table in tables]
    one = len(names) == 1
    what = f"{listed(names)} {'is' if one else 'are'} not in the {of(backup)}"
    why = f"{share.said} in there, and {'this one is' if one else 'these are'} older than it"
    if doubtful:
        why += ", but it was written to a moment ago"
    rows = Rows(("missing table",), tuple((each,) for each in names[:_LISTED]))
    advice = "did it break off, or does a filter leave them out? --ignore-table REGEX for what is not wanted"
    return Reading(MISSING, len(names), "", what, why, advice, table=rows, confirmed=not doubtful)


def tables_hidden(backup: Backup) -> Finding:
    """Say that it cannot be told which tables are in it."""
    what = f"which tables are in the {of(backup)}, is not known"
    if backup.is_sealed:
        return Fault(State.OK, what, backup.hidden)
    return Fault(State.OK, f"{what}: there are several in a file, --verify full finds them")


def no_table_seen(has: Has) -> ProbeError:
    """Say that the account sees nothing."""
    what = f"{has.where} shows no table to this account: whether any is missing in the backup, is not known"
    return ProbeError(what, f"GRANT {TABLES.mysql} ON *.* TO it")


def not_all_seen(has: Has) -> ProbeError:
    """Say that the account sees only a part."""
    what = f"compared are only the tables that {has.where} shows to this account, {len(has.tables)}"
    return ProbeError(
        f"{what}: whether others are missing, is not known", f"GRANT {TABLES.mysql} ON *.* shows all"
    )


def without_place(backup: Backup) -> Fault:
    """Say that nothing that came after the backup can be applied to it."""
    return Fault(
        State.WARNING,
        f"{of(backup)} does not tell its place in the binary log",
        "what has changed since then cannot be applied after a restore",
        "mysqldump --source-data=2, mariadb-dump --master-data=2, a newer mydumper; "
        "--no-binlog if nobody wants it",
    )


def place_unknown(place: Place, has: Has) -> ProbeError:
    """Say why it is not known whether changes since then can be applied."""
    why = has.no_logs or ProbeError("")
    return ProbeError(f"whether {place} is still on the source, is not known: {why.what}", why.advice)


def place_lost(backup: Backup, place: Place, has: Has) -> Fault:
    """Say that the binary log from the backup on is gone."""
    logs = has.logs or {}
    why = f"the oldest binary log there is {next(iter(logs))}" if logs else "there are no binary logs there"
    if place.file in logs:
        why = f"{place.file} has {logs[place.file]} bytes there: it is of another server, or was begun anew"
    return Fault(
        State.WARNING,
        f"{place} is not on {has.where} any more: after a restore of the {of(backup)} later changes are lost",
        why,
        "keep binary logs longer (binlog_expire_logs_seconds, expire_logs_days), or copy them elsewhere",
    )


def size_change(backup: Backup, before: float) -> Reading:
    """Tell how its size compares with that of the one before it."""
    change = 100 * (backup.size - before) / before
    what = f"{size(backup)}, {change:+.1f} % against the backup before it ({say_size(before)})"
    why = f"in the {of(backup)}"
    return Reading(SIZE_CHANGE, round(change, 2), "%", what, why, "compare the sizes of the files of both")


def bytes_of(backup: Backup) -> Reading:
    """Give its size for the perfdata."""
    return Reading("size", backup.size, "B", f"{size(backup)} in {plural(len(backup.files), 'file')}")


def _files(count: int) -> str:
    return f"{count} file{'s' if count != 1 else ''}"


def how_verified(backup: Backup, verified: Verified | None) -> list[str]:
    """Tell, for the headline, how much of it was read."""
    if verified:
        what = "of its packing verified" if backup.is_sealed else "verified"
        return [f"{int(verified.percent)} % {what}"]
    packed = any(mysqldump.PACKED.search(file.name) for file in backup.files)
    return ["not verified"] if backup.finished is None or backup.is_copy or packed else []


def damage(backup: Backup, verified: Verified | None, *, doubtful: bool) -> Iterator[Finding]:
    """Tell what is damaged, as far as that can be seen, and what could not be read.

    ``doubtful``: somebody may be at work on it, and what seems to be too short may yet grow.
    """
    damaged = {**backup.damaged, **(verified.damaged if verified else {})}
    first = next((f"{name}: {wrong}" for name, wrong in damaged.items()), "")
    what = "no file is known to be damaged"
    if damaged:
        what = first if len(damaged) == 1 else f"{len(damaged)} files are damaged, {first}"
    rows = Rows(("damaged file", "damage"), tuple(damaged.items())[:_LISTED]) if damaged else None
    advice = "make a new backup, and look at free space and at the disk"
    why = f"in the {of(backup)}" if damaged else ""
    confirmed = not doubtful or bool(verified and verified.damaged)
    yield Reading(DAMAGED, len(damaged), "", what, why, advice, table=rows, confirmed=confirmed)
    if verified:
        yield Reading("verified", round(verified.percent, 2), "%", _progress(verified))
        if verified.sealed:
            (name, why), *others = verified.sealed.items()
            more = f" and {len(others)} more" if others else ""
            advice = "apt install zstd" if why.endswith("zstd here") else ""
            yield ProbeError(f"{name}{more} cannot be verified: {why}", advice)
        yield from _not_verified(verified)


def _not_verified(verified: Verified) -> Iterator[Finding]:
    if verified.too_long:
        what = f"{listed(verified.too_long)} cannot be read to the end"
        advice = "--verify full with a longer --verify-timeout, as a service that the engine gives the time"
        yield Fault(State.WARNING, f"{what} in the time that there is", "", advice)
    if verified.untold:
        what = f"whether {listed(verified.untold)} ends where it should, cannot be told"
        yield ProbeError(f"{what}: no comment and no statement says so", "make it without --compact")
    yield from verified.problems[:FEW]


def _progress(verified: Verified) -> str:
    return f"{say_size(verified.done)} of {say_size(verified.size)} verified, in {_files(verified.files)}"


def asides(backup: Backup, *, verify: bool) -> Iterator[Finding]:
    """Say what cannot be seen; who wants it verified is told that it is not."""
    if verify and not backup.can_be_verified:
        yield ProbeError(f"{of(backup)} cannot be verified: {backup.hidden}")
    elif backup.hidden and backup.is_sealed:
        yield Fault(State.OK, backup.hidden)
