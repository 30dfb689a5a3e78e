"""Gathering the signals: three looks within a second, then what hardly moves."""

from __future__ import annotations

import os
import time

from stallwatch.probes.mysql import innodb, processes, status
from stallwatch.probes.mysql.asking import PERFORMANCE_SCHEMA, Asking
from stallwatch.probes.mysql.locks import in_status, metadata, rows, waits
from stallwatch.probes.mysql.locks.metadata import GLOBAL_LOCK, METADATA_LOCK
from stallwatch.probes.replication_lag.queries import LOCK_WAIT_TIMEOUT
from stallwatch.probes.replication_lag.signals import (
    Counters,
    Host,
    Look,
    Signals,
    backups,
    scans,
)
from stallwatch.probes.replication_lag.signals.hunger import OwnThreads
from stallwatch.sources.mysql.process_here import PROGRAMS
from stallwatch.startup import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from stallwatch.probes.mysql.locks.rows import Transaction
    from stallwatch.probes.mysql.processes import Process, Thread
    from stallwatch.probes.replication_lag.model import ChannelSnapshot
    from stallwatch.sources.host import DiskUse
    from stallwatch.sources.mysql.server import Server

_STEPS = 5  # of the counters; processes and transactions are looked at in every second one
_PAUSE = 0.15  # seconds between them
_STATUS = (
    "Uptime",
    "Threads_running",
    "Opened_tables",
    "Handler_read_rnd_next",
    "Handler_update",
    "Handler_delete",
    "Innodb_buffer_pool_reads",
    "Innodb_buffer_pool_read_requests",
    "Innodb_buffer_pool_wait_free",
    "Innodb_buffer_pool_dump_status",
    "Innodb_buffer_pool_load_status",
    "Innodb_history_list_length",
    "Innodb_data_pending_reads",
    "Innodb_lsn_current",
    "Innodb_os_log_written",
    *innodb.COUNTERS,
    in_status.WAITING,
)
_METRICS = (
    "log_on_file_space_waits",
    "buffer_flush_sync_total_pages",
    "trx_rseg_history_len",
    "log_lsn_checkpoint_age",
)
_SETTINGS = (
    "datadir",
    "innodb_auto_lru_dump",  # Percona Server 5.1
    "innodb_buffer_pool_restore_at_startup",  # its name in Percona Server 5.5
    "innodb_flush_log_at_trx_commit",
    "innodb_lock_wait_timeout",
    "innodb_log_file_size",
    "innodb_log_files_in_group",
    "innodb_page_size",
    "innodb_redo_log_capacity",
    "innodb_thread_concurrency",
    "performance_schema",
    "pid_file",
    "port",
    "read_only",
    "relay_log_space_limit",
    "replica_parallel_workers",  # MySQL 8.0.26 and later
    "slave_parallel_threads",  # MariaDB
    "slave_parallel_workers",
    "socket",
    "sync_binlog",
)


def gather(
    server: Server,
    snapshots: Sequence[ChannelSnapshot],
    pause: Callable[[float], bool],
    trace: Callable[[str], None],
) -> Signals:
    """Ask for all signals; what is denied, is not there or does not answer is left out.

    ``pause`` waits this long and returns whether there was time for it: one look is better than none,
    and enough where no applier runs.
    """
    asking = Asking(server, trace)
    process = server.process if server.local else None
    known = status.variables(asking, _SETTINGS)
    if known.get("performance_schema") == "OFF":  # MariaDB's default
        asking.switch_off(PERFORMANCE_SCHEMA)
    threads = processes.threads_here(asking) if process else processes.threads(asking)
    own = OwnThreads(process, threads) if process else None
    own_host = _OwnHost(known, threads) if server.local and _runs_here(known) else None
    applying = any(one.channel.applier.runs for one in snapshots)
    looks, counted = _look(asking, pause, _STEPS if applying else 1)
    scanning = scans.scans(asking, _last_appliers(looks), threads, pause)
    programs = processes.programs(asking)
    tools = own_host.tools() if own_host else backups.Tools()
    signals = Signals(
        flavour=server.flavour,
        looks=looks,
        counted=counted,
        settings=known,
        threads=threads,
        programs=programs,
        locks=metadata.locks(asking) if _waits_for_a_lock(looks) else (),
        row_locks=rows.row_locks(asking, _waiting(looks)) if looks and looks[-1].tables is None else (),
        scans=scanning,
        keyless=scans.keyless(asking, scans.changed(_last_appliers(looks), scanning)),
        host=(own_host.host() if own_host else Host())._replace(hunger=own.hunger() if own else None),
    )
    found = backups.find(signals.processes, programs, metadata.backup_locks(asking), tools)
    signals = signals._replace(backups=found)
    heads: set[int] = set()
    if _waiting(looks) or _waits_for_a_lock(looks):
        graph = signals.graph
        heads = {wait.holding for one in _last_appliers(looks) for wait in graph.last(one.id) if wait.holding}
    gave_up = any(one.channel.applier.errno == LOCK_WAIT_TIMEOUT for one in snapshots)
    last = processes.last_statements(asking, sorted(heads))
    prepared = (gave_up or bool(heads)) and rows.may_be_prepared(
        asking, signals.processes, signals.transactions
    )
    missing = list(asking.missing.values())
    if asking.lost:
        missing.append(f"the search for causes was cut short: {asking.lost.what}")
    complete = signals._replace(last=last, prepared=prepared, missing=tuple(missing))
    vars(complete).update(vars(signals))  # its graph took 0.3 s where a thousand wait
    return complete


