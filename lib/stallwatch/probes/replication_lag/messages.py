"""What there is to say of a channel: its sentence, its numbers, its row in a table."""

from __future__ import annotations

import re

from stallwatch.findings import Fault, Reading, State
from stallwatch.probes.replication_lag.model import CLEAR_SLOPE
from stallwatch.startup import TYPE_CHECKING
from stallwatch.table import Table
from stallwatch.units import plain, say_duration
from stallwatch.words import plural

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from stallwatch.findings import Finding
    from stallwatch.probes.replication_lag.diagnosis import Criteria, Diagnosis
    from stallwatch.probes.replication_lag.lag.model import Lag
    from stallwatch.probes.replication_lag.model import Channel, Trend

_TOLD = 3  # causes in a line
_MOST = 3  # channels that have more than their lag in the perfdata: each takes 150 characters of the line
_IN_SECONDS = 1000.0  # up to here a lag is said in seconds, as thresholds are given
_FAR = 5.0  # seconds
_SHORT = 10.0  # seconds; below, tenths count


def channels(diagnoses: Sequence[Diagnosis], criteria: Criteria) -> Iterator[Finding]:
    """Say of each channel what is wrong, then how far it is behind, then its other numbers."""
    labels = _labels(diagnoses)
    for number, one in enumerate(diagnoses):
        fault = _fault(one, criteria)
        if fault:
            yield fault
        label = labels[one.channel.name]
        if one.lag.seconds is not None or not fault:
            table = None if number else _table(diagnoses)
            yield _lag(one, criteria, label, with_causes=not fault, table=table)
        yield from _numbers(one, label, few=len(diagnoses) <= _MOST)


def _fault(one: Diagnosis, criteria: Criteria) -> Fault | None:
    state = one.state(criteria)
    if state is not State.OK:
        return _down(one, state)
    if one.lag.silent:
        return _silent(one)
    if when := breach(one.trend, one.lag, criteria):
        return _breach(one, when)
    return None


def _down(one: Diagnosis, state: State) -> Fault:
    """Tell of a receiver or applier that does not run, and how far behind that leaves the channel."""
    found, causes = one.lag, one.causes
    why = next((cause for cause in causes if cause.is_down), None)
    first = why.what if why else _not_running(one.channel)
    what = f"{one.channel.subject}: {first}; {_amount(found)}{_known_by(found)}"
    others = [cause.what for cause in causes if cause is not why]
    return Fault(state, "; ".join([what, *_also(others)]), advice=why.advice if why else "")


def _silent(one: Diagnosis) -> Fault:
    """Tell of a source that has not been heard of for longer than it keeps quiet."""
    snapshot, age = one.snapshot, one.lag.contact_age or one.lag.low
    period = snapshot.commits.heartbeat_period if snapshot.commits else one.channel.heartbeat_period
    expected = f"a heartbeat is due every {say_duration(period)}, " if period else ""
    return Fault(
        State.WARNING,
        f"{one.channel.subject}: no event or heartbeat for {_seconds(age)}",
        f"{expected}the receiver itself gives up after {say_duration(snapshot.net_timeout)}",
        f"look at the network and at {one.channel.source}: is it up, does it answer?",
    )


def _breach(one: Diagnosis, words: str) -> Fault:
    """Tell of a threshold that will be crossed soon."""
    what = f"{_behind(one.channel, one.lag)}, {words}"
    return Fault(State.WARNING, "; ".join([what, *_why(one)]), advice=_advice(one))


def _lag(
    one: Diagnosis, criteria: Criteria, label: str, *, with_causes: bool, table: Table | None
) -> Reading:
    """Tell how far a channel is behind, where that is going, and why."""
    channel, found = one.channel, one.lag
    going = direction(one.trend, found, criteria)
    what = _behind(channel, found) + (f", {going}" if going else "")
    return Reading(
        "lag",
        None if found.seconds is None else round(found.seconds, 3),
        "s",
        what="; ".join([what, *(_why(one) if with_causes else ())]),
        advice=_advice(one) if with_causes else "",
        label=f"{label}lag",
        table=table,
        confirmed=not found.doubtful,
    )


def _numbers(one: Diagnosis, label: str, *, few: bool) -> Iterator[Reading]:
    """Give the other numbers of a channel; in the perfdata if it is one of ``few``."""
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
    if asked and asked.errant is not None:
        yield _errant(channel.subject, asked.errant, asked.where, f"{label}errant" if few else "")


def _errant(channel: str, number: int, source: str, label: str) -> Reading:
    """Tell what the replica has written itself: it breaks a failover, and gtid_strict_mode's applier."""
    transactions = plural(number, "transaction") if number else "no transactions"
    what = f"{channel}: {transactions} here that {source} does not have"
    advice = (
        "find who writes here, SET GLOBAL super_read_only = ON (MariaDB: read_only); compare the GTID sets"
    )
    return Reading("errant", number, what=what, advice=advice, label=label)


def _table(diagnoses: Sequence[Diagnosis]) -> Table:
    """Put the channels side by side."""
    columns = (
        "Channel", "Source", "Receiver", "Applier", "Lag s", "At most", "Transport", "Upstream", "Apply",
        "Seconds_Behind", "Backlog", "Missing", "Heard s ago",
    )  # fmt: skip
    return Table(columns, tuple(_row(one) for one in diagnoses))


