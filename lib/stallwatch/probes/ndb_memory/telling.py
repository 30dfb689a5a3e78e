"""The words and the numbers for what was found."""

from __future__ import annotations

from typing import NamedTuple

from stallwatch.probes.ndb_memory.subjects import DATA_MEMORY, TABLESPACE
from stallwatch.probes.ndbinfo.words import LABELLED, listed
from stallwatch.reading import Fault, Reading, State
from stallwatch.table import Table
from stallwatch.units import say_duration, say_size

TYPE_CHECKING = False  # typing itself costs every check 2 ms
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from stallwatch.probes.ndb_memory.growth import Growth
    from stallwatch.probes.ndb_memory.subjects import Subject
    from stallwatch.probes.ndb_memory.uses import Use, Uses

    IsProblem = Callable[[Reading], bool]

_FAILING = 0.5  # per cent before the end: a statement that needs several pages at once fails there already
_COLUMNS = ("node", "data_memory", "used", "total", "grows_per_hour")


class Filling(NamedTuple):
    """One subject: how much of it is used on each data node or of each tablespace, fullest first."""

    subject: Subject
    uses: Sequence[Use]  # at least one
    growths: Mapping[str, Growth]  # by what it is of, where that is clear
    extent_sizes: Mapping[str, float]  # bytes, by tablespace

    @property
    def soonest(self) -> tuple[float, Use] | None:
        """What will be full first, and in how many seconds; None: nothing grows clearly."""
        times = [
            (growth.time_to(self.subject.end, use), use)
            for use in self.uses
            if (growth := self.growths.get(use.of))
        ]
        return min(times, key=lambda one: one[0], default=None)


def readings(fillings: Sequence[Filling], is_problem: IsProblem) -> Iterator[Reading]:
    """Give the fullest of each subject; if all is well, the first one speaks for all."""
    each = [_fullest(one, is_problem) for one in fillings]
    if each and not any(map(is_problem, each)):
        each[0] = each[0]._replace(what=", ".join(map(_shortly, fillings)))
    yield from each


def of_each(filling: Filling, nodes: int) -> Iterator[Reading]:
    """Give the numbers of each data node for the perfdata, if the cluster has so few."""
    for use in sorted(filling.uses) if nodes <= LABELLED else ():
        name = filling.subject.name
        label = f"{use.of.replace(' ', '')}_{name}"
        yield Reading(name, _percent(use), "%", _of(filling, use), label=label, in_table=True)


def breaches(fillings: Sequence[Filling], is_problem: IsProblem, horizon: float) -> Iterator[Fault]:
    """Warn of what will be full within ``horizon`` seconds and is not told otherwise."""
    for filling in fillings:
        soonest = filling.soonest
        if soonest and 0 < soonest[0] <= horizon and not is_problem(_fullest(filling, is_problem)):
            seconds, use = soonest
            what = f"{_of(filling, use)}, full in {say_duration(seconds)} at this rate"
            yield Fault(State.WARNING, what, filling.subject.full, filling.subject.advice)


def table(filling: Filling) -> Table:
    """Give all numbers of data memory, node by node."""
    rows = (
        (use.of, _percent(use), round(use.used), round(use.total), _per_hour(filling.growths.get(use.of)))
        for use in sorted(filling.uses, key=lambda use: int(use.of.split()[-1]))
    )
    return Table(_COLUMNS, tuple(rows))


def not_seen(uses: Uses) -> Iterator[Fault]:
    """Say what is not looked at for want of a privilege."""
    if uses.denied:
        how = uses.denied.advice or "it takes PROCESS"
        yield Fault(State.OK, f"how full tablespaces are is not seen: {how}")


def _fullest(filling: Filling, is_problem: IsProblem) -> Reading:
    subject, (use, *others) = filling.subject, filling.uses
    what = _of(filling, use)
    if soon := _soon(filling):
        what += f", {soon}"
    more = [f"{one.of} {_said(one)}" for one in others if is_problem(_reading(subject, one))]
    reasons = [_consequence(subject, use), f"also {listed(more)}" if more else ""]
    return _reading(subject, use)._replace(
        what=what,
        why="; ".join(filter(None, reasons)),
        advice=subject.advice,
        table=table(filling) if subject is DATA_MEMORY else None,
    )


def _reading(subject: Subject, use: Use) -> Reading:
    return Reading(subject.name, _percent(use), "%")


def _consequence(subject: Subject, use: Use) -> str:
    if subject is DATA_MEMORY and use.percent >= subject.end - _FAILING:
        return subject.full.replace("fail at", "fail now, at")
    return subject.full


def _of(filling: Filling, use: Use) -> str:
    if filling.subject is TABLESPACE:
        size = filling.extent_sizes.get(use.of)
        of = f" of {say_size(size)}" if size else ""
        extents = f"{use.used:.0f} of {use.total:.0f} extents{of} that can be had"
        return f"tablespace {use.of} is {_said(use)} full ({extents})"
    sizes = f"{say_size(use.used)} of {say_size(use.total)}"
    return f"{filling.subject.said} of {use.of} is {_said(use)} full ({sizes})"


def _shortly(filling: Filling) -> str:
    worst = filling.uses[0]
    said = filling.subject.said
    if filling.subject is TABLESPACE:
        words = (
            f"{said}s at most {_said(worst)} ({worst.of})"
            if filling.uses[1:]
            else f"{said} {worst.of} {_said(worst)}"
        )
    else:
        words = f"{said} at most {_said(worst)}" + (
            f" ({worst.of})" if filling.subject is DATA_MEMORY else ""
        )
    soon = _soon(filling)
    return f"{words}, {soon}" if soon else words


def _soon(filling: Filling) -> str:
    if not filling.soonest or not filling.soonest[0]:
        return ""
    seconds, use = filling.soonest
    which = "" if use is filling.uses[0] else f"{use.of} "
    return f"{which}full in {say_duration(seconds)} at this rate"


def _said(use: Use) -> str:
    return f"{round(use.percent, 1):g} %"


def _percent(use: Use) -> float:
    return round(use.percent, 2)


def _per_hour(growth: Growth | None) -> float | None:
    return round(3600 * growth.pace) if growth else None
