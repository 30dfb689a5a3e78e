"""How a channel and its lag are said."""

from __future__ import annotations

from stallwatch.startup import TYPE_CHECKING
from stallwatch.units import say_duration

if TYPE_CHECKING:
    from stallwatch.probes.replication.channel import Channel
    from stallwatch.probes.replication.lag import Lag

_IN_SECONDS = 1000.0  # up to here a lag is said in seconds, as thresholds are given
_FAR = 5.0  # seconds
_SHORT = 10.0  # seconds; below, tenths count


def seconds(value: float) -> str:
    """Say a lag: in seconds, as thresholds are written; a long one as a person would."""
    if value >= _IN_SECONDS:
        return say_duration(value)
    return f"{value:.0f} s" if value >= _SHORT else f"{round(value, 1):g} s"


def source(channel: Channel) -> str:
    """Name the source of a channel."""
    return f"{channel.source_host}:{channel.source_port}"


def subject(channel: Channel) -> str:
    """Name the channel at the beginning of a sentence; the default one by its source."""
    return f"channel {channel.name}" if channel.name else f"replica of {source(channel)}"


def behind(channel: Channel, lag: Lag) -> str:
    """Say how far the channel is behind, and how that is known."""
    return f"{subject(channel)} {amount(lag)}{known_by(lag)}"


def amount(lag: Lag) -> str:
    """Say the figure alone."""
    if lag.seconds is None:
        known = f"at least {seconds(lag.low)} behind" if lag.low else "behind by an unknown time"
        return known if lag.low or lag.is_behind else "lag not known"
    delayed = f", besides the intended {say_duration(lag.delayed)}" if lag.delayed else ""
    return f"{_bound(lag, lag.seconds)}{seconds(lag.seconds)} behind{delayed}"


def _bound(lag: Lag, best: float) -> str:
    """Say on which side of the figure the truth is, where it may be far from it."""
    is_least, is_most = best - lag.low <= _FAR, best == lag.high
    if lag.at_least:
        return "" if not best else "at least " if is_least else "perhaps "
    return "up to " if is_most and not is_least else ""


def known_by(lag: Lag) -> str:
    """Say in brackets where the figure is from, and what it is blind to."""
    said = "; ".join(filter(None, (lag.by, *lag.remarks, lag.cannot_tell)))
    return f" ({said})" if said else ""


def not_running(channel: Channel) -> str:
    """Say which thread does not run, in the server's words, while nobody knows why."""
    threads = (("receiver", channel.receiver), ("applier", channel.applier))
    return " and ".join(f"the {name} is not running ({one.running})" for name, one in threads if not one.runs)
