"""Plots as SVG: two panels of curves on logarithmic axes, the same bytes for the same numbers.

They are read by day and by night: a page's dark mode chooses other colours.
"""

from __future__ import annotations

import math
from html import escape
from typing import TYPE_CHECKING, NamedTuple

from generators.growth_labels import LETTER, Box, Labels

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

WIDTH, LEFT, ACROSS, BETWEEN = 860, 62, 340, 86  # points: the picture, where its first panel begins, a panel
TOP, DOWN, LEGEND = 60, 230, 20
INSET = 34  # points from a panel's edge to its first size: labels are centred
MOST_TICKS = 8
FEWEST = 4  # times the smallest cost are shown at least, or noise would look like growth
MARKS = (
    "M-4 0a4 4 0 1 0 8 0a4 4 0 1 0-8 0",
    "M-4-4h8v8h-8z",
    "M0-5l5 9h-10z",
    "M0-5l5 5-5 5-5-5z",
    "M-5-4h10l-5 9z",
)
STYLE = """
svg { color: #24292f; font: 11px sans-serif } .paper { fill: #fff }
text { fill: currentColor } .title { font-size: 14px; font-weight: bold } .end { text-anchor: end }
.middle { text-anchor: middle } .grid { stroke: #d0d7de; fill: none }
.linear { stroke: #8c959f; stroke-dasharray: 4 4 }
.curve { stroke: currentColor; stroke-width: 1.8; fill: none } .mark { fill: currentColor }
.c0 { color: #0969da } .c1 { color: #bc4c00 } .c2 { color: #1a7f37 }
.c3 { color: #8250df } .c4 { color: #9a6700 }
@media (prefers-color-scheme: dark) {
svg { color: #e6edf3 } .paper { fill: #0d1117 } .grid { stroke: #30363d } .linear { stroke: #8b949e }
.c0 { color: #58a6ff } .c1 { color: #f0883e } .c2 { color: #3fb950 }
.c3 { color: #bc8cff } .c4 { color: #e3b341 }
}
"""


class Series(NamedTuple):
    """A curve; all numbers are above 0."""

    name: str
    x: Sequence[float]
    y: Sequence[float]


class Panel(NamedTuple):
    """Curves that share their axes; how sizes and costs are written."""

    title: str
    series: Sequence[Series]
    size: Callable[[float], str]
    cost: Callable[[float], str]


def plot(title: str, panels: Sequence[Panel]) -> str:
    """Draw panels side by side, with one legend."""
    names = [series.name for series in panels[0].series]
    height = TOP + DOWN + 40 + LEGEND
    head = (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" width="{WIDTH}" '
        f'height="{height}" role="img" aria-labelledby="title about">'
    )
    lines = [
        head,
        f'<title id="title">{escape(title)}</title>',
        f'<desc id="about">{escape(_told(panels))}</desc>',
    ]
    lines += [f"<style>{STYLE}</style>", f'<rect class="paper" width="{WIDTH}" height="{height}"/>']
    lines.append(f'<text class="title" x="{LEFT}" y="22">{escape(title)}</text>')
    for place, panel in enumerate(panels):
        lines += _Drawing(panel, LEFT + place * (ACROSS + BETWEEN)).lines()
    lines += _legend(names, height - LEGEND + 4)
    return "\n".join([*lines, "</svg>\n"])


def _told(panels: Sequence[Panel]) -> str:
    """All in words, for who cannot see it."""
    return " ".join(
        f"{panel.title}, {series.name}: "
        + ", ".join(f"{panel.cost(y)} at {panel.size(x)}" for x, y in zip(series.x, series.y, strict=True))
        + "."
        for panel in panels
        for series in panel.series
    )


def _legend(names: Sequence[str], y: float) -> Iterator[str]:
    x = float(LEFT)
    for place, name in enumerate(names):
        where = f"translate({x + 5:.0f} {y - 4:.0f})"
        yield f'<path class="mark c{place}" d="{MARKS[place]}" transform="{where}"/>'
        yield f'<text x="{x + 14:.0f}" y="{y:.0f}">{escape(name)}</text>'
        x += 34 + len(name) * LETTER


class Axis:
    """A logarithmic axis from one place to another."""

    def __init__(self, numbers: Sequence[float], begin: float, end: float) -> None:
        self.low, self.high = min(numbers), max(numbers)
        self._begin, self._end = begin, end

    def at(self, number: float) -> float:
        """Where a number is."""
        share = math.log(number / self.low) / math.log(self.high / self.low)
        return self._begin + share * (self._end - self._begin)


