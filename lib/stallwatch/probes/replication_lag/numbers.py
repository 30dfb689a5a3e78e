"""The other numbers of a channel, their labels in the perfdata, and the words for seconds."""

from __future__ import annotations

from stallwatch.findings import Reading
from stallwatch.labels import own
from stallwatch.startup import TYPE_CHECKING
from stallwatch.units import IN_SECONDS, plain, say_roughly

if TYPE_CHECKING:
    from collections.abc import Iterator

    from stallwatch.probes.replication_lag.diagnosis import Diagnosis

_PARTS = ("transport", "upstream", "apply")  # "apply_lag" is a label of ours
_SHORT = 10.0  # seconds; below, tenths count


def numbers(one: Diagnosis, label: str, *, few: bool) -> Iterator[Reading]:
    """List the other numbers of a channel; in the perfdata if it is one of ``few``."""
    channel, found, snapshot = one.channel, one.lag, one.snapshot
    asked = snapshot.source
    heard = found.contact_age if snapshot.commits else None  # elsewhere it is known now and then
    given = (
        ("transport_lag", found.transport, "s", "from the source's commit to the relay log"),
        ("upstream_lag", found.upstream, "s", "before the direct source"),
        ("apply_lag", found.apply, "s", "from the relay log to the tables"),
        ("seconds_behind", _at_least_0(channel.seconds_behind), "s", "by the server's own Seconds_Behind"),
        ("contact_age", heard, "s", "since the source was last heard of"),
        ("slope", one.trend.slope if one.trend else None, "", "seconds of lag more in a second"),
        ("backlog", snapshot.backlog, "", "transactions received and not applied"),
        ("missing", asked.missing if asked else None, "", "transactions of the source not applied here"),
    )
    for name, value, unit, what in given:
        if value is not None:
            number = round(value, 3)
            text = f"{channel.subject}: {plain(number)}{unit and f' {unit}'} {what}"
            shown = f"{label}{name}" if few else ""
            yield Reading(name, number, unit, what=text, label=shown, in_table=True)
    if found.clock_offset is not None:
        text = f"{channel.subject}: {_clocks(found.clock_offset)}"
        shown = f"{label}clock_offset" if few else ""
        yield Reading("clock_offset", round(found.clock_offset, 3), "s", what=text, label=shown)


def _clocks(offset: float) -> str:
    if not offset:
        return "its clock agrees with the source's"
    return f"its clock is {say_lag(abs(offset))} {'ahead of' if offset > 0 else 'behind'} the source's"


def _at_least_0(value: float | None) -> float | None:
    return None if value is None else max(0.0, value)


def label_of(channel: str) -> str:
    """Return what the labels of a channel begin with in the perfdata; nothing for the default channel.

    The lag of a channel "apply" would have the label of a part of the default channel's.
    """
    misread = channel.rpartition("_")[2] in _PARTS
    return f"{own(channel, f'channel {channel}' if misread else '')}_" if channel else ""


def say_lag(value: float) -> str:
    """Write a lag: in seconds, as thresholds are written; a long one as a person would."""
    if value >= IN_SECONDS:
        return say_roughly(value)
    return f"{value:.0f} s" if value >= _SHORT else f"{round(value, 1):g} s"
