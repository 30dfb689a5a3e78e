"""R35: the direct source of a channel is a replica itself, and is what is behind."""

from __future__ import annotations

from stallwatch.line import Forms
from stallwatch.probes.replication_lag.causes.case import SLOW, Cause, are_stopped, rule, start
from stallwatch.probes.replication_lag.causes.receiver import OF_CLIENT
from stallwatch.probes.replication_lag.lag.chain import is_replica
from stallwatch.probes.replication_lag.lag.model import HEARTBEAT_TABLE
from stallwatch.startup import TYPE_CHECKING
from stallwatch.units import say_duration
from stallwatch.words import have, plural

if TYPE_CHECKING:
    from stallwatch.probes.replication_lag.causes.case import Case
    from stallwatch.probes.replication_lag.model import Channel, Upstream

_WORTH = 5.0  # seconds
_MOSTLY = 0.7  # of the lag


@rule(SLOW, "R8")
def r35_upstream(case: Case) -> Cause | None:
    """Blame the replication of the direct source.

    Proof is only what --source asked: the direct source's own lag, or transactions of a server above it.
    Without --source it is "probably", as a source that sends nothing new may be idle. Then a lag has to show
    by commit times (the source sent its last transaction late) or by a heartbeat of a server above. In chains
    of MySQL 9.7.2 and MariaDB 10.11 whose middle server was stopped, the last server's own figures stayed 0
    for 70 s.
    """
    above = case.snapshot.source.upstream if case.snapshot.source else None
    if above and above.lag.doubtful:  # nothing but clocks that differ, maybe
        return None
    return _asked(case) or _not_at_the_source(case) or _sent_late(case) or _nothing_newer(case)


def _is_most(part: float | None, case: Case) -> bool:
    return part is not None and part >= _WORTH and part >= _MOSTLY * (case.lag.seconds or 0.0)


def _asked(case: Case) -> Cause | None:
    """Return why the source is behind itself, if that was asked."""
    above = case.snapshot.source.upstream if case.snapshot.source else None
    if above is None:
        return None
    theirs = above.lag.seconds
    unknown = theirs is None and case.lag.seconds is None and above.lag.is_behind
    if not (unknown or _is_most(theirs, case)):
        return None
    return Cause(92, *_why(above, "its source "))


def _why(above: Upstream, which: str) -> tuple[str, str]:
    """Return what is wrong with the source's replication, or with that of its own source, and what helps."""
    channel, where = above.snapshot.channel, above.where
    who = f"{which}{where}"
    deeper = above.snapshot.source.upstream if above.snapshot.source else None
    ask = f"run check_replication_lag on {where}"
    if found := _down(above, who, ask):
        return found
    if above.lag.silent:
        quiet = f" for {say_duration(above.lag.contact_age)}" if above.lag.contact_age else ""
        return f"the receiver of {who} has heard nothing{quiet}", f"look at {channel.source} and the link"
    if deeper and (deeper.lag.seconds or 0.0) >= _MOSTLY * (above.lag.seconds or 0.0):
        return _why(deeper, "")
    behind = "" if above.lag.seconds is None else f" by {say_duration(round(above.lag.seconds))}"
    return f"the replication of {who} is behind{behind}", ask


def _down(above: Upstream, who: str, ask: str) -> tuple[str, str] | None:
    """Return which of its threads does not run, and what helps; None: both run."""
    channel = above.snapshot.channel
    for name, thread, its in (
        ("SQL_THREAD", channel.applier, "applier"), ("IO_THREAD", channel.receiver, "receiver")
    ):  # fmt: skip
        if thread.runs:
            continue
        if thread.running != "No":
            return _connecting(channel, who, ask)
        if thread.errno:
            return f"the {its} of {who} stopped with error {thread.errno}", ask
        both = are_stopped(channel)
        which, them = ("receiver and applier", "them") if both else (f"the {its}", "it")
        begin = start(above.flavour, channel.name, "" if both else name)
        what, find = f"{which} of {who} {'are' if both else 'is'} stopped", f"find out who stopped {them}"
        return what, Forms(f"{find}, then {begin} on {above.where}", f"{find}, then {begin} there", find)
    return None


def _connecting(channel: Channel, who: str, ask: str) -> tuple[str, str]:
    """Return why a receiver that keeps trying has no connection: its source refuses it or is silent."""
    errno, source = channel.receiver.errno, channel.source
    if not errno:
        return f"the receiver of {who} is connecting to {source}", f"check that {source} answers"
    if errno in OF_CLIENT:
        return f"the receiver of {who} cannot connect to {source} (error {errno})", f"look at {source}"
    return f"{source} refuses the receiver of {who} (error {errno})", ask


def _not_at_the_source(case: Case) -> Cause | None:
    """Return what a server above has and the source has not sent, unless the link is slow."""
    source, channel = case.snapshot.source, case.snapshot.channel
    if not source or not source.distant or not source.not_received or not case.is_idle:
        return None
    number, contact = source.not_received, case.lag.contact_age
    knows = contact is not None and contact < case.lag.low  # a heartbeat: it had nothing more to send
    has = have(range(number))
    upstream, several = f"{'' if knows else 'probably '}upstream", plural(number, "transaction")
    what = Forms(
        f"{upstream}, {several} of {source.where} {has} not come through {channel.source}",
        f"{upstream}, {channel.source} lacks {several}",
    )
    return Cause(92, what, Forms(f"check replication on {channel.source}", "check replication there"))


def _sent_late(case: Case) -> Cause | None:
    """Return how late the source had it, by commit times of both servers, unless their clocks differ."""
    source = case.snapshot.channel.source
    if not _is_most(case.lag.upstream, case) or not is_replica(case.snapshot):
        return None
    what = f"probably upstream, {source} was {say_duration(round(case.lag.upstream or 0.0))} late itself"
    return Cause(84, what, f"check replication on {source}, and clocks above it")


def _nothing_newer(case: Case) -> Cause | None:
    """Doubt what is above where a heartbeat of there is old, and all that the source has sent is applied."""
    snapshot, lag = case.snapshot, case.lag
    row, source = snapshot.heartbeat, snapshot.channel.source
    if lag.by != HEARTBEAT_TABLE or row is None or row.server_id == snapshot.channel.source_id:
        return None
    if (lag.seconds or 0.0) < _WORTH:
        return None
    if not case.is_idle or snapshot.has_backlog or lag.silent or not snapshot.channel.receiver.runs:
        return None
    heard = lag.contact_age is not None and lag.contact_age < row.age - _WORTH
    link = "" if heard else " or the link"
    upstream = f"probably upstream{link}"
    what = Forms(
        f"{upstream}, nothing newer came from {source} and all is applied",
        f"{upstream}, all that {source} sent is applied",
    )
    step = Forms(
        f"check replication on {source}, and the heartbeat writer",
        "check replication and heartbeats there",
        "check replication there",
    )
    return Cause(84, what, step)
