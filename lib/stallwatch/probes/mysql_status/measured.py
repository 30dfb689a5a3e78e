"""What one server told, and how its counters grew: each number as it is to be told."""

from __future__ import annotations

import time

from stallwatch.findings import ProbeError
from stallwatch.history.delta import Look
from stallwatch.probes.mysql.statement import having, text
from stallwatch.probes.mysql.status import numbers
from stallwatch.probes.mysql_status.kinds import BYTES, COUNTER, UNKNOWN, is_reset, kind
from stallwatch.startup import TYPE_CHECKING, NamedTuple
from stallwatch.units import plain, say_count, say_rate, say_size

if TYPE_CHECKING:
    from collections.abc import Mapping

    from stallwatch.history.delta import Interval
    from stallwatch.sources.mysql import Flavour
    from stallwatch.sources.mysql.server import Server

_SQL = "SHOW GLOBAL STATUS"
_MOST = 20_000  # MySQL 9.7.2 has 560, each of which takes 2 KiB of memory when it is judged
_SINCE_FLUSH = "Uptime_since_flush_status"
_SLACK = 5.0  # seconds by which two clocks may differ in what has passed
_MINUS_ONE = float(2**64 - 1)  # what an unsigned variable is that has no value (wsrep_local_index)


class Told(NamedTuple):
    """The answer of one server at one moment."""

    where: str
    flavour: Flavour
    look: Look  # its numbers
    texts: Mapping[str, str]  # all that it told, as it is


def ask(server: Server) -> Told:
    """Ask for all status variables, which needs no privilege; raises ProbeError."""
    at = time.time()  # servers reckon their uptime when a statement begins
    rows = having(server.rows(_SQL), "Variable_name", "Value")
    if len(rows) > _MOST:
        what = f"{server.where} tells {len(rows)} status variables, more than a check judges: {_MOST}"
        raise ProbeError(what, "is it a MySQL server?")
    texts = {text(row, "Variable_name"): text(row, "Value") for row in rows}
    known = {name: number for name, number in numbers(texts).items() if number != _MINUS_ONE}
    if "Uptime" not in known:
        raise ProbeError(f"{server.where} does not tell for how long it has been up: asked {_SQL}")
    return Told(server.where, server.flavour, Look(known["Uptime"], at, known), texts)


class Measured:
    """What a server told last, and how its counters grew in the ``interval`` until then, or ``why_not``.

    ``kinds`` is what the user knows of variables that we do not, by names in small letters. What began anew
    is in ``fallen``: after FLUSH STATUS others may have, too, and have grown beyond what they were.
    """

    def __init__(
        self, told: Told, interval: Interval | None, why_not: str = "", kinds: Mapping[str, str] | None = None
    ) -> None:
        self.told = told
        self.interval = interval
        self.why_not = why_not
        self._kinds = kinds or {}
        self.fallen = self._fallen()
        self._flushed = any(map(is_reset, self.fallen)) or self._tells_of_flush()

    def _fallen(self) -> list[str]:
        if not self.interval:
            return []
        grown = self.interval.counts
        return [name for name in self.told.look.counts if name not in grown and self.kind(name) == COUNTER]

    def _tells_of_flush(self) -> bool:
        """Whether it says so itself, as MariaDB and MySQL until 8.0 do."""
        if not self.interval or _SINCE_FLUSH not in self.told.look.counts:
            return False
        grown = self.interval.counts.get(_SINCE_FLUSH)
        return grown is None or grown < self.interval.seconds - _SLACK

    def is_withheld(self, name: str) -> bool:
        """Whether a counter began anew since the last look, or may have."""
        return bool(self.interval) and self.kind(name) == COUNTER and self.grown(name) is None

    def kind(self, name: str) -> str:
        """Tell a counter from a gauge."""
        known = kind(name, self.told.flavour)
        return self._kinds.get(name.lower(), known) if known is UNKNOWN else known

    def now(self, name: str) -> float | None:
        """Give the number as the server told it."""
        return self.told.look.counts.get(name)

    def grown(self, name: str) -> float | None:
        """Tell how much a counter has grown; None: that is not known, or it began anew."""
        if not self.interval or (self._flushed and is_reset(name)):
            return None
        return self.interval.counts.get(name)

    def rate(self, name: str) -> float | None:
        """Tell how much that is per second."""
        grown = self.grown(name)
        return None if grown is None or not self.interval else grown / self.interval.seconds

    def value(self, name: str) -> float | None:
        """Give what is to be told: of a counter its rate, in six digits, anything else as it is."""
        if self.kind(name) != COUNTER:
            return self.now(name)
        rate = self.rate(name)
        return None if rate is None else float(f"{rate:.6g}")

    def say(self, name: str) -> str:
        """Say the value of a variable: ``12 000/s``, ``37``, ``4.1 MiB``."""
        value = self.value(name)
        if value is None:
            return "unknown"
        rate = self.kind(name) == COUNTER
        if self.unit(name):
            return say_size(value)
        return say_rate(value) if rate else say_number(value)

    def unit(self, name: str) -> str:
        """Give the unit of a gauge; rates have none that Nagios knows."""
        return "B" if name in BYTES and self.kind(name) != COUNTER else ""


def say_number(number: float) -> str:
    """Say a number: ``3``, ``2.5``, ``33 000``."""
    return say_count(number) if number >= 1000 else plain(float(f"{number:.3g}"))  # noqa: PLR2004
