"""The slope of points that are not all to be trusted."""

from __future__ import annotations

from itertools import combinations

from stallwatch.startup import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence


def theil_sen(points: Sequence[tuple[float, float]]) -> float:
    """Give the median of the slopes between any two points (x, y), by Theil and Sen (1968).

    Nearly a third of the points may lie anywhere. There are two at least, and no two have the same x.
    """
    slopes = sorted((two[1] - one[1]) / (two[0] - one[0]) for one, two in combinations(points, 2))
    middle = len(slopes) // 2
    return slopes[middle] if len(slopes) % 2 else (slopes[middle - 1] + slopes[middle]) / 2
