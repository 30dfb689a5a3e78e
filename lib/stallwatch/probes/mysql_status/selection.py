"""Which numbers the user chose: by sets, by names, by ranges."""

from __future__ import annotations

from stallwatch.findings import ProbeError
from stallwatch.probes.mysql_status.sets import SETS
from stallwatch.startup import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    import re
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from stallwatch.probes.mysql_status.ranges import Wanted

NONE = "none"  # instead of the name of a set


class Selection(NamedTuple):
    """What is shown besides the numbers that the sets judge, which are shown unless they are excluded."""

    ranges: Mapping[str, Sequence[Wanted]]  # "warning" and "critical"
    sets: Sequence[str] = ()  # none: all are judged
    include: Sequence[re.Pattern[str]] = ()  # whose whole name fits one
    exclude: Sequence[re.Pattern[str]] = ()
    all: bool = False
    kinds: Mapping[str, str] = {}  # "counter" or "gauge" of what we do not know, by names in small letters

    @property
    def named_sets(self) -> Sequence[str]:
        """Name the sets whose numbers are shown."""
        return [name for name in self.sets if name != NONE]

    @property
    def judged_sets(self) -> Sequence[str]:
        """Name the sets whose limits hold."""
        return self.named_sets if self.sets else tuple(SETS)

    @property
    def limits(self) -> dict[str, dict[str, Wanted]]:
        """Give the user's ranges by what they judge: "warning" and "critical", each where there is one."""
        found: dict[str, dict[str, Wanted]] = {}
        for level, wanted in self.ranges.items():
            for one in wanted:
                found.setdefault(one.quantity, {})[level] = one
        return found

    def numbers(self, known: Iterable[str]) -> list[str]:
        """Choose, in their order, which of the known numbers are shown besides those that are judged."""
        in_sets = {number for name in self.named_sets for number in SETS[name].numbers}
        return [
            name for name in known if (name in in_sets or self._includes(name)) and not self.excludes(name)
        ]

    def compared(self, known: Iterable[str]) -> list[str]:
        """Choose which are compared with a reference: those that are shown, or all if none are named."""
        if self.named_sets or self.include or self.all:
            return self.numbers(known)
        return [name for name in known if not self.excludes(name)]

    def fitting_none(self, known: Iterable[str]) -> Iterator[ProbeError]:
        """Name what is to be included and is not there."""
        names = list(known)
        for one in self.include:
            if not any(map(one.fullmatch, names)):
                yield ProbeError(
                    f"no number of SHOW GLOBAL STATUS has a name that fits --include {one.pattern}",
                    "the whole name is to fit, whatever the case: is a .* missing?",
                )

    def _includes(self, name: str) -> bool:
        return self.all or any(one.fullmatch(name) for one in self.include)

    def excludes(self, name: str) -> bool:
        """Whether it is neither shown, nor judged by a set, nor compared."""
        return any(one.fullmatch(name) for one in self.exclude)
