"""What there is to say of a channel: its sentence, its numbers, its row in a table."""

from __future__ import annotations

import re

from stallwatch import withheld
from stallwatch.findings import Fault, Line, Reading, State
from stallwatch.probes.replication_lag import own_transactions
from stallwatch.probes.replication_lag.side_by_side import table
from stallwatch.probes.replication_lag.trend import CLEAR_SLOPE
from stallwatch.startup import TYPE_CHECKING
from stallwatch.units import IN_SECONDS, plain, say_duration, say_roughly

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from stallwatch.findings import Finding
    from stallwatch.probes.replication_lag.causes.case import Cause
    from stallwatch.probes.replication_lag.diagnosis import Criteria, Diagnosis
    from stallwatch.probes.replication_lag.lag.result import Lag
    from stallwatch.probes.replication_lag.model import Channel
    from stallwatch.probes.replication_lag.queries import Facts
    from stallwatch.probes.replication_lag.trend import Trend

_MOST = 3  # channels that have more than their lag in the perfdata: each takes 150 characters of the line
_FAR = 5.0  # seconds
_SHORT = 10.0  # seconds; below, tenths count
_CATCHING_UP = ", catching up"
_STRONG = 60.0  # score; what is weaker does not hold up a replica that catches up
_NULL = "Seconds_Behind is NULL"  # as of each channel with a thread that does not run


def channels(diagnoses: Sequence[Diagnosis], criteria: Criteria) -> Iterator[Finding]:
    """Say of each channel how far it lags, where that goes and why, then its other numbers."""
    labels = _labels(diagnoses)
    tables = iter([table(diagnoses)] if diagnoses else [])
    for one in diagnoses:
        label = labels[one.channel.name]
        found = _lag(one, criteria, label)
        yield found._replace(table=next(tables, None)) if isinstance(found, Reading) else found
        for text in (*one.lag.remarks, one.lag.cannot_tell):
            if text and text not in found.what + found.why:
                yield Fault(State.OK, f"{one.channel.subject}: {text}")
        if one.channel.filters:
            filters = withheld.data(", ".join(one.channel.filters))
            yield Fault(State.OK, f"{one.channel.subject}: replication filters are set, {filters}")
        yield from _numbers(one, label, few=len(diagnoses) <= _MOST)


def errant(diagnoses: Sequence[Diagnosis], facts: Facts) -> Iterator[Reading]:
    """Count for each channel what its source does not have, where that is known."""
    labels = _labels(diagnoses)
    for one in diagnoses:
        source = one.snapshot.source
        if source and source.errant is not None:
            label = f"{labels[one.channel.name]}errant" if len(diagnoses) <= _MOST else ""
            yield own_transactions.not_on_source(one.channel, source.where, source.errant, facts, label)


def _lag(one: Diagnosis, criteria: Criteria, label: str) -> Reading | Fault:
    """Tell how far a channel lags, where that is going, and why; the rest below."""
    found, why, state = one.lag, _why(one), _state(one, criteria)
    what = f"{one.channel.subject}{_amount(one)}"
    line = Line(_then(one, criteria, explained=bool(why)), tuple(_more(one, criteria, why)))
    cause, advice = (text.replace(";", ",") for text in why or (_stands_still(one) or _doubt(one), ""))
    if found.seconds is None and state is not State.OK:
        return Fault(state, what, cause, advice, line)
    seconds = None if found.seconds is None else round(found.seconds, 3)
    return Reading(
        "lag", seconds, "s", what, cause, advice, f"{label}lag",
        confirmed=not found.doubtful, state=state, line=line,
    )  # fmt: skip


def _state(one: Diagnosis, criteria: Criteria) -> State:
    """Judge it by all but its lag: threads that do not run, a silent source, a lag that will be CRITICAL."""
    state = one.state(criteria)
    warns = state is State.OK and (one.lag.silent or breach(one.trend, one.lag, criteria))
    return State.WARNING if warns else state


def _why(one: Diagnosis) -> tuple[str, str] | None:
    """Give the cause that is on the line, and the next step; None: there is none."""
    cause = _cause(one)
    if cause:
        return cause.what, cause.advice
    if not one.runs:
        return _not_running(one.channel), ""
    if one.lag.silent:
        age = _seconds(one.lag.contact_age or one.lag.low)
        return (
            f"no event or heartbeat for {age}",
            f"see whether {one.channel.source} and the link to it are up",
        )
    if one.lag.writer_stopped is not None and not _stands_still(one):
        stopped = say_duration(one.lag.writer_stopped)
        return f"heartbeat writer stopped {stopped} ago", "start pt-heartbeat on the source"
    return None


def _cause(one: Diagnosis) -> Cause | None:
    if not one.is_worth_explaining or (one.runs and one.lag.silent):
        return None
    least = _STRONG if direction(one.trend, one.lag).startswith(_CATCHING_UP) else 0.0
    suitable = (
        cause
        for cause in one.causes
        if cause.what and (cause.explains if one.runs else cause.is_down)
        if cause.score >= least
    )
    return next(suitable, None)


