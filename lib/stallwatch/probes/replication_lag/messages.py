"""How a channel is reported: its sentence, its numbers, its row in a table."""

from __future__ import annotations

from stallwatch import withheld
from stallwatch.findings import Fault, Line, Reading, State
from stallwatch.line import Forms, in_all_forms
from stallwatch.probes.replication_lag import own_transactions
from stallwatch.probes.replication_lag.diagnosis import is_connecting
from stallwatch.probes.replication_lag.numbers import label_of, numbers, say_lag
from stallwatch.probes.replication_lag.side_by_side import table
from stallwatch.probes.replication_lag.trend import CLEAR_SLOPE
from stallwatch.startup import TYPE_CHECKING
from stallwatch.units import say_duration, say_roughly
from stallwatch.words import times

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from stallwatch.findings import Finding
    from stallwatch.probes.replication_lag.causes.case import Cause
    from stallwatch.probes.replication_lag.diagnosis import Criteria, Diagnosis
    from stallwatch.probes.replication_lag.lag.result import Lag
    from stallwatch.probes.replication_lag.model import Channel
    from stallwatch.probes.replication_lag.queries import Facts
    from stallwatch.probes.replication_lag.reconnects import Reconnects
    from stallwatch.probes.replication_lag.trend import Trend

_MOST = 3  # channels that have more than their lag in the perfdata: each adds 150 characters to the line
_FAR = 5.0  # seconds
_CATCHING_UP = ", catching up"
_UNEXPLAINED = "see SHOW PROCESSLIST on the replica"  # the next step if no cause was found
_STRONG = 60.0  # score; what is weaker does not hold up a replica that catches up
_NULL = "Seconds_Behind is NULL"  # as of each channel with a thread that does not run


def channels(diagnoses: Sequence[Diagnosis], criteria: Criteria) -> Iterator[Finding]:
    """Report of each channel how far it lags, where that goes and why, then its other numbers."""
    tables = iter([table(diagnoses)] if diagnoses else [])
    for one in diagnoses:
        label = label_of(one.channel.name)
        found = _lag(one, criteria, label)
        yield found._replace(table=next(tables, None)) if isinstance(found, Reading) else found
        for text in (*one.lag.remarks, one.lag.cannot_tell):
            if text and text not in found.what + found.why:
                yield Fault(State.OK, f"{one.channel.subject}: {text}")
        if one.channel.filters:
            filters = withheld.data(", ".join(one.channel.filters))
            yield Fault(State.OK, f"{one.channel.subject}: replication filters are set, {filters}")
        yield from numbers(one, label, few=len(diagnoses) <= _MOST)


def errant(diagnoses: Sequence[Diagnosis], facts: Facts) -> Iterator[Reading]:
    """Count for each channel what its source does not have, where that is known."""
    for one in diagnoses:
        source = one.snapshot.source
        if source and source.errant is not None:
            label = f"{label_of(one.channel.name)}errant" if len(diagnoses) <= _MOST else ""
            yield own_transactions.not_on_source(one.channel, source.where, source.errant, facts, label)


def _lag(one: Diagnosis, criteria: Criteria, label: str) -> Reading | Fault:
    """Return how far a channel lags, where that is going, and why; the rest below."""
    found, why, state = one.lag, _why(one), _state(one, criteria)
    amount = _amount(one)
    what = f"{one.channel.subject}{amount}"
    if not one.channel.name:  # others have names
        what = Forms(what, f"replica{amount}")
    line = Line(_then(one, criteria, explained=bool(why)), tuple(_more(one, criteria, why)))
    is_known = found.seconds is not None and not _catches_up(one)
    unexplained = _stands_still(one) or _doubt(one), _UNEXPLAINED if is_known else ""
    cause, advice = (in_all_forms(text, lambda form: form.replace(";", ",")) for text in why or unexplained)
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
    soon = breach(one.trend, one.lag, criteria)
    warns = state is State.OK and (one.lag.silent or one.reconnects or soon)
    return State.WARNING if warns else state


