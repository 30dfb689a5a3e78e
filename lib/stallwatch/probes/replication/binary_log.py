"""How far a replica is behind in its source's binary log, where no GTIDs count transactions."""

from __future__ import annotations

import re
import time

from stallwatch.probes.mysql.statement import having, text, whole
from stallwatch.probes.replication.channel import Position
from stallwatch.probes.replication.evidence import Source
from stallwatch.probes.replication.settling import settled
from stallwatch.probes.replication.status import channels, only
from stallwatch.startup import TYPE_CHECKING

if TYPE_CHECKING:
    from stallwatch.probes.replication.channel import Channel
    from stallwatch.sources.mysql import Server

_SHOW_BINARY_LOG_STATUS = (8, 2, 0)  # SHOW MASTER STATUS until then; that is gone in 8.4
_NUMBER = re.compile(r"\.(\d{1,10})$", re.ASCII)


def compare(source: Server, replica: Server, channel: Channel) -> Source:
    """Ask the source where its log ends, and the replica once more how far it has come. Raises MysqlError.

    The source may have written on meanwhile; only nothing is certain.
    """
    end, begun = _end(source), time.monotonic()
    row = only(source, "SELECT @@global.max_binlog_size AS size", "size")
    size = whole(row, "size") or 1
    there = _place(end, size)

    def still_behind(then: Channel | None) -> Channel | None:
        now = next((one for one in channels(replica) if one.name == channel.name), then)
        return now if now and _is_behind(now.applied, end, size) else None

    behind = settled(channel if _is_behind(channel.applied, end, size) else None, still_behind)
    applied = behind.applied if behind else end
    return Source(
        where="",
        clock_ahead=None,
        missing=None if behind else 0,
        not_received=None if behind and behind.received != end else 0,
        errant=None,
        sequence=there,
        replica_sequence=_place(applied, size),
        pace=_pace(there, _place(_end(source), size), time.monotonic() - begun) if behind else None,
        octets=_octets(source, applied, end),
    )


def _is_behind(applied: Position, end: Position, size: int) -> bool:
    here, there = _place(applied, size), _place(end, size)
    return applied != end and (here is None or there is None or here < there)


def _pace(then: float | None, now: float | None, seconds: float) -> float | None:
    return None if then is None or now is None or not seconds else (now - then) / seconds


def _end(source: Server) -> Position:
    new = source.flavour.version >= _SHOW_BINARY_LOG_STATUS
    rows = having(source.rows("SHOW BINARY LOG STATUS" if new else "SHOW MASTER STATUS"), "File", "Position")
    return Position(text(rows[0], "File"), whole(rows[0], "Position")) if rows else Position("", 0)


def _place(position: Position, size: int) -> float | None:
    """Make a place in the log one number that grows with it, as if every file were full before the next."""
    number = _NUMBER.search(position.file)
    return float(int(number[1]) * size + min(position.offset, size)) if number else None


def _octets(source: Server, applied: Position, end: Position) -> int | None:
    """Count the bytes between two places in the source's log; None: the first of them is gone."""
    if applied.file == end.file:
        return max(0, end.offset - applied.offset)
    rows = having(source.rows("SHOW BINARY LOGS"), "Log_name", "File_size")
    sizes = {text(row, "Log_name"): whole(row, "File_size") for row in rows}
    if applied.file not in sizes:
        return None
    between = [size for name, size in sizes.items() if applied.file <= name < end.file]
    return max(0, sum(between) - applied.offset + end.offset)
