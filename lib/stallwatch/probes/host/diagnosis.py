"""What is wrong with a host: disks that hang or are at their limit, what is critical, what is not known."""

from __future__ import annotations

import os
from itertools import pairwise

from stallwatch.findings import Fault, ProbeError, Reading, State
from stallwatch.history import recall, remember
from stallwatch.history.streak import Streaks
from stallwatch.startup import TYPE_CHECKING, NamedTuple
from stallwatch.units import say_duration
from stallwatch.words import listed

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
    from typing import Any

    from stallwatch.findings import Finding
    from stallwatch.probes.host.collect import Snapshot
    from stallwatch.probes.host.model import Activity, DiskLoad

INTERVALS = 3
BUSY = 90.0  # per cent
_EVEN = 0.9  # the least of the rates, of the most
_LONGER, _LONGER_IN_ALL = 1.1, 1.5
_MORE = 1.0  # requests in the queue
_INTERVALS = "intervals"
SILENT = 5.0  # seconds: so long a sample may take
CERTAIN = 2  # looks in a row
_LONG = 600.0  # seconds: an average over more shows little of what happens now
_STUCK = "stuck"


class Rules(NamedTuple):
    """How a host is judged."""

    is_problem: Callable[..., bool]  # whether a reading is wrong, or has the State of a second argument
    confirm: int  # looks in a row that are critical, until that is believed
    judges_disks: bool  # there is a limit for how busy or how slow disks are


class Stuck(NamedTuple):
    """A disk that answers nothing."""

    disk: str
    seconds: float  # at least
    waiting: int  # requests
    looks: int  # in a row that have found it so


class Spell(NamedTuple):
    """What a disk did in one interval."""

    seconds: float
    busy: float
    wait: float  # seconds
    requests: float  # per second
    octets: float  # per second


class Plateau(NamedTuple):
    """A disk at its limit."""

    disk: str
    spells: Sequence[Spell]  # in the order of time

    @property
    def seconds(self) -> float:
        """How long it has been so, at least."""
        return sum(spell.seconds for spell in self.spells)


def confirmed(
    readings: Sequence[Reading], memory: dict[str, Any], rules: Rules, *, again: bool
) -> list[Reading]:
    """Give the same readings, those not confirmed that are critical for too few looks in a row yet.

    ``memory`` keeps their number, by label; a look that is the last one ``again`` does not count, nor does
    one that shows nothing of a label.
    """
    streaks = Streaks(memory, "critical", again=again)
    return [_confirmed(reading, streaks, rules) for reading in readings]


def _confirmed(reading: Reading, streaks: Streaks, rules: Rules) -> Reading:
    label = reading.name if reading.label is None else reading.label
    if not rules.is_problem(reading, State.CRITICAL):
        streaks.end(label)
        return reading
    streaks.add(label)
    if rules.confirm == 1 or streaks.of(label) >= rules.confirm:
        return reading
    last = f"critical after {rules.confirm} runs in a row"
    why = f"{reading.why}, {last}" if reading.why else last
    return reading._replace(why=why, confirmed=False)


def stuck(memory: dict[str, Any], loads: Iterable[DiskLoad], uptime: float, *, again: bool) -> list[Stuck]:
    """Return which disks answer nothing: requests wait in them, and none is completed.

    Their await is not measured, for the kernel counts the time of a request when it is completed; nor does a
    queue of requests that never end show in aqu-sz. A disk that works takes milliseconds for a request, one
    that has to spin up some seconds; the SCSI layer abandons a request after 30 s (Linux, SD_TIMEOUT in
    sd.h), an NVMe disk too (nvme_core.io_timeout), and tries again.

    ``memory`` keeps since when, by the host's ``uptime``. A look that is the last one ``again`` is not one
    more.
    """
    kept = recall(memory, _STUCK, dict[str, tuple[float, int]]) or {}
    found = {}
    for load in loads:
        if load.silent >= SILENT:
            since, looks = kept.get(load.name) or (uptime - load.silent, 0)
            found[load.name] = (min(since, uptime - load.silent), looks + (not again), load.waiting)
    if not again:
        memory[_STUCK] = {name: [since, looks] for name, (since, looks, _) in found.items()}
    return [Stuck(name, uptime - since, waiting, looks) for name, (since, looks, waiting) in found.items()]


