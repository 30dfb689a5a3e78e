"""The arrows of the picture."""

from __future__ import annotations

import math
from html import escape
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from generators.architecture_places import Point

CURVE = 9  # points: the radius of a bend


def arrow(way: Sequence[Point], number: int, *, is_both: bool = False) -> Iterator[str]:
    """Draw an arrow through these points, as wide as it has imports, with their number beside its begin."""
    (x, y), end = way[-2], way[-1]
    length = math.hypot(end[0] - x, end[1] - y)
    ahead = (end[0] - x) / length, (end[1] - y) / length
    neck = _neck(end, ahead, number)
    yield from _drawn(way_through([*way[:-1], neck]), neck, end, number, " both" if is_both else "")
    (x, y), (to_x, to_y) = way[0], way[1]
    half = _width(number) / 2
    if x == to_x:
        yield text(x + half + 4, y + (16 if to_y > y else -8), str(number), "number")
    else:
        yield text(x + math.copysign(22, to_x - x), y - half - 4, str(number), "number middle")


def curve(begin: Point, end: Point, number: int) -> Iterator[str]:
    """Draw an arrow to the left, level at both ends, with the number on it."""
    neck = _neck(end, (-1, 0), number)
    half = (begin[0] - neck[0]) / 2
    line = (
        f"M{begin[0]:.1f} {begin[1]:.1f}C{begin[0] - half:.1f} {begin[1]:.1f} "
        f"{neck[0] + half:.1f} {neck[1]:.1f} {neck[0]:.1f} {neck[1]:.1f}"
    )
    yield from _drawn(line, neck, end, number)
    yield text(begin[0] - 10, begin[1] + 4, str(number), "number within middle")


def _width(number: int) -> float:
    return 0.8 + 0.55 * math.sqrt(number)


def _neck(end: Point, ahead: Point, number: int) -> Point:
    """Return the point where the line ends and the head begins."""
    long = 6 + _width(number)
    return end[0] - long * ahead[0], end[1] - long * ahead[1]


def _drawn(line: str, neck: Point, end: Point, number: int, both: str = "") -> Iterator[str]:
    wide = _width(number)
    share = (2.6 + 0.8 * wide) / (6 + wide)
    aside = -(end[1] - neck[1]) * share, (end[0] - neck[0]) * share
    corners = [(neck[0] + side * aside[0], neck[1] + side * aside[1]) for side in (1, -1)]
    yield f'<path class="way{both}" stroke-width="{wide:.1f}" d="{line}"/>'
    yield f'<path class="head{both}" d="{closed([end, *corners])}"/>'


def closed(corners: Sequence[Point]) -> str:
    """Return the outline of a shape."""
    return f"M{'L'.join(f'{x:.1f} {y:.1f}' for x, y in corners)}z"


def way_through(points: Sequence[Point]) -> str:
    """Go along these points, round the bends."""
    parts = [f"M{points[0][0]:.1f} {points[0][1]:.1f}"]
    for before, here, after in zip(points, points[1:], points[2:], strict=False):
        (x, y), (to_x, to_y) = _towards(here, before), _towards(here, after)
        parts.append(f"L{x:.1f} {y:.1f}Q{here[0]:.1f} {here[1]:.1f} {to_x:.1f} {to_y:.1f}")
    return "".join([*parts, f"L{points[-1][0]:.1f} {points[-1][1]:.1f}"])


def _towards(here: Point, there: Point) -> Point:
    length = math.hypot(there[0] - here[0], there[1] - here[1])
    share = min(CURVE, length / 2) / length
    return here[0] + share * (there[0] - here[0]), here[1] + share * (there[1] - here[1])


def text(x: float, y: float, words: str, kind: str = "") -> str:
    """Write words at a place."""
    named = f' class="{kind}"' if kind else ""
    return f'<text{named} x="{x:.1f}" y="{y:.1f}">{escape(words)}</text>'
