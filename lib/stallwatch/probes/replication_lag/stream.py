"""Whether data come without a pause, and how late: several looks at MariaDB's channels in a short time.

Its Seconds_Behind is 0 whenever the applier has read all that came, however late that came. Two things show a
link that carries less than the source writes (MariaDB 10.11.19, 45 kB/s on 36, 20 and 5 kB/s, with 0 and 4
slave_parallel_threads):

- A transaction is always on its way: the receiver is further than the applier, which has read all relay log.
  That was so in 81 to 100 % of the looks; on a good link in 0 to 1 %, at 500 transactions a second in 7 %.
- Seconds_Behind is right while a transaction is in hand: here for 0.3 ms. A look right after a commit finds
  one in hand in 40 to 60 % (single-threaded) and in 14 to 25 % (4 threads) of the commits. 600 looks a second
  without a pause found fewer.

MariaDB 11.8.9 counts a transaction as received when all of it is there, so none is seen on its way. It dates
the newest event instead: where that seems to come late, a look after a commit shows if it is the clocks.
"""

from __future__ import annotations

import time

from stallwatch.probes.replication_lag import gtid, queries
from stallwatch.probes.replication_lag.lag.clocks import apparent_delay
from stallwatch.probes.replication_lag.lag.model import LATE
from stallwatch.probes.replication_lag.model import Stream
from stallwatch.startup import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from stallwatch.probes.replication_lag.model import Channel, ChannelSnapshot
    from stallwatch.sources.mysql.server import Server

_LOOKS, _PAUSE = 10, 0.02  # that show whether there is a stream, and seconds between them
_FULL = 0.6  # of these looks
_LONG, _LONGER = 1.0, 2.0  # seconds of looks after a commit, in all; and where nothing is known yet
_ENOUGH = 2  # transactions that were seen to be late

# Of two statements, the second one came too late (10.11.19).
_AFTER = "BEGIN NOT ATOMIC DO MASTER_GTID_WAIT(%s, 0.5); SHOW ALL SLAVES STATUS; END"


def is_worth_it(one: ChannelSnapshot) -> bool:
    """Whether a transaction is on its way, or came late at the last look; and nothing else shows how late."""
    channel, newest = one.channel, apparent_delay(one)
    if one.commits or one.source or one.heartbeat or channel.source_uuid or channel.delay:
        return False
    if not channel.receiver.runs or not channel.applier.runs:
        return False
    if newest is not None:
        return newest > LATE
    return _is_on_its_way(channel) or _came_late(one)


def watch(server: Server, one: ChannelSnapshot) -> Stream | None:
    """Look at a channel several times; None: it is gone. Raises MysqlError."""
    if apparent_delay(one) is not None:
        in_hand, late = _in_hand(server, one, one.channel), _came_late(one) and _has_come(one)
        return Stream(is_full=bool(in_hand) or late, in_hand=in_hand, came_late=late)
    looks = [one.channel]
    for _ in range(_LOOKS):
        time.sleep(_PAUSE)
        looks += _named(one.channel.name, queries.channels(server))
    first, last = looks[0].received, looks[-1].received
    moves = last != (one.before.contact.received if one.before else first) or last != first
    if sum(map(_is_on_its_way, looks)) < _FULL * len(looks) or not (moves or _came_late(one)):
        return Stream(is_full=False)
    return Stream(is_full=True, in_hand=_in_hand(server, one, looks[-1]), came_late=_came_late(one))


def _has_come(one: ChannelSnapshot) -> bool:
    return one.before is not None and one.idle is not None and one.idle < one.before.seconds_ago


def _came_late(one: ChannelSnapshot) -> bool:
    return one.before is not None and one.before.came_late


def _named(name: str, channels: Sequence[Channel]) -> list[Channel]:
    return [one for one in channels if one.name == name]


def _is_on_its_way(channel: Channel) -> bool:
    """Whether a part of a transaction has come, and all before that is applied."""
    has_all = channel.applier.runs and channel.applier.has_read_all and not channel.seconds_behind
    return has_all and channel.received != channel.applied


def _in_hand(server: Server, one: ChannelSnapshot, channel: Channel) -> tuple[float, ...]:
    """Look right after each commit; return Seconds_Behind of each transaction that was in hand then."""
    until = time.monotonic() + (_LONG if _came_late(one) else _LONGER)
    found: dict[str, float] = {}
    while time.monotonic() < until and sum(seconds > LATE for seconds in found.values()) < _ENOUGH:
        awaited = _next(channel, one)
        came = _named(channel.name, _channels_after(server, awaited)) if awaited else []
        if not came:
            break
        (channel,) = came
        if channel.seconds_behind:
            found[channel.applied_gtids] = channel.seconds_behind
    return tuple(sorted(found.values()))


def _next(channel: Channel, one: ChannelSnapshot) -> str:
    """Name the transaction that comes next, in the domain in which some have come since the last look."""
    applied = gtid.position(channel.applied_gtids)
    own = gtid.position(channel.received_gtids) or applied
    then = gtid.position(one.before.contact.received_gtids) if one.before else {}
    domain = next((domain for domain, at in own.items() if then.get(domain) != at), next(iter(own), None))
    if domain not in applied:
        return ""
    server, sequence = applied[domain]
    return f"{domain}-{server}-{sequence + 1}"


def _channels_after(server: Server, awaited: str) -> list[Channel]:
    """Ask MariaDB for all channels as soon as a transaction is applied, or after half a second."""
    return [queries.channel(row) for row in server.rows(_AFTER, awaited, within=queries.PATIENCE)]
