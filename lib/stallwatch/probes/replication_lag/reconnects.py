"""A link that flaps: the receiver lost its source again and again, and each time was back at once.

SHOW REPLICA STATUS counts no connections, and between two breaks all looks well. But each new connection
begins a new relay log (9.7.2, 10.11.19; with and without GTIDs), so the number of its file grows. A file that
is full begins one, too, as FLUSH LOGS and START REPLICA do. So these numbers only show when to look closer:
MySQL's table error_log (8.0.22) has each connection that went on where one had ended. Elsewhere the numbers
are all that is known: what they show is likely.
"""

from __future__ import annotations

import re

from stallwatch.history import recall, remember
from stallwatch.probes.mysql.asking import number as number_of
from stallwatch.probes.replication_lag.model import Position
from stallwatch.sources.mysql import MysqlError, UnreachableError
from stallwatch.startup import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from typing import Any

    from stallwatch.probes.replication_lag.model import Channel
    from stallwatch.sources.mysql.server import Server

WINDOW = 600.0  # seconds that are looked back on
LEAST = 3  # reconnects in them: a restart of the source is one, as one after an update of its system
_NUMBER = re.compile(r"\.(\d{1,10})$")  # relay.000012
_FULL = 64 << 20  # octets of events in a relay log: it may be as large as it may be (default: 1 GiB)
_RECENT = 300.0  # seconds without one after which it is over
_ERROR_LOG = (8, 0, 22)
_PATIENCE = 1.0  # seconds
# MY-010592: "connected to source, replication resumed in log"; the first connection has another number.
_CONNECTIONS = """SELECT COUNT(*) AS times, TIMESTAMPDIFF(SECOND, MIN(LOGGED), NOW(6)) AS seconds,
 TIMESTAMPDIFF(SECOND, MAX(LOGGED), NOW(6)) AS quiet FROM performance_schema.error_log
 WHERE ERROR_CODE = 'MY-010592' AND LOGGED > NOW(6) - INTERVAL %s SECOND AND DATA LIKE %s"""
# What begins a relay log besides a connection.
_BY_HAND = """SHOW GLOBAL STATUS WHERE Variable_name IN
 ('Com_flush', 'Com_slave_start', 'Com_start_all_slaves', 'Com_replica_start')"""


class Reconnects(NamedTuple):
    """How often a receiver came back to its source of late."""

    times: int
    seconds: float  # since the first of them
    quiet: float  # seconds since the last one
    certain: bool  # whether the server itself counted them


def look(memory: dict[str, Any], channel: Channel, server: Server, now: float) -> Reconnects | None:
    """See whether the receiver of a channel comes and goes; None: it does not, or nobody can know.

    ``memory`` is the channel's, for nothing else; ``now`` is by its clock. Raises UnreachableError.
    """
    first = recall(memory, "first", float)
    if first is None or first > now:
        memory["first"] = now
    begun = _begun(memory, channel, now)
    if not begun:
        memory.pop("by_hand", None)
        return None
    try:
        found = _asked(memory, begun, channel, server, now)
    except UnreachableError:
        raise
    except MysqlError:
        return None
    return found if found and found.times >= LEAST and found.quiet <= _RECENT else None


def _begun(memory: dict[str, Any], channel: Channel, now: float) -> list[tuple[float, float]]:
    """List when new relay logs were seen, and how many, but those begun as the last one was full."""
    known = recall(memory, "begun", list[tuple[float, float]]) or []
    begun = [one for one in known if now - WINDOW <= one[0] <= now]
    (file, octets), place = channel.applied, recall(memory, "place", Position)
    found = _NUMBER.search(channel.relay_log)
    number = int(found[1]) if found else 0
    last = recall(memory, "number", int)
    new = 0 if last is None else number - last
    if new > 0 and place:
        passed = octets - place.offset if place.file == file else octets
        if passed < _FULL * new:
            begun.append((now, new))
    remember(memory, "number", number)
    remember(memory, "place", channel.applied)
    remember(memory, "begun", begun)
    return begun


def _asked(
    memory: dict[str, Any], begun: list[tuple[float, float]], channel: Channel, server: Server, now: float
) -> Reconnects | None:
    flavour = server.flavour
    if not flavour.mariadb:
        if flavour.version < _ERROR_LOG:
            return None
        since = round(min(WINDOW, now - memory["first"]))  # what was before nobody has looked at: it is over
        rows = server.rows(_CONNECTIONS, since, f"%channel '{channel.name}'%", within=_PATIENCE)
        times, seconds, quiet = (number_of(rows[0], name) for name in ("times", "seconds", "quiet"))
        return Reconnects(round(times), max(1.0, seconds), quiet, certain=True)
    by_hand = sum(number_of(row, "Value") for row in server.rows(_BY_HAND, within=_PATIENCE))
    known = recall(memory, "by_hand", float)
    memory["by_hand"] = known = by_hand if known is None else known
    times = sum(one[1] for one in begun) - (by_hand - known)
    return Reconnects(round(times), max(1.0, now - begun[0][0]), now - begun[-1][0], certain=False)
