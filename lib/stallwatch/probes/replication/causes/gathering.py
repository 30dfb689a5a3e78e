"""Gathering the signals: three looks within a second, then what hardly moves."""

from __future__ import annotations

import time
from typing import NamedTuple

from stallwatch.probes.replication.causes import (
    backups,
    counters,
    locks,
    processes,
    settings,
    transactions,
)
from stallwatch.probes.replication.causes.asking import Asking
from stallwatch.probes.replication.causes.signals import Host, Look, Signals

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from stallwatch.probes.replication.causes.counters import Counters
    from stallwatch.probes.replication.causes.processes import Thread
    from stallwatch.probes.replication.evidence import Evidence
    from stallwatch.sources.host import DiskUse
    from stallwatch.sources.mysql.server import Server

_STEPS = 5  # of the counters; processes and transactions are looked at in every second one
_PAUSE = 0.15  # seconds between them
_SERVERS = frozenset({"mysqld", "mariadbd"})


def gather(
    server: Server,
    evidences: Sequence[Evidence],
    pause: Callable[[float], bool],
    trace: Callable[[str], None],
) -> Signals:
    """Ask for all signals; what is denied, is not there or does not answer is left out.

    ``pause`` waits so many seconds and tells whether there was time for it: one look is better than none,
    and enough where no applier runs.
    """
    asking = Asking(server, trace)
    known = settings.settings(asking)
    threads = processes.threads(asking)
    place = _Place(known, threads) if server.local else None
    applying = any(one.channel.applier.runs for one in evidences)
    looks, counted = _look(asking, pause, _STEPS if applying else 1)
    held = locks.locks(asking)
    programs = processes.programs(asking)
    return Signals(
        flavour=server.flavour,
        looks=looks,
        counted=counted,
        settings=known,
        threads=threads,
        programs=programs,
        locks=held,
        row_locks=transactions.row_locks(asking),
        backups=backups.find(
            processes.by_id(looks[-1].processes), programs, held, place.tools() if place else backups.Tools()
        ),
        host=place.host() if place else Host(),
        missing=tuple(asking.missing.values()),
    )


def _look(asking: Asking, pause: Callable[[float], bool], steps: int) -> tuple[list[Look], list[Counters]]:
    looks: list[Look] = []
    counted: list[Counters] = []
    for step in range(steps):
        if step and not pause(_PAUSE):
            break
        if step % 2 == 0:
            looks.append(Look(processes.processes(asking), transactions.transactions(asking)))
        counted.append(counters.counters(asking, time.monotonic()))
    return looks, counted


class _Use(NamedTuple):
    at: float
    disk: DiskUse | None
    threads: Mapping[int, float]


class _Place:
    """The host of a server that is also ours, from its making on."""

    def __init__(self, known: Mapping[str, str], threads: Sequence[Thread]) -> None:
        from stallwatch.sources import host

        self._host = host
        self._directory = known.get("datadir", "")
        self._disk = host.disk_of(self._directory) if self._directory else None
        self._threads = [one.os_id for one in threads if one.os_id and host.program_of(one.os_id) in _SERVERS]
        self._before = self._use()

    def _use(self) -> _Use:
        used = {one: self._host.thread_seconds(one) for one in self._threads}
        disk = self._host.disk_use(self._disk) if self._disk else None
        return _Use(time.monotonic(), disk, {one: spent for one, spent in used.items() if spent is not None})

    def tools(self) -> backups.Tools:
        """List the processes of backup tools."""
        running = self._host.processes(backups.TOOLS | _SERVERS)
        servers = [one for one in running if one.name in _SERVERS]
        tools = tuple(one for one in running if one.name in backups.TOOLS)
        return backups.Tools(tools, for_us=len(servers) == 1)

    def host(self) -> Host:
        """Tell what has happened since this was made."""
        before, after = self._before, self._use()
        load = self._host.disk_load(before.disk, after.disk) if before.disk and after.disk else None
        return Host(
            disk=self._disk or "",
            load=load,
            free=self._host.free_share(self._directory) if self._directory else None,
            busiest=_busiest(before, after),
            processors=self._host.processors(),
        )


def _busiest(before: _Use, after: _Use) -> float | None:
    seconds = after.at - before.at
    spent = [after.threads[one] - was for one, was in before.threads.items() if one in after.threads]
    return 100 * max(spent) / seconds if spent and seconds > 0 else None
