"""The words and the numbers for what was found."""

from __future__ import annotations

from stallwatch.findings import Fault, Reading, State
from stallwatch.probes.ndb_memory.growth import FEWEST
from stallwatch.probes.ndb_memory.subjects import DATA_MEMORY, TABLESPACE
from stallwatch.probes.ndbinfo.words import LABELLED, listed
from stallwatch.startup import TYPE_CHECKING, NamedTuple
from stallwatch.table import Table
from stallwatch.units import say_duration, say_size

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from stallwatch.probes.ndb_memory.growth import Growth, History
    from stallwatch.probes.ndb_memory.subjects import Subject
    from stallwatch.probes.ndb_memory.uses import Use

    Alerts = Callable[[str, float | None], bool]

_FAILING = 0.5  # per cent before the end: a statement that needs several pages at once fails there already
_FIRST = "critical if the next look finds it so, too"


class Filling(NamedTuple):
    """One subject: how much of it is used on each data node or of each tablespace."""

    subject: Subject
    uses: Sequence[Use]  # at least one, that used most first
    growths: Mapping[int | str, Growth]  # by what it is of, where that is clear
    ends: Mapping[int | str, float]  # per cent at which it is full, where the cluster has told
    is_doubtful: bool  # critical for the first time, and the next look may be good

    @property
    def fullest(self) -> Use:
        """What is used most."""
        return self.uses[0]

    @property
    def soonest(self) -> tuple[float, Use] | None:
        """What will be full first, and in how many seconds; None: nothing grows clearly."""
        times = [
            (growth.time_to(self.end(use), use), use)
            for use in self.uses
            if (growth := self.growths.get(use.of))
        ]
        return min(times, key=lambda one: one[0], default=None)

    def end(self, use: Use) -> float:
        """Tell at how many per cent it is full."""
        return self.ends.get(use.of, self.subject.end)

    def is_problem(self, alerts: Alerts) -> bool:
        """Whether a threshold alerts on what is used most."""
        return alerts(self.subject.name, _percent(self.fullest))


def readings(fillings: Sequence[Filling], alerts: Alerts) -> Iterator[Reading]:
    """Give the fullest of each subject; if all is well, the first one speaks for all."""
    each = [_fullest(one, alerts) for one in fillings]
    if each and not any(one.is_problem(alerts) for one in fillings):
        each[0] = each[0]._replace(what=", ".join(map(_shortly, fillings)))
    yield from each


def of_each(fillings: Sequence[Filling], nodes: int) -> Iterator[Reading]:
    """Give the data memory of each data node for the perfdata, if the cluster has so few."""
    for filling in fillings if nodes <= LABELLED else ():
        if filling.subject is DATA_MEMORY:
            name = DATA_MEMORY.name
            for use in sorted(filling.uses):
                what, label = _of(filling, use), f"node{use.of}_{name}"
                yield Reading(name, _percent(use), "%", what, label=label, in_table=True)


def breaches(fillings: Sequence[Filling], alerts: Alerts, horizon: float) -> Iterator[Fault]:
    """Warn of what will be full within ``horizon`` seconds and is not told otherwise."""
    for filling in fillings:
        soonest = filling.soonest
        if soonest and 0 < soonest[0] <= horizon and not filling.is_problem(alerts):
            seconds, use = soonest
            what = f"{_of(filling, use)}, full in {say_duration(seconds)} at this rate"
            yield Fault(State.WARNING, what, _consequence(filling, use), filling.subject.advice)


def too_few(history: History, horizon: float) -> Iterator[Fault]:
    """Say that nothing is known of the future yet, if somebody wants to."""
    if horizon:
        looks = f"it takes {FEWEST} looks {say_duration(history.apart)} apart, {history.shortest} so far"
        yield Fault(State.OK, f"what will be full within {say_duration(horizon)} is not known yet: {looks}")


def _fullest(filling: Filling, alerts: Alerts) -> Reading:
    subject, use = filling.subject, filling.fullest
    more = [one for one in filling.uses[1:] if alerts(subject.name, _percent(one))]
    also = f"also {listed([f'{_named(filling, one)} {_said(one)}' for one in more])}" if more else ""
    reasons = (_consequence(filling, use), also, _FIRST if filling.is_doubtful else "")
    return Reading(
        subject.name,
        _percent(use),
        "%",
        ", ".join(filter(None, (_of(filling, use), _soon(filling)))),
        "; ".join(filter(None, reasons)),
        subject.advice,
        table=_table(filling),
        confirmed=not filling.is_doubtful,
    )


def _table(filling: Filling) -> Table:
    """Give all numbers of one subject: bytes of data nodes, extents of tablespaces."""
    of, unit = ("tablespace", "_extents") if filling.subject is TABLESPACE else ("node", "")
    rows = (
        (use.of, _percent(use), round(use.used), round(use.total), _per_hour(filling.growths.get(use.of)))
        for use in sorted(filling.uses)
    )
    columns = (of, filling.subject.name, f"used{unit}", f"total{unit}", f"grows{unit}_per_hour")
    return Table(columns, tuple(rows))


def _consequence(filling: Filling, use: Use) -> str:
    if filling.subject is not DATA_MEMORY:
        return filling.subject.full
    end = filling.end(use)
    said = f"{end:g} %"
    if use.of not in filling.ends:
        said += " by default"
    elif end != DATA_MEMORY.end:
        said += f" with MinFreePct={100 - end:g}"
    full = DATA_MEMORY.full.format(said)
    return full.replace("fail at", "fail now, at") if use.percent >= end - _FAILING else full


def _of(filling: Filling, use: Use) -> str:
    if filling.subject is TABLESPACE:
        of = f" of {say_size(use.extent_size)}" if use.extent_size else ""
        extents = f"{use.used:.0f} of {use.total:.0f} extents{of} that can be had"
        return f"tablespace {use.of} is {_said(use)} full ({extents})"
    sizes = f"{say_size(use.used)} of {say_size(use.total)}"
    return f"{filling.subject.said} of node {use.of} is {_said(use)} full ({sizes})"


def _shortly(filling: Filling) -> str:
    """Say how full the fullest is in a few words."""
    subject, use = filling.subject, filling.fullest
    most = f"at most {_said(use)}"
    if subject is TABLESPACE:
        words = f"tablespaces {most} ({use.of})" if filling.uses[1:] else f"tablespace {use.of} {_said(use)}"
    else:
        words = f"{subject.said} {most}" + (f" (node {use.of})" if subject is DATA_MEMORY else "")
    return ", ".join(filter(None, (words, _soon(filling))))


def _soon(filling: Filling) -> str:
    if not filling.soonest or not filling.soonest[0]:
        return ""
    seconds, use = filling.soonest
    which = "" if use is filling.fullest else f"{_named(filling, use)} "
    return f"{which}full in {say_duration(seconds)} at this rate"


def _named(filling: Filling, use: Use) -> str:
    return str(use.of) if filling.subject is TABLESPACE else f"node {use.of}"


def _said(use: Use) -> str:
    return f"{round(use.percent, 1):g} %"


def _percent(use: Use) -> float:
    return round(use.percent, 2)


def _per_hour(growth: Growth | None) -> float | None:
    return round(3600 * growth.pace, 1) if growth else None
