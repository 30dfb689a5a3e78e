"""Backups and dumps that run against this server: by process, by connection, by lock, by statement.

mariabackup and xtrabackup are plain sleeping connections; what they sent when they connected (_pid) leads
to the process, if that runs on this host. LOCK INSTANCE FOR BACKUP is seen on MySQL 8 and later whoever
holds it (xtrabackup 8.4: for the whole run). Measured with mariabackup 10.11, mariadb-dump and mydumper.
"""

from __future__ import annotations

import os

from stallwatch.startup import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from stallwatch.probes.mysql.locks.metadata import Lock
    from stallwatch.probes.mysql.processes import Process, Program
    from stallwatch.sources.processes import Running

COPIES = frozenset({"mariabackup", "mariadb-backup", "xtrabackup", "innobackupex", "mysqlbackup"})
DUMPS = frozenset({"mysqldump", "mariadb-dump", "mydumper", "mysqlpump", "mysqlpdump"})
TOOLS = COPIES | DUMPS
_UNNAMED = "dump"  # one that is known by its statement alone
_SHELL = "mysqlsh"  # a backup only while it dumps
_DUMPS_TABLE = "SELECT /*!40001 SQL_NO_CACHE */"
_SHELL_DUMPS = "SELECT SQL_NO_CACHE "
_ARCHIVES = "pt-archiver"  # reads with the same words
_ELSEWHERE = ("--prepare", "--apply-log", "--copy-back", "--move-back", "--help", "--version")  # no server
_STOPS_APPLIER = ("--safe-slave-backup", "--safe-replica-backup")
_LOCAL = ("localhost", "127.0.0.1", "::1", "")
_CLOCKS = 2.0  # seconds


class Place(NamedTuple):
    """Where our server is found on its host."""

    datadir: str = ""
    socket: str = ""
    port: str = ""

    def fits(self, tool: Running) -> bool | None:
        """Whether a tool's arguments name this server; None: unknown."""
        told = (
            (tool.option("--datadir", "-h") if tool.name in COPIES else None, self.datadir),
            (tool.option("--socket", "-S"), self.socket),
        )
        paths = [os.path.realpath(one) == os.path.realpath(own) for one, own in told if one and own]
        if paths:
            return all(paths)
        host = tool.option("--host", "-h") if tool.name in DUMPS else None
        if host and host not in _LOCAL:
            return False
        port = tool.option("--port", "-P")
        return False if port and self.port and port != self.port else None


class Tools(NamedTuple):
    """The backup tools that run on the host of the server, if that is ours."""

    running: Sequence[Running] = ()
    for_us: bool = False  # whether there is no other server there that they might be for
    place: Place | None = None  # of our server


class Backup(NamedTuple):
    """A backup or dump of this server that is under way."""

    tool: str  # "mariabackup"; "" : unknown
    pid: int | None = None  # where it runs on this host
    connections: tuple[int, ...] = ()  # in the process list
    seconds: float | None = None  # since it began; None: not known
    certain: bool = True  # whether it is a backup of this server: another may run on the same host
    stops_applier: bool = False  # whether it is to, by --safe-slave-backup

    def explains_stop(self, stopped: float) -> bool:
        """Whether it has stopped the applier of this server, which has not run for ``stopped`` seconds.

        An applier that had stopped before was not stopped by this backup.
        """
        began_before = self.seconds is not None and stopped <= self.seconds + _CLOCKS
        return self.certain and self.stops_applier and began_before


