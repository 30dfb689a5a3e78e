"""Heartbeat tables: rows that the source renews every second, as pt-heartbeat does.

``ts`` is the time (text in ISO form, or a DATETIME or TIMESTAMP), ``server_id`` is who wrote the row. The
table does not show if the time is UTC (pt-heartbeat --utc) or local (its default).
"""

from __future__ import annotations

import re

from stallwatch.findings import ProbeError
from stallwatch.probes.mysql.asking import meant
from stallwatch.probes.replication_lag.model import Heartbeat
from stallwatch.sources.mysql import NoAnswerError
from stallwatch.sources.mysql.literals import identifier
from stallwatch.startup import TYPE_CHECKING, NamedTuple
from stallwatch.units import NotUnderstoodError, say_duration

if TYPE_CHECKING:
    from collections.abc import Iterable

    from stallwatch.probes.replication_lag.model import Channel
    from stallwatch.sources.mysql import Server, Value

    Row = dict[str, Value]

# Ages are computed where the row is: no third clock, and no zone of a client's. A table may keep every beat.
_NEWEST = """SELECT ts AS written, TIMESTAMPDIFF(MICROSECOND, ts, UTC_TIMESTAMP(6)) AS utc,
 TIMESTAMPDIFF(MICROSECOND, ts, CONVERT_TZ(UTC_TIMESTAMP(6), '+00:00', @@global.time_zone)) AS local
 FROM {table} WHERE server_id = %s ORDER BY ts DESC LIMIT 1"""
_OTHERS = "SELECT DISTINCT server_id FROM {table} ORDER BY server_id LIMIT 10"
_NAME = re.compile(r"(`(?:[^`]|``){1,64}`|[^`.\s]{1,64})\.(`(?:[^`]|``){1,64}`|[^`.\s]{1,64})")
_PLAUSIBLE = -2.0  # seconds: a heartbeat from the future is of another zone; a little is clocks
_ZONES = 900.0  # seconds: all zones differ by a multiple of it
_NEAR = 60.0  # seconds


class HeartbeatTable(NamedTuple):
    """A heartbeat table, and whose row of it counts."""

    name: str  # as it was written, for sentences
    quoted: str  # for statements
    server_id: int | None = None  # of the top of a chain; None: the channel's own source
    utc: bool | None = None  # None: whatever makes sense

    def read(self, server: Server, channel: Channel, within: float | None = None) -> Heartbeat:
        """Read the row of a channel's source, as the replica has it. Raises MysqlError, ProbeError.

        ``within`` so many seconds: an applier that changes the table's columns, or a backup, may hold it.
        """
        return self._read(server, self.server_id or channel.source_id, channel.seconds_behind, within)

    def source_age(self, source: Server, heartbeat: Heartbeat, within: float | None = None) -> float:
        """Read how old the same row is on the source: if as old, its writer is dead. Raises as ``read``."""
        return self._read(source, heartbeat.server_id, None, within).age

    def _read(self, server: Server, wanted: int, expected: float | None, within: float | None) -> Heartbeat:
        newest = _NEWEST.format(table=self.quoted.replace("%", "%%"))
        try:
            rows = server.rows(newest, wanted, within=within)
            others = [] if rows else server.rows(_OTHERS.format(table=self.quoted), within=within)
        except NoAnswerError as error:  # its statement is shown, maybe cut before the table
            what = f"the heartbeat table {self.name} cannot be read: {error.what}"
            raise NoAnswerError(what, error.advice, error.number) from None
        if not rows:
            raise self._no_row(wanted, others, server)
        row = rows[0]
        told = {zone: meant(row[zone]) for zone in self._zones()}
        ages = {zone: microseconds / 1e6 for zone, microseconds in told.items() if microseconds is not None}
        if not ages:
            raise ProbeError(f"{server.where}: ts of server {wanted} in {self.name} is not a time")
        age = _age(ages.values(), expected)
        return Heartbeat(age, wanted, self.name, _remark(age), written=str(row["written"]))

    def _zones(self) -> tuple[str, ...]:
        return ("utc", "local") if self.utc is None else ("utc",) if self.utc else ("local",)

    def _no_row(self, wanted: int, rows: Iterable[Row], server: Server) -> ProbeError:
        others = " and ".join(str(one["server_id"]) for one in rows)
        what = f"{server.where}: {self.name} has no heartbeat of server {wanted}"
        if not others:
            return ProbeError(f"{what}, it is empty", "let pt-heartbeat --update write on the source")
        advice = "let pt-heartbeat --update write on the source, or name the row with --heartbeat-server-id"
        return ProbeError(f"{what}, but of {others}", advice)


def table(text: str) -> HeartbeatTable:
    """Read the name of a table, ``percona.heartbeat``, quoted by backticks if need be.

    Raises NotUnderstoodError.
    """
    match = _NAME.fullmatch(text)
    if not match or "\0" in text:
        raise NotUnderstoodError(f'"{text}" is not a table such as percona.heartbeat: DATABASE.TABLE')
    return HeartbeatTable(text, ".".join(_quoted(part) for part in match.groups()))


def _quoted(name: str) -> str:
    bare = name[1:-1].replace("``", "`") if name.startswith("`") else name
    return identifier(bare)


def _age(ages: Iterable[float], expected: float | None) -> float:
    """Choose among UTC and local: not from the future; of two that may be, what Seconds_Behind is nearer to.

    Without that the younger one: a zone's hours would be there all the time.
    """
    known = list(ages)
    plausible = [age for age in known if age >= _PLAUSIBLE]
    if not plausible:
        return max(known)
    return min(plausible, key=lambda age: abs(age - (expected or 0.0)))


def _remark(age: float) -> str:
    """Return what is odd: measured from the wrong zone it would be off by hours, or quarters of one."""
    is_zone = abs(age) >= _ZONES - _NEAR and (abs(age) + _NEAR) % _ZONES <= 2 * _NEAR
    if age < _PLAUSIBLE:
        what = "probably of another time zone" if is_zone else "clocks differ"
        return f"heartbeat is {say_duration(-age)} in the future: {what}"
    return f"heartbeat is {say_duration(age)} old: probably of another time zone" if is_zone else ""