def _why(one: Diagnosis) -> tuple[str, str] | None:
    """Find the cause that is on the line, and the next step; None: there is none."""
    cause = _cause(one)
    if one.reconnects and _flaps_first(one, cause):
        return _flaps(one.reconnects), "check the link and who ends connections on the source"
    if cause:
        return cause.what, cause.advice
    if not one.runs:
        return _not_running(one.channel), ""
    if one.lag.silent:
        age = say_lag(one.lag.contact_age or one.lag.low)
        return (
            f"no event or heartbeat for {age}",
            f"see whether {one.channel.source} and the link to it are up",
        )
    if one.lag.writer_stopped is not None and not _stands_still(one):
        stopped = say_duration(one.lag.writer_stopped)
        return f"heartbeat writer stopped {stopped} ago", "start pt-heartbeat on the source"
    return None


def _flaps_first(one: Diagnosis, cause: Cause | None) -> bool:
    """Whether it explains more than the other cause: one of the moments at which the link is down."""
    return cause is None or (cause.rule == "R3" and is_connecting(one.channel) and not one.refused)


def _flaps(found: Reconnects) -> str:
    likely = "" if found.certain else "probably "
    return f"the receiver {likely}reconnected {times(found.times)} in {say_roughly(found.seconds)}"


def _cause(one: Diagnosis) -> Cause | None:
    if not one.is_worth_explaining or (one.runs and one.lag.silent):
        return None
    least = _STRONG if _catches_up(one) else 0.0
    suitable = (
        cause
        for cause in one.causes
        if cause.what and (cause.explains if one.runs else cause.is_down)
        if cause.score >= least
    )
    return next(suitable, None)


def _catches_up(one: Diagnosis) -> bool:
    return direction(one.trend, one.lag).startswith(_CATCHING_UP)


def _also(one: Diagnosis, first: Cause | None) -> Iterator[str]:
    """List the causes that are not on the line."""
    for other in one.causes:
        if other is not first and other.what:
            seen = "also" if one.is_worth_explaining else "seen here:"
            yield f"{seen} {other.what}" + (f" - {other.advice}" if other.advice else "")
            yield from other.more


def _more(one: Diagnosis, criteria: Criteria, why: tuple[str, str] | None) -> Iterator[str]:
    """List the lines below: more evidence, other causes, where it goes, how the lag is known."""
    first, found = _cause(one), one.lag
    if one.reconnects and _flaps_first(one, first):
        first = None
        yield "a firewall, a job that kills connections, or a replica with the same server_id may do that"
    elif one.reconnects:
        yield f"also {_flaps(one.reconnects)}"
    if first:
        yield from first.more
    if one.runs and found.silent:
        period = (
            one.snapshot.commits.heartbeat_period if one.snapshot.commits else one.channel.heartbeat_period
        )
        expected = f"a heartbeat is due every {say_duration(period)}, " if period else ""
        yield f"{expected}the receiver itself gives up after {say_duration(one.snapshot.net_timeout)}"
    yield from _also(one, first)
    if _is_clear(one) and one.trend and one.trend.slope > 0:
        if why and (when := crossing(one.trend, found, criteria)):
            yield f"{when} if it goes on so"
        if one.trend.apply_speed > CLEAR_SLOPE:
            yield f"{one.trend.apply_speed:.2g} s of changes are applied in 1 s"
    if found.by:
        bounds = f"{say_lag(found.low)} and {say_lag(found.high or 0.0)}"
        yield f"how the lag is known: {found.by}{f', between {bounds}' if found.is_rough else ''}"


def _amount(one: Diagnosis) -> str:
    """Write the figure; where there is none, why."""
    lag = one.lag
    if lag.seconds is not None and lag.doubtful and lag.high:
        return f" lags {say_lag(lag.seconds)}, up to {say_lag(lag.high)} unless the clocks differ"
    if lag.seconds is not None:
        return f" lags {_bound(lag, lag.seconds)}{say_lag(lag.seconds)}"
    if lag.low:
        return f" lags at least {say_lag(lag.low)}"
    reason = _reason(one)
    return ", lag unknown" if not one.runs and reason == _NULL else f", lag unknown ({reason})"


