"""The picture: components as boxes, imports as arrows, and the data flow behind them.

The places of the boxes are in ``architecture_places``; what is in them and between them is counted. The same
code makes the same bytes. A page's dark mode chooses other colours.
"""

from __future__ import annotations

from collections import Counter
from html import escape
from typing import TYPE_CHECKING

from generators.architecture_arrows import arrow, closed, curve, text, way_through
from generators.architecture_places import (
    BOXES,
    CAPTION,
    ENTRIES,
    FLOW,
    GAP,
    HEIGHT,
    INSETS,
    OUTSIDE,
    ROW,
    STEPS,
    WAY_OF_DATA,
    WAYS,
    WIDTH,
    Box,
)
from generators.components import about

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from generators.components import Component, Layout

    Counted = Mapping[tuple[str, str], int]

STYLE = """
svg { color: #24292f; font: 12px sans-serif } .paper { fill: #fff } text { fill: currentColor }
.title { font-size: 16px; font-weight: bold } .name { font-size: 14px; font-weight: bold }
.small { font-size: 11px } .number { font-size: 11px }
.within { paint-order: stroke; stroke: #f6f8fa; stroke-width: 3px }
.middle { text-anchor: middle } .end { text-anchor: end }
.box { fill: #f6f8fa; stroke: #57606a } .component { fill: #fff; stroke: #afb8c1 }
.outside { fill: #fff; stroke: #57606a; stroke-dasharray: 5 4 }
.flow { stroke: #c8e6d0; fill: none } .entry { fill: #7cc492 }
.step { fill: #1a7f37 } .digit { fill: #fff; font-weight: bold }
.way { stroke: #3d6fa5; fill: none } .head { fill: #3d6fa5 }
.way.both { stroke: #bc4c00 } .head.both { fill: #bc4c00 }
@media (prefers-color-scheme: dark) {
svg { color: #e6edf3 } .paper { fill: #0d1117 } .within { stroke: #161b22 }
.box { fill: #161b22; stroke: #8b949e } .component { fill: #0d1117; stroke: #484f58 }
.outside { fill: #0d1117; stroke: #8b949e } .flow { stroke: #1c4428 } .entry { fill: #2c7a43 }
.step { fill: #3fb950 } .digit { fill: #0d1117 } .way { stroke: #6aa6e8 } .head { fill: #6aa6e8 }
.way.both { stroke: #f0883e } .head.both { fill: #f0883e }
}
"""


def picture(layout: Layout) -> str:
    """Draw it."""
    counted = between_boxes(layout)
    head = (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" width="{WIDTH}" '
        f'height="{HEIGHT}" role="img" aria-labelledby="title about">'
    )
    lines = [
        head,
        '<title id="title">The components of stallwatch and the data flow</title>',
        f'<desc id="about">{escape(_in_words(counted))}</desc>',
        f"<style>{STYLE}</style>",
        f'<rect class="paper" width="{WIDTH}" height="{HEIGHT}"/>',
        *_caption(),
        *_flow(),
        *_boxes(layout),
        *_arrows(counted),
        *_arrows_of_components(layout),
        *_steps(),
    ]
    return "\n".join([*lines, "</svg>\n"])


def between_boxes(layout: Layout) -> Counter[tuple[str, str]]:
    """Count the imports of each two boxes that have an arrow.

    The box of basics shows how many it has. Between probes and sources each component has arrows of its own.
    """
    group = {component.title: component.group for component in layout.components}
    found: Counter[tuple[str, str]] = Counter()
    for (one, other), number in layout.imports.items():
        pair = group[one], group[other]
        if pair[0] != pair[1] and "basics" not in pair and pair != ("probes", "sources"):
            found[pair] += number
    return found


def _in_words(counted: Counted) -> str:
    """Describe the picture for readers who cannot see it."""
    flow = "The data flow: server, sources, probes, reading, report, status line."
    return f"{flow} Imports: {', '.join(f'{a} from {b} {n}' for (a, b), n in sorted(counted.items()))}."


def _caption() -> Iterator[str]:
    yield text(14, 26, "The components of stallwatch and the data flow", "title")
    told = (
        "arrow: imports (how many pairs of modules)",
        "orange: two boxes import each other",
        "green: the data flow, in the steps of the page",
        "16 / 1,500: files / lines",
    )
    yield text(14, 46, "; ".join(told), "small")


def _flow() -> Iterator[str]:
    yield f'<path class="flow" stroke-width="{FLOW}" d="{way_through(WAY_OF_DATA)}"/>'
    for (x, y), (right, down) in ENTRIES.items():
        back_x, back_y, half = x - 11 * right, y - 11 * down, FLOW / 2 + 5
        sides = [(back_x + way * half * down, back_y + way * half * right) for way in (1, -1)]
        yield f'<path class="entry" d="{closed([(x, y), *sides])}"/>'


