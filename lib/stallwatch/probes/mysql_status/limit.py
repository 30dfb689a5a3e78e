"""What a set knows of a number: what it means, what it means to be at its limit, and what to try then."""

from __future__ import annotations

from typing import NamedTuple

TYPE_CHECKING = False  # typing itself costs every check 2 ms
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from stallwatch.probes.mysql_status.measured import Measured


class Limit(NamedTuple):
    """A number with its meaning, and the ranges that hold unless the user gives others."""

    name: str
    what: str
    why: str = ""
    advice: str = ""
    warning: str = ""  # a range; "": it is not at its limit, whatever the number
    critical: str = ""  # likewise, of what lasts


class Facts(NamedTuple):
    """What was measured of a server, and how it is set up."""

    measured: Measured
    variables: Mapping[str, str]
    processors: int | None = None  # of its host, if that is ours

    def rate(self, name: str) -> float:
        """Tell how much a counter grows per second; 0 where that is not known."""
        return self.measured.rate(name) or 0.0

    def now(self, name: str) -> float:
        """Give a number as it is; 0 where it is not known."""
        return self.measured.now(name) or 0.0

    def share(self, part: str, whole: str) -> float:
        """Tell how many per cent of one counter another one has grown by."""
        return min(100.0, 100 * self.rate(part) / self.rate(whole)) if self.rate(whole) else 0.0

    def setting(self, name: str) -> float:
        """Give a system variable that is a number; 0 where it is none."""
        try:
            return float(self.variables.get(name, 0))
        except ValueError:
            return 0.0

    @property
    def mariadb(self) -> bool:
        """Whether the server is MariaDB."""
        return self.measured.told.flavour.mariadb


class Subject(NamedTuple):
    """A set of numbers about one thing."""

    numbers: tuple[str, ...]
    limits: Callable[[Facts], Iterator[Limit]]
    variables: tuple[str, ...] = ()
