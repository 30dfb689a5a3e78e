"""Small multiples: every reading before and after, a picture for each quantity."""

from __future__ import annotations

import math
import sys
from contextlib import suppress
from importlib import import_module
from typing import TYPE_CHECKING

from stallwatch.experiment.comparison import sentence
from stallwatch.units import NotUnderstoodError

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from stallwatch.experiment.comparison import Change, Comparison

DEBIAN = "/usr/lib/python3/dist-packages"  # a virtual environment, as that of the deb, leaves it out
SUFFIXES = (".svg", ".png")
_MOST, _ACROSS = 24, 4  # pictures, and how many are side by side
_GREY, _GOOD, _BAD, _CHANGED = "#888888", "#1b7837", "#b2182b", "#2166ac"


def plot(path: str, comparison: Comparison) -> None:
    """Draw what changed, the primary measure first; raises NotUnderstoodError."""
    figure_of = _matplotlib()
    shown = comparison.noteworthy[:_MOST]
    across = min(len(shown), _ACROSS)
    down = math.ceil(len(shown) / across)
    figure = figure_of(figsize=(max(3.2 * across, 6.4), 2.6 * down + 0.8), layout="constrained")
    figure.suptitle(sentence(comparison), fontsize=9, wrap=True)
    places = figure.subplots(down, across, squeeze=False).flat
    for place, one in zip(places, shown, strict=False):
        sides = [side.measures[one.label].values for side in (comparison.before, comparison.after)]
        _draw(place, one, sides)
    for place in places:
        place.set_axis_off()
    try:
        figure.savefig(path)
    except OSError as error:
        raise NotUnderstoodError(f"{path}: {error.strerror}") from None


def _matplotlib() -> Any:
    """Return matplotlib's Figure: from here, or from Debian's package for the Python of this environment."""
    for folders in ([], [DEBIAN] if sys.base_prefix == "/usr" else []):
        sys.path += folders
        with suppress(ModuleNotFoundError):
            return import_module("matplotlib.figure").Figure
    how = "apt install python3-matplotlib (Debian's Python), or pip install matplotlib"
    raise NotUnderstoodError(f"--plot needs the Python module matplotlib: {how}")


def _draw(place: Any, one: Change, sides: Sequence[Sequence[float]]) -> None:
    colours = (_GREY, _colour(one))
    begins = 0
    for values, middle, colour in zip(sides, (one.before, one.after), colours, strict=True):
        ends = begins + len(values)
        place.plot(range(begins, ends), values, ".", color=colour)
        place.hlines(middle, begins - 0.5, ends - 0.5, color=colour)
        begins = ends
    place.axvline(len(sides[0]) - 0.5, color=_GREY, linestyle=":", linewidth=0.8)
    place.set_title(f"{one.label} [{one.unit}]" if one.unit else one.label, fontsize=8)
    place.set_xticks([])
    place.tick_params(labelsize=7)
    place.set_xlabel("before | after", fontsize=7)


def _colour(one: Change) -> str:
    if not one.clear:
        return _GREY
    return {None: _CHANGED, True: _GOOD, False: _BAD}[one.good]