def find(
    processes: Mapping[int, Process],
    programs: Mapping[int, Program],
    held: Sequence[Lock],
    tools: Tools,
) -> tuple[Backup, ...]:
    """Find all backups of the server whose process list, programs and locks these are."""
    running = [one for one in tools.running if not one.has(*_ELSEWHERE)]
    found = list(_by_pid(processes, programs, running))
    _add(found, _by_program(processes, programs))
    pids = {one.pid for one in found}
    fits = {one.pid: tools.place.fits(one) if tools.place else None for one in running}
    ours = [one for one in running if fits[one.pid] and one.pid not in pids]
    # Without programs nothing shows which tools are connected to this server.
    maybe = [one for one in running if fits[one.pid] is None and one.pid not in pids]
    _add(found, _by_statement(processes, programs, ours, maybe))
    _add(found, _by_lock(processes, programs, held))
    if any(one.tool == _UNNAMED and _is_local(processes, one.connections[0]) for one in found):
        maybe = [one for one in maybe if one.name not in DUMPS]  # one of them has been found
    pids = {one.pid for one in found}
    others = [one for one in [*ours, *(() if programs else maybe)] if one.pid not in pids]
    return *found, *(_of(one, certain=bool(fits[one.pid] or tools.for_us)) for one in others)


def _add(found: list[Backup], more: Iterable[Backup]) -> None:
    """Add those whose connections are not known to be a backup's yet."""
    known = {connection for one in found for connection in one.connections}
    for one in more:
        if new := tuple(connection for connection in one.connections if connection not in known):
            known.update(new)
            found.append(one._replace(connections=new))


def _of(tool: Running, connections: tuple[int, ...] = (), *, certain: bool = True) -> Backup:
    stops = tool.name in COPIES and tool.has(*_STOPS_APPLIER)
    return Backup(tool.name, tool.pid, connections, tool.age, certain, stops)


def _by_pid(
    processes: Mapping[int, Process], programs: Mapping[int, Program], running: Sequence[Running]
) -> Iterator[Backup]:
    for one in running:
        of_pid = (connection for connection, program in programs.items() if program.pid == one.pid)
        connected = tuple(sorted(connection for connection in of_pid if _is_local(processes, connection)))
        if connected:
            yield _of(one, connected)


def _is_local(processes: Mapping[int, Process], connection: int) -> bool:
    process = processes.get(connection)
    return process is None or process.host.partition(":")[0] in _LOCAL or process.host.startswith("::1")


def _by_program(processes: Mapping[int, Process], programs: Mapping[int, Program]) -> Iterator[Backup]:
    for connection, program in programs.items():
        if program.name in TOOLS and connection in processes:
            yield Backup(program.name, program.pid, (connection,))


def _by_statement(
    processes: Mapping[int, Process],
    programs: Mapping[int, Program],
    ours: Sequence[Running],
    maybe: Sequence[Running],
) -> Iterator[Backup]:
    """Find who reads whole tables as dumps do: a tool on this host that may be it, if there is only one.

    Tools whose arguments name this server (``ours``) come before those that may be for another (``maybe``).
    """
    local: list[int] = []
    for one in processes.values():
        program = programs.get(one.id)
        if program and program.name == _SHELL and one.info.startswith(_SHELL_DUMPS):
            yield Backup(_SHELL, program.pid, (one.id,))
        if not one.info.startswith(_DUMPS_TABLE) or (program and program.name in {_ARCHIVES, *TOOLS}):
            continue
        if _is_local(processes, one.id):
            local.append(one.id)
        else:
            yield Backup(_UNNAMED, None, (one.id,))
    ours, maybe = ([one for one in tools if one.name in DUMPS] for tools in (ours, maybe))
    likely = ours or maybe
    if local and len(likely) == 1:
        yield _of(likely[0], tuple(local))  # it may read several tables side by side
    elif not ours:  # several of them are backups of this server anyhow
        yield from (Backup(_UNNAMED, None, (connection,)) for connection in local)


def _by_lock(
    processes: Mapping[int, Process], programs: Mapping[int, Program], held: Sequence[Lock]
) -> Iterator[Backup]:
    for one in held:
        if one.scope == "BACKUP LOCK" and one.granted and one.kind == "SHARED" and one.process:
            process, program = processes.get(one.process), programs.get(one.process)
            tool, pid = (program.name, program.pid) if program and program.name else ("", None)
            yield Backup(tool, pid, (one.process,), process.seconds if process and not tool else None)
