"""What one look at a channel keeps for the next ones."""

from __future__ import annotations

from stallwatch.findings import ProbeError
from stallwatch.history import SLACK, Since, has_restarted, own, recall, remember
from stallwatch.probes.replication_lag import gtid
from stallwatch.probes.replication_lag.lag.contact import heartbeats
from stallwatch.probes.replication_lag.lag.from_source import beat
from stallwatch.probes.replication_lag.lag.model import LATE
from stallwatch.probes.replication_lag.model import Before, Contact
from stallwatch.startup import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from typing import Any

    from stallwatch.probes.replication_lag.lag.result import Lag
    from stallwatch.probes.replication_lag.model import Channel, ChannelSnapshot
    from stallwatch.probes.replication_lag.queries import Facts

FORMAT = 1  # of what is kept: what another version has written is not understood
SAMPLES = 60  # of the lag: an hour of a check every minute
_SLOW = 5.0  # seconds between reads of the two clocks
SOURCE_LOOKS = 400  # at the source: a lag of hours is found in them
OFFSETS = 10
ANSWERS, _LEAST_ANSWERS = 20, 5  # looks at how long a log-in takes
_STEP = 2.0  # times what is usual that one of these may add


class Sample(NamedTuple):
    """The lag at one look."""

    at: float  # seconds, by the clock of the memory
    lag: float
    at_least: bool


