"""Gathering the signals: three looks within a second, then what hardly moves."""

from __future__ import annotations

import os
import time

from stallwatch.probes.mysql import processes
from stallwatch.probes.mysql.asking import Asking
from stallwatch.probes.mysql.privileges import PERFORMANCE_SCHEMA
from stallwatch.probes.replication.causes import (
    backups,
    counters,
    locks,
    settings,
    statements,
    states,
    transactions,
)
from stallwatch.probes.replication.causes.signals import Host, Look, Signals
from stallwatch.probes.replication.causes.tables import keyless
from stallwatch.startup import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from stallwatch.probes.mysql.processes import Process, Thread
    from stallwatch.probes.replication.causes.counters import Counters
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
    if known.get("performance_schema") == "OFF":  # MariaDB's default
        asking.switch_off(PERFORMANCE_SCHEMA)
    threads = processes.threads(asking)
    place = _Place(known, threads) if server.local and _runs_here(known) else None
    applying = any(one.channel.applier.runs for one in evidences)
    looks, counted = _look(asking, pause, _STEPS if applying else 1)
    programs = processes.programs(asking)
    tools = place.tools() if place else backups.Tools()
    signals = Signals(
        flavour=server.flavour,
        looks=looks,
        counted=counted,
        settings=known,
        threads=threads,
        programs=programs,
        locks=locks.locks(asking) if _waits_for_a_lock(looks) else (),
        row_locks=transactions.row_locks(asking, _waiting(looks)),
        keyless=keyless(asking, _scanned(looks)),
        host=place.host() if place else Host(),
    )
    found = backups.find(signals.processes, programs, locks.backup_locks(asking), tools)
    missing = list(asking.missing.values())
    if asking.lost:
        missing.append(f"the search for causes was cut short: {asking.lost.what}")
    return signals._replace(backups=found, missing=tuple(missing))


def _last_appliers(looks: Sequence[Look]) -> list[Process]:
    return [one for one in looks[-1].processes if one.applies] if looks else []


def _waits_for_a_lock(looks: Sequence[Look]) -> bool:
    wanted = (states.GLOBAL_LOCK, states.METADATA_LOCK)
    return any(state.search(one.state) for one in _last_appliers(looks) for state in wanted)


def _waiting(looks: Sequence[Look]) -> list[str]:
    """List the transactions of appliers that wait for a row lock."""
    appliers = {one.id for one in _last_appliers(looks)}
    last = looks[-1].transactions if looks else ()
    return [one.id for one in last if one.waiting is not None and one.process in appliers]


def _scanned(looks: Sequence[Look]) -> set[str]:
    """Name the tables in which appliers look for rows to change, where they tell."""
    at_work = (one for one in _last_appliers(looks) if states.FINDS_ROW.search(one.state))
    return {statements.changed_table(one.info, one.database) for one in at_work} - {""}


def _look(asking: Asking, pause: Callable[[float], bool], steps: int) -> tuple[list[Look], list[Counters]]:
    looks: list[Look] = []
    counted: list[Counters] = []
    for step in range(steps):
        if step and not pause(_PAUSE):
            break
        if step % 2 == 0:
            looks.append(Look(processes.processes(asking), transactions.transactions(asking)))
        counted.append(counters.counters(asking, time.monotonic()))
        if not asking.is_connected:  # what was seen until then is worth more than looks at nothing
            break
    return looks, counted


def _runs_here(known: Mapping[str, str]) -> bool:
    """Whether the server is not in a container that only shares a socket or port with our host."""
    from stallwatch.sources.processes import is_process

    pid_file = os.path.join(known.get("datadir", ""), known.get("pid_file", ""))
    return bool(known.get("datadir")) and is_process(pid_file, _SERVERS) is not False


class _Use(NamedTuple):
    at: float
    disk: DiskUse | None
    threads: Mapping[int, float]


class _Place:
    """The host of a server that is also ours, from its making on."""

    def __init__(self, known: Mapping[str, str], threads: Sequence[Thread]) -> None:
        from stallwatch.sources import host
        from stallwatch.sources.processes import program_of

        self._host = host
        self._known = known
        self._directory = known.get("datadir", "")
        self._disk = host.disk_of(self._directory) if self._directory else None
        self._threads = [one.os_id for one in threads if one.os_id and program_of(one.os_id) in _SERVERS]
        self._before = self._use()

    def _use(self) -> _Use:
        from stallwatch.sources.processes import thread_seconds

        used = {one: thread_seconds(one) for one in self._threads}
        disk = self._host.disk_use(self._disk) if self._disk else None
        return _Use(time.monotonic(), disk, {one: spent for one, spent in used.items() if spent is not None})

    def tools(self) -> backups.Tools:
        """List the processes of backup tools."""
        from stallwatch.sources.processes import running

        found = running(backups.TOOLS | _SERVERS)
        servers = [one for one in found if one.name in _SERVERS]
        tools = tuple(one for one in found if one.name in backups.TOOLS)
        told = (self._known.get(name, "") for name in ("datadir", "socket", "port"))
        return backups.Tools(tools, for_us=len(servers) == 1, place=backups.Place(*told))

    def host(self) -> Host:
        """Tell what has happened since this was made."""
        before, after = self._before, self._use()
        load = self._host.disk_load(before.disk, after.disk) if before.disk and after.disk else None
        return Host(
            disk=self._disk or "",
            load=load,
            free=self._host.free_bytes(self._directory) if self._directory else None,
            busy_threads=_busy_threads(before, after),
            processors=self._host.processors(),
        )


def _busy_threads(before: _Use, after: _Use) -> dict[int, float]:
    seconds = after.at - before.at
    both = before.threads.keys() & after.threads.keys()
    spent = {one: after.threads[one] - before.threads[one] for one in both}
    return {one: 100 * used / seconds for one, used in spent.items()} if seconds > 0 else {}
