"""One channel's evidence as the rules look at it: with the contact judged and the clocks compared."""

from __future__ import annotations

from stallwatch.probes.replication.lag import clocks
from stallwatch.probes.replication.lag.contact import Hearing, hear
from stallwatch.startup import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from stallwatch.probes.replication.channel import Channel
    from stallwatch.probes.replication.evidence import Evidence


class View(NamedTuple):
    """The evidence, and what follows from it at once."""

    evidence: Evidence
    hearing: Hearing
    ahead: float  # seconds that the source's clock is ahead of ours, as far as known
    guessed: bool = False  # whether that is only what earlier looks make likely

    @property
    def channel(self) -> Channel:
        """The channel itself."""
        return self.evidence.channel

    @property
    def said(self) -> float:
        """The server's own Seconds_Behind; 0 as well if it says none (NULL), or nonsense (below 0)."""
        return max(0.0, self.channel.seconds_behind or 0.0)

    @property
    def waits(self) -> bool:
        """Whether the applier has come to the end of the relay log; its workers may not have."""
        return self.channel.applier.runs and self.channel.applier.has_read_all

    @property
    def idle(self) -> bool:
        """Whether the applier has nothing to do.

        With parallel workers its state alone does not tell: "has read all relay log" while one of them
        hung in a row lock and Seconds_Behind grew (MariaDB 10.11.19, slave_parallel_threads=4).
        """
        return self.waits and not self.said and not self.evidence.backlog

    @property
    def works(self) -> bool:
        """Whether the applier has an event in hand whose time Seconds_Behind counts from."""
        return self.channel.applier.runs and not self.idle and self.said > 0

    @property
    def has_backlog(self) -> bool:
        """Whether something has been received that is not applied."""
        if self.evidence.backlog is not None:
            return self.evidence.backlog > 0
        return self.channel.received != self.channel.applied

    @property
    def is_done(self) -> bool:
        """Whether all that was received is applied, by an applier that runs or has stopped."""
        return self.idle or not (self.channel.applier.runs or self.has_backlog)

    @property
    def mariadb(self) -> bool:
        """Whether the replica is MariaDB, which knows no UUID of its source."""
        return not self.channel.source_uuid

    @property
    def missing(self) -> int:
        """How many transactions the source says that we have not applied; 0 as well if it was not asked."""
        return (self.evidence.source.missing or 0) if self.evidence.source else 0

    @property
    def lacks(self) -> bool:
        """Whether the source says that it is ahead of us, in transactions or in bytes of its log."""
        source = self.evidence.source
        if source is None or source.sequence is None or source.replica_sequence is None:
            return self.missing > 0
        return source.missing != 0 and source.sequence > source.replica_sequence

    def grown(self) -> float | None:
        """Give what the last figure has become if nothing was applied since."""
        before = self.evidence.before
        return None if before is None else self._grown(before.lag, before.seconds_ago)

    def most(self) -> float | None:
        """Give what the lag can have become at most: none grows faster than time."""
        before = self.evidence.before
        return None if before is None else self._grown(before.high, before.seconds_ago)

    def _grown(self, then: float | None, seconds_ago: float) -> float | None:
        return None if then is None else then + self.channel.delay + seconds_ago


def view(evidence: Evidence) -> View:
    """Judge contact and clocks once for all rules."""
    hearing, offset = hear(evidence), clocks.usual_offset(evidence)
    return View(evidence, hearing, clocks.ahead(evidence), guessed=bool(offset))
