"""When transactions were committed, received and applied: performance_schema.replication_* of MySQL 8."""

from __future__ import annotations

from stallwatch.startup import NamedTuple


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