def _reason(one: Diagnosis) -> str:
    """Return why there is no figure."""
    null = _NULL if one.channel.seconds_behind is None else "no evidence yet"
    return next(filter(None, (*one.lag.remarks, one.lag.cannot_tell)), null)


def _bound(lag: Lag, best: float) -> str:
    """Return on which side of the figure the truth is, where it may be far from it."""
    if lag.is_rough:
        return "about "
    is_least, is_most = best - lag.low <= _FAR, best == lag.high
    if lag.at_least:
        return "" if not best else "at least " if is_least else "about "
    return "up to " if is_most and not is_least else ""


def _then(one: Diagnosis, criteria: Criteria, *, explained: bool) -> str:
    """Return where the lag goes, and which delay is intended."""
    dropped = f", its filters dropped all of the last {say_duration(one.dropped)}" if one.dropped else ""
    delayed = f", delayed by {say_duration(one.channel.delay)} as configured" if one.lag.delayed else ""
    going = direction(one.trend, one.lag)
    soon = breach(one.trend, one.lag, criteria)
    when = crossing(one.trend, one.lag, criteria)
    is_useful = soon or not explained or when.startswith("WARNING")
    return f"{going}{f', {soon or when}' if is_useful and (soon or when) else ''}{delayed}{dropped}"


def _stands_still(one: Diagnosis) -> str:
    """Report that nothing is applied, where no cause is known."""
    before, applied = one.snapshot.before, one.channel.applied
    moves = before is not None and before.applied != applied  # many transactions of one moment
    stands = _is_clear(one) and one.trend and one.trend.apply_speed <= CLEAR_SLOPE and not moves
    return "applier does not advance" if stands else ""


def _doubt(one: Diagnosis) -> str:
    """Report that the lag may be much more, where the stream of transactions has no pause."""
    stream = one.snapshot.stream
    return one.lag.cannot_tell if stream and stream.is_full else ""


def _not_running(channel: Channel) -> str:
    """Return which thread does not run, in the server's words, while nobody knows why."""
    threads = (("receiver", channel.receiver), ("applier", channel.applier))
    return " and ".join(f"the {name} is not running ({one.running})" for name, one in threads if not one.runs)


def _is_clear(one: Diagnosis) -> bool:
    return _is_known(one.trend, one.lag)


def _is_known(found: Trend | None, lag: Lag) -> bool:
    return bool(found and lag.seconds and not lag.at_least and found.is_clear)


def _soon(seconds: float) -> str:
    return say_roughly(max(1.0, round(seconds)))


def direction(found: Trend | None, lag: Lag) -> str:
    """Return where the lag is going, or nothing if that is not clear."""
    if not found or not _is_known(found, lag):
        return ""
    if found.slope < 0:
        return f"{_CATCHING_UP}, done in {_soon((lag.seconds or 0.0) / -found.slope)}"
    return f" and grows {found.slope:.2g} s/s"


def crossing(found: Trend | None, lag: Lag, criteria: Criteria) -> str:
    """Return when the lag crosses the next threshold, as ``CRITICAL in 9 min``; or nothing."""
    if not found or not _is_known(found, lag):
        return ""
    for level in ("warning", "critical"):
        if (left := criteria.seconds_until(level, "lag", lag.seconds or 0.0, found.slope)) is not None:
            return f"{level.upper()} in {_soon(left)}"
    return ""


def breach(found: Trend | None, lag: Lag, criteria: Criteria) -> str:
    """Return when the lag will be CRITICAL, if that is within the horizon; else nothing."""
    if not found or not _is_known(found, lag):
        return ""
    left = criteria.seconds_until("critical", "lag", lag.seconds or 0.0, found.slope)
    return f"CRITICAL in {_soon(left)}" if left is not None and left <= criteria.horizon else ""
