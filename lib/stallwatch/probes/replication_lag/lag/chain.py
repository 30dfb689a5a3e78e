"""The lag of a chain: what the direct source has not got itself, and what shows that it is a replica."""

from __future__ import annotations

from stallwatch.probes.replication_lag import gtid
from stallwatch.probes.replication_lag.lag.model import (
    COMMIT_TIME,
    HEARTBEAT_TABLE,
    ITS_SOURCE,
    MARGIN,
    SECONDS_BEHIND,
    Figure,
)
from stallwatch.startup import TYPE_CHECKING

if TYPE_CHECKING:
    from stallwatch.probes.replication_lag.lag.model import View
    from stallwatch.probes.replication_lag.lag.result import Lag
    from stallwatch.probes.replication_lag.model import ChannelSnapshot, Upstream

# They count from where a transaction was written first, so a delay of the source is in them.
_FROM_THE_TOP = {COMMIT_TIME, HEARTBEAT_TABLE, SECONDS_BEHIND}


def of_chain(view: View, found: Figure) -> Figure:
    """Take the lag of the source itself where that is larger: who has all of its source has no more.

    The delay that the source is to have is none of the lag, as its own is not.
    """
    if (above := _asked(view)) is None:
        return found
    theirs = above.lag
    if found.seconds is not None and found.by in _FROM_THE_TOP:
        none = theirs.delayed + _by_clocks(theirs, found.seconds)
        found = found._replace(seconds=max(0.0, found.seconds - none), low=max(0.0, found.low - none))
    if theirs.seconds is None:
        unknown = Figure(None, max(found.low, theirs.low), None, ITS_SOURCE)
        return unknown if theirs.is_behind and not found.seconds else found
    delay = view.channel.delay  # of this one, subtracted later
    if (found.seconds or 0.0) - delay >= theirs.seconds:
        return found
    seconds, high = theirs.seconds + delay, None if theirs.high is None else theirs.high + delay
    return Figure(seconds, max(found.low, theirs.low + delay), high, ITS_SOURCE, 0.0, seconds)


def _by_clocks(above: Lag, seconds: float) -> float:
    """Give what of these seconds is, or may be, nothing but a clock of the first server that is behind.

    Commit times, heartbeats and Seconds_Behind are by that clock, but only the clocks of the last hop are
    compared here. A clock that is ahead makes a lag look smaller: what the source lags itself counts then.
    """
    if above.doubtful:
        doubt = (above.high or 0.0) - (above.seconds or 0.0)
        return max(0.0, doubt) if seconds <= (above.high or 0.0) + MARGIN else 0.0
    return max(0.0, above.clock_offset or 0.0)


def intended(view: View) -> float:
    """Give the seconds that the source is meant to be behind, and is; 0.0 as well if it was not asked."""
    above = _asked(view)
    return above.lag.delayed if above else 0.0


def is_doubtful(view: View, found: Figure) -> bool:
    """Whether what the source adds to the lag may be nothing but clocks that differ."""
    above = _asked(view)
    if above is None or not above.lag.doubtful:
        return False
    return found.by == ITS_SOURCE or (found.seconds or 0.0) < (above.lag.high or 0.0)


def _asked(view: View) -> Upstream | None:
    return view.snapshot.source.upstream if view.snapshot.source else None


def is_replica(snapshot: ChannelSnapshot) -> bool:
    """Whether the source was one when it sent its last transaction, which another server had written.

    One that was made the source since looks the same until it writes itself.
    """
    channel, queued = snapshot.channel, snapshot.commits.queued if snapshot.commits else ""
    if channel.source_uuid:
        return bool(queued) and not queued.startswith(channel.source_uuid)
    if not gtid.is_mariadb(channel.received_gtids):
        return False
    servers = {server for server, _ in gtid.position(channel.received_gtids).values()}
    return channel.source_id not in servers


def may_hide(view: View) -> bool:
    """Whether the source may have got nothing for as long as it sends nothing: it is a replica itself.

    An idle chain looks the same. Heartbeats of its first server, or servers above if asked, show it.
    """
    row = view.snapshot.heartbeat
    beats = row is not None and row.server_id != view.channel.source_id
    return view.idle and not (view.snapshot.source or beats) and is_replica(view.snapshot)


def nothing_new_for(snapshot: ChannelSnapshot) -> float | None:
    """Give the seconds since the last transaction came, heartbeats apart; None: not known, or one waits."""
    commits = snapshot.commits
    if commits and commits.queued_at is not None:
        return None if commits.receives else max(0.0, commits.now - commits.queued_at)
    return snapshot.idle