def _more(one: Diagnosis, criteria: Criteria, why: tuple[str, str] | None) -> Iterator[str]:
    """Give the lines below: further evidence, other causes, where it goes, how the lag is known."""
    first, found = _cause(one), one.lag
    if first:
        yield from first.more
    if one.runs and found.silent:
        period = (
            one.snapshot.commits.heartbeat_period if one.snapshot.commits else one.channel.heartbeat_period
        )
        expected = f"a heartbeat is due every {say_duration(period)}, " if period else ""
        yield f"{expected}the receiver itself gives up after {say_duration(one.snapshot.net_timeout)}"
    for other in one.causes:
        if other is not first and other.what:
            seen = "also" if one.is_worth_explaining else "seen here:"
            yield f"{seen} {other.what}" + (f" - {other.advice}" if other.advice else "")
            yield from other.more
    if _is_clear(one) and one.trend and one.trend.slope > 0:
        if why and (when := crossing(one.trend, found, criteria)):
            yield f"{when} if it goes on so"
        if one.trend.apply_speed > CLEAR_SLOPE:
            yield f"{one.trend.apply_speed:.2g} s of changes are applied in 1 s"
    if found.by:
        bounds = f"{_seconds(found.low)} and {_seconds(found.high or 0.0)}"
        yield f"how the lag is known: {found.by}{f', between {bounds}' if found.is_rough else ''}"


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
    if found.clock_offset is not None:
        text = f"{channel.subject}: {_clocks(found.clock_offset)}"
        shown = f"{label}clock_offset" if few else ""
        yield Reading("clock_offset", round(found.clock_offset, 3), "s", what=text, label=shown)


def _clocks(offset: float) -> str:
    if not offset:
        return "its clock agrees with the source's"
    return f"its clock is {_seconds(abs(offset))} {'ahead of' if offset > 0 else 'behind'} the source's"


def _at_least_0(value: float | None) -> float | None:
    return None if value is None else max(0.0, value)


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


def _seconds(value: float) -> str:
    """Say a lag: in seconds, as thresholds are written; a long one as a person would."""
    if value >= IN_SECONDS:
        return say_roughly(value)
    return f"{value:.0f} s" if value >= _SHORT else f"{round(value, 1):g} s"


def _amount(one: Diagnosis) -> str:
    """Say the figure; where there is none, why."""
    lag = one.lag
    if lag.seconds is not None and lag.doubtful and lag.high:
        return f" lags {_seconds(lag.seconds)}, up to {_seconds(lag.high)} unless the clocks differ"
    if lag.seconds is not None:
        return f" lags {_bound(lag, lag.seconds)}{_seconds(lag.seconds)}"
    if lag.low:
        return f" lags at least {_seconds(lag.low)}"
    reason = _reason(one)
    return ", lag unknown" if not one.runs and reason == _NULL else f", lag unknown ({reason})"


def _reason(one: Diagnosis) -> str:
    """Say why there is no figure."""
    null = _NULL if one.channel.seconds_behind is None else "no evidence yet"
    return next(filter(None, (*one.lag.remarks, one.lag.cannot_tell)), null)


def _bound(lag: Lag, best: float) -> str:
    """Say on which side of the figure the truth is, where it may be far from it."""
    if lag.is_rough:
        return "about "
    is_least, is_most = best - lag.low <= _FAR, best == lag.high
    if lag.at_least:
        return "" if not best else "at least " if is_least else "about "
    return "up to " if is_most and not is_least else ""


def _then(one: Diagnosis, criteria: Criteria, *, explained: bool) -> str:
    """Say where the lag goes, and which delay is intended."""
    delayed = f", delayed by {say_duration(one.channel.delay)} as configured" if one.lag.delayed else ""
    going = direction(one.trend, one.lag)
    soon = breach(one.trend, one.lag, criteria)
    when = crossing(one.trend, one.lag, criteria)
    is_useful = soon or not explained or when.startswith("WARNING")
    return f"{going}{f', {soon or when}' if is_useful and (soon or when) else ''}{delayed}"


def _stands_still(one: Diagnosis) -> str:
    """Say that nothing is applied, where no cause is known."""
    stands = _is_clear(one) and one.trend and one.trend.apply_speed <= CLEAR_SLOPE
    return "applier does not advance" if stands else ""


def _doubt(one: Diagnosis) -> str:
    """Say that the lag may be much more, where the stream of transactions has no pause."""
    stream = one.snapshot.stream
    return one.lag.cannot_tell if stream and stream.is_full else ""


def _not_running(channel: Channel) -> str:
    """Say which thread does not run, in the server's words, while nobody knows why."""
    threads = (("receiver", channel.receiver), ("applier", channel.applier))
    return " and ".join(f"the {name} is not running ({one.running})" for name, one in threads if not one.runs)


def _is_clear(one: Diagnosis) -> bool:
    return _is_known(one.trend, one.lag)


def _is_known(found: Trend | None, lag: Lag) -> bool:
    return bool(found and lag.seconds and not lag.at_least and found.is_clear)


def _soon(seconds: float) -> str:
    return say_roughly(max(1.0, round(seconds)))


def direction(found: Trend | None, lag: Lag) -> str:
    """Say where the lag is going, or nothing if that is not clear."""
    if not found or not _is_known(found, lag):
        return ""
    if found.slope < 0:
        return f"{_CATCHING_UP}, done in {_soon((lag.seconds or 0.0) / -found.slope)}"
    return f" and grows {found.slope:.2g} s/s"


def crossing(found: Trend | None, lag: Lag, criteria: Criteria) -> str:
    """Say when the lag crosses the next threshold, as ``CRITICAL in 9 min``; or nothing."""
    if not found or not _is_known(found, lag):
        return ""
    for level in ("warning", "critical"):
        if (left := criteria.seconds_until(level, "lag", lag.seconds or 0.0, found.slope)) is not None:
            return f"{level.upper()} in {_soon(left)}"
    return ""


def breach(found: Trend | None, lag: Lag, criteria: Criteria) -> str:
    """Say when the lag will be CRITICAL, if that is within the horizon; else nothing."""
    if not found or not _is_known(found, lag):
        return ""
    left = criteria.seconds_until("critical", "lag", lag.seconds or 0.0, found.slope)
    return f"CRITICAL in {_soon(left)}" if left is not None and left <= criteria.horizon else ""
