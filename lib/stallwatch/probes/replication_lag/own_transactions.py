"""Errant transactions, seen on the replica alone: what it has written itself grows while it replicates.

That there are some is the trace of an old switchover, no finding. Statements after SET sql_log_bin = 0,
or on a server without a binary log, have no GTID, and are not among them. Where two servers replicate from
each other, own transactions are as they should be: see ``go_on_to_a_source``.
"""

from __future__ import annotations

from stallwatch.findings import Fault, Line, Reading, State
from stallwatch.history import recall
from stallwatch.probes.mysql.asking import text
from stallwatch.probes.replication_lag import gtid
from stallwatch.sources.mysql import MysqlError
from stallwatch.startup import TYPE_CHECKING, NamedTuple
from stallwatch.units import say_duration
from stallwatch.words import plural

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from stallwatch.findings import Finding
    from stallwatch.probes.replication_lag.model import Channel
    from stallwatch.probes.replication_lag.queries import Facts
    from stallwatch.sources.mysql.server import Server

_TOLD = 3600.0  # seconds for which the last of them are reported, and for which two looks are in a row
_MOST = 1000  # intervals that are kept
# Each replica of MySQL sets its UUID in a variable of its session (5.7: slave_uuid; 9.7.2: both).
_REPLICAS = """SELECT CONVERT(VARIABLE_VALUE USING utf8mb4) AS uuid
 FROM performance_schema.user_variables_by_thread WHERE VARIABLE_NAME IN ('replica_uuid', 'slave_uuid')"""
# MariaDB shows which of its replicas is which (10.11.19) only to who has REPLICATION MASTER ADMIN.
_DUMPS = """SELECT HOST AS host, COMMAND AS command FROM information_schema.PROCESSLIST
 WHERE USER = 'system user' OR COMMAND LIKE 'Binlog Dump%'"""


_LOOPBACK = {"127.0.0.1", "localhost"}  # where several servers may be


class Own(NamedTuple):
    """What the replica has written itself of late."""

    number: int
    exact: bool  # else at least
    seconds: float  # in which they came


def look(kept: dict[str, Any], facts: Facts, channels: Sequence[Channel], now: float) -> Own | None:
    """Compare with the last look that ``kept`` has, and keep this one; None: they cannot be compared."""
    compared = None  # seconds since the last look
    try:
        written = _written(facts, channels)
        if kept.get("who") != [facts.server_id, facts.uuid]:
            kept.clear()
        in_hand = not facts.uuid and any(_in_hand(one) for one in channels)
        runs = any(one.receiver.runs and one.applier.runs for one in channels)
        if written is not None and kept.get("written") is not None:
            new, exact = _grown(facts, channels, kept["written"], written)
            exact = exact and not (in_hand or kept["in_hand"])
            if new is None:  # some are gone: RESET, or a copy of another server's data
                kept["number"] = 0
            elif runs and kept["ran"] and now - kept["at"] <= _TOLD:
                compared = now - kept["at"]
                if new:
                    _add(kept, new, now, exact=exact)
        kept |= {"who": [facts.server_id, facts.uuid], "written": written, "ran": runs, "at": now}
        kept["in_hand"] = in_hand
        if kept.get("number") and 0 <= now - kept["last"] <= _TOLD:
            return Own(kept["number"], kept["exact"], now - kept["begun"])
    except (gtid.GtidError, TypeError, ValueError, KeyError, AttributeError):  # or it was damaged
        kept.clear()
        return None
    return None if compared is None else Own(0, exact=True, seconds=compared)


def _add(kept: dict[str, Any], new: int, now: float, *, exact: bool) -> None:
    """Add to those of the last hour, or start from the last look."""
    if not kept.get("number") or now - kept["last"] > _TOLD:
        kept |= {"number": 0, "begun": kept["at"], "exact": True}
    kept |= {"number": kept["number"] + new, "exact": kept["exact"] and exact, "last": now}


def _written(facts: Facts, channels: Sequence[Channel]) -> dict[str, Any] | None:
    """List what the server wrote itself: intervals by UUID, or by domain its last and others' last.

    None: nothing is known, as without GTIDs from a source: MySQL may have put its own UUID on anonymous
    ones (ASSIGN_GTIDS_TO_ANONYMOUS_TRANSACTIONS).
    """
    if facts.uuid:
        if not any(one.received_gtids for one in channels):
            return None
        executed = gtid.parse(channels[0].applied_gtids)
        own = {key: them for key, them in executed.items() if key.partition(":")[0] == facts.uuid.lower()}
        return own if sum(map(len, own.values())) <= _MOST else None
    found: dict[str, Any] = {}
    texts = [
        facts.written,
        *(one.applied_gtids for one in channels),
        *(one.received_gtids for one in channels),
    ]
    for place, told in enumerate(texts):
        for (domain, server), sequence in gtid.written(told).items():
            last = found.setdefault(str(domain), [0, 0])
            is_own = server == facts.server_id
            if not (is_own and place):  # the others may have it from a switchover
                last[not is_own] = max(last[not is_own], sequence)
    return found


def _in_hand(channel: Channel) -> bool:
    """Whether MariaDB has received what it has not applied: its numbers and those written here overlap."""
    applied = gtid.written(channel.applied_gtids)
    return any(applied.get(key, 0) < last for key, last in gtid.written(channel.received_gtids).items())


