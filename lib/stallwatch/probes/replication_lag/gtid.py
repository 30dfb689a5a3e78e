"""Global transaction identifiers: MySQL's sets, tagged ones too, and MariaDB's positions.

MySQL: ``uuid:1-5:7:tag:1-3, uuid2:1`` (tags from 8.3 on; a UUID's intervals without a tag come first).
MariaDB: ``domain-server-sequence`` of the last transaction of each domain, ``0-101-745,1-102-9``.

Each text is read once in a run, as each of many channels shows how far the whole server has come; nobody
changes what was read.
"""

from __future__ import annotations

import re
from functools import lru_cache

from stallwatch.findings import ProbeError
from stallwatch.startup import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from stallwatch.probes.replication_lag.model import Channel

    Intervals = list[tuple[int, int]]  # first and last, in order, without overlap
    GtidSet = dict[str, Intervals]  # by uuid, or uuid:tag
    Position = dict[int, tuple[int, int]]  # by domain: server and sequence
    Written = dict[tuple[int, int], int]  # by domain and server: the last sequence

_TEXTS = 512  # that are kept
_UUID = r"[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}"
_TAG = r"[a-zA-Z_][a-zA-Z0-9_]{0,31}"
_INTERVAL = r"([0-9]{1,19})(?:-([0-9]{1,19}))?"
_TRIPLE = r"([0-9]{1,10})-([0-9]{1,10})-([0-9]{1,20})"


class GtidError(ProbeError):
    """A server has a GTID set that makes no sense."""


def _nonsense(text: str, part: str) -> GtidError:
    return GtidError(f'"{part[:60]}" in the GTID set "{text[:60]}" makes no sense')


@lru_cache(_TEXTS)
def parse(text: str) -> GtidSet:
    """Read a GTID set of MySQL; the result is in order. Raises GtidError."""
    found: GtidSet = {}
    for member in "".join(text.split()).split(","):
        if member:
            _read_member(member, text, found)
    return {key: _joined(intervals) for key, intervals in found.items() if intervals}


def _read_member(member: str, text: str, found: GtidSet) -> None:
    """Read a UUID with its intervals and tags."""
    uuid, *parts = member.split(":")
    if not re.fullmatch(_UUID, uuid):
        raise _nonsense(text, member)
    key = uuid.lower()
    interval_in = re.compile(_INTERVAL).fullmatch
    for part in parts:
        if interval := interval_in(part):
            first = int(interval[1])
            last = int(interval[2] or first)
            if not 0 < first <= last:
                raise _nonsense(text, part)
            found.setdefault(key, []).append((first, last))
        elif re.fullmatch(_TAG, part):
            key = f"{uuid}:{part}".lower()
        else:
            raise _nonsense(text, part)


def _joined(intervals: Intervals) -> Intervals:
    """Put intervals in order and join those that touch."""
    joined: Intervals = []
    for first, last in sorted(intervals):
        if joined and first <= joined[-1][1] + 1:
            joined[-1] = (joined[-1][0], max(last, joined[-1][1]))
        else:
            joined.append((first, last))
    return joined


def count(gtids: GtidSet) -> int:
    """Count transactions."""
    return sum(last - first + 1 for intervals in gtids.values() for first, last in intervals)


def subtract(one: GtidSet, other: GtidSet) -> GtidSet:
    """Give what is in ``one`` and not in ``other``."""
    left = {key: _without(intervals, other.get(key, [])) for key, intervals in one.items()}
    return {key: intervals for key, intervals in left.items() if intervals}


def _without(intervals: Intervals, taken: Intervals) -> Intervals:
    """Walk along both once: sets of 100 000 intervals are met."""
    left: Intervals = []
    at = 0
    for first, last in intervals:
        begin = first
        while at < len(taken) and taken[at][1] < begin:
            at += 1
        here = at
        while here < len(taken) and taken[here][0] <= last:
            if begin < taken[here][0]:
                left.append((begin, taken[here][0] - 1))
            begin = taken[here][1] + 1
            here += 1
        at = max(at, here - 1)
        if begin <= last:
            left.append((begin, last))
    return left


