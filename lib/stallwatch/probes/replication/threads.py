"""A receiver or an applier that does not run: what that means for the state of a channel."""

from __future__ import annotations

from stallwatch.findings import State
from stallwatch.startup import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from stallwatch.probes.replication.channel import Channel

CONNECTING = frozenset({"Connecting", "Preparing"})  # the receiver's; "Preparing" on MariaDB


class Grace(NamedTuple):
    """How long what may heal itself, or is meant, is no more than a WARNING; seconds."""

    connecting: float
    backup: float


class Standing(NamedTuple):
    """For how long, in seconds, a channel has been in a state that it should leave."""

    connecting: float = 0.0
    stopped: float = 0.0


def is_resting(channel: Channel) -> bool:
    """Whether it is a channel of Group Replication's recovery, stopped because that is over.

    It stays among the channels after a member has joined (MySQL Reference Manual, "Distributed Recovery").
    """
    stopped = not (channel.receiver.runs or channel.applier.runs or is_connecting(channel))
    failed = channel.receiver.errno or channel.applier.errno
    return channel.name == "group_replication_recovery" and stopped and not failed


def is_connecting(channel: Channel) -> bool:
    """Whether the receiver tries to reach its source."""
    return channel.receiver.running in CONNECTING


def is_stopped(channel: Channel) -> bool:
    """Whether the receiver or the applier does not even try."""
    return not channel.applier.runs or not (channel.receiver.runs or is_connecting(channel))


def state(channel: Channel, standing: Standing, grace: Grace, *, backup: float | None) -> State:
    """Judge a channel by its threads alone.

    ``backup`` is the age in seconds of a running backup that explains why the applier is stopped:
    mariabackup --safe-slave-backup stops it without an error, for as long as it runs (10.11.19).
    """
    explained = backup is not None and not channel.applier.errno
    excused = explained and max(standing.stopped, backup or 0.0) <= grace.backup
    states = (
        _receiver(channel, young=standing.connecting <= grace.connecting),
        State.OK if channel.applier.runs else State.WARNING if excused else State.CRITICAL,
    )
    return max(states, key=lambda state: state.gravity)


def _receiver(channel: Channel, *, young: bool) -> State:
    if channel.receiver.runs:
        return State.OK
    return State.WARNING if is_connecting(channel) and young else State.CRITICAL
