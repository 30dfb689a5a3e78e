"""How far a replica is behind in its source's binary log, where no GTIDs count transactions."""

from __future__ import annotations

import re

from stallwatch.probes.replication.channel import Position
from stallwatch.probes.replication.evidence import Source
from stallwatch.probes.replication.status import only

TYPE_CHECKING = False
if TYPE_CHECKING:
    from stallwatch.probes.replication.channel import Channel
    from stallwatch.sources.mysql import Server

_SHOW_BINARY_LOG_STATUS = (8, 2, 0)  # SHOW MASTER STATUS until then; that is gone in 8.4
_NUMBER = re.compile(r"\.(\d{1,10})$", re.ASCII)


def compare(source: Server, channel: Channel) -> Source:
    """Ask the source where its log ends. Raises MysqlError.

    The replica's place is older than the answer, so a little is always on its way; only nothing is certain.
    """
    end = _end(source)
    row = only(source, "SELECT @@global.max_binlog_size AS size")
    size = int(row["size"] or 1)
    return Source(
        where="",
        clock_ahead=None,
        missing=0 if end == channel.applied else None,
        not_received=0 if end == channel.received else None,
        errant=None,
        sequence=_place(end, size),
        replica_sequence=_place(channel.applied, size),
        octets=_octets(source, channel.applied, end),
    )


def _end(source: Server) -> Position:
    new = source.flavour.version >= _SHOW_BINARY_LOG_STATUS
    rows = source.rows("SHOW BINARY LOG STATUS" if new else "SHOW MASTER STATUS")
    return Position(str(rows[0]["File"]), int(rows[0]["Position"] or 0)) if rows else Position("", 0)


def _place(position: Position, size: int) -> float | None:
    """Make a place in the log one number that grows with it, as if every file were full before the next."""
    number = _NUMBER.search(position.file)
    return float(int(number[1]) * size + min(position.offset, size)) if number else None


def _octets(source: Server, applied: Position, end: Position) -> int | None:
    """Count the bytes between two places in the source's log; None: the first of them is gone."""
    if applied.file == end.file:
        return max(0, end.offset - applied.offset)
    sizes = {str(row["Log_name"]): int(row["File_size"] or 0) for row in source.rows("SHOW BINARY LOGS")}
    if applied.file not in sizes:
        return None
    between = [size for name, size in sizes.items() if applied.file <= name < end.file]
    return max(0, sum(between) - applied.offset + end.offset)