@lru_cache(_TEXTS)
def is_mariadb(text: str) -> bool:
    """Whether it is a position of MariaDB."""
    return bool(text) and all(re.fullmatch(_TRIPLE, one.strip()) for one in text.split(","))


@lru_cache(_TEXTS)
def position(text: str) -> Position:
    """Read a position of MariaDB, the furthest of each domain. Raises GtidError."""
    found: Position = {}
    for (domain, server), sequence in written(text).items():
        if domain not in found or sequence > found[domain][1]:
            found[domain] = (server, sequence)
    return found


def written(text: str) -> Written:
    """Read MariaDB's gtid_binlog_state: the last of each server in each domain. Raises GtidError."""
    found: Written = {}
    for member in text.split(","):
        if not (stripped := member.strip()):
            continue
        if not (triple := re.fullmatch(_TRIPLE, stripped)):
            raise _nonsense(text, stripped)
        domain, server, sequence = map(int, triple.groups())
        found[domain, server] = max(sequence, found.get((domain, server), 0))
    return found


def ahead(one: Position, other: Position) -> int:
    """Count by how many transactions ``one`` is ahead of ``other``; a domain new to that begins at 1."""
    return sum(max(0, last - other.get(domain, (0, 0))[1]) for domain, (_, last) in one.items())


def within(one: Position, domains: Iterable[int]) -> Position:
    """Give the part of a position that is of these domains."""
    wanted = set(domains)
    return {domain: last for domain, last in one.items() if domain in wanted}


def backlog(channel: Channel, channels: Sequence[Channel] = (), server_id: int = 0) -> int | None:
    """Count the transactions that a channel has received and not applied; None: unknown.

    ``channels`` are all of the replica, which has this ``server_id``. MariaDB's position of the receiver is
    its own, that of the applier the whole server's: it shows nothing of other channels' domains,
    and of a domain that several sources write only which was applied last. So it is with what the replica
    wrote itself (MariaDB 10.11: Gtid_Slave_Pos of SHOW ALL SLAVES STATUS is then gtid_current_pos).
    """
    received, applied = channel.received_gtids, channel.applied_gtids
    if not received:
        return None
    try:
        if is_mariadb(received):
            here, there = position(received), position(applied)
            if shared(here, channel, channels) or _is_own(there, here, server_id):
                return None
            return ahead(here, there)
        return count(subtract(parse(received), parse(applied)))
    except GtidError:
        return None


def _is_own(applied: Position, received: Position, server_id: int) -> bool:
    """Whether the last of a domain that is received was written by the replica itself."""
    both = (domain for domain in received if domain in applied)
    return any(applied[domain][0] == server_id != received[domain][0] for domain in both)


def shared(domains: Iterable[int], channel: Channel, channels: Sequence[Channel]) -> list[int]:
    """Give those of MariaDB's domains that another channel receives, too, last from another server.

    Their sequence numbers are several counts. Two channels that bring the transactions of one server share
    its count. Raises GtidError.
    """
    own = position(channel.received_gtids)
    # Its own, too, which differs in nothing.
    last = _servers(tuple(one.received_gtids or one.stale_gtids for one in channels))
    return [domain for domain in domains if last.get(domain, set()) - {own.get(domain, (0, 0))[0]}]


@lru_cache(_TEXTS)
def _servers(received: tuple[str, ...]) -> dict[int, set[int]]:
    """Give the servers that the last of each domain is from, in these positions."""
    found: dict[int, set[int]] = {}
    for text in received:
        for domain, (server, _) in position(text).items():
            found.setdefault(domain, set()).add(server)
    return found


def forget() -> None:
    """Keep none of the texts, which may be long, of this run."""
    for kept in (parse, is_mariadb, position, _servers):
        kept.cache_clear()


def since(received: str, then: str) -> int | None:
    """Count the transactions received since the set was ``then``; None: unknown."""
    if not received or not then:
        return None
    try:
        if is_mariadb(received):
            earlier = position(then)
            return ahead(within(position(received), earlier), earlier)
        return count(subtract(parse(received), parse(then)))
    except GtidError:
        return None
