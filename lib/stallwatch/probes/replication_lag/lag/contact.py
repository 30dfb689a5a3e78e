"""How long ago was the source heard of, and is that longer than a living source is quiet?"""

from __future__ import annotations

import math

from stallwatch.startup import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from stallwatch.probes.replication_lag.model import Before, ChannelSnapshot

_PATIENCE = 1.5  # heartbeat periods; a source with nothing to send is never quiet for longer than one
_GRANULARITY = 1.0  # s: of the process list and of 5.7's timestamps
_EXACT = 2.0  # s
_QUIET, _QUIET_GAPS = 60.0, 20  # seconds, usual gaps between transactions: nothing is hidden before


class Age(NamedTuple):
    """How long ago something happened: at least and at most, in seconds; infinite: not known."""

    low: float
    high: float


class Hearing(NamedTuple):
    """When the source was heard of, and how long it may be quiet."""

    age: Age
    period: float  # of its heartbeats
    listening: bool  # whether the receiver is connected, by its status
    gives_up: float = math.inf  # after so many seconds of silence the receiver itself does
    usual: float = _QUIET  # seconds for which this source may be quiet without a heartbeat
    remembered: bool = False  # whether only the last look shows the maximum age

    @property
    def patience(self) -> float:
        """How long a source may be quiet: infinite if it sends no heartbeats (period 0)."""
        return _PATIENCE * self.period + _GRANULARITY if self.period else math.inf

    @property
    def too_rare(self) -> bool:
        """Whether heartbeats cannot show a dead link: none, or none before the receiver's time-out."""
        return self.patience > self.gives_up + _GRANULARITY or not self.period

    @property
    def silent(self) -> bool:
        """Whether the receiver waits for a source that is dead, or behind a dead link."""
        return self.listening and self.age.low > self.patience

    @property
    def unknown(self) -> bool:
        """Whether it is unknown if the source is silent."""
        may_be_quiet = self.usual if self.too_rare else self.patience
        return self.listening and not self.silent and self.age.high > may_be_quiet

    @property
    def known_age(self) -> float | None:
        """The age as one number, if it is near enough to one; of a silent source, what it is at least."""
        if self.silent:
            return self.age.low
        return self.longest if self.age.high - self.age.low <= _EXACT else None

    @property
    def longest(self) -> float | None:
        """The age at most, if that is known."""
        return self.age.high if math.isfinite(self.age.high) else None


def hear(snapshot: ChannelSnapshot) -> Hearing:
    """Find out when the source was last heard of: an event, or one of its heartbeats.

    Heartbeats are sent only while there is no event to send, so only both together prove anything (measured
    on MySQL 5.7 to 9.7 and MariaDB 10.5 to 11.8: no heartbeat for 160 s on a healthy, busy link).
    """
    period, before, known = _period(snapshot), snapshot.before, math.inf
    if before and before.heard_within is not None:
        known = before.heard_within + before.seconds_ago
    listening = snapshot.channel.receiver.runs
    events, beats = _events(snapshot), _heartbeats(snapshot, period)
    seen = Age(min(events.low, beats.low), min(events.high, beats.high))
    age = Age(min(seen.low, known), min(seen.high, known))  # a source that restarts was heard of, too
    if listening and before and not before.connected:
        age = Age(0.0, min(before.seconds_ago, age.high))
    gap = (before.transaction_gap if before else None) or 0.0
    usual = max(_QUIET, _QUIET_GAPS * gap)
    return Hearing(age, period, listening, snapshot.net_timeout, usual, math.isinf(seen.high))


def _period(snapshot: ChannelSnapshot) -> float:
    """Seconds between heartbeats; the default is half of the receiver's time-out."""
    told = snapshot.channel.heartbeat_period
    if told is None and snapshot.commits:
        told = snapshot.commits.heartbeat_period
    return snapshot.net_timeout / 2 if told is None else told


def _events(snapshot: ChannelSnapshot) -> Age:
    """When the last event came: by the receiver, or by how long the applier has been without one."""
    commits, before = snapshot.commits, snapshot.before
    low, high = 0.0, math.inf
    told = commits is not None and commits.queued_at is not None and not commits.receives
    if commits and commits.queued_at is not None:
        high = max(0.0, commits.now - commits.queued_at)
        low = high if told else 0.0  # parts of a transaction come without leaving a time
    elif snapshot.idle is not None:
        low, high = snapshot.idle, snapshot.idle if snapshot.channel.source_id else math.inf
    if before and _position_moved(snapshot, before):
        if high > before.seconds_ago:  # something came that has left no time
            low, high = 0.0, before.seconds_ago
    elif before and not told:  # what the server itself shows needs no clock of ours, which may be set
        low = max(low, _since_contact(snapshot, before))
        high = max(low, high)
    return Age(low, high)


def _heartbeats(snapshot: ChannelSnapshot, period: float) -> Age:
    """When the last heartbeat came; MariaDB only counts them."""
    commits, before = snapshot.commits, snapshot.before
    if commits and commits.last_heartbeat is not None:
        age = max(0.0, commits.now - commits.last_heartbeat)
        return Age(age, age)
    count, then = heartbeats(snapshot), before.contact.heartbeats if before else None
    if count == 0 or not period:
        return Age(math.inf, math.inf)
    if count is None or then is None or before is None:
        return Age(0.0, math.inf)
    if count == then:
        none_for = _since_contact(snapshot, before)
        idle = snapshot.idle or 0.0  # the first heartbeat after an event comes a period later
        return Age(max(none_for, idle) if none_for >= idle - period else none_for, math.inf)
    more = count - then if count > then else count  # fewer: reset, as by MariaDB's CHANGE MASTER
    low = 0.0
    if snapshot.idle is not None and snapshot.idle < before.seconds_ago:
        low = max(0.0, snapshot.idle - more * period)  # as if all of them came after the last event
    return Age(low, max(low, before.seconds_ago - (more - 1) * period))


def heartbeats(snapshot: ChannelSnapshot) -> int | None:
    """How many heartbeats have come, if anything counts them."""
    return snapshot.commits.heartbeats if snapshot.commits else snapshot.channel.heartbeats


def _position_moved(snapshot: ChannelSnapshot, before: Before) -> bool:
    channel, then = snapshot.channel, before.contact
    return (channel.received, channel.received_gtids) != (then.received, then.received_gtids)


def _since_contact(snapshot: ChannelSnapshot, before: Before) -> float:
    """For how long nothing came at all, or at least since the last look."""
    same = not _position_moved(snapshot, before) and heartbeats(snapshot) == before.contact.heartbeats
    return before.seconds_ago + (before.unchanged_for if same else 0.0)
