"""All that one look knows about one channel's lag, and what the look before knew."""

from __future__ import annotations

from stallwatch.startup import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from stallwatch.probes.replication.channel import Channel, Position
    from stallwatch.probes.replication.commits import Commits


class Heartbeat(NamedTuple):
    """The row of a heartbeat table that belongs to a channel, as the replica has it."""

    age: float  # seconds between its time and now, by the replica's clock
    server_id: int  # who wrote it
    table: str  # for sentences
    remark: str = ""  # what is odd: "zone differs by 3600 s", …
    source_age: float | None = None  # of the same row on the source itself, if that was asked
    written: str = ""  # its time as it stands in the table, to be known again


class Beat(NamedTuple):
    """A heartbeat's row that an earlier look saw, and for how long its channel has gone on without it."""

    server_id: int
    written: str  # its time as it stood in the table
    outlived_since: float | None = None  # s before: the first look at which its writer had gone on
    outlived_for: float = 0.0  # seconds from that look to the last one of its kind


class Source(NamedTuple):
    """What the source itself says, asked by us within the same look."""

    where: str  # "db1:3306", for sentences
    clock_ahead: float | None  # seconds that its clock is ahead of the replica's, None: not known
    missing: int | None  # transactions that it has and the replica has not applied
    not_received: int | None  # … and has not even received
    errant: int | None  # transactions that the replica has and the source has not
    sequence: float | None = None  # how many transactions it has written; grows with each, for the history
    replica_sequence: float | None = None  # how far the replica has come, in the same count
    pace: float | None = None  # how much of that it writes in a second, now; asked while some is missing
    octets: int | None = None  # of binary log that are not applied, where no GTIDs count transactions
    remark: str = ""  # why it cannot be told what is missing


class Contact(NamedTuple):
    """What shows that the source spoke since an earlier look: whatever changes with each event."""

    received: Position
    received_gtids: str
    heartbeats: int | None


class Before(NamedTuple):
    """What the last run of this check knew of this channel."""

    seconds_ago: float
    lag: float | None  # its best figure then
    contact: Contact
    unchanged_for: float  # seconds until then, for which that contact had been the same
    source_history: tuple[tuple[float, float], ...] = ()  # (seconds ago, the source's sequence), oldest first
    transaction_gap: float | None = None  # mean seconds between transactions, when some came last
    high: float | None = None  # the upper bound of its lag then
    seconds_behind: float | None = None  # the server's own figure then
    applied: Position | None = None  # what the applier had come to
    connected: bool = True  # whether its receiver ran
    offsets: tuple[float, ...] = ()  # Lag.offset of the last looks that had one, oldest first
    heartbeat: Beat | None = None  # its row of the heartbeat table
    heard_within: float | None = None  # Lag.heard_within: how long before that look the source spoke, at most


class Evidence(NamedTuple):
    """All that is known about one channel; seconds, and Unix time by the replica's clock."""

    channel: Channel
    now: float
    net_timeout: float  # replica_net_timeout: when the receiver itself gives a silent source up
    commits: Commits | None = None  # MySQL 8 and later, with SELECT on performance_schema
    heartbeat: Heartbeat | None = None
    source: Source | None = None
    idle: float | None = None  # for how long the applier has had nothing to do; None: busy, or not visible
    sees_processes: bool = False  # whether ``idle`` would have been visible (PROCESS)
    backlog: int | None = None  # transactions received and not applied; None: not known
    before: Before | None = None
