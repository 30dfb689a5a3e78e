"""What the perfdata of a plugin are called: names that graphs are made of, and that never change."""

from __future__ import annotations

import re

from stallwatch.startup import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable

_PLACE = re.compile(r"\{\w+\}")


class Label(NamedTuple):
    """One label; ``{node}`` in its name stands for whatever is judged one by one.

    Without a text it is the quantity of a threshold, with the unit and the help of that.
    """

    name: str
    unit: str = ""  # "s", "B", "%", "c" or ""
    about: str = ""

    def fits(self, label: str) -> bool:
        """Whether this is the label, or one of its kind."""
        own = map(re.escape, _PLACE.split(self.name))
        return re.fullmatch("[A-Za-z0-9_.]+".join(own), label) is not None

    @property
    def is_one(self) -> bool:
        """Whether it has no placeholder."""
        return not _PLACE.search(self.name)


def declared(labels: Iterable[Label], printed: str) -> Label | None:
    """Find the one that was printed: ``apply_lag`` is itself rather than a channel's ``{channel}_lag``."""
    fitting = [one for one in labels if one.fits(printed)]
    return max(fitting, key=lambda one: (one.is_one, len(_PLACE.sub("", one.name))), default=None)
