"""How much a quantity changed, and how much it changes anyhow."""

from __future__ import annotations

import math
from statistics import fmean, median
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Sequence

    from stallwatch.experiment.readings import Measure

# Of simulated experiments that changed nothing, under normal noise, this takes for changed: with 3 readings
# before and 3 after 5 %, with 4 and 4 0.9 %, with 6 and 6 0.2 %, with 10 and 10 0.02 %.
ENOUGH = 4  # readings
CLEAR = 3.0  # times the noise

_NORMAL = 1.4826  # times the MAD is the standard deviation of normal noise (Hampel, 1974)
# For few readings that is too little: Croux and Rousseeuw, "Time-efficient algorithms for two highly robust
# estimators of scale" (1992).
_FEW = {1: 1.0, 2: 1.196, 3: 1.495, 4: 1.363, 5: 1.206, 6: 1.2, 7: 1.14, 8: 1.129, 9: 1.107}
_MEAN = math.sqrt(math.pi / 2)  # likewise, times the mean deviation


class Change(NamedTuple):
    """A quantity before and after: its median; ``noise`` is None if too few readings tell it."""

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
    """Tell how far one reading is from the next, as a standard deviation that a few odd ones do not move.

    Where more than half are the same, the MAD is 0, and says nothing of the others: then it is the mean
    deviation (Iglewicz and Hoaglin, "How to Detect and Handle Outliers", 1993).
    """
    middle = median(values)
    deviations = [abs(value - middle) for value in values]
    number = len(values)
    few = _FEW.get(number) or number / (number - 0.8)
    return _NORMAL * few * median(deviations) or _MEAN * fmean(deviations)
