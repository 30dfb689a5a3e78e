"""What is known of a channel's lag after a look: all times in seconds."""

from __future__ import annotations

from stallwatch.startup import NamedTuple


class Lag(NamedTuple):
    """A channel's lag in seconds: its best figure, what it is at least and at most, and where it is from."""

    seconds: float | None  # without an intended delay; None: nothing supports a figure
    low: float = 0.0
    high: float | None = None  # None: no upper bound is known
    by: str = ""  # "commit time", "heartbeat table", "Seconds_Behind", "source's history", "last contact", …
    transport: float | None = None  # of it: between the source's commit and our relay log
    apply: float | None = None  # of it: between the relay log and the replica's tables
    upstream: float | None = None  # of it: before our direct source
    contact_age: float | None = None  # since the source was last heard of
    silent: bool = False  # heard of too long ago: the link or the source is dead
    delayed: float = 0.0  # the intended delay, subtracted
    remarks: tuple[str, ...] = ()  # "Seconds_Behind 0 is wrong: relay log empty", "clocks differ by 120 s"
    cannot_tell: str = ""  # what this figure is blind to, and what would help
    offset: float | None = None  # seconds that look like lag where there is none, for the next looks
    heard_within: float | None = None  # contact_age at most, for the next looks; None: not known
    is_behind: bool = False  # whether anything is missing here, though seconds may be None
    doubtful: bool = False  # up to ``high`` it may be a lag, or nothing but clocks that differ
    clock_offset: float | None = None  # seconds that the replica's clock is ahead of the source's, if proven
    delay: float | None = None  # what looks like the last transaction's time on its way, for the next look
    delay_age: float | None = None  # how many seconds ago it came
    is_rough: bool = False  # it lies somewhere between two looks at the source that are far from each other
    writer_stopped: float | None = None  # seconds since the heartbeat table was last written; None: it is

    @property
    def at_least(self) -> bool:
        """Whether only a lower bound is known."""
        return self.high is None