def _grown(
    facts: Facts, channels: Sequence[Channel], before: dict[str, Any], now: dict[str, Any]
) -> tuple[int | None, bool]:
    """Count what is new, and whether that is exact; None: some of what was there is gone."""
    if facts.uuid:
        if gtid.subtract(before, now):
            return None, True
        new = gtid.subtract(now, before)
        for channel in channels:  # what it had lost, and has got back
            new = gtid.subtract(new, gtid.parse(channel.received_gtids))
        return gtid.count(new), True
    count, exact = 0, True
    for domain, (own, others) in now.items():
        own_before, others_before = before.get(domain, (0, 0))
        if own < own_before:
            return None, True
        if own > own_before:  # each is one more than the last of the domain, whoever wrote that
            came = max(0, others - others_before)
            count += max(1, own - max(own_before, others_before) - came)
            exact = exact and not came
    return count, exact


def go_on_to_a_source(
    kept: dict[str, Any], server: Server, facts: Facts, channels: Sequence[Channel], now: float
) -> bool | None:
    """Whether a source of this replica replicates from it, too; None: not known.

    It is believed for an hour, as that source may restart. ``--role`` decides where nothing else does.
    """
    taken = recall(kept, "taken", float)
    if taken is not None and 0 <= now - taken < _TOLD:
        return True
    try:
        found = _by_uuid(server, facts, channels) if facts.uuid else _by_position(server, facts, channels)
    except MysqlError:
        return None
    if found:
        kept |= {"taken": now, "number": 0}
    return found


def _by_uuid(server: Server, facts: Facts, channels: Sequence[Channel]) -> bool | None:
    """Ask MySQL who its replicas are; one that has written what is here may be part of a ring.

    With performance_schema = OFF it names none, whoever they are.
    """
    replicas = {text(row, "uuid").lower() for row in server.rows(_REPLICAS)}
    if not replicas:
        return None if _hosts(server) != set() else False
    if replicas & {one.source_uuid.lower() for one in channels}:
        return True
    writers = {key.partition(":")[0] for key in gtid.parse(channels[0].applied_gtids)} - {facts.uuid.lower()}
    return None if replicas & writers else False


def _by_position(server: Server, facts: Facts, channels: Sequence[Channel]) -> bool | None:
    """Look whether own transactions of MariaDB come back, else where its replicas are.

    Measured on 10.11.19: with log_slave_updates the source sends them back, and Gtid_IO_Pos has the last;
    without it nothing does.
    """
    own = {key: last for key, last in gtid.written(facts.written).items() if key[1] == facts.server_id}
    came = [gtid.written(one.received_gtids) for one in channels]
    if all(any(back.get(key, 0) >= last for back in came) for key, last in own.items()):
        return True
    hosts = _hosts(server)
    if hosts and hosts & ({one.source_host for one in channels} - _LOOPBACK):
        return True
    return None if hosts != set() else False


def _hosts(server: Server) -> set[str] | None:
    """Find where the replicas are; None: the process list is withheld (PROCESS), its own threads are too."""
    rows = server.rows(_DUMPS)
    dumps = [row for row in rows if text(row, "command").startswith("Binlog")]
    return {text(row, "host").rpartition(":")[0] for row in dumps} if rows else None


def finding(own: Own, facts: Facts, channels: Sequence[Channel], *, doubtful: bool) -> Finding:
    """Report those of late, also that there are none: the perfdata has each run that could compare."""
    subject = channels[0].subject if len(channels) == 1 else "this replica"
    when = say_duration(max(1, round(own.seconds)))
    if not own.number:
        return _reading(0, f"{subject}: no errant GTIDs in the last {when}", facts)
    least, number = "" if own.exact else "at least ", plural(own.number, "transaction")
    what = f"{subject}: {least}{number} written here in the last {when}"
    if doubtful:
        sources = ", ".join(one.source for one in channels)
        check = f"check whether {sources} replicates from here, and give --role"
        return Fault(State.OK, f"{what}{_open(facts)}", check)
    return _reading(own.number, what, facts)


def not_on_source(channel: Channel, source: str, number: int, facts: Facts, label: str) -> Reading:
    """Report those that ``source`` does not have, by its own answer."""
    if not number:
        what = f"{channel.subject}: no transactions here that {source} does not have"
        return _reading(0, what, facts, label)
    transactions = "1 transaction here is" if number == 1 else f"{number} transactions here are"
    what = f"{channel.subject}: {transactions} not on {source}"
    return _reading(number, what, facts, label)


def _reading(number: int, what: str, facts: Facts, label: str | None = None) -> Reading:
    """Return what they break: a failover, and gtid_strict_mode's applier.

    Five local GRANTs stopped a 10.11.19 with error 1950.
    """
    if not number:
        return Reading("errant", 0, what=what, label=label, line=Line())
    advice = "find who writes here, and compare the data"
    if facts.is_closed is False:
        advice = f"find who writes here, then SET GLOBAL {facts.closed_by} = ON"
    line = Line(more=("such transactions break a failover: compare the GTID sets",))
    return Reading("errant", number, what=f"{what}{_open(facts)}", advice=advice, label=label, line=line)


def _open(facts: Facts) -> str:
    return ", read_only is OFF" if facts.read_only is False else ""
