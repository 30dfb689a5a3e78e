"""Where the boxes of the picture are, and which way each arrow goes: all chosen by hand."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    Point = tuple[float, float]

WIDTH, HEIGHT = 1080, 740  # points
ROW, GAP, CAPTION = 36, 9, 38  # points: a component within a box, between components, above them
INSETS = {"sources": (10, 10), "probes": (28, 10)}  # points beside them: probes have numbers at their left
FLOW = 24  # points wide


class Box(NamedTuple):
    """A rectangle of the picture."""

    x: float
    y: float
    width: float
    height: float

    @property
    def right(self) -> float:
        """Where it ends."""
        return self.x + self.width

    @property
    def bottom(self) -> float:
        """Where it ends."""
        return self.y + self.height

    @property
    def middle(self) -> Point:
        """Its centre."""
        return self.x + self.width / 2, self.y + self.height / 2


_HIGH = CAPTION + 7 * (ROW + GAP)
BOXES = {
    "options": Box(170, 62, 190, 62),
    "programs": Box(460, 62, 200, 62),
    "frame": Box(750, 62, 190, 62),
    "sources": Box(170, 196, 190, _HIGH),
    "probes": Box(460, 196, 200, _HIGH),
    "findings": Box(460, 610, 200, 62),
    "report": Box(750, 610, 190, 62),
    "basics": Box(170, 696, 770, 30),
}
OUTSIDE = {
    Box(14, 188, 106, 62): ("database, JVM,", "log file, host"),
    Box(974, 620, 94, 50): ("status line,", "perfdata"),
}
# The flow, and where its steps are numbered; the page explains each step.
WAY_OF_DATA: Sequence[Point] = ((120, 215), (560, 215), (560, 653), (974, 653))
STEPS: Sequence[Point] = ((140, 215), (405, 215), (560, 576), (704, 653), (952, 653))
ENTRIES: Mapping[Point, Point] = {  # where it enters a box, and which way it goes there
    (170, 215): (1, 0),
    (460, 215): (1, 0),
    (560, 610): (0, 1),
    (750, 653): (1, 0),
    (974, 653): (1, 0),
}
# What an arrow between two boxes passes: first a side of the one, last a side of the other.
WAYS: Mapping[tuple[str, str], Sequence[Point]] = {
    ("programs", "options"): ((460, 93), (360, 93)),
    ("programs", "frame"): ((660, 93), (750, 93)),
    ("programs", "probes"): ((590, 124), (590, 196)),
    ("programs", "sources"): ((490, 124), (490, 150), (330, 150), (330, 196)),
    ("programs", "findings"): ((640, 124), (640, 150), (690, 150), (690, 619), (660, 619)),
    ("options", "sources"): ((220, 124), (220, 196)),
    ("options", "probes"): ((290, 124), (290, 172), (520, 172), (520, 196)),
    ("options", "findings"): ((170, 93), (150, 93), (150, 648), (460, 648)),
    ("sources", "findings"): ((265, 196 + _HIGH), (265, 626), (460, 626)),
    ("sources", "frame"): ((350, 196), (350, 182), (800, 182), (800, 124)),
    ("probes", "frame"): ((660, 240), (770, 240), (770, 124)),
    ("probes", "findings"): ((610, 196 + _HIGH), (610, 610)),
    ("frame", "findings"): ((840, 124), (840, 585), (645, 585), (645, 610)),
    ("frame", "report"): ((890, 124), (890, 610)),
    ("report", "frame"): ((920, 610), (920, 124)),
    ("report", "findings"): ((750, 632), (660, 632)),
}
