"""What the source shows: what it has and the replica has not, and what its clock shows.

What arrives while both are asked is on its way, not missing: the replica is asked again for a moment.
"""

from __future__ import annotations

import re
import time

from stallwatch.probes.mysql.asking import having, number, text, whole
from stallwatch.probes.replication_lag import gtid
from stallwatch.probes.replication_lag.model import Position, Source
from stallwatch.probes.replication_lag.queries import channels, only
from stallwatch.startup import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import TypeVar

    from stallwatch.probes.replication_lag.model import Channel
    from stallwatch.sources.mysql import Server

    Left = TypeVar("Left")

_ID, _WHO = "SELECT @@server_id AS id", "SELECT @@server_id AS id, @@server_uuid AS uuid"
_CLOCK = "SELECT UNIX_TIMESTAMP(NOW(6)) AS now"
_EXECUTED = "SELECT @@global.gtid_executed AS executed"
_POSITIONS = """SELECT @@global.gtid_binlog_pos AS written, @@global.gtid_slave_pos AS applied,
 @@global.gtid_binlog_state AS state"""
_SHOW_BINARY_LOG_STATUS = (8, 2, 0)  # SHOW MASTER STATUS until then; that is gone in 8.4
_NUMBER = re.compile(r"\.(\d{1,10})$", re.ASCII)  # of a binary log
_TOO_SLOW = 2.0  # s of round trips: the clocks are not compared
_SAMPLE, _FEW = 1.0, 3  # seconds that its pace is sampled for, fewest transactions for one
_TIMES, _PAUSE = 3, 0.1  # looks at what is missing, seconds before each


class Identity(NamedTuple):
    """Who a server is."""

    server_id: int
    uuid: str  # "" on MariaDB

    def is_source_of(self, channel: Channel) -> bool:
        """Whether the channel replicates from it."""
        if self.uuid and channel.source_uuid:
            return self.uuid == channel.source_uuid
        return self.server_id == channel.source_id


def identity(server: Server) -> Identity:
    """Ask a server who it is; no privilege is needed. Raises MysqlError."""
    if server.flavour.mariadb:
        return Identity(whole(only(server, _ID, "id"), "id"), "")
    row = only(server, _WHO, "id", "uuid")
    return Identity(whole(row, "id"), text(row, "uuid"))


def is_above(who: Identity, replica: Server, channel: Channel, channels: Sequence[Channel]) -> bool:
    """Whether transactions of a server come through a channel that has another source: it begins the chain.

    MySQL forgets what it has received with its relay logs; a single channel's applied ones show it.
    """
    texts = (channel.received_gtids, channel.applied_gtids if len(channels) == 1 else "")
    if not replica.flavour.mariadb:
        return bool(who.uuid) and any(who.uuid in gtid.parse(text) for text in texts)
    servers = {server for text in texts for _, server in gtid.written(text)}
    if len(channels) == 1:
        servers |= {server for _, server in _positions(replica).logged}
    return who.server_id in servers and who != identity(replica)


def ask(source: Server, replica: Server, channel: Channel, channels: Sequence[Channel] = ()) -> Source:
    """Compare the source of a channel with the replica, of which ``channels`` are all.

    The replica is read first and the source second, or else transactions on their way would seem errant;
    then the replica again, or else they would seem missing. GTIDs need no privilege; without them the
    binary log is asked for (``privileges.BINARY_LOG``). Raises MysqlError, GtidError.
    """
    clock_ahead = _clock_ahead(source, replica)
    if source.flavour.mariadb:
        found = _compare_positions(source, replica, channel, several=len(channels) > 1)
    else:
        found = _compare_sets(source, replica, channel, several=len(channels) > 1)
    return found._replace(where=source.where, clock_ahead=clock_ahead)


def _settled(source: Server, missing: Left, again: Callable[[Left], Left]) -> Left:
    """Ask ``again`` what is left of what is missing, as long as anything is, for a moment."""
    for _ in range(_TIMES):
        if not missing:
            break
        source.deadline.rest(_PAUSE)
        missing = again(missing)
    return missing


def _clock_ahead(source: Server, replica: Server) -> float | None:
    """Compare the clocks, each asked at half of a round trip; a difference within these is none."""
    there, slack = _clock(source)
    here, more = _clock(replica)
    if slack + more > _TOO_SLOW:
        return None
    ahead = there - here
    return ahead if abs(ahead) > (slack + more) / 2 else 0.0


def _clock(server: Server) -> tuple[float, float]:
    """Find by how much a server's clock is ahead of our monotonic one, and how long the question took."""
    begun = time.monotonic()
    row = only(server, _CLOCK, "now")
    took = time.monotonic() - begun
    return number(row, "now") - (begun + took / 2), took


def _compare_sets(source: Server, replica: Server, channel: Channel, *, several: bool) -> Source:
    """Compare the GTID sets of MySQL; where GTIDs are off, the places in the binary log."""
    here = _executed(replica)
    there, begun = _executed(source), time.monotonic()
    if not there:
        return _compare_logs(source, replica, channel)
    at_first = gtid.subtract(there, here)
    missing = _settled(source, at_first, lambda left: gtid.subtract(left, _executed(replica)))
    errant = gtid.subtract(here, there)
    if several:  # what came from other sources is no error
        own = identity(replica).uuid
        errant = {key: of for key, of in errant.items() if key in there or key.startswith(own)}
    count, lacking = gtid.count(there), gtid.count(missing)
    not_received = gtid.subtract(missing, gtid.parse(channel.received_gtids))
    return Source(
        missing=lacking,
        not_received=gtid.count(not_received),
        errant=gtid.count(errant),
        sequence=count,
        replica_sequence=count - lacking,
        pace=_pace(source, begun, count, lambda: gtid.count(_executed(source))) if lacking else None,
    )


