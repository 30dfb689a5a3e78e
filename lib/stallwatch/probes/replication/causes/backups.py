"""Backups and dumps that run against this server: by process, by connection, by lock, by statement.

mariabackup and xtrabackup are plain sleeping connections; what they told when they connected (_pid) leads
to the process, if that runs on this host. LOCK INSTANCE FOR BACKUP is seen on MySQL 8 and later whoever
holds it (xtrabackup 8.4: for the whole run). Measured with mariabackup 10.11, mariadb-dump and mydumper.
"""

from __future__ import annotations

from typing import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from stallwatch.probes.replication.causes.locks import Lock
    from stallwatch.probes.replication.causes.processes import Process, Program
    from stallwatch.sources.host import Running

COPIES = frozenset({"mariabackup", "mariadb-backup", "xtrabackup", "innobackupex", "mysqlbackup"})
DUMPS = frozenset({"mysqldump", "mariadb-dump", "mydumper", "mysqlpump", "mysqlsh", "mysqlpdump"})
TOOLS = COPIES | DUMPS
_DUMPS_TABLE = "SELECT /*!40001 SQL_NO_CACHE */"
_LOCAL = ("localhost", "127.0.0.1", "::1", "")


class Tools(NamedTuple):
    """The backup tools that run on the host of the server, if that is ours."""

    running: Sequence[Running] = ()
    for_us: bool = False  # whether there is no other server there that they might be for


class Backup(NamedTuple):
    """A backup or dump of this server that is under way."""

    tool: str  # "mariabackup"; "" : unknown
    pid: int | None = None  # where it runs on this host
    connections: tuple[int, ...] = ()  # in the process list
    seconds: float | None = None  # since it began; None: not known
    certain: bool = True  # whether it is a backup of this server: another may run on the same host

    @property
    def stops_applier(self) -> bool:
        """Whether it may have stopped the applier: --safe-slave-backup of tools that copy files does."""
        return not self.tool or self.tool in COPIES


def find(
    processes: Mapping[int, Process],
    programs: Mapping[int, Program],
    held: Sequence[Lock],
    tools: Tools,
) -> tuple[Backup, ...]:
    """Find all backups of the server whose process list, programs and locks these are."""
    running = tools.running
    found = list(_by_pid(processes, programs, running))
    known = {connection for one in found for connection in one.connections}
    for more in (
        _by_program(processes, programs),
        _by_statement(processes, running),
        _by_lock(processes, held),
    ):
        new = [one for one in more if not known.intersection(one.connections)]
        known.update(connection for one in new for connection in one.connections)
        found += new
    if not programs:  # nobody can tell which of the tools are connected to this server
        pids = {one.pid for one in found}
        others = [one for one in running if one.pid not in pids]
        found += [Backup(one.name, one.pid, seconds=one.age, certain=tools.for_us) for one in others]
    return tuple(found)


def _by_pid(
    processes: Mapping[int, Process], programs: Mapping[int, Program], running: Sequence[Running]
) -> Iterator[Backup]:
    for one in running:
        of_pid = (connection for connection, program in programs.items() if program.pid == one.pid)
        connected = tuple(sorted(connection for connection in of_pid if _is_local(processes, connection)))
        if connected:
            yield Backup(one.name, one.pid, connected, one.age)


def _is_local(processes: Mapping[int, Process], connection: int) -> bool:
    process = processes.get(connection)
    return process is None or process.host.partition(":")[0] in _LOCAL or process.host.startswith("::1")


def _by_program(processes: Mapping[int, Process], programs: Mapping[int, Program]) -> Iterator[Backup]:
    for connection, program in programs.items():
        if program.name in TOOLS and connection in processes:
            yield Backup(program.name, program.pid, (connection,))


def _by_statement(processes: Mapping[int, Process], running: Sequence[Running]) -> Iterator[Backup]:
    """Find who reads whole tables as dumps do; the only such tool on this host is taken for it."""
    tools = [one for one in running if one.name in DUMPS]
    for one in processes.values():
        if not one.info.startswith(_DUMPS_TABLE):
            continue
        if len(tools) == 1 and _is_local(processes, one.id):
            yield Backup(tools[0].name, tools[0].pid, (one.id,), tools[0].age)
        else:
            yield Backup("dump", None, (one.id,))


def _by_lock(processes: Mapping[int, Process], held: Sequence[Lock]) -> Iterator[Backup]:
    for one in held:
        if one.scope == "BACKUP LOCK" and one.granted and one.kind == "SHARED" and one.process:
            process = processes.get(one.process)
            yield Backup("", None, (one.process,), process.seconds if process else None)
