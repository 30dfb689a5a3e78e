"""The words and the numbers for what is known of a backup."""

from __future__ import annotations

import time

from stallwatch.findings import Fault, ProbeError, Reading, State
from stallwatch.line import Forms
from stallwatch.probes.mysql_backup import sql_text
from stallwatch.probes.mysql_backup.model import AGE, DAMAGED, MISSING, SIZE_CHANGE
from stallwatch.probes.mysql_backup.queries import TABLES
from stallwatch.startup import TYPE_CHECKING
from stallwatch.table import Table as Rows
from stallwatch.units import say_duration, say_size
from stallwatch.words import FEW, are, listed, plural

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from stallwatch.findings import Finding
    from stallwatch.probes.mysql_backup.model import Backup, Place, Share, Table
    from stallwatch.probes.mysql_backup.queries import Snapshot
    from stallwatch.probes.mysql_backup.verify import Verified

AHEAD = 300.0  # seconds by which clocks may differ
_LISTED = 200  # rows of a table: more are cut off anyhow
_EARLIER = 60.0  # seconds: what was read before that was read by an earlier run


def share(tables: Share) -> str:
    """Return how many tables are in it."""
    notes = [f"{tables.newer} made later"] if tables.newer else []
    notes += [f"{tables.unknown} not known yet"] if tables.unknown else []
    more = f" ({', '.join(notes)})" if notes else ""
    return f"{plural(tables.there, 'table')} of {tables.wanted}{more}"


def title(backup: Backup) -> str:
    """Name a backup by its moment, its maker, and its place if it is one of several."""
    place = f" in {backup.name}" if backup.name else ""
    maker = f"{backup.kind}, {backup.about}" if backup.about else backup.kind
    return f"{_of_moment(backup)} ({maker}){place}"


def _of_moment(backup: Backup) -> str:
    return f"backup of {time.strftime('%Y-%m-%d %H:%M', time.localtime(backup.taken))}"


def age(backup: Backup, *, now: float, known: Sequence[str], newest: bool, place: str) -> Reading:
    """Return the headline, with what is ``known`` of the backup."""
    seconds = now - backup.taken
    old = f"{_rounded(seconds)} old" if seconds >= -AHEAD else "in the future by our clock"
    what = ", ".join([title(backup), old, *known])
    why = f"there is no newer one in {place}" if newest else f"no newer one in {place} is finished"
    advice = "check whether its job still runs, its log and free space"
    return Reading(AGE, round(max(0.0, seconds)), "s", what, why, advice)


def _rounded(seconds: float) -> str:
    return say_duration(round(max(0.0, seconds)))


def ahead(backup: Backup, now: float) -> Fault:
    """Report that its age is not known, as clocks differ."""
    when = f"in {say_duration(round(backup.taken - now))} by our clock"
    what = f"{title(backup)} was made {when}: its age is not known"
    return Fault(State.WARNING, what, "", "set the clocks right, of this host and of the one that makes it")


def without_rows(backup: Backup, tables: Mapping[Table, int], *, known: bool) -> Fault:
    """Report that rows are not in it; they may have come later, unless the contrary is ``known``."""
    names = listed([f"{table} (about {rows})" for table, rows in tables.items()])
    what = f"no rows of {names} in the {title(backup)}"
    if not known:
        return Fault(State.OK, f"{what}: they may have come later")
    why = Forms("nothing was written to them since, as far as the server knows", "unchanged since")
    return Fault(State.WARNING, what, why, "check whether it broke off")


def unfinished(backup: Backup, now: float) -> Fault:
    """Report that the newest backup broke off."""
    why = f"{backup.unfinished}, last written to {_rounded(now - backup.written)} ago"
    return Fault(State.CRITICAL, f"{title(backup)} was not finished", why, "check its log and free space")