def _executed(server: Server) -> gtid.GtidSet:
    row = only(server, _EXECUTED)
    return gtid.parse(str(row["executed"] or ""))


def _compare_positions(source: Server, replica: Server, channel: Channel, *, several: bool) -> Source:
    """Compare the positions of MariaDB, domain by domain.

    A domain that only the source has is not replicated, unless none is yet. The replica has one place in
    each domain, whichever of several sources it is from: it has a meaning only in that source's count.
    """
    here = _positions(replica)
    there, begun = _positions(source), time.monotonic()
    shared = gtid.within(there.written, here.applied) if here.applied else there.written
    found = Source(errant=_errant(here, there, identity(replica).server_id))
    if several and (strange := there.unknown(gtid.within(here.applied, shared))):
        return found._replace(remark=_not_its_count(strange))

    def lag_of(left: int) -> int:
        applied = gtid.within(_positions(replica).applied, shared)
        return left if several and there.unknown(applied) else gtid.ahead(shared, applied)

    missing = _settled(source, gtid.ahead(shared, here.applied), lag_of)
    received = gtid.position(channel.received_gtids)
    untold = here.applied and not received  # as where the channel does not use GTIDs
    count = sum(sequence for _, sequence in shared.values())
    return found._replace(
        missing=missing,
        not_received=None if untold else min(missing, gtid.ahead(shared, received)),
        sequence=count,
        replica_sequence=count - missing,
        pace=_pace(source, begun, 0, lambda: gtid.ahead(_positions(source).written, there.written))
        if missing
        else None,
    )


def _not_its_count(strange: gtid.Position) -> str:
    domain, (server, sequence) = next(iter(strange.items()))
    return (
        f"what is missing is not known: {domain}-{server}-{sequence}, applied last in domain {domain}, "
        "is of another source: give each its own gtid_domain_id"
    )


class _Positions(NamedTuple):
    """How far a MariaDB server has come, by domain."""

    written: gtid.Position  # to its own binary log
    applied: gtid.Position  # from its sources
    logged: gtid.Written  # the last of each server that it has written, its own or not

    def unknown(self, other: gtid.Position) -> gtid.Position:
        """Give the part of another server's position that this one never had."""
        return {
            domain: (server, sequence)
            for domain, (server, sequence) in other.items()
            if self.last_of(domain, server) < sequence
        }

    def last_of(self, domain: int, server: int) -> int:
        """Give the last sequence number of a server that it has had; one without a binary log applied it."""
        by, applied = self.applied.get(domain, (server, 0))
        return max(self.logged.get((domain, server), 0), applied if by == server else 0)


def _positions(server: Server) -> _Positions:
    row = only(server, _POSITIONS)
    return _Positions(
        gtid.position(str(row["written"] or "")),
        gtid.position(str(row["applied"] or "")),
        gtid.written(str(row["state"] or "")),
    )


def _errant(here: _Positions, there: _Positions, server_id: int) -> int:
    """Count what the replica has written itself, and its source does not have.

    With gtid_strict_mode the source's next transaction then stops the applier with error 1950 (10.11.19).
    gtid_binlog_state remembers them when others have followed (log_slave_updates), but not how many: then
    all count as one. What is not beyond all that the source has applied itself is not called errant: that
    may have been a replica of this one, and keep no log of that.
    """
    errant = 0
    for (domain, server), last in here.logged.items():
        _, taken_over = there.applied.get(domain, (0, 0))
        if server != server_id or last <= max(there.last_of(domain, server), taken_over):
            continue
        _, applied = here.applied.get(domain, (0, 0))
        errant += last - max(there.last_of(domain, server), min(applied, last - 1))
    return errant


def _compare_logs(source: Server, replica: Server, channel: Channel) -> Source:
    """Ask the source where its binary log ends, and the replica once more how far it has come.

    The source may have written on meanwhile; only nothing is certain.
    """
    end, begun = _end(source), time.monotonic()
    row = only(source, "SELECT @@global.max_binlog_size AS size", "size")
    size = whole(row, "size") or 1
    there = _place(end, size)

    def still_behind(then: Channel | None) -> Channel | None:
        now = next((one for one in channels(replica) if one.name == channel.name), then)
        return now if now and _is_behind(now.applied, end, size) else None

    behind = _settled(source, channel if _is_behind(channel.applied, end, size) else None, still_behind)
    applied = behind.applied if behind else end
    return Source(
        missing=None if behind else 0,
        not_received=None if behind and behind.received != end else 0,
        sequence=there,
        replica_sequence=_place(applied, size),
        pace=_pace(source, begun, there, lambda: _place(_end(source), size)) if behind else None,
        octets=_octets(source, applied, end),
    )


def _is_behind(applied: Position, end: Position, size: int) -> bool:
    here, there = _place(applied, size), _place(end, size)
    return applied != end and (here is None or there is None or here < there)


def _pace(source: Server, begun: float, then: float | None, ask: Callable[[], float | None]) -> float | None:
    """Sample how much the source writes in a second; None: too little."""
    source.deadline.rest(_SAMPLE - (time.monotonic() - begun))
    now, seconds = ask(), time.monotonic() - begun
    if then is None or now is None or not seconds or 0 < now - then < _FEW:
        return None
    return (now - then) / seconds


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
