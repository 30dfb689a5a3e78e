"""By which power of a size do costs grow, above what is there at any size?"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Sequence

POWERS = [step / 50 for step in range(1, 151)]  # to 3: more is as bad
NOISE = 0.1  # by which costs may differ without a reason


class Fit(NamedTuple):
    """Costs as ``start + more * share ** power``, where share is that of the largest size.

    ``missed``  the sum of the squares of the shares by which it misses the costs
    """

    missed: float
    power: float
    start: float
    more: float

    def at(self, share: float) -> float:
        """Return what this share of the largest size costs."""
        return self.start + self.more * share**self.power


def power(sizes: Sequence[float], costs: Sequence[float]) -> float:
    """Fit costs to a start and a power of the sizes: 1 is linear, 2 quadratic, 0 no more than noise."""
    largest = max(sizes)
    shares = [size / largest for size in sizes]
    found = min(_fit(shares, costs, power) for power in POWERS)
    grown = found.at(1) > (1 + NOISE) * found.at(min(shares))
    return found.power if grown else 0.0


def _fit(shares: list[float], costs: Sequence[float], power: float) -> Fit:
    """Fit a line to the costs of these powers, each cost as exactly as a share of itself."""
    weights = [1 / cost**2 for cost in costs]
    powers = [share**power for share in shares]
    x_mean, y_mean = _mean(weights, powers), _mean(weights, costs)
    over = [x - x_mean for x in powers]
    more = _mean(weights, [x * (y - y_mean) for x, y in zip(over, costs, strict=True)])
    more /= _mean(weights, [x * x for x in over])
    start = y_mean - more * x_mean
    missed = [((start + more * x) / y - 1) ** 2 for x, y in zip(powers, costs, strict=True)]
    return Fit(sum(missed), power, start, more)


def _mean(weights: Sequence[float], numbers: Sequence[float]) -> float:
    """Return the mean of numbers, some of which count for more."""
    return sum(weight * number for weight, number in zip(weights, numbers, strict=True)) / sum(weights)