def _row(one: Diagnosis) -> tuple[str | float | None, ...]:
    channel, found, snapshot = one.channel, one.lag, one.snapshot
    times = (found.seconds, found.high, found.transport, found.upstream, found.apply, channel.seconds_behind)
    return (
        channel.name or "-", channel.source, channel.receiver.running, channel.applier.running,
        *map(_rounded, times),
        snapshot.backlog, snapshot.source.missing if snapshot.source else None, _rounded(found.contact_age),
    )  # fmt: skip


def _at_least_0(value: float | None) -> float | None:
    return None if value is None else max(0.0, value)


def _rounded(value: float | None) -> float | None:
    return None if value is None else round(value, 1)


def _labels(diagnoses: Sequence[Diagnosis]) -> dict[str, str]:
    """Give what the labels of each channel begin with in the perfdata; nothing for the default channel.

    Names that differ only in what a label may not have are numbered, in the order of the names.
    """
    found: dict[str, str] = {}
    taken: list[str] = []
    for name in sorted(filter(None, (one.channel.name for one in diagnoses))):
        written = re.sub(r"[^A-Za-z0-9_.]", "_", name)
        taken.append(written)
        copy = taken.count(written)
        found[name] = f"{written}_{copy}_" if copy > 1 else f"{written}_"
    return found | {"": ""}


def _why(one: Diagnosis) -> Iterator[str]:
    if one.causes:
        first, *others = one.causes
        explains = "cause" if first.explains else "beside it"
        yield f"{explains if one.is_worth_explaining else 'seen here'}: {first.what}"
        yield from _also([cause.what for cause in others])


def _also(others: Sequence[str]) -> Iterator[str]:
    told = others[: _TOLD - 1]
    yield from (f"also {one}" for one in told)
    if more := len(others) - len(told):
        yield f"and {more} more"


def _advice(one: Diagnosis) -> str:
    return next((cause.advice for cause in one.causes if cause.explains), "")


def _seconds(value: float) -> str:
    """Say a lag: in seconds, as thresholds are written; a long one as a person would."""
    if value >= _IN_SECONDS:
        return say_duration(value)
    return f"{value:.0f} s" if value >= _SHORT else f"{round(value, 1):g} s"


def _behind(channel: Channel, lag: Lag) -> str:
    """Say how far the channel is behind, and how that is known."""
    return f"{channel.subject} {_amount(lag)}{_known_by(lag)}"


def _amount(lag: Lag) -> str:
    """Say the figure alone."""
    if lag.seconds is None:
        known = f"at least {_seconds(lag.low)} behind" if lag.low else "behind by an unknown time"
        return known if lag.low or lag.is_behind else "lag not known"
    delayed = f", besides the intended {say_duration(lag.delayed)}" if lag.delayed else ""
    return f"{_bound(lag, lag.seconds)}{_seconds(lag.seconds)} behind{delayed}"


def _bound(lag: Lag, best: float) -> str:
    """Say on which side of the figure the truth is, where it may be far from it."""
    is_least, is_most = best - lag.low <= _FAR, best == lag.high
    if lag.at_least:
        return "" if not best else "at least " if is_least else "perhaps "
    return "up to " if is_most and not is_least else ""


def _known_by(lag: Lag) -> str:
    """Say in brackets where the figure is from, and what it is blind to."""
    said = "; ".join(filter(None, (lag.by, *lag.remarks, lag.cannot_tell)))
    return f" ({said})" if said else ""


def _not_running(channel: Channel) -> str:
    """Say which thread does not run, in the server's words, while nobody knows why."""
    threads = (("receiver", channel.receiver), ("applier", channel.applier))
    return " and ".join(f"the {name} is not running ({one.running})" for name, one in threads if not one.runs)


def direction(found: Trend | None, lag: Lag, criteria: Criteria) -> str:
    """Say where the lag is going, or nothing if that is not clear."""
    if found is None or not lag.seconds or lag.at_least or not found.is_clear:
        return ""
    if found.slope < 0:
        return f"catching up, done in {say_duration(lag.seconds / -found.slope)}"
    pace = f"falling behind {found.slope:.2g} s/s"
    speed = f"applies at {found.apply_speed:.2f} of real time"
    pace += " (stands still)" if found.apply_speed <= CLEAR_SLOPE else f" ({speed})"
    for level in ("warning", "critical"):
        if (left := criteria.seconds_until(level, "lag", lag.seconds, found.slope)) is not None:
            return f"{pace}, {level.upper()} in {say_duration(left)}"
    return pace


def breach(found: Trend | None, lag: Lag, criteria: Criteria) -> str:
    """Say when the lag will be CRITICAL, if that is within the horizon; else nothing."""
    if not lag.seconds or lag.at_least or not found or not found.is_clear:
        return ""
    left = criteria.seconds_until("critical", "lag", lag.seconds, found.slope)
    return f"CRITICAL in {say_duration(left)}" if left is not None and left <= criteria.horizon else ""