def running(backup: Backup, now: float, *, alone: bool) -> Fault:
    """Report that the newest backup may be at work; that is wrong only if there is no other."""
    last = f"last written to {_rounded(now - backup.written)} ago"
    if not alone:
        return Fault(State.OK, f"a newer one is not finished yet, {last}: {title(backup)}")
    what = "there is no finished backup, and one that is being written"
    advice = "write it beside the last one, not over it"
    what = Forms(f"{what}: {title(backup)}", what)
    return Fault(State.WARNING, what, f"{backup.unfinished}, {last}", advice)


def missing(backup: Backup, tables: Share, absent: Sequence[Table], *, confirmed: bool) -> Reading:
    """Name the tables that are not in it; not ``confirmed``: somebody may be at work on it."""
    if not absent:
        return Reading(MISSING, 0, "", f"{share(tables)} in the backup")
    names = [str(table) for table in absent]
    what = f"{listed(names)} {are(names)} not in the {title(backup)}"
    these = "these are" if len(names) > 1 else "this one is"
    why = f"{share(tables)} in there, and {these} older than it"
    if not confirmed:
        why += ", but it was written to a moment ago"
    rows = Rows(("missing table",), tuple((each,) for each in names[:_LISTED]))
    advice = "check whether it broke off, or a filter leaves them out (not wanted: --ignore-table REGEX)"
    return Reading(MISSING, len(names), "", what, why, advice, table=rows, confirmed=confirmed)


def tables_hidden(backup: Backup) -> Finding:
    """Report that its tables are not known."""
    what = f"which tables are in the {title(backup)}, is not known"
    if backup.is_sealed:
        return Fault(State.OK, what, backup.hidden)
    return Fault(State.OK, f"{what}: there are several in a file, --verify full finds them")


def no_table_seen(server: Snapshot) -> ProbeError:
    """Report that the account sees nothing."""
    missing = "whether any is missing in the backup, is not known"
    what = Forms(
        f"{server.where} shows no table to this account: {missing}",
        f"no table is shown to this account: {missing}",
    )
    return ProbeError(what, f"GRANT {TABLES.mysql} ON *.* TO it")


def not_all_seen(server: Snapshot) -> ProbeError:
    """Report that the account sees only a part."""
    what = f"compared are only the tables that {server.where} shows to this account, {len(server.tables)}"
    return ProbeError(
        Forms(
            f"{what}: whether others are missing, is not known",
            f"{plural(len(server.tables), 'table')} compared, whether others are missing is not known",
        ),
        f"GRANT {TABLES.mysql} ON *.* shows all",
    )


def without_place(backup: Backup) -> Fault:
    """Report that nothing that came after the backup can be applied to it."""
    return Fault(
        State.WARNING,
        f"{title(backup)} has no binary log position",
        Forms("changes after it cannot be applied after a restore", "later changes cannot be restored"),
        Forms(
            "make it with mysqldump --source-data=2, mariadb-dump --master-data=2 or a newer mydumper, or"
            " give --no-binlog if it is not needed",
            "make it with --source-data=2",
        ),
    )


def place_unknown(place: Place, server: Snapshot) -> ProbeError:
    """Return why it is not known whether changes since then can be applied."""
    why = server.no_logs or ProbeError("")
    return ProbeError(f"whether {place} is still on the source, is not known: {why.what}", why.advice)


def place_lost(backup: Backup, place: Place, server: Snapshot) -> Fault:
    """Report that the binary log from the backup on is gone."""
    logs = server.logs or {}
    why = "there are no binary logs there"
    if logs:
        oldest = next(iter(logs))
        why = Forms(f"the oldest binary log there is {oldest}", f"the oldest is {oldest}")
    if place.file in logs:
        size = f"{place.file} has {logs[place.file]} bytes there"
        why = Forms(f"{size}: it is of another server, or was written again", size)
    lost = f"changes after the {title(backup)} cannot be applied"
    what = Forms(
        f"{place} is not on {server.where} any more: {lost} after a restore",
        f"{place} is gone: {lost}",
        f"{place.file} is gone: {lost}",
        f"{place.file} is gone: changes after the {_of_moment(backup)} are lost",
    )
    advice = "keep binary logs longer (binlog_expire_logs_seconds, expire_logs_days), or copy them elsewhere"
    return Fault(State.WARNING, what, why, Forms(advice, "keep binary logs longer"))