def round_numbers(low: float, high: float) -> list[float]:
    """1, 2, 5, 10 and so on, from the last that is not above ``low`` to the first that is not below ``high``.

    Only powers of ten, where these would be too many.
    """
    first, last = math.floor(math.log10(low)), math.ceil(math.log10(high))
    for steps in ((1, 2, 5), (1,)):
        known = [step * 10.0**power for power in range(first, last + 1) for step in steps]
        begin = max(number for number in known if number <= low * 1.0001)
        end = min(number for number in known if number >= high * 0.9999)
        found = [number for number in known if begin <= number <= end]
        if len(found) <= MOST_TICKS:
            break
    return found


class _Drawing:
    """One panel."""

    def __init__(self, panel: Panel, left: float) -> None:
        self.panel = panel
        self.left = left
        sizes = sorted({x for series in panel.series for x in series.x})
        costs = [y for series in panel.series for y in series.y]
        self.sizes = sizes
        self.costs = round_numbers(min(costs), max(*costs, FEWEST * min(costs)))
        self.x = Axis(sizes, left + INSET, left + ACROSS - INSET)
        self.y = Axis(self.costs, TOP + DOWN, TOP)

    def lines(self) -> Iterator[str]:
        """Yield its elements."""
        yield f'<text x="{self.left}" y="{TOP - 16}">{escape(self.panel.title)}</text>'
        yield from self._grid()
        (x, y), (to_x, to_y) = self._linear()
        yield f'<path class="linear" d="M{x:.1f} {y:.1f}L{to_x:.1f} {to_y:.1f}"/>'
        for place, series in enumerate(self.panel.series):
            yield from self._curve(series, place)
        yield from self._labels()

    def _grid(self) -> Iterator[str]:
        right, bottom = self.left + ACROSS, TOP + DOWN
        for cost in self.costs:
            y = self.y.at(cost)
            yield f'<path class="grid" d="M{self.left} {y:.1f}H{right}"/>'
            yield f'<text class="end" x="{self.left - 6}" y="{y + 4:.1f}">{self.panel.cost(cost)}</text>'
        for size in self.sizes:
            x = self.x.at(size)
            yield f'<path class="grid" d="M{x:.1f} {TOP}V{bottom + 4}"/>'
            yield f'<text class="middle" x="{x:.1f}" y="{bottom + 17}">{self.panel.size(size)}</text>'

    def _linear(self) -> list[tuple[float, float]]:
        """Where a line goes that is as steep as what costs twice as much at twice the size."""
        last, top = self.sizes[-1], max(self.costs) * 0.8
        first = max(self.sizes[0], last * self.costs[0] / top)
        return [(self.x.at(size), self.y.at(top * size / last)) for size in (first, last)]

    def _points(self, series: Series) -> list[tuple[float, float]]:
        return [(self.x.at(x), self.y.at(y)) for x, y in zip(series.x, series.y, strict=True)]

    def _curve(self, series: Series, place: int) -> Iterator[str]:
        points = self._points(series)
        way = "L".join(f"{x:.1f} {y:.1f}" for x, y in points)
        yield f'<g class="c{place}"><path class="curve" d="M{way}"/>'
        for x, y in points:
            yield f'<path class="mark" d="{MARKS[place]}" transform="translate({x:.1f} {y:.1f})"/>'
        yield "</g>"

    def _labels(self) -> Iterator[str]:
        """Write the costs beside the points where there is room, those of the largest sizes first."""
        ranked = [
            (-size, place, point, self.panel.cost(cost))
            for place, series in enumerate(self.panel.series)
            for size, cost, point in zip(series.x, series.y, self._points(series), strict=True)
        ]
        panel = Box(self.left - 4, TOP - 14, self.left + ACROSS + 20, TOP + DOWN - 2)
        labels = Labels(panel, map(self._points, self.panel.series))
        for _, place, point, text in sorted(ranked):
            if room := labels.room(point, text):
                x, y = room
                yield f'<text class="middle c{place}" x="{x:.1f}" y="{y:.1f}">{text}</text>'
        (x, y), (to_x, to_y) = self._linear()
        spots = ((to_x + (x - to_x) * share, to_y + (y - to_y) * share) for share in (0, 0.25, 0.5, 0.75))
        if room := next(filter(None, (labels.room(spot, "linear") for spot in spots)), None):
            yield f'<text class="middle" x="{room[0]:.1f}" y="{room[1]:.1f}">linear</text>'