def _steps() -> Iterator[str]:
    for number, (x, y) in enumerate(STEPS, start=1):
        yield f'<circle class="step" cx="{x}" cy="{y}" r="9"/>'
        yield text(x, y + 4, str(number), "digit middle")


def _boxes(layout: Layout) -> Iterator[str]:
    for box, lines in OUTSIDE.items():
        yield _rectangle(box, "outside")
        x, y = box.middle
        for place, line in enumerate(lines):
            yield text(x, y + 4 + 16 * (place - (len(lines) - 1) / 2), line, "middle")
    for name, box in BOXES.items():
        yield _rectangle(box, "box")
        components = [component for component in layout.components if component.group == name]
        if name == "basics":
            yield _basics(box, layout)
        elif name in ("sources", "probes"):
            yield text(box.middle[0], box.y + 24, name, "name middle")
            for place, component in places(name, layout).items():
                yield from _component(place, component, layout)
        else:
            yield text(box.middle[0], box.y + 24, name, "name middle")
            yield text(box.middle[0], box.y + 44, _size(components, layout), "small middle")


def _basics(box: Box, layout: Layout) -> str:
    (component,) = (component for component in layout.components if component.group == "basics")
    found = [number for (_, other), number in layout.imports.items() if other == component.title]
    told = f"basics: {_size([component], layout)}; {len(found)} components import it ({sum(found)} imports)"
    return text(box.middle[0], box.middle[1] + 4, told, "middle")


def _size(components: Sequence[Component], layout: Layout) -> str:
    files, lines = (sum(of[one.title] for one in components) for of in (layout.files, layout.lines))
    return f"{files} file{'s' * (files != 1)}, {about(lines)} lines"


def places(group: str, layout: Layout) -> dict[Box, Component]:
    """Return the place of each component within the box of a group."""
    box = BOXES[group]
    components = [component for component in layout.components if component.group == group]
    step, (left, right) = (box.height - CAPTION) / len(components), INSETS[group]
    high = min(ROW, step - GAP)
    return {
        Box(box.x + left, box.y + CAPTION + place * step, box.width - left - right, high): component
        for place, component in enumerate(components)
    }


def _component(box: Box, component: Component, layout: Layout) -> Iterator[str]:
    yield _rectangle(box, "component")
    y = box.middle[1] + 4
    yield text(box.x + 8, y, component.name)
    files, lines = layout.files[component.title], layout.lines[component.title]
    yield text(box.right - 8, y, f"{files} / {about(lines)}", "small end")


def _arrows(counted: Counted) -> Iterator[str]:
    for pair, number in sorted(counted.items()):
        way = WAYS.get(pair) or (BOXES[pair[0]].middle, BOXES[pair[1]].middle)
        yield from arrow(way, number, is_both=pair[::-1] in counted)


def _arrows_of_components(layout: Layout) -> Iterator[str]:
    """Draw the imports of each probe from each source: from the left of the one to the right of the other."""
    at = {one.title: box for group in ("sources", "probes") for box, one in places(group, layout).items()}
    found = {pair: number for pair, number in layout.imports.items() if _is_from_source(pair)}
    leaves = {pair: _spread([one for one in found if one[0] == pair[0]], pair, 1, at) for pair in found}
    comes = {pair: _spread([one for one in found if one[1] == pair[1]], pair, 0, at) for pair in found}
    for pair, number in sorted(found.items()):
        begin = at[pair[0]].x, at[pair[0]].y + leaves[pair] * at[pair[0]].height
        end = at[pair[1]].right, at[pair[1]].y + comes[pair] * at[pair[1]].height
        yield from curve(begin, end, number)


def _is_from_source(pair: tuple[str, str]) -> bool:
    return pair[0].startswith("probes: ") and pair[1].startswith("sources: ")


def _spread(
    pairs: Sequence[tuple[str, str]], pair: tuple[str, str], end: int, at: Mapping[str, Box]
) -> float:
    """Return the share of a side at which this arrow is, among those of that side."""
    ranked = sorted(pairs, key=lambda one: at[one[end]].y)
    return (ranked.index(pair) + 1) / (len(ranked) + 1)


def _rectangle(box: Box, kind: str) -> str:
    return (
        f'<rect class="{kind}" x="{box.x:.1f}" y="{box.y:.1f}" width="{box.width:.1f}" '
        f'height="{box.height:.1f}" rx="6"/>'
    )