def size_change(backup: Backup, before: float) -> Reading:
    """Return how its size compares with that of the one before it."""
    change = 100 * (backup.size - before) / before
    what = f"{say_size(backup.size)}, {change:+.1f} % against the backup before it ({say_size(before)})"
    why = f"in the {title(backup)}"
    return Reading(SIZE_CHANGE, round(change, 2), "%", what, why, "compare the sizes of the files of both")


def bytes_of(backup: Backup) -> Reading:
    """Return its size for the perfdata."""
    return Reading(
        "size", backup.size, "B", f"{say_size(backup.size)} in {plural(len(backup.files), 'file')}"
    )


def how_verified(backup: Backup, verified: Verified | None) -> list[str]:
    """Return, for the headline, how much of it was read."""
    if verified:
        what = "of its packing verified" if backup.is_sealed else "verified"
        return [f"{int(verified.percent)} % {what}"]
    packed = any(sql_text.PACKED.search(file.name) for file in backup.files)
    return ["not verified"] if backup.finished is None or backup.is_copy or packed else []


def damage(backup: Backup, verified: Verified | None, *, may_run: bool) -> Iterator[Finding]:
    """Return what is damaged, as far as that can be seen, and what could not be read.

    ``may_run``: somebody may be at work on it, and what seems to be too short may yet grow.
    """
    read = verified.damaged.items() if verified else ()
    damaged = {**backup.damaged, **{name: f"{wrong}{_ago(ago)}" for name, (wrong, ago) in read}}
    first = next((f"{name}: {wrong}" for name, wrong in damaged.items()), "")
    what = "no file is known to be damaged"
    if damaged:
        what = first if len(damaged) == 1 else f"{len(damaged)} files are damaged, {first}"
    rows = Rows(("damaged file", "damage"), tuple(damaged.items())[:_LISTED]) if damaged else None
    advice = "make a new backup, then look at free space and at the disk"
    why = f"in the {title(backup)}" if damaged else ""
    confirmed = not may_run or bool(verified and verified.damaged)
    yield Reading(DAMAGED, len(damaged), "", what, why, advice, table=rows, confirmed=confirmed)
    if verified:
        yield Reading("verified", round(verified.percent, 2), "%", _progress(verified))
        if verified.sealed:
            why = next(iter(verified.sealed.values()))
            advice = "apt install zstd" if why.endswith("zstd here") else ""
            yield ProbeError(f"{listed([*verified.sealed], 1)} cannot be verified: {why}", advice)
        yield from _not_verified(verified)


def _not_verified(verified: Verified) -> Iterator[Finding]:
    if verified.too_long:
        what = f"{listed(verified.too_long)} cannot be read to the end"
        advice = "--verify full with a longer --verify-timeout, as a service that the engine gives the time"
        yield Fault(State.WARNING, f"{what} in the time that there is", "", advice)
    if verified.untold:
        what = f"whether {listed(verified.untold)} is complete is not known"
        yield ProbeError(f"{what}: no comment and no statement marks the end", "make it without --compact")
    yield from verified.problems[:FEW]


def _progress(verified: Verified) -> str:
    files = plural(verified.files, "file")
    of = f"{say_size(verified.done)} of {say_size(verified.size)} verified, in {files}"
    return f"{of}{_ago(verified.ago, 'the first ')}"


def _ago(seconds: float, which: str = "") -> str:
    """Return how long ago a file was read; "" if in this run."""
    return f", {which}read {_rounded(seconds)} ago" if seconds >= _EARLIER else ""


def asides(backup: Backup, *, verify: bool) -> Iterator[Finding]:
    """Report what is hidden in a backup; with ``verify``, that it cannot be verified."""
    if verify and not backup.can_be_verified:
        yield ProbeError(f"{title(backup)} cannot be verified: {backup.hidden}")
    elif backup.hidden and backup.is_sealed:
        yield Fault(State.OK, backup.hidden)
