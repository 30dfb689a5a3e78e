"""Remarks on a lag: why Seconds_Behind is wrong, that clocks differ, what cannot be seen."""

from __future__ import annotations

from math import inf

from stallwatch.probes.replication_lag.lag import chain, from_source, seconds_behind
from stallwatch.probes.replication_lag.lag.model import (
    ASKED_SOURCE,
    HEARTBEAT_TABLE,
    ITS_SOURCE,
    LAST_KNOWN,
    MARGIN,
    SECONDS_BEHIND,
    SOURCE_HISTORY,
)
from stallwatch.startup import TYPE_CHECKING
from stallwatch.units import say_duration, say_size
from stallwatch.words import plural

if TYPE_CHECKING:
    from collections.abc import Iterator

    from stallwatch.probes.replication_lag.lag.model import Figure, View

_DIFFERS = 5.0  # seconds, or a share of the larger one, by which two figures have to differ
_SHARE = 0.2
_QUIET, _QUIET_GAPS = 10.0, 20  # seconds, gaps between transactions
_SHORT = 5.0, 5  # the same, of a source that may be quiet as it gets nothing itself
# Nothing on the way is hidden from these.
_SEES_ALL = {HEARTBEAT_TABLE, ASKED_SOURCE, SOURCE_HISTORY, ITS_SOURCE}
_MUCH = 1 << 20  # bytes; a busy source is always some ahead


def remarks(view: View, found: Figure) -> Iterator[str]:
    """Give sentences, the most important first."""
    yield from _heartbeat(view)
    yield from _quiet(view)
    if wrong := _seconds_behind(view, found):
        yield wrong
    yield from _missing(view, found)
    if view.guessed:
        yield "the clocks probably differ, as nothing else shows a lag: compare them with --source"
    if delayed := chain.intended(view):
        yield f"its source is delayed by {say_duration(delayed)} as configured"
    if _delay_is_not_kept(view):
        yield f"the configured delay of {say_duration(view.channel.delay)} is not kept"


def _missing(view: View, found: Figure) -> Iterator[str]:
    if view.missing and found.seconds is None:
        yield f"{plural(view.missing, 'transaction')} missing, the next run knows for how long"
    source = view.snapshot.source
    if source is None:
        return
    if (source.octets or 0) >= _MUCH:
        yield f"{say_size(source.octets or 0)} of binary log not applied"
    if source.remark:
        yield source.remark


def _delay_is_not_kept(view: View) -> bool:
    """Whether something was applied that is younger than the delay: a safety net that is none."""
    if not view.channel.delay:
        return False
    row = view.snapshot.heartbeat
    ages = (view.applied_age, row.age + view.ahead if row and not row.remark else None)
    return any(age is not None and age < view.channel.delay - MARGIN for age in ages)


def _heartbeat(view: View) -> Iterator[str]:
    row = view.snapshot.heartbeat
    if row is None:
        return
    if from_source.writer_is_dead(view):
        yield f"heartbeat writer stopped {say_duration(row.age)} ago"
    if row.remark:
        yield row.remark


def _quiet(view: View) -> Iterator[str]:
    hearing, new = view.hearing, chain.nothing_new_for(view.snapshot)
    hides = chain.may_hide(view)
    if hides and view.snapshot.before is None:
        yield "its source may be a replica itself, whose lag is not looked at: give --source"
    elif hides and new is not None and new > _usual_quiet(view, *_SHORT):
        yield f"nothing new for {say_duration(new)}: a stopped upstream would not show, give --source"
    elif hearing.listening and not hearing.silent and hearing.age.low > _usual_quiet(view):
        yield f"nothing received for {say_duration(hearing.age.low)}, unusual for this source"


def _usual_quiet(view: View, least: float = _QUIET, gaps: int = _QUIET_GAPS) -> float:
    """Give the seconds for which this source may be quiet without a word: a guess, so it is no alert."""
    gap = view.snapshot.before.transaction_gap if view.snapshot.before else None
    return inf if gap is None else max(least, gaps * gap)


def _seconds_behind(view: View, found: Figure) -> str:
    """Return why the server's own figure is not ours, if it is far from it.

    It may be right where it is more than ours, unless the commit time of what is in hand proves more.
    """
    if view.channel.seconds_behind is None or found.seconds is None:
        return ""
    said, seconds = view.said, found.seconds
    if not _differ(said, seconds):
        return ""
    if said > seconds:
        return _says_more(view, said, found)
    wrong = f"Seconds_Behind {said:.0f} is wrong"
    if not view.channel.receiver.runs:
        return f"{wrong}: not connected"
    if view.guessed:
        return ""  # it may be the clocks
    return f"{wrong}: relay log empty" if view.waits else f"{wrong}: transactions wait"


def _says_more(view: View, said: float, found: Figure) -> str:
    if found.by == LAST_KNOWN and found.proven:
        return f"Seconds_Behind is {said:.0f}, but no lag grows so fast"
    if view.clock_offset and said <= view.clock_offset + (found.seconds or 0.0) + _DIFFERS:
        return f"Seconds_Behind {said:.0f} is wrong: clocks differ by {view.clock_offset:.0f} s"
    if found.proven or found.by == HEARTBEAT_TABLE:
        return f"Seconds_Behind {said:.0f} is wrong: it counts from the start of the statement"
    return f"Seconds_Behind is {said:.0f}"


def _differ(one: float, other: float) -> bool:
    return abs(one - other) > max(_DIFFERS, _SHARE * max(one, other))


def cannot_tell(view: View, found: Figure) -> str:
    """Return what may be hidden from this figure, and what would show it."""
    if found.by in _SEES_ALL or not view.channel.receiver.runs or not view.channel.applier.runs:
        return ""
    if _hides_slow_link(view):
        return f"transactions come without a pause{_perhaps(found)}: give --heartbeat or --source"
    if _hides_dead_link(view, found):
        return f"a dead link would not show{_as_heartbeats(view)}: {_what_would_help(view)}"
    if seconds_behind.is_unproven_zero(view) and found.by == SECONDS_BEHIND:
        waiting = plural(view.snapshot.backlog or 0, "transaction")
        return f"{waiting} not applied, the next run knows for how long"
    return ""


def _hides_dead_link(view: View, found: Figure) -> bool:
    """Whether the source may have been silent for longer than the lag shown."""
    if not view.hearing.unknown or (found.seconds or 0.0) >= view.hearing.age.high:
        return False
    return view.hearing.too_rare or view.idle or not view.snapshot.sees_processes


def _hides_slow_link(view: View) -> bool:
    """Whether all may come late: MariaDB's Seconds_Behind is 0 between two events, and none was in hand."""
    stream = view.snapshot.stream
    return stream is not None and stream.is_full and stream.late is None and not stream.came_late


def _perhaps(found: Figure) -> str:
    return f", up to {say_duration(found.high)} late" if found.high else ", late by an unknown time"


def _what_would_help(view: View) -> str:
    hearing, helps = view.hearing, ["give --heartbeat or --source"]
    if hearing.unknown and not hearing.too_rare:
        if not view.snapshot.sees_processes:
            helps.append("grant PROCESS")
        if view.snapshot.before is None:
            helps.append("the next run knows more")
    return ", ".join(helps)


def _as_heartbeats(view: View) -> str:
    """Show that the source's own heartbeats are no use: none, or none before the receiver's time-out."""
    if not (view.hearing.unknown and view.hearing.too_rare):
        return ""
    period = view.hearing.period
    seldom = f"a heartbeat only every {say_duration(period)}" if period else "no heartbeats (period 0)"
    return f", as the source sends {seldom}"
