"""R4, R7, R8, R23, R24: the link to the source, an intended delay, heartbeats, transactions of others."""

from __future__ import annotations

from stallwatch.probes.mysql.status import is_on
from stallwatch.probes.replication_lag.causes import SLOW, Cause, rule
from stallwatch.probes.replication_lag.signals import activity
from stallwatch.startup import TYPE_CHECKING
from stallwatch.units import say_duration

if TYPE_CHECKING:
    from stallwatch.probes.replication_lag.causes import Case

_MOSTLY = 0.7  # of the lag
_WORTH = 5.0  # seconds
_SAME = 0.8  # of a heartbeat's age here is its age on the source, too


@rule(SLOW, "R8")
def r4_link_silent(case: Case) -> Cause | None:
    """Blame a link on which nothing comes; the server says 0 until its own time-out (all versions)."""
    lag, source = case.lag, case.snapshot.channel.source
    if not lag.silent or not case.snapshot.channel.receiver.runs:
        return None
    silence = f" for {say_duration(lag.contact_age)}" if lag.contact_age else ""
    what = f"nothing was heard from {source}{silence}: the link or the source is dead"
    return Cause(
        90,
        what,
        f"see whether {source} answers; the receiver tries again by itself",
    )


@rule(SLOW, "R12")
def r7_delayed_on_purpose(case: Case) -> Cause | None:
    """Tell that the applier waits because it is meant to (SOURCE_DELAY, MASTER_DELAY)."""
    channel, lag = case.snapshot.channel, case.lag
    waits = channel.remaining_delay is not None or activity.DELAY.search(channel.applier.state)
    beyond = max(_WORTH, 0.1 * channel.delay)
    if not channel.delay or not waits or (lag.seconds or 0.0) > beyond:
        return None
    return Cause(85, f"an intended delay of {say_duration(channel.delay)}")


@rule(SLOW, but_not=("R13",))
def r8_receiver_bound(case: Case) -> Cause | None:
    """Blame what lies before the relay log (MySQL 8's timestamps; elsewhere the GTIDs of the source).

    Thin link of 60 kB/s: 33.6 of 34.8 s on MySQL 8.0.46; MariaDB 10.11.19 said 0 and lacked 745 transactions.
    """
    evidence, channel = _transport(case) or _not_received(case), case.snapshot.channel
    if not evidence or not channel.receiver.runs or activity.RELAY_SPACE.search(channel.receiver.state):
        return None  # with no room for relay logs it waits for the applier
    what = f"the receiver does not keep up, network or source ({evidence})"
    return Cause(
        84,
        what,
        f"measure the link to {channel.source}, and look at its disk and binlog dump thread",
    )


def _transport(case: Case) -> str:
    transport, seconds = case.lag.transport, case.lag.seconds
    if not transport or transport < _WORTH or transport < _MOSTLY * (seconds or 0.0):
        return ""
    return f"transport {transport:.0f} of {max(seconds or 0.0, transport):.0f} s"


def _not_received(case: Case) -> str:
    source = case.snapshot.source
    if not source or not source.not_received or not case.is_idle:
        return ""
    return f"{source.not_received} transactions of {source.where} have not arrived, the relay log is empty"


@rule()
def r23_written_to(case: Case) -> Cause | None:
    """Tell that somebody has written here: five local GRANTs stopped a 10.11.19 with error 1950."""
    source = case.snapshot.source
    if not source or not source.errant:
        return None
    what = f"{source.errant} transactions here are not on {source.where}"
    if not is_on(case.signals.settings.get("read_only", "ON")):
        what += ", and read_only is OFF"
    advice = "find who writes here before read_only keeps them from it, and compare the data"
    return Cause(20, what, advice, explains=False)


@rule(SLOW, "R8")
def r24_heartbeat_dead(case: Case) -> Cause | None:
    """Tell that the heartbeat is as old on the source as here: nobody writes it, and there is no such lag."""
    heartbeat = case.snapshot.heartbeat
    if not heartbeat or heartbeat.source_age is None or heartbeat.age < _WORTH:
        return None
    if heartbeat.source_age < _SAME * heartbeat.age:
        return None
    what = (
        f"nobody writes the heartbeats of server {heartbeat.server_id}: on the source, too,"
        f" {heartbeat.table} is {say_duration(heartbeat.source_age)} old"
    )
    return Cause(97, what, "start pt-heartbeat --update (or your own writer) on the source again")
