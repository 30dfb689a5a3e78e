"""How much each quantity changed beside its noise, and what that means: one sentence, then the numbers."""

from __future__ import annotations

import math
from statistics import fmean, median
from typing import TYPE_CHECKING, NamedTuple

from stallwatch.line import shorten
from stallwatch.table import Table
from stallwatch.units import NotUnderstoodError, say_duration, say_size

if TYPE_CHECKING:
    from collections import Counter
    from collections.abc import Iterable, Iterator, Sequence

    from stallwatch.experiment.readings import Measure, Readings

# Of simulated experiments that changed nothing, under normal noise, this takes for changed: with 3 readings
# before and 3 after 5 %, with 4 and 4 0.9 %, with 6 and 6 0.2 %, with 10 and 10 0.02 %.
ENOUGH = 4  # readings
CLEAR = 3.0  # times the noise

_NORMAL = 1.4826  # times the MAD is the standard deviation of normal noise (Hampel, 1974)
# For few readings that is too little: Croux and Rousseeuw, "Time-efficient algorithms for two highly robust
# estimators of scale" (1992).
_FEW = {1: 1.0, 2: 1.196, 3: 1.495, 4: 1.363, 5: 1.206, 6: 1.2, 7: 1.14, 8: 1.129, 9: 1.107}
_MEAN = math.sqrt(math.pi / 2)  # likewise, times the mean deviation

_COLUMNS = ("measure", "before", "after", "change", "noise", "times the noise")
_WORST = ("CRITICAL", "UNKNOWN", "WARNING")  # UNKNOWN: no answer, or none that can be judged
_LONGEST = 200  # bytes of a list of names


class Change(NamedTuple):
    """A quantity before and after: its median; ``noise`` is None if there are too few readings for it."""

    label: str
    unit: str
    better: str
    before: float
    after: float
    noise: float | None

    @property
    def difference(self) -> float:
        """By how much."""
        return self.after - self.before

    @property
    def share(self) -> float | None:
        """By which part of what it was."""
        return self.difference / abs(self.before) if self.before else None

    @property
    def times(self) -> float | None:
        """By how many times the noise; infinity where there is none."""
        if self.noise is None:
            return None
        if not self.noise:
            return math.inf if self.difference else 0.0
        return abs(self.difference) / self.noise

    @property
    def clear(self) -> bool:
        """Whether that is more than noise."""
        return self.times is not None and self.times >= CLEAR

    @property
    def good(self) -> bool | None:
        """Whether it is for the better, if that is known."""
        return (self.difference < 0) == (self.better == "lower") if self.better else None


def change(before: Measure, after: Measure) -> Change:
    """Compare them; the noise is that of the side that has more of it."""
    noise = None
    if min(len(before.values), len(after.values)) >= ENOUGH:
        noise = max(spread(before.values), spread(after.values))
    better = before.better or after.better
    return Change(before.label, before.unit, better, median(before.values), median(after.values), noise)


def spread(values: Sequence[float]) -> float:
    """Return how far one reading is from the next, as a standard deviation that a few odd ones do not move.

    Where more than half are the same, the MAD is 0, and shows nothing of the others: then it is the mean
    deviation (Iglewicz and Hoaglin, "How to Detect and Handle Outliers", 1993).
    """
    middle = median(values)
    deviations = [abs(value - middle) for value in values]
    number = len(values)
    few = _FEW.get(number) or number / (number - 0.8)
    return _NORMAL * few * median(deviations) or _MEAN * fmean(deviations)


class Comparison(NamedTuple):
    """All that was measured before and after; the primary measure is the first."""

    before: Readings
    after: Readings
    changes: tuple[Change, ...]

    @property
    def primary(self) -> Change:
        """What the experiment is about."""
        return self.changes[0]

    @property
    def noteworthy(self) -> list[Change]:
        """The primary measure, and what changed by more than noise, the most first."""
        return [self.primary, *(one for one in self.changes[1:] if one.clear or one.noise is None)]


def compare(before: Readings, after: Readings, primary: str | None, better: str | None) -> Comparison:
    """Compare two files; ``better`` sets which values of the primary measure are. NotUnderstoodError."""
    if before.plugin != after.plugin:
        raise NotUnderstoodError(
            f"the readings before are of {before.plugin}, those after of {after.plugin}: not comparable"
        )
    common = [label for label in before.measures if label in after.measures]
    if not common:
        raise NotUnderstoodError(
            f'nothing was measured both before ("{before.summary}") and after ("{after.summary}")'
        )
    first = primary or next(iter(before.measures))
    if first not in common:
        why = f"{first} was not measured before and after, but {_listed(common)}"
        raise NotUnderstoodError("; ".join((why, *_trouble(before, after))))
    found = {label: change(before.measures[label], after.measures[label]) for label in common}
    main = found.pop(first)
    return Comparison(
        before, after, (main._replace(better=better or main.better), *sorted(found.values(), key=_rank))
    )