def plateaus(
    memory: dict[str, Any], loads: Iterable[DiskLoad], seconds: float, *, again: bool
) -> list[Plateau]:
    """Return which disks are at their limit: more is asked of them, and they do no more.

    The article "Tuning your Cluster with ndbinfo" finds such a disk by iostat, and a flat line in a graph
    shows it. Here it is three intervals in a row in which the disk had something to do all the time (90 %),
    did the same each time (its requests or its bytes per second differ by 10 % at most), and let each request
    wait longer than in the interval before: by a tenth each time, by half in all. So its queue has grown, for
    those who wait go on asking: by one request at least (Little's law: rate times wait), or it is a fast disk
    whose microseconds vary. A disk under a steady load is not meant: its requests take as long as before.

    ``memory`` keeps the last intervals of those that may be. An interval that is the last one ``again`` is
    not one more.
    """
    kept = recall(memory, _INTERVALS, dict[str, list[Spell]]) or {}
    found: dict[str, list[Spell]] = {}
    for load in loads:
        if load.busy is not None and load.wait is not None and load.busy >= BUSY:
            row = kept.get(load.name, [])
            now = Spell(seconds, load.busy, load.wait, load.requests, load.read + load.written)
            found[load.name] = [*(row[:-1] if again else row), now][-INTERVALS:]
    if not again:
        remember(memory, _INTERVALS, found)
    return [Plateau(name, row) for name, row in found.items() if is_plateau(row)]


def is_plateau(spells: Sequence[Spell]) -> bool:
    """Whether these intervals in a row are those of a disk at its limit."""
    if len(spells) < INTERVALS or any(spell.busy < BUSY for spell in spells):
        return False
    waits = [spell.wait for spell in spells]
    longer = all(later >= _LONGER * sooner for sooner, later in pairwise(waits))
    even = any(map(_even, ([spell.requests for spell in spells], [spell.octets for spell in spells])))
    grown = _queue(spells[-1]) - _queue(spells[0]) >= _MORE
    return even and longer and grown and waits[-1] >= _LONGER_IN_ALL * waits[0] > 0


def _queue(spell: Spell) -> float:
    return spell.requests * spell.wait


def _even(rates: Sequence[float]) -> bool:
    return 0 < _EVEN * max(rates) <= min(rates)


def missing(snapshot: Snapshot, places: Collection[str] | None, rules: Rules) -> Iterator[Finding]:
    """Report what the kernel does not count: disks among it are UNKNOWN if any are asked for."""
    matters = places is not None or rules.judges_disks
    for what, may_be in snapshot.missing:
        if may_be and not matters:
            yield Fault(State.OK, f"not looked at: {what}")
        else:
            yield ProbeError(what)
    if gone := [name for name in places or () if snapshot.disks is not None and name not in snapshot.disks]:
        yield ProbeError(f"the kernel counts nothing for {listed(gone)}")


def untimed(found: Activity, places: Mapping[str, str] | None, rules: Rules) -> Iterator[Finding]:
    """Report disks without times, unless nobody asks, or what they are made of has them."""
    if found.seconds and not found.disks and places is None and rules.judges_disks:
        yield ProbeError("no disk has done anything yet that the kernel counts")
    untimed = [disk.name for disk in found.disks if disk.busy is None]
    named = [name for name in untimed if places and not places[name]]
    if not (names := untimed if len(untimed) == len(found.disks) else named):
        return
    what = f"the kernel has counted no times for {listed(names)}: how busy, and how slow, is not known"
    if rules.judges_disks:
        yield ProbeError(what, "choose what it is made of (--disk); Linux 5.14 counts times of md, too")
    elif named:
        yield Fault(State.OK, what)


def asides(snapshot: Snapshot) -> Iterator[Fault]:
    """Return what there is to know although all may be well."""
    if why := snapshot.interval.why:
        yield Fault(State.OK, f"what the host has counted is known from the next run on: {why}")
    if (seconds := snapshot.interval.seconds) > _LONG:
        since = "" if snapshot.interval.again else ", since the last run"
        yield Fault(
            State.OK, f"averages over {say_duration(seconds)}{since}: --sample 5s shows what happens now"
        )
    ours = len(os.sched_getaffinity(0))
    if 0 < ours < snapshot.processors:
        every = f"all {snapshot.processors} processors of the host"
        what = f"the numbers are of {every}, of which this check may use {ours}"
        yield Fault(State.OK, what)
