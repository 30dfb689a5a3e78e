"""Where a label of a plot has room: beside its point, not on a curve, not on another label."""

from __future__ import annotations

import math
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    Point = tuple[float, float]

LETTER, LINE = 6.1, 11  # points that a label takes
STEP = 4  # points between spots of a curve that a label may not cover


class Box(NamedTuple):
    """A part of the picture; y grows downwards."""

    left: float
    top: float
    right: float
    bottom: float

    def meets(self, other: Box) -> bool:
        """Whether they have a part in common."""
        apart = self.right < other.left or other.right < self.left
        return not (apart or self.bottom < other.top or other.bottom < self.top)

    def is_within(self, other: Box) -> bool:
        """Whether all of it is part of the other."""
        across = other.left <= self.left and self.right <= other.right
        return across and other.top <= self.top and self.bottom <= other.bottom


class Labels:
    """Finds room within a panel, away from its curves and from the labels that were there before."""

    def __init__(self, panel: Box, curves: Iterable[Sequence[Point]]) -> None:
        self._panel = panel
        self._taken = [Box(x, y, x, y) for curve in curves for x, y in _along(curve)]

    def room(self, point: Point, text: str) -> Point | None:
        """Return the middle of a label's line near a point, which is taken from now on; None without room."""
        x, y = point
        half = len(text) * LETTER / 2
        beside = half + 9
        for across, down in ((0, -8), (0, 17), (-beside, -3), (beside, 11), (-beside, 11), (beside, -3)):
            middle, line = x + across, y + down
            box = Box(middle - half - 2, line - LINE + 1, middle + half + 2, line + 3)
            if box.is_within(self._panel) and not any(map(box.meets, self._taken)):
                self._taken.append(box)
                return middle, line
        return None


def _along(curve: Sequence[Point]) -> Iterator[Point]:
    for (x, y), (to_x, to_y) in pairwise(curve):
        steps = max(1, round(math.hypot(to_x - x, to_y - y) / STEP))
        shares = (step / steps for step in range(steps + 1))
        yield from ((x + (to_x - x) * share, y + (to_y - y) * share) for share in shares)
