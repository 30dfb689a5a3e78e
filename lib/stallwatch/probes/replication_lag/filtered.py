"""Replication filters that let nothing through: the applier reads all and changes nothing."""

from __future__ import annotations

from stallwatch.history import recall, remember
from stallwatch.probes.mysql.asking import meant
from stallwatch.probes.replication_lag import gtid
from stallwatch.sources.mysql import MysqlError, UnreachableError
from stallwatch.startup import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from typing import Any

    from stallwatch.probes.replication_lag.model import Channel
    from stallwatch.sources.mysql.server import Server

# An applier's events count as statements do, those that a filter drops do not (9.7.2, 10.11.19): only BEGIN
# and COMMIT are counted of these.
_COUNTED = "SHOW GLOBAL STATUS LIKE 'Com\\_%'"
_CHANGES = (
    "insert", "update", "delete", "replace", "load", "create", "alter", "drop", "truncate", "rename", "grant",
    "revoke", "analyze", "optimize", "repair", "flush", "call", "xa", "set_password", "install",
)  # fmt: skip
_LOOKS = 2  # in a row: what came between two statements of one look is at most in one of them
_PATIENCE = 1.0  # seconds


class _Look(NamedTuple):
    """What a look saw."""

    changes: float  # by all statements since the start of the server
    since: float  # when there were as many first
    looks: int  # in a row to which transactions have come since
    received_gtids: str
    applied: tuple[str, int]


def dropped_for(memory: dict[str, Any], channel: Channel, server: Server, now: float) -> float | None:
    """Return for how many seconds all that came has been dropped; None: it was not, or no filter is set.

    ``memory`` is the channel's, for nothing else; ``now`` is by its clock. Raises UnreachableError.
    """
    if not channel.filters:
        memory.clear()
        return None
    try:
        rows = server.rows(_COUNTED, within=_PATIENCE)
    except UnreachableError:
        raise
    except MysqlError:
        return None
    changes = sum(meant(row["Value"]) or 0.0 for row in rows if _changes(str(row["Variable_name"])))
    last = recall(memory, "last", _Look)
    since, looks = now, 0
    if last and last.changes == changes:
        since, looks = last.since, min(_LOOKS, last.looks + _came(channel, last))
    remember(memory, "last", _Look(changes, since, looks, channel.received_gtids, (*channel.applied,)))
    return now - since if looks >= _LOOKS else None


def _changes(name: str) -> bool:
    return name.removeprefix("Com_").startswith(_CHANGES)


def _came(channel: Channel, last: _Look) -> bool:
    """Whether a transaction came since; without GTIDs: any event."""
    if channel.received_gtids:
        return bool(gtid.since(channel.received_gtids, last.received_gtids))
    return channel.applied != last.applied
