"""Whether the process of a server on our host gets the processor time that it wants.

What counts is what its own threads wait for, not how busy the host is.
"""

from __future__ import annotations

import time

from stallwatch.sources import kernel, processes
from stallwatch.sources.mysql.process_here import SHORTEST
from stallwatch.sources.processes import process_of, thread_waits
from stallwatch.startup import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from stallwatch.probes.mysql.processes import Thread
    from stallwatch.sources.mysql.process_here import ProcessHere


class Hunger(NamedTuple):
    """What was seen while signals were gathered, in per cent of the time."""

    exhausted: float = 0.0  # periods in which its control group had used up its CPU limit
    waits: Mapping[int, float] = {}  # that a thread was ready and had no processor, by its OS id
    stolen: float = 0.0  # that the hypervisor ran others instead of us
    faults: float = 0.0  # pages per second that the server had to wait for, as they were not in memory
    memory: float = 0.0  # that some task of the host waited for memory


class _Host(NamedTuple):
    """What was counted; in seconds, but for the pages."""

    processors: kernel.Processor | None
    faults: int | None
    memory: float | None


class OwnThreads:
    """Threads of replication of the server's process, from its making on."""

    def __init__(self, process: ProcessHere, threads: Sequence[Thread]) -> None:
        self._process = process
        own = [one.os_id for one in threads if one.os_id and process_of(one.os_id) == process.pid]
        self._begun = time.monotonic()
        self._before = _waited(own)
        self._host = self._look()

    def _look(self) -> _Host:
        task = processes.task(self._process.pid)
        return _Host(_processors(), task and task.major_faults, kernel.stalled("memory"))

    def hunger(self) -> Hunger:
        """Return what has happened since."""
        now, passed = _waited(self._before), time.monotonic() - self._begun
        if passed < SHORTEST:
            return Hunger(self._process.exhausted())
        waits = {
            one: min(100.0, 100 * (seconds - self._before[one]) / passed) for one, seconds in now.items()
        }
        before, after = self._host, self._look()
        return Hunger(
            self._process.exhausted(),
            waits,
            _stolen(before.processors, after.processors),
            _grown(before.faults, after.faults) / passed,
            100 * _grown(before.memory, after.memory) / passed,
        )


def _processors() -> kernel.Processor | None:
    try:
        return kernel.processors()["cpu"]
    except (OSError, ValueError, TypeError):
        return None


def _stolen(before: kernel.Processor | None, after: kernel.Processor | None) -> float:
    if not before or not after:
        return 0.0
    own = len(before) - 2  # the guests' times are in others
    spent = sum(after[:own]) - sum(before[:own])
    return 100 * (after.steal - before.steal) / spent if spent > 0 else 0.0


def _grown(before: float | None, after: float | None) -> float:
    return 0.0 if before is None or after is None else max(0.0, after - before)


def _waited(threads: Iterable[int]) -> dict[int, float]:
    waited = {one: thread_waits(one) for one in threads}
    return {one: seconds for one, seconds in waited.items() if seconds is not None}
