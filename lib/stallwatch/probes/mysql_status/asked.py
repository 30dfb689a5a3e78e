"""What the user asked for: which numbers, which ranges, compared with whom."""

from __future__ import annotations

from typing import NamedTuple

from stallwatch.probes.mysql_status.sets import SETS

TYPE_CHECKING = False  # typing itself costs every check 2 ms
if TYPE_CHECKING:
    import re
    from collections.abc import Iterable, Mapping, Sequence

    from stallwatch.probes.mysql_status.looking import Opened
    from stallwatch.probes.mysql_status.wanted import Wanted
    from stallwatch.reading import Finding
    from stallwatch.run import Run


class Asked(NamedTuple):
    """The user's wishes; where nothing is named, the numbers that the sets judge are told."""

    run: Run
    ranges: Mapping[str, Sequence[Wanted]]  # "warning" and "critical"
    sets: Sequence[str] = ()
    include: Sequence[re.Pattern[str]] = ()  # whose whole name fits one
    exclude: Sequence[re.Pattern[str]] = ()
    all: bool = False
    kinds: Mapping[str, str] = {}  # "counter" or "gauge" of what we do not know, by names in small letters
    confirm: int = 3  # intervals
    sample: float | None = None  # seconds
    reference: Opened | None = None
    everything: bool = False  # with the tables

    @property
    def nothing_named(self) -> bool:
        """Whether it is left to us what is told."""
        return not (self.sets or self.include or self.all or any(self.ranges.values()))

    @property
    def judged_sets(self) -> Sequence[str]:
        """Name the sets whose limits hold."""
        return tuple(SETS) if self.nothing_named else self.sets

    def numbers(self, known: Iterable[str]) -> list[str]:
        """Choose, in their order, which of the known numbers are told besides those that are judged."""
        in_sets = {number for name in self.sets for number in SETS[name].numbers}
        return [
            name for name in known if (name in in_sets or self._included(name)) and not self._excluded(name)
        ]

    def _included(self, name: str) -> bool:
        return self.all or any(one.fullmatch(name) for one in self.include)

    def _excluded(self, name: str) -> bool:
        return any(one.fullmatch(name) for one in self.exclude)

    def so_far(self, findings: Iterable[Finding]) -> None:
        """Tell these if the run is cut short."""
        self.run.so_far(findings)


def limits(ranges: Mapping[str, Sequence[Wanted]]) -> dict[str, dict[str, Wanted]]:
    """Give the user's ranges by what they judge: "warning" and "critical", each where there is one."""
    found: dict[str, dict[str, Wanted]] = {}
    for level, wanted in ranges.items():
        for one in wanted:
            found.setdefault(one.quantity, {})[level] = one
    return found
