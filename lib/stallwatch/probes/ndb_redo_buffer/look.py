"""One look at the redo buffers of a cluster: how full, and why."""

from __future__ import annotations

import time
from typing import NamedTuple

from stallwatch.probes.ndb_redo_buffer import processor, space, telling, use, verdict, writing
from stallwatch.probes.ndbinfo import cluster
from stallwatch.probes.ndbinfo.intervals import Intervals
from stallwatch.probes.ndbinfo.words import FEW
from stallwatch.reading import Fault, State

TYPE_CHECKING = False  # typing itself costs every check 2 ms
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence
    from typing import Any

    from stallwatch.deadline import Deadline
    from stallwatch.probes.ndb_log import Told
    from stallwatch.probes.ndb_redo_buffer.device import Device
    from stallwatch.probes.ndb_redo_buffer.log import Heard
    from stallwatch.probes.ndbinfo.asking import Ndbinfo
    from stallwatch.reading import Finding
    from stallwatch.units import Range

    Limits = dict[str, Range | None]  # "warning" and "critical"

_KEPT = 0.3  # seconds, for what is asked after the samples
_NOT_SEEN = "full for milliseconds between the samples: only the node's own log tells of that (--log)"
_NOT_MEASURED = "without ndbinfo.disk_write_speed_aggregate, a slow disk shows only with --log or --data-dir"


class Asked(NamedTuple):
    """What the user asked for, and how to go about it."""

    deadline: Deadline
    so_far: Callable[[Iterable[Finding]], None]  # is told what is known already
    thresholds: dict[str, Limits]
    samples: int
    every: float  # seconds
    directories: Sequence[str] = ()  # of data nodes on this host
    read_logs: Callable[[dict[str, Any]], Told] | None = None  # is given what it kept in the last run
    everything: bool = False  # say also what cannot be seen

    def alerts(self, name: str, value: float | None) -> bool:
        """Whether a quantity is worth an alert."""
        limits = self.thresholds.get(name, {}).values()
        return value is not None and any(limit.alerts(value) for limit in limits if limit)

    def wait(self, seconds: float, kept: float) -> bool:
        """Wait so long, or tell that less than ``kept`` seconds would be left."""
        if self.deadline.left() < seconds + max(kept, _KEPT):
            return False
        self.deadline.doing = "looking several times at the redo buffers"
        time.sleep(seconds)
        return True


class _Known(NamedTuple):
    """What is known before anybody is suspected."""

    samples: use.Samples
    logs: space.Logs
    before: dict[int, writing.Writing]
    lately: dict[int, writing.Lag]
    devices: Sequence[Device]


def findings(ndbinfo: Ndbinfo, asked: Asked, memory: dict[str, Any]) -> Iterator[Finding]:
    """Judge redo buffers, redo log and undo log. Raises ClusterDownError or another ProbeError."""
    nodes = cluster.look(ndbinfo, memory)
    logs = space.look(ndbinfo, nodes)
    before = writing.look(ndbinfo)
    lately = writing.since_last_look(Intervals(memory, nodes, time.time()), before)
    devices, problems = _devices(asked)
    samples = use.watch(ndbinfo, asked.samples, asked.every, asked.wait)
    known = _Known(samples, logs, before, lately, devices)
    asked.so_far(telling.all_of(samples, logs, {}, asked.alerts))
    heard, from_logs = _heard(asked, memory)
    verdicts = _verdicts(ndbinfo, asked, known, heard)
    yield from telling.all_of(samples, logs, verdicts, asked.alerts)
    yield from telling.heard(list(heard.values()), verdicts)
    yield from logs.missing
    yield from (*problems, *from_logs, *nodes.asides())
    if not before and (verdicts or asked.everything):
        yield Fault(State.OK, _NOT_MEASURED)
    if asked.everything and not asked.read_logs:
        yield Fault(State.OK, f"not seen is a redo buffer that was {_NOT_SEEN}")


def _devices(asked: Asked) -> tuple[Sequence[Device], Sequence[Finding]]:
    if not asked.directories:
        return (), ()
    from stallwatch.probes.ndb_redo_buffer import device

    return device.look(asked.directories)


def _heard(asked: Asked, memory: dict[str, Any]) -> tuple[dict[int, Heard], Sequence[Finding]]:
    if asked.read_logs is None:
        return {}, ()
    from stallwatch.probes.ndb_redo_buffer import log

    logs = log.hear(asked.read_logs(memory))
    return logs.heard, logs.findings


def _verdicts(
    ndbinfo: Ndbinfo, asked: Asked, known: _Known, heard: dict[int, Heard]
) -> dict[int, verdict.Verdict]:
    """Look for the cause, of a few nodes: those with the fullest buffers, then those whose logs complain."""
    peaks = (one.part.node for one in known.samples.uses if asked.alerts("redo_buffer_peak", one.largest))
    complaints = (one.node for one in heard.values() if one.blames_disk is not None)
    suspects = list(dict.fromkeys((*peaks, *complaints)))[:FEW]
    if not suspects:
        return {}
    after = writing.look(ndbinfo)
    busiest = processor.busiest(ndbinfo, suspects)
    busy = {node: one.busy() for one in known.devices for node in one.nodes}
    return {
        node: verdict.judge(
            verdict.Evidence(
                node,
                stays_full=any(asked.alerts("redo_buffer", one.smallest) for one in known.samples.of(node)),
                heard=heard.get(node),
                meanwhile=_meanwhile(known, after, node),
                lately=known.lately.get(node),
                busy=busy.get(node),
                writing=after.get(node),
                busiest=busiest.get(node),
            )
        )
        for node in suspects
    }


def _meanwhile(known: _Known, after: dict[int, writing.Writing], node: int) -> writing.Lag | None:
    if node not in known.before or node not in after:
        return None
    grown = after[node].lagged - known.before[node].lagged
    return writing.Lag(grown, known.samples.seconds) if grown >= 0 else None
