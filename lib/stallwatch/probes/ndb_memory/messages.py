"""The words and the numbers for what was found."""

from __future__ import annotations

from stallwatch.findings import Fault, Line, Reading, State
from stallwatch.probes.ndb_memory.queries import DATA_MEMORY, TABLESPACE
from stallwatch.probes.ndbinfo.cluster import LABELLED
from stallwatch.probes.ndbinfo.growth import FEWEST, say_full
from stallwatch.startup import TYPE_CHECKING
from stallwatch.table import Table
from stallwatch.units import say_duration, say_size
from stallwatch.words import listed

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from stallwatch.probes.ndb_memory.diagnosis import Filling
    from stallwatch.probes.ndb_memory.queries import Use
    from stallwatch.probes.ndbinfo.growth import History

_FAILING = 0.5  # per cent before the end: a statement that needs several pages at once fails there already
_FIRST = "critical if the next look finds it so, too"


def readings(fillings: Sequence[Filling]) -> Iterator[Reading]:
    """Give the fullest of each subject; if all is well, the first one speaks for all."""
    each = [_fullest(one) for one in fillings]
    if each and not any(one.is_problem for one in fillings):
        each[0] = each[0]._replace(what=", ".join(map(_shortly, fillings)))
    yield from each


def of_each(fillings: Sequence[Filling], nodes: int) -> Iterator[Reading]:
    """Give the data memory of each data node for the perfdata, if the cluster has so few."""
    for filling in fillings if nodes <= LABELLED else ():
        if filling.subject is DATA_MEMORY:
            name = DATA_MEMORY.name
            for use in sorted(filling.uses):
                what, label = _of(filling, use), f"node{use.of}_{name}"
                yield Reading(name, use.rounded, "%", what, label=label, in_table=True)


def full_soon(fillings: Sequence[Filling], horizon: float) -> Iterator[Fault]:
    """Warn of what will be full within ``horizon`` seconds, unless it alerts already."""
    for filling in fillings:
        soonest = filling.soonest
        if soonest and 0 < soonest[0] <= horizon and not filling.is_problem:
            seconds, use = soonest
            what, why = _briefly(filling, use), f"full in {say_duration(seconds)} at this rate"
            line = Line(more=(_amount(filling, use), *_below(filling, use)))
            yield Fault(State.WARNING, what, why, filling.subject.advice, line)


def too_few(fillings: Sequence[Filling], history: History, horizon: float) -> Iterator[Fault]:
    """Show that little is known of the future yet, if somebody wants to: from the second look on a bound."""
    if horizon and history.shortest < FEWEST:
        looks = f"it takes {FEWEST} looks {say_duration(history.apart)} apart, {history.shortest} so far"
        what = f"what will be full within {say_duration(horizon)} is not known yet: {looks}"
        times = [(*earliest, filling) for filling in fillings if (earliest := filling.earliest)]
        if times:
            seconds, use, filling = min(times, key=lambda one: one[0])
            name = use.of if filling.subject is TABLESPACE else f"of node {use.of}"
            whose = f"{filling.subject.what} {name}"
            what += f", at the fastest pace so far {whose} is full in {say_duration(seconds)}"
        yield Fault(State.OK, what)


def _fullest(filling: Filling) -> Reading:
    subject, use = filling.subject, filling.fullest
    soon = _soon(filling)
    said = Reading(
        subject.name,
        use.rounded,
        "%",
        ", ".join(filter(None, (_of(filling, use), soon))),
        _consequence(filling, use, subject.full),
        table=_table(filling),
        confirmed=filling.confirmed,
    )
    if not filling.is_problem:
        return said
    others = [one for one in filling.alerting if one is not use]
    also = f"also {listed([f'{_named(filling, one)} {_said(one)}' for one in others])}" if others else ""
    first = "" if filling.confirmed else _FIRST
    line = Line(more=(_amount(filling, use), also, first, *_below(filling, use)))
    why = soon or _consequence(filling, use, subject.why)
    return said._replace(what=_briefly(filling, use), why=why, advice=subject.advice, line=line)


def _below(filling: Filling, use: Use) -> tuple[str, str]:
    """Return what happens when it is full, and what else helps."""
    return _consequence(filling, use, filling.subject.full), filling.subject.helps


def _table(filling: Filling) -> Table:
    """Give all numbers of one subject: bytes of data nodes, extents of tablespaces."""
    of, unit = ("tablespace", "_extents") if filling.subject is TABLESPACE else ("node", "")
    rows = (
        (use.of, use.rounded, round(use.used), round(use.total), _per_hour(filling.paces.get(use.of)))
        for use in sorted(filling.uses)
    )
    columns = (of, filling.subject.name, f"used{unit}", f"total{unit}", f"grows{unit}_per_hour")
    return Table(columns, tuple(rows))


def _consequence(filling: Filling, use: Use, full: str) -> str:
    """Return what happens when it is full, and where that is."""
    if filling.subject is not DATA_MEMORY:
        return full
    end = filling.end(use)
    said = f"{end:g} %"
    if use.of not in filling.ends:
        said += " by default"
    elif end != DATA_MEMORY.end:
        said += f" with MinFreePct={100 - end:g}"
    told = full.format(said)
    return told.replace("fail at", "fail now, at") if use.percent >= end - _FAILING else told


def _of(filling: Filling, use: Use) -> str:
    return f"{_briefly(filling, use)} ({_amount(filling, use)})"


def _briefly(filling: Filling, use: Use) -> str:
    of = f" {use.of}" if filling.subject is TABLESPACE else f" of node {use.of}"
    return f"{filling.subject.what}{of} {_said(use)} full"


def _amount(filling: Filling, use: Use) -> str:
    if filling.subject is TABLESPACE:
        of = f" of {say_size(use.extent_size)}" if use.extent_size else ""
        return f"{use.used:.0f} of {use.total:.0f} extents{of} that can be had"
    return f"{say_size(use.used)} of {say_size(use.total)}"


def _shortly(filling: Filling) -> str:
    """Return how full the fullest is in a few words."""
    subject, use = filling.subject, filling.fullest
    most = f"at most {_said(use)}"
    if subject is TABLESPACE:
        words = f"tablespaces {most} ({use.of})" if filling.uses[1:] else f"tablespace {use.of} {_said(use)}"
    else:
        words = f"{subject.what} {most}" + (f" (node {use.of})" if subject is DATA_MEMORY else "")
    return ", ".join(filter(None, (words, _soon(filling))))


def _soon(filling: Filling) -> str:
    if filling.bound:
        return f"{say_full(filling.bound)} unless a checkpoint completes first"
    if not filling.soonest or not filling.soonest[0]:
        return ""
    seconds, use = filling.soonest
    which = "" if use is filling.fullest else f"{_named(filling, use)} "
    return f"{which}full in {say_duration(seconds)} at this rate"


def _named(filling: Filling, use: Use) -> str:
    return str(use.of) if filling.subject is TABLESPACE else f"node {use.of}"


def _said(use: Use) -> str:
    return f"{round(use.percent, 1):g} %"


def _per_hour(pace: float | None) -> float | None:
    return round(3600 * pace, 1) if pace else None
