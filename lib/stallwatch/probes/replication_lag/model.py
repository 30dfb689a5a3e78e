"""What is known of a replication channel: its status, its transactions, its source.

Times are in seconds, moments in seconds of Unix time.
"""

from __future__ import annotations

from stallwatch.startup import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from stallwatch.probes.replication_lag.lag.result import Lag
    from stallwatch.sources.mysql import Flavour

_USUAL_PORT = 3306  # that no sentence has to name
NOTHING_TO_APPLY = "has read all relay log"  # the state of an applier, from MySQL 5.7 to MariaDB 11.8


class Position(NamedTuple):
    """A place in the source's binary log."""

    file: str
    offset: int


class Thread(NamedTuple):
    """The receiver (which the server calls IO thread) or the applier (SQL thread) of a channel."""

    running: str  # "Yes" or "No"; the receiver also "Connecting" and, on MariaDB, "Preparing"
    state: str  # what it does, in the server's words
    errno: int  # of the last error, 0: none
    error: str

    @property
    def runs(self) -> bool:
        """Whether it does its work."""
        return self.running == "Yes"

    @property
    def has_read_all(self) -> bool:
        """Whether it has come to the end of the relay log; its parallel workers may still be at work."""
        return NOTHING_TO_APPLY in self.state


class Channel(NamedTuple):
    """One channel in SHOW REPLICA STATUS and its older names; times in seconds."""

    name: str  # "" is the default channel
    receiver: Thread
    applier: Thread
    source_host: str
    source_port: int
    source_id: int  # server_id of the source, 0: not connected yet
    source_uuid: str  # "" on MariaDB
    seconds_behind: float | None  # the server's own figure
    delay: float  # intended (SOURCE_DELAY, MASTER_DELAY)
    remaining_delay: float | None  # while an event waits for it
    received: Position  # what the receiver has read to
    applied: Position  # what the applier has come to
    received_gtids: (
        str  # "" where the channel does not use GTIDs. MySQL: Retrieved_Gtid_Set; MariaDB: Gtid_IO_Pos
    )
    applied_gtids: str  # of the whole server; MySQL: Executed_Gtid_Set; MariaDB: Gtid_Slave_Pos
    heartbeats: int | None = None  # received from the source; None: not in this statement
    heartbeat_period: float | None = None
    stale_gtids: str = ""  # MariaDB: what it had received when it last used GTIDs
    newest_received: str = ""  # MariaDB 11.6: when the newest received event was written, UTC
    retries: int | None = None  # of all transactions since it started; MariaDB, else None
    relay_log: str = ""  # the file that the applier reads: "relay.000012"
    filters: tuple[str, ...] = ()  # "Replicate_Do_DB = shop": what it leaves out is never applied

    @property
    def source(self) -> str:
        """Its source, for sentences."""
        return f"{self.source_host}:{self.source_port}"

    @property
    def source_in_short(self) -> str:
        """Its source without the usual port."""
        return self.source_host if self.source_port == _USUAL_PORT else self.source

    @property
    def subject(self) -> str:
        """What it is called at the beginning of a sentence; the default one is called by its source."""
        return f"channel {self.name}" if self.name else f"replica of {self.source_in_short}"


class Worker(NamedTuple):
    """One applier worker of a channel; moments in seconds of Unix time, None: there is none."""

    number: int
    thread: int | None  # its THREAD_ID in performance_schema.threads
    applying: str  # GTID of what it applies now, "": idle
    applying_commit: float | None  # when the first server committed that
    applying_since: float | None  # when this worker began with it
    applied_commit: float | None  # when the first server committed what was applied last
    errno: int
    error: str
    error_at: float | None
    retries: int = 0  # of what it applies now, if the last one was for a lock that was not had in time


class Commits(NamedTuple):
    """The transactions of one channel; moments in seconds of Unix time, None: there is none.

    ``..._commit`` is the commit on the server that wrote it first (ORIGINAL_COMMIT_TIMESTAMP),
    ``queued_sent`` that on our direct source (IMMEDIATE_COMMIT_TIMESTAMP). All by the clocks of those
    servers, the others by the replica's. Zero where a source is older than MySQL 8.
    """

    now: float
    last_heartbeat: float | None
    heartbeats: int
    heartbeat_period: float | None
    queued: str  # GTID of the last transaction that was received whole
    queued_commit: float | None
    queued_sent: float | None
    queued_at: float | None  # when the last byte of it was in the relay log
    queueing_commit: float | None  # of what is being received; None as well from a source older than MySQL 8
    coordinator_commit: float | None  # of what the coordinator hands out now
    workers: tuple[Worker, ...]
    coordinator_thread: int | None = None  # THREAD_ID
    queueing: str = ""  # GTID of what is being received

    @property
    def applied_commit(self) -> float | None:
        """When the newest transaction that was applied had been committed."""
        return max((one.applied_commit for one in self.workers if one.applied_commit), default=None)

    @property
    def is_complete(self) -> bool:
        """Whether all that was received, and all that a worker applies, has a commit time.

        Transactions of a source older than MySQL 8 have none: a chain, or a relay log from before an
        upgrade, may mix both kinds.
        """
        applied = all(one.applying_commit for one in self.workers if one.applying)
        return applied and not (self.queued and not self.queued_commit)

    @property
    def receives(self) -> bool:
        """Whether a transaction has come in part."""
        return bool(self.queueing) or self.queueing_commit is not None

    @property
    def oldest_applying(self) -> float | None:
        """When the oldest transaction that a worker applies had been committed."""
        moments = (one.applying_commit for one in self.workers if one.applying)
        return min((at for at in moments if at), default=None)

    @property
    def oldest_in_hand(self) -> float | None:
        """When the oldest transaction that somebody works on had been committed."""
        moments = (self.oldest_applying, self.coordinator_commit, self.queueing_commit)
        return min((at for at in moments if at), default=None)