def _rank(one: Change) -> float:
    return -(abs(one.share or 0.0) if one.times is None else one.times)


def lines(comparison: Comparison, *, everything: bool) -> Iterator[str]:
    """Write it for a terminal."""
    yield sentence(comparison)
    yield from _states(comparison.before.states, comparison.after.states)
    yield ""
    shown = comparison.changes if everything else comparison.noteworthy
    yield from Table(_COLUMNS, tuple(_row(one) for one in shown)).lines()
    if hidden := len(comparison.changes) - len(shown):
        yield f"{hidden} more changed by less than 3 times their noise: --all shows them"
    before, after = comparison.before.measures, comparison.after.measures
    for when, those in (("before", before.keys() - after.keys()), ("after", after.keys() - before.keys())):
        if those:
            yield f"measured only {when}: {_listed(sorted(those))}"


def sentence(comparison: Comparison) -> str:
    """Return what the change did to the primary measure, and what to do; first of all what it broke."""
    before, after = comparison.before, comparison.after
    broken = [*_trouble(before, after), *_missing(after, comparison.primary.label)]
    if broken:
        return f"{', '.join(broken)}: undo the change, or find out why; {_moved(comparison)}"
    return f"{_moved(comparison)}{_verdict(comparison.primary)}"


def _trouble(before: Readings, after: Readings) -> Iterator[str]:
    """Return the states that more of the readings have after the change, with what is worse counted in."""
    for at, state in enumerate(_WORST):
        found, earlier = (sum(side.states[one] for one in _WORST[: at + 1]) for side in (after, before))
        if found / after.number > earlier / before.number and after.states[state]:
            yield f"{after.states[state]} of {after.number} readings after were {state}"


def _missing(after: Readings, label: str) -> Iterator[str]:
    if (without := after.number - len(after.measures[label].values)) > 0:
        yield f"{without} without {label}"


def _moved(comparison: Comparison) -> str:
    """Return how the primary measure changed, beside its noise."""
    one = comparison.primary
    verb = "fell" if one.difference < 0 else "rose" if one.difference else "went"
    share = f" ({_share(one)})" if one.share else ""
    moved = f"{one.label} {verb} from {said(one.before, one.unit)} to {said(one.after, one.unit)}{share}"
    if one.times is None or one.noise is None:
        sides = (side.measures[one.label].values for side in (comparison.before, comparison.after))
        few = "{} before and {} after".format(*map(len, sides))
        return f"{moved}; {few} cannot distinguish that from noise: take {ENOUGH} readings of each at least"
    if not one.noise and one.difference:
        return f"{moved}, and never changed otherwise"
    return f"{moved}, {one.times:.1f} times the noise ({said(one.noise, one.unit)})"


def _verdict(one: Change) -> str:
    if one.times is None:
        return ""
    if not one.clear:
        return ": single readings differ by as much anyhow"
    if one.good is None:
        return ": --better lower, or higher, sets whether that is good"
    return ": keep the change" if one.good else ": undo the change, whatever else is better"


def taken(readings: Readings) -> str:
    """Return what a file of readings has in it, first of all of the plugin's first measure."""
    told = f"{readings.number} readings of {readings.plugin}"
    for one in readings.measures.values():
        found = f"{one.label} {said(median(one.values), one.unit)}"
        noise = f", noise {said(spread(one.values), one.unit)}" if len(one.values) >= ENOUGH else ""
        return f"{told}: {found}{noise}"
    return f"{told}, without a number: {readings.summary}"


def said(value: float, unit: str) -> str:
    """Write a quantity for a person."""
    if unit == "s":
        return say_duration(float(f"{value:.3g}")) if abs(value) < 1000 else say_duration(value)  # noqa: PLR2004
    if unit == "B":
        return say_size(value)
    shown = f"{value:.4g}" if abs(value) < 10_000 else f"{value:.0f}"  # noqa: PLR2004
    return f"{shown} %" if unit == "%" else shown


def _row(one: Change) -> tuple[str, ...]:
    noise = "?" if one.noise is None else said(one.noise, one.unit)
    return (
        one.label, said(one.before, one.unit), said(one.after, one.unit), _share(one), noise,
        "?" if one.times is None else "-" if math.isinf(one.times) else f"{one.times:.1f}",
    )  # fmt: skip


def _share(one: Change) -> str:
    return f"{100 * one.share:+.3g} %" if one.share else "-"


def _states(before: Counter[str], after: Counter[str]) -> Iterator[str]:
    if before.keys() | after.keys() != {"OK"}:
        sides = (
            ", ".join(f"{number} {state}" for state, number in side.most_common()) for side in (before, after)
        )
        yield "states before: {}; after: {}".format(*sides)


def _listed(labels: Iterable[str]) -> str:
    return shorten(", ".join(labels), _LONGEST)