class Memory:
    """The memory of one replica; empty if it is another one, or makes no sense.

    Its moments are by a clock of its own, which goes on by the time between two looks, whatever is done to
    our clock or the replica's: both show that time, so the shorter of two that differ is believed.
    ``problems`` has what is wrong with it.
    """

    def __init__(self, memory: dict[str, Any], facts: Facts, now: float) -> None:
        self.problems: list[ProbeError] = []
        same = (memory.get("format"), memory.get("server_id")) == (FORMAT, facts.server_id)
        last = memory if same else {}
        if not same:
            memory.pop("answers", None)
        try:
            restarted, passed = _passed(last, facts, now)
            clock = last.get("clock", 0.0) + passed
            step = _set(last, facts, now)
            self._channels = {name: dict(kept) for name, kept in last.get("channels", {}).items()}
            for kept in self._channels.values():
                if restarted:
                    _restart(kept)
                History(kept, clock, step).must_make_sense()
        except (TypeError, ValueError, KeyError, AttributeError):
            what = "the memory of earlier runs is damaged and this run counts as the first"
            self.problems.append(ProbeError(what))
            clock, self._channels, step = 0.0, {}, 0.0
        self.now, self._step = clock, step
        self.own = own(memory, "own")  # see ``own_transactions``
        self._memory = memory
        memory.update(
            format=FORMAT, server_id=facts.server_id, uptime=facts.uptime, at=now, clock=clock,
            shown=facts.now, channels=self._channels,
        )  # fmt: skip

    def channel(self, channel: Channel) -> History:
        """Return the memory of one channel; empty if that replicates from another source."""
        source = [channel.source_host, channel.source_port, channel.source_uuid]
        kept = self._channels.setdefault(channel.name, {})
        if kept.get("source") != source:
            kept.clear()
            kept["source"] = source
        return History(kept, self.now, self._step)

    def of(self, source: str) -> dict[str, Any]:
        """Give what is kept of that source's own replication: a memory like this one."""
        return own(own(self._memory, "upstream"), source)

    def usual_answer(self, now: float) -> float | None:
        """Keep how long a log-in takes; return the usual. None: too few looks.

        One that takes far longer moves what is usual by little, and in the end it is.
        """
        known = recall(self._memory, "answers", list[float]) or []
        usual = sorted(known)[len(known) // 2] if len(known) >= _LEAST_ANSWERS else None
        known.append(round(now if usual is None else min(now, _STEP * usual), 6))
        self._memory["answers"] = known[-ANSWERS:]
        return usual

    def keep_only(self, names: list[str]) -> None:
        """Forget channels that are no more."""
        for name in set(self._channels) - set(names):
            del self._channels[name]


def _passed(memory: dict[str, Any], facts: Facts, now: float) -> tuple[bool, float]:
    """Return whether the replica was started since the last look, and how many seconds ago that look was."""
    if "at" not in memory:
        return False, 0.0
    ours, its = now - memory["at"], facts.uptime - memory["uptime"]
    if has_restarted(facts.uptime, memory["uptime"], ours):
        return True, max(0.0, ours)
    return False, its if ours < 0 or its < ours - SLACK else ours


def _set(memory: dict[str, Any], facts: Facts, now: float) -> float:
    """Return by how many seconds the replica's clock was set since the last look, by one that nobody sets."""
    if "shown" not in memory or now < memory["at"]:
        return 0.0
    step = facts.now - memory["shown"] - (now - memory["at"])
    return float(step) if abs(step) > _SLOW else 0.0


def _restart(kept: dict[str, Any]) -> None:
    """Forget what a restart of the replica has ended; what was seen of the source stays true."""
    kept |= {"samples": [], "offsets": [], "since": {}, "relay_logs": {}, "filtered": {}}
    if "last" in kept:
        contact = {**kept["last"]["contact"], "heartbeats": None}
        kept["last"] = {**kept["last"], "contact": contact, "retries": None}


class History:
    """The memory of one channel."""

    def __init__(self, kept: dict[str, Any], now: float, step: float = 0.0) -> None:
        self._kept = kept
        self._now = now
        self._step = step

    def must_make_sense(self) -> None:
        """Read all of it once: whoever wrote it, what follows can rely on it. Raises what Python raises."""
        before = self.before
        if "last" in self._kept and (before is None or before.seconds_ago < 0 or before.unchanged_for < 0):
            raise ValueError("the last look is damaged, or still to come")

    @property
    def before(self) -> Before | None:
        """What the last look knew; None: this is the first one."""
        last, at = recall(self._kept, "last", Before), recall(self._kept, "at", float)
        if last is None or at is None:
            return None
        looks = recall(self._kept, "source_looks", list[tuple[float, float]]) or []
        return last._replace(
            seconds_ago=self._now - at,
            source_history=tuple((self._now - then, sequence) for then, sequence in looks),
            offsets=tuple(recall(self._kept, "offsets", list[float]) or ()),
            clock_set=self._step,
        )

    @property
    def samples(self) -> list[Sample]:
        """The lags of earlier looks, oldest first."""
        kept = recall(self._kept, "samples", list[tuple[float, float, bool]]) or []
        return [Sample(*sample) for sample in kept]

    def since(self, what: str, *, holds: bool) -> float:
        """Return for how long it has been so, in seconds: since the first look in a row that found it."""
        return Since(own(self._kept, "since"), self._now).seconds(what, holds=holds)

    def of(self, what: str) -> dict[str, Any]:
        """Give a dictionary of the channel's memory for nothing else."""
        return own(self._kept, what)

    def keep(self, snapshot: ChannelSnapshot, lag: Lag) -> None:
        """Keep what this look found."""
        channel, before = snapshot.channel, self.before
        contact = Contact(channel.received, channel.received_gtids, heartbeats(snapshot))
        delay, delay_age = lag.delay, lag.delay_age
        if before and delay is None and before.delay_age is not None:  # a restart of the replica has lost it
            delay, delay_age = before.delay, before.delay_age + before.seconds_ago
        last = Before(
            0.0,
            lag.seconds,
            contact,
            before.unchanged_for + before.seconds_ago if before and before.contact == contact else 0.0,
            transaction_gap=_gap(channel, before),
            high=lag.high,
            seconds_behind=channel.seconds_behind,
            applied=channel.applied,
            connected=channel.receiver.runs,
            heartbeat=beat(snapshot),
            heard_within=lag.heard_within,
            retries=_retries(channel, before),
            clocks=lag.clock_offset,
            delay=delay,
            delay_age=delay_age,
            came_late=(lag.transport or 0.0) > LATE,
        )
        remember(self._kept, "last", last)
        self._kept["at"] = self._now
        sequence = snapshot.source.sequence if snapshot.source else None
        bound = lag.at_least or lag.doubtful
        self._add("samples", SAMPLES, None if lag.seconds is None else [self._now, lag.seconds, bound])
        self._add("source_looks", SOURCE_LOOKS, None if sequence is None else [self._now, sequence])
        self._add("offsets", OFFSETS, lag.offset)

    def _add(self, name: str, most: int, value: float | list[float] | None) -> None:
        if value is not None:
            kept = self._kept.get(name)
            self._kept[name] = [*(kept if isinstance(kept, list) else ()), value][-most:]


def _retries(channel: Channel, before: Before | None) -> int | None:
    """Count the retries until the applier had come to where it is."""
    stands = before is not None and before.applied == channel.applied and before.retries is not None
    return before.retries if before and stands else channel.retries


def _gap(channel: Channel, before: Before | None) -> float | None:
    """Seconds between transactions since the last look, or what it was then if none came."""
    if before is None:
        return None
    came = gtid.since(channel.received_gtids, before.contact.received_gtids)
    return before.seconds_ago / came if came else before.transaction_gap
