"""Disks that are too slow though no redo buffer is full: which files show it, and how certain that is.

A data node measures its reads and writes of pages, its waits for the undo log, and whether redo writes lag.
Two of these together leave no doubt, nor does redo that lags; one alone may be a node without a processor.
"""

from __future__ import annotations

from stallwatch.findings import Line, Reading, State
from stallwatch.history.streak import twice
from stallwatch.probes.ndb_redo_buffer.pages import LONG, Pages
from stallwatch.startup import TYPE_CHECKING, NamedTuple
from stallwatch.units import say_duration
from stallwatch.words import listed

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from typing import Any

    from stallwatch.probes.ndb_redo_buffer.diagnosis import Alerts
    from stallwatch.probes.ndb_redo_buffer.hosts import Busy
    from stallwatch.probes.ndb_redo_buffer.queries import Lag

DATA, UNDO, REDO = "slow_pages", "slow_undo", "redo_lagged"  # quantities, in the order of their display
UNDO_BUFFER = "undo_buffer"
_FILES = {DATA: "data", UNDO: "undo", REDO: "redo"}
_KINDS = {DATA: ("page_reads", "page_writes"), UNDO: ("log_waits",)}
_WORDS = {"page_reads": "page reads", "page_writes": "page writes", "log_waits": "undo log waits"}
_SURE = 2  # kinds of evidence


class Waits(NamedTuple):
    """What one data node's disks were waited for."""

    node: int
    pages: Pages | None = None
    lag: Lag | None = None  # of redo writes, since the last run
    busy: Busy | None = None  # its disk, if that is one of this host
    undo_buffer: float | None = None  # per cent, where there is one

    def percent(self, quantity: str) -> float | None:
        """Return a quantity; None: it is not known, or there was nothing to measure."""
        if quantity == REDO:
            return round(100 * self.lag.seconds / self.lag.of, 1) if self.lag and self.lag.of else None
        found = self.pages.long(*_KINDS[quantity]) if self.pages else None
        return found[1].percent if found else None

    def is_critical(self, quantity: str, alerts: Alerts) -> bool:
        """Whether a quantity is critical now: what was seen last may be over."""
        over = quantity != REDO and self.pages is not None and self.pages.until
        return not over and alerts(quantity, self.percent(quantity), State.CRITICAL)

    def slow(self, alerts: Alerts) -> list[str]:
        """Return the quantities that alert; an undo buffer that stays full waits for the undo log, too."""
        stays = {UNDO} if alerts(UNDO_BUFFER, self.undo_buffer) else set()
        return [name for name in _FILES if name in stays or alerts(name, self.percent(name))]

    def is_certain(self, slow: list[str]) -> bool:
        """Whether it is the disk, and nothing else; of several disks, these files may be on another one."""
        trouble = bool(self.busy and self.busy.trouble and self.busy.is_only)
        return REDO in slow or len(slow) + trouble >= _SURE

    def what(self, quantity: str) -> str:
        """Write a quantity."""
        percent = self.percent(quantity) or 0
        if quantity == REDO or not self.pages:
            return f"redo writes of node {self.node} lagged {percent:g} % of the time"
        kind, _ = self.pages.long(*_KINDS[quantity]) or ("", None)
        return f"node {self.node}: {percent:g} % of {_WORDS[kind]} took over {LONG:g} s{self._until}"

    @property
    def _until(self) -> str:
        if not self.pages or not self.pages.until:
            return ""
        import time

        return time.strftime(" until %H:%M", time.localtime(self.pages.until))

    def evidence(self) -> Iterator[str]:
        """Write all of it, for the lines below."""
        if self.pages:
            counts = [
                f"{one.longer:.0f} of {one.of:.0f} {_WORDS[kind]}" for kind, one in self.pages.kinds.items()
            ]
            since = ", nothing was read or written since" if self.pages.until else ""
            span = say_duration(round(self.pages.seconds))
            yield f"node {self.node}: {listed(counts)} took over {LONG:g} s in {span}{since}"
        if self.lag and self.lag.seconds:
            lagged, of = say_duration(round(self.lag.seconds)), say_duration(round(self.lag.of))
            yield f"node {self.node}: redo writes lagged {lagged} of {of} (slowdowns_due_to_io_lag)"
        if self.busy:
            yield from filter(None, (self.busy.trouble, self.busy.pressure))


def lasting(
    waits: Mapping[int, Waits], alerts: Alerts, memory: dict[str, Any], now: float
) -> dict[str, set[int]]:
    """Find, by quantity, the nodes on which it is critical in the second run in a row."""
    found = {}
    for name in _FILES:
        critical = {node for node, one in waits.items() if one.is_critical(name, alerts)}
        found[name] = twice(memory, name, critical, now)
    return found


def readings(
    waits: Mapping[int, Waits], lasts: Mapping[str, set[int]], alerts: Alerts, *, full: set[int]
) -> Iterator[Reading]:
    """Write each quantity of its worst node, in words the first that alerts: all are one incident.

    ``full`` are nodes whose redo buffers or redo logs are too full: lag of redo is shown there.
    """
    slow = {node: found for node, one in waits.items() if (found := one.slow(alerts))}
    critical = any(lasts.get(name, set()) & slow.keys() for name in _FILES)
    said = False
    for name in _FILES:
        known = {node: percent for node, one in waits.items() if (percent := one.percent(name)) is not None}
        if not known:
            continue
        node = max(known, key=lambda one: known[one])
        confirmed = node in lasts.get(name, ())
        reading = Reading(name, known[node], "%", waits[node].what(name), confirmed=confirmed)
        if said or not alerts(name, known[node]) or (name == REDO and node in full):
            yield reading._replace(in_table=True)
            continue
        said = True
        more = tuple(line for other in slow if other != node for line in waits[other].evidence())
        state = State.CRITICAL if critical else State.OK
        yield _explained(reading, waits[node], slow[node], more)._replace(state=state)


def with_symptoms(disks: Sequence[Reading], symptoms: Sequence[Reading], alerts: Alerts) -> list[Reading]:
    """Put the symptoms that alert below the slow disk reported, which is as bad as the worst of them."""
    wrong = [one for one in symptoms if alerts(one.name, one.value)]
    critical = any(one.confirmed and alerts(one.name, one.value, State.CRITICAL) for one in wrong)
    below = tuple(one.what for one in wrong)

    def explained(disk: Reading) -> Reading:
        if disk.line is None:
            return disk
        line = Line(more=(*disk.line.more, *below))
        return disk._replace(line=line, state=State.CRITICAL if critical else disk.state)

    return [*map(explained, disks), *(one._replace(in_table=True) for one in symptoms)]


def with_lag(redo_space: Reading, waits: Mapping[int, Waits], alerts: Alerts) -> Reading:
    """Put lag of redo below a redo log that is too full."""
    lag = [line for one in waits.values() if REDO in one.slow(alerts) for line in one.evidence()]
    line = redo_space.line or Line()
    return redo_space._replace(line=line._replace(more=(*line.more, *lag)))


def _explained(reading: Reading, waits: Waits, slow: list[str], more: tuple[str, ...]) -> Reading:
    more = (*waits.evidence(), *more)
    if waits.is_certain(slow):
        files = listed([_FILES[name] for name in slow])
        why, advice = f"the disk is too slow for {files}", "use a faster disk"
    else:
        why, advice = "probably a slow disk", "run iostat -kx 1 on its host"
        more = (*more, "no other evidence of the disk: look at the processors of its host, too")
    return reading._replace(why=why, advice=advice, line=Line(more=more))
