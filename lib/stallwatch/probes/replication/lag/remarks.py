"""What there is to say of a lag: why Seconds_Behind is wrong, that clocks differ, what cannot be seen."""

from __future__ import annotations

from math import inf

from stallwatch.probes.replication.lag import clocks, delay, heartbeat, seconds_behind
from stallwatch.units import say_duration, say_size

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from stallwatch.probes.replication.lag.figure import Figure
    from stallwatch.probes.replication.lag.view import View

_DIFFERS = 5.0  # seconds, or a share of the larger one, by which two figures have to differ
_SHARE = 0.2
_QUIET, _QUIET_GAPS = 10.0, 20  # seconds, gaps between transactions
_MUCH = 1 << 20  # bytes; a busy source is always some ahead


def remarks(view: View, found: Figure) -> Iterator[str]:
    """Give sentences, the most important first."""
    yield from _heartbeat(view)
    yield from _quiet(view)
    if wrong := _seconds_behind(view, found):
        yield wrong
    yield from _missing(view, found)
    if abs(view.ahead) > clocks.WORTH_TELLING:
        asked = view.evidence.source is not None and view.evidence.source.clock_ahead is not None
        yield f"clocks {'' if asked else 'seem to '}differ by {abs(view.ahead):.0f} s"
    if delay.is_not_kept(view):
        yield f"the delay of {say_duration(view.channel.delay)} is not kept"


def _missing(view: View, found: Figure) -> Iterator[str]:
    if view.missing and found.seconds is None:
        yield f"{view.missing} transactions missing, since when the next run can tell"
    octets = (view.evidence.source.octets or 0) if view.evidence.source else 0
    if octets >= _MUCH:
        yield f"{say_size(octets)} of binary log not applied"


def _heartbeat(view: View) -> Iterator[str]:
    row = view.evidence.heartbeat
    if row is None:
        return
    if heartbeat.writer_is_dead(view):
        yield f"heartbeat writer stopped {say_duration(row.age)} ago"
    if row.remark:
        yield row.remark


def _quiet(view: View) -> Iterator[str]:
    hearing = view.hearing
    if hearing.listening and not hearing.silent and hearing.age.low > _usual_quiet(view):
        yield f"quiet for {say_duration(hearing.age.low)}, unusual for this source"


def _usual_quiet(view: View) -> float:
    """Give the seconds for which this source may be quiet without a word: a guess, so it is no alert."""
    gap = view.evidence.before.transaction_gap if view.evidence.before else None
    return inf if gap is None else max(_QUIET, _QUIET_GAPS * gap)


def _seconds_behind(view: View, found: Figure) -> str:
    """Say why the server's own figure is not ours, if it is far from it."""
    said, seconds = view.channel.seconds_behind, found.seconds
    if said is None or seconds is None or not _differ(said, seconds):
        return ""
    wrong = f"Seconds_Behind {said:.0f} is wrong"
    if said > seconds:
        return f"{wrong}: counts from the statement's start"
    if not view.channel.receiver.runs:
        return f"{wrong}: not connected"
    return f"{wrong}: relay log empty" if view.idle else f"{wrong}: transactions wait"


def _differ(one: float, other: float) -> bool:
    return abs(one - other) > max(_DIFFERS, _SHARE * max(one, other))


def cannot_tell(view: View, found: Figure) -> str:
    """Say what may be hidden from this figure, and what would show it."""
    if found.by not in {seconds_behind.BY, seconds_behind.LAST_KNOWN, ""}:
        return ""
    if not view.channel.receiver.runs or not view.channel.applier.runs:
        return ""
    hidden = []
    if view.hearing.unknown and (view.idle or not view.evidence.sees_processes):
        hidden.append("a dead link")
    if view.mariadb and view.idle:
        hidden.append("a slow link")
    if not hidden:
        return ""
    return f"{' or '.join(hidden)} would not show: {_what_would_help(view)}"


def _what_would_help(view: View) -> str:
    helps = ["give --heartbeat or --source"]
    if view.hearing.unknown and not view.evidence.sees_processes:
        helps.append("grant PROCESS")
    if view.hearing.unknown and view.evidence.before is None:
        helps.append("the next run knows more")
    return ", ".join(helps)