def _last_appliers(looks: Sequence[Look]) -> list[Process]:
    return [one for one in looks[-1].processes if one.applies] if looks else []


def _waits_for_a_lock(looks: Sequence[Look]) -> bool:
    """Whether an applier does, or somebody else while an applier waits for a row: that may be who has it."""
    wanted = (GLOBAL_LOCK, METADATA_LOCK)
    if _waiting(looks):
        return any(waits.kind(one) for one in looks[-1].processes)
    return any(state.search(one.state) for one in _last_appliers(looks) for state in wanted)


def _waiting(looks: Sequence[Look]) -> list[str]:
    """List the transactions of appliers that wait for a row lock."""
    appliers = {one.id for one in _last_appliers(looks)}
    last = looks[-1].transactions if looks else ()
    return [one.id for one in last if one.waiting is not None and one.process in appliers]


def _look(asking: Asking, pause: Callable[[float], bool], steps: int) -> tuple[list[Look], list[Counters]]:
    looks: list[Look] = []
    counted: list[Counters] = []
    for step in range(steps):
        if step and not pause(_PAUSE):
            break
        counted.append(counters(asking, time.monotonic()))
        if step % 2 == 0:
            looks.append(Look(processes.processes(asking), *_transactions(asking, counted[-1])))
        if asking.lost:  # what was seen until then is worth more than looks at nothing
            break
    return looks, counted


def _transactions(
    asking: Asking, known: Counters
) -> tuple[tuple[Transaction, ...], Mapping[str, tuple[str, str]] | None]:
    """Ask for the open transactions; where many wait for rows, as ``in_status.read`` has them."""
    if in_status.is_better(asking, known.numbers.get(in_status.WAITING, 0.0)):
        return in_status.read(in_status.ask(asking).text)
    return rows.transactions(asking), None


def counters(asking: Asking, at: float) -> Counters:
    """Ask for status variables, and for InnoDB's metrics where PROCESS lets us."""
    values = status.global_status(asking, _STATUS) | status.metrics(asking, _METRICS)
    return Counters(at, status.numbers(values), {name: value for name, value in values.items() if value})


def _runs_here(known: Mapping[str, str]) -> bool:
    """Whether the server is not in a container that only shares a socket or port with our host."""
    from stallwatch.sources.processes import is_process

    pid_file = os.path.join(known.get("datadir", ""), known.get("pid_file", ""))
    return bool(known.get("datadir")) and is_process(pid_file, PROGRAMS) is not False


class _Use(NamedTuple):
    at: float
    disk: DiskUse | None
    threads: Mapping[int, float]


class _OwnHost:
    """The host of a server that is also ours, from its making on."""

    def __init__(self, known: Mapping[str, str], threads: Sequence[Thread]) -> None:
        from stallwatch.sources import host
        from stallwatch.sources.processes import program_of

        self._host = host
        self._known = known
        self._directory = known.get("datadir", "")
        self._disk = host.disk_of(self._directory) if self._directory else None
        self._threads = [one.os_id for one in threads if one.os_id and program_of(one.os_id) in PROGRAMS]
        self._before = self._use()

    def _use(self) -> _Use:
        from stallwatch.sources.processes import thread_seconds

        used = {one: thread_seconds(one) for one in self._threads}
        disk = self._host.disk_use(self._disk) if self._disk else None
        return _Use(time.monotonic(), disk, {one: spent for one, spent in used.items() if spent is not None})

    def tools(self) -> backups.Tools:
        """List the processes of backup tools."""
        from stallwatch.sources.processes import running

        found = running(backups.TOOLS | PROGRAMS)
        servers = [one for one in found if one.name in PROGRAMS]
        tools = tuple(one for one in found if one.name in backups.TOOLS)
        told = (self._known.get(name, "") for name in ("datadir", "socket", "port"))
        return backups.Tools(tools, for_us=len(servers) == 1, place=backups.Place(*told))

    def host(self) -> Host:
        """Return what has happened since this was made."""
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