class Heartbeat(NamedTuple):
    """The row of a heartbeat table that belongs to a channel, as the replica has it."""

    age: float  # seconds between its time and now, by the replica's clock
    server_id: int  # who wrote it
    table: str  # for sentences
    remark: str = ""  # what is odd: "zone differs by 3600 s", …
    source_age: float | None = None  # of the same row on the server that writes it, if that was asked
    written: str = ""  # its time as it is in the table, to be known again


class Beat(NamedTuple):
    """A heartbeat's row that an earlier look saw, and for how long its channel has gone on without it."""

    server_id: int
    written: str  # its time as it was in the table
    outlived_since: float | None = None  # s before: the first look at which its writer had gone on
    outlived_for: float = 0.0  # seconds from that look to the last one of its kind


class Source(NamedTuple):
    """What the source itself shows, within the same look."""

    where: str = ""  # "db1:3306", for sentences
    clock_ahead: float | None = None  # seconds that its clock is ahead of the replica's, None: not known
    missing: int | None = None  # transactions that it has and the replica has not applied
    not_received: int | None = None  # … and has not even received
    errant: int | None = None  # transactions that the replica has and the source has not
    sequence: float | None = None  # how many transactions it has written; grows with each, for the history
    replica_sequence: float | None = None  # how far the replica has come, in the same count
    pace: float | None = None  # how much of that it writes in a second, now; asked while some is missing
    octets: int | None = None  # of binary log that are not applied, where no GTIDs count transactions
    remark: str = ""  # why what is missing is not known
    distant: bool = False  # whether it is no direct source of the channel, but above that
    upstream: Upstream | None = None  # its own replication, None: it is no replica, or that was not seen


class Upstream(NamedTuple):
    """The replication of a channel's source, which is a replica itself: its worst channel."""

    where: str  # the source: "db2:3306", for sentences
    flavour: Flavour
    snapshot: ChannelSnapshot
    lag: Lag


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
    retries: int | None = None  # Channel.retries when its applier had come to ``applied``
    clocks: float | None = None  # Lag.clock_offset
    clock_set: float = 0.0  # seconds by which somebody has set the replica's clock since
    delay: float | None = None  # Lag.delay
    delay_age: float | None = None  # seconds before that look, at which that delay was seen
    came_late: bool = False  # whether it found that transactions come late


class Stream(NamedTuple):
    """What many looks in a short time saw of a channel whose applier has little to do."""

    is_full: bool  # a transaction was on its way nearly all the time, though what had come was applied
    in_hand: tuple[float, ...] = ()  # Seconds_Behind of each transaction that was seen in hand, ascending
    came_late: bool = False  # whether the last look found that transactions come late

    @property
    def late(self) -> float | None:
        """Seconds by which transactions come late: the middle one of several; None: none was seen in hand."""
        return self.in_hand[len(self.in_hand) // 2] if self.in_hand else None


class ChannelSnapshot(NamedTuple):
    """All that is known about one channel; seconds, and Unix time by the replica's clock."""

    channel: Channel
    now: float
    net_timeout: float  # replica_net_timeout: when the receiver itself drops a silent source
    commits: Commits | None = None  # MySQL 8 and later, with SELECT on performance_schema
    heartbeat: Heartbeat | None = None
    source: Source | None = None
    idle: float | None = None  # for how long the applier has had nothing to do; None: busy, or not visible
    sees_processes: bool = False  # whether ``idle`` would have been visible (PROCESS)
    backlog: int | None = None  # transactions received and not applied; None: not known
    before: Before | None = None
    stream: Stream | None = None  # None: nothing made it worth to look so often
    looked_again: tuple[float, ...] | None = None  # Seconds_Behind of further looks; None: there were none

    @property
    def said_in_hand(self) -> tuple[float, ...]:
        """Seconds_Behind of each look at which something received was not applied: else it is 0 anyway.

        MySQL's; MariaDB's is 0 for a late stream as well (10.11.19: for 36 s of lag).
        """
        channel, said = self.channel, self.channel.seconds_behind
        if said is None or not channel.source_uuid:
            return ()
        return (*((said,) if channel.received != channel.applied else ()), *(self.looked_again or ()))

    @property
    def has_backlog(self) -> bool:
        """Whether something has been received that is not applied."""
        if self.backlog is not None:
            return self.backlog > 0
        return self.channel.received != self.channel.applied

    @property
    def retries(self) -> int:
        """How often at least what is applied now was begun again: for a row lock that was not had in time.

        MySQL counts it per worker. MariaDB counts retries of any cause for the channel: those since it
        has come to where it is.
        """
        channel, before = self.channel, self.before
        if self.commits:
            return max((one.retries for one in self.commits.workers if one.applying), default=0)
        if channel.retries is None or not before or before.retries is None:
            return 0
        return max(0, channel.retries - before.retries) if before.applied == channel.applied else 0

    @property
    def clock_ahead(self) -> float | None:
        """How many seconds the source's clock is ahead of the replica's; None: they were not compared."""
        return self.source.clock_ahead if self.source else None
