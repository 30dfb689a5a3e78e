"""Which numbers the user chose: by sets, by names, by ranges (NAME=RANGE, NAME/NAME=RANGE for a ratio)."""

from __future__ import annotations

import re

from stallwatch.findings import ProbeError
from stallwatch.startup import TYPE_CHECKING, NamedTuple
from stallwatch.thresholds import Range
from stallwatch.units import NotUnderstoodError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

# The names of those in `sets`, which a plugin that shows its help does not load.
SETS = ("handlers", "tables", "connections", "threads", "innodb", "temporary", "replication")
NONE = "none"  # instead of the name of a set
_USUAL = ("Queries",)  # shown where the user names nothing: dashboards have a panel of it
_NAME = r"[A-Za-z][\w.:-]*( [\w.:-]+)*"


class Wanted(NamedTuple):
    """A range for a status variable, or for the ratio of two; in the user's spelling."""

    name: str
    per: str  # "": it is no ratio
    limit: Range

    @property
    def quantity(self) -> str:
        """What is judged, whatever the spelling."""
        return f"{self.name}/{self.per}".lower()

    def __str__(self) -> str:
        return f"{self.quantity}={self.limit}"


def wanted(text: str) -> Wanted:
    """Read NAME=RANGE, or NAME/NAME=RANGE, where NAME is a status variable."""
    quantity, equals, limit = text.partition("=")
    name, slash, per = quantity.partition("/")
    if not equals:
        raise NotUnderstoodError(f'"{text}" names no variable: write NAME=RANGE, as Threads_running=50')
    for one in (name, per) if slash else (name,):
        if not re.fullmatch(_NAME, one):
            raise NotUnderstoodError(f'"{one}" is no name of a status variable: write NAME=RANGE')
    return Wanted(name, per, Range(limit, "B" if not per and _is_in_bytes(name) else ""))


def _is_in_bytes(name: str) -> bool:
    from stallwatch.probes.mysql_status.kinds import BYTES

    return name.lower() in map(str.lower, BYTES)


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
        return self.named_sets if self.sets else SETS

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
        from stallwatch.probes.mysql_status import sets

        in_sets = {number for name in self.named_sets for number in sets.SETS[name].numbers}
        usual = () if self.sets or self.include else _USUAL
        return [
            name
            for name in known
            if (name in usual or name in in_sets or self._includes(name)) and not self.excludes(name)
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
                    "the whole name has to match, in any case: add .* for a part of it",
                )

    def _includes(self, name: str) -> bool:
        return self.all or any(one.fullmatch(name) for one in self.include)

    def excludes(self, name: str) -> bool:
        """Whether it is neither shown, nor judged by a set, nor compared."""
        return any(one.fullmatch(name) for one in self.exclude)
