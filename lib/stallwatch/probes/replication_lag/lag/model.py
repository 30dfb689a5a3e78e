"""What the rules for the lag look at, what one rule finds, and what comes of it: all times in seconds."""

from __future__ import annotations

from stallwatch.startup import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from stallwatch.probes.replication_lag.lag.contact import Hearing
    from stallwatch.probes.replication_lag.model import Channel, ChannelSnapshot

LATE = 2.0  # seconds on the way that are worth calling late
FRESH = 10.0  # seconds for which the last arrival is typical
WHOLE = 1.0  # Seconds_Behind is cut to whole seconds
MARGIN = 10.0  # by which an intended delay may be missed
_GAPS = 3  # usual gaps between transactions for which the last arrival is typical

# What a figure is from, in the words of the status line.
SECONDS_BEHIND = "Seconds_Behind"
COMMIT_TIME = "commit time"
ASKED_SOURCE = "asked the source"
LAST_KNOWN = "last known"
SOURCE_HISTORY = "source's history"
HEARTBEAT_TABLE = "heartbeat table"
NEWEST_RECEIVED = "newest event received"
ITS_SOURCE = "lag of its source"


class View(NamedTuple):
    """The evidence, and what follows from it at once."""

    snapshot: ChannelSnapshot
    hearing: Hearing
    ahead: float  # seconds that the source's clock is ahead of ours, as far as known
    guessed: bool = False  # whether that is only likely: it may be a lag as well
    clock_offset: float | None = None  # Lag.clock_offset

    @property
    def channel(self) -> Channel:
        """The channel itself."""
        return self.snapshot.channel

    @property
    def said(self) -> float:
        """The server's own Seconds_Behind; 0 as well if it has none (NULL), or nonsense (below 0)."""
        return max(0.0, self.channel.seconds_behind or 0.0)

    @property
    def waits(self) -> bool:
        """Whether the applier has come to the end of the relay log; its workers may not have."""
        return self.channel.applier.runs and self.channel.applier.has_read_all

    @property
    def idle(self) -> bool:
        """Whether the applier has nothing to do.

        With parallel workers its state is not enough: "has read all relay log" while one of them
        hung in a row lock and Seconds_Behind grew (MariaDB 10.11.19, slave_parallel_threads=4).
        """
        return self.waits and not self.said and not self.snapshot.backlog

    @property
    def works(self) -> bool:
        """Whether the applier has an event in hand whose time Seconds_Behind counts from."""
        return self.channel.applier.runs and not self.idle and self.said > 0

    @property
    def is_done(self) -> bool:
        """Whether all that was received is applied, by an applier that runs or has stopped."""
        return self.idle or not (self.channel.applier.runs or self.snapshot.has_backlog)

    @property
    def mariadb(self) -> bool:
        """Whether the replica is MariaDB, which knows no UUID of its source."""
        return not self.channel.source_uuid

    @property
    def gap(self) -> float:
        """The usual seconds between transactions; 0: not known."""
        return (self.snapshot.before.transaction_gap if self.snapshot.before else None) or 0.0

    @property
    def missing(self) -> int:
        """How many transactions of the source we have not applied; 0 as well if it was not asked."""
        return (self.snapshot.source.missing or 0) if self.snapshot.source else 0

    @property
    def lacks(self) -> bool:
        """Whether the source, if asked, is ahead of us, in transactions or in bytes of its log."""
        source = self.snapshot.source
        if source is None or source.sequence is None or source.replica_sequence is None:
            return self.missing > 0
        return source.missing != 0 and source.sequence > source.replica_sequence

    def age(self, at: float | None) -> float | None:
        """Return how long ago a commit was, by the source's clock. None: no commit."""
        commits = self.snapshot.commits
        return None if commits is None or at is None else commits.now - at + self.ahead

    @property
    def applied_age(self) -> float | None:
        """How long ago the newest transaction that was applied had been committed; None: unknown."""
        return self.age(self.snapshot.commits.applied_commit) if self.snapshot.commits else None

    def grown(self) -> float | None:
        """Return what the last figure is now if nothing was applied since."""
        before = self.snapshot.before
        return None if before is None else self._grown(before.lag, before.seconds_ago)

    def most(self) -> float | None:
        """Return what the lag can be now at most: none grows faster than time."""
        before = self.snapshot.before
        return None if before is None else self._grown(before.high, before.seconds_ago)

    def _grown(self, then: float | None, seconds_ago: float) -> float | None:
        return None if then is None else then + self.channel.delay + seconds_ago

    def is_fresh(self, arrived: float) -> bool:
        """Whether one that came so many seconds ago is typical of those that may come now."""
        return arrived < max(FRESH, _GAPS * self.gap)


class Figure(NamedTuple):
    """What one rule makes of the evidence; seconds, an intended delay included."""

    seconds: float | None  # None: something is late, nothing shows how much
    low: float
    high: float | None  # None: no upper bound is known
    by: str
    transport: float | None = None  # of it: on its way from the source to our relay log, None: not known
    upstream: float | None = None  # of it: before the direct source
    proven: bool = False  # whether a larger Seconds_Behind is wrong for sure, not only something else


def at_most(*bounds: float | None) -> float | None:
    """Give the smallest of some upper bounds; None is no bound."""
    return min((bound for bound in bounds if bound is not None), default=None)
