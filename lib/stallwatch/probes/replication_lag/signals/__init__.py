"""All that the rules know of a replica besides its channels."""

from __future__ import annotations

from stallwatch.probes.mysql import innodb, processes
from stallwatch.startup import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from stallwatch.probes.mysql.innodb import Redo
    from stallwatch.probes.mysql.processes import Process, Program, Thread
    from stallwatch.probes.replication_lag.signals.backups import Backup
    from stallwatch.probes.replication_lag.signals.locks import Lock, RowLock, Transaction
    from stallwatch.sources.host import DiskLoad
    from stallwatch.sources.mysql import Flavour


# In this order: MariaDB has the third one, too, and it means nothing there.
_WORKERS = ("replica_parallel_workers", "slave_parallel_threads", "slave_parallel_workers")


class Counters(NamedTuple):
    """What the server told at one moment: numbers and texts by their names, metrics only if enabled."""

    at: float  # seconds, by a clock that never jumps
    numbers: Mapping[str, float]
    texts: Mapping[str, str]


class Look(NamedTuple):
    """Who was at work at one moment."""

    processes: tuple[Process, ...] = ()
    transactions: tuple[Transaction, ...] = ()


class Host(NamedTuple):
    """What the host tells, where the server runs on ours."""

    disk: str = ""  # that the data is on; "": not known
    load: DiskLoad | None = None
    free: int | None = None  # bytes of the file system that the data is on
    busy_threads: Mapping[int, float] = {}  # per cent of a processor that each applier takes, by its OS id
    processors: int | None = None


class Signals(NamedTuple):
    """What was gathered; whatever was denied or is not there is empty."""

    flavour: Flavour | None = None
    looks: Sequence[Look] = ()
    counted: Sequence[Counters] = ()
    settings: Mapping[str, str] = {}
    threads: tuple[Thread, ...] = ()
    programs: Mapping[int, Program] = {}
    locks: tuple[Lock, ...] = ()
    row_locks: tuple[RowLock, ...] = ()
    backups: tuple[Backup, ...] = ()
    host: Host = Host()
    missing: tuple[str, ...] = ()  # sentences, one for each GRANT
    keyless: Mapping[str, bool] = {}  # whether this table has no key at all: "shop.orders"

    @property
    def workers(self) -> tuple[str, int] | None:
        """Which variable says how many appliers work side by side, and how many; None: not known."""
        for name in _WORKERS:
            if self.settings.get(name, "").isdecimal():
                return name, int(self.settings[name])
        return None

    @property
    def processes(self) -> dict[int, Process]:
        """The process list as it was last seen, by id."""
        return processes.by_id(next((one.processes for one in reversed(self.looks) if one.processes), ()))

    @property
    def transactions(self) -> tuple[Transaction, ...]:
        """The open transactions as they were last seen."""
        return self.looks[-1].transactions if self.looks else ()

    @property
    def redo(self) -> Redo | None:
        """The redo log at its fullest."""
        found = (innodb.redo(one.numbers, self.settings) for one in self.counted)
        return innodb.fullest(one for one in found if one)

    @property
    def history(self) -> float | None:
        """Transactions that purge has not yet cleared away."""
        names = ("Innodb_history_list_length", "trx_rseg_history_len")
        told = (one.numbers[name] for one in reversed(self.counted) for name in names if name in one.numbers)
        return next(told, None)

    @property
    def buffer_pool(self) -> str:
        """What is going on with the dump of the buffer pool; "": nothing."""
        return innodb.dump_under_way(next((one.texts for one in reversed(self.counted) if one.texts), {}))

    @property
    def redo_rate(self) -> float | None:
        """Bytes that are written to the redo log per second."""
        written = self.rate("Innodb_redo_log_current_lsn", "Innodb_lsn_current")
        return self.rate("Innodb_os_log_written") if written is None else written

    def program(self, connection: int) -> Program | None:
        """Tell what program a connection is of: a backup tool that was found, or what it told of itself."""
        for one in self.backups:
            if connection in one.connections and one.tool:
                return processes.Program(one.tool, one.pid)
        return self.programs.get(connection)

    def rate(self, *names: str) -> float | None:
        """Tell how much these counters grew per second, together; None: not known."""
        growth = self.grown(*names)
        if growth is None or self.counted[-1].at <= self.counted[0].at:
            return None
        return growth / (self.counted[-1].at - self.counted[0].at)

    def grown(self, *names: str) -> float | None:
        """Tell how much these counters grew together, from the first look to the last; None: not known."""
        if len(self.counted) < 2:  # noqa: PLR2004
            return None
        first, last = self.counted[0].numbers, self.counted[-1].numbers
        known = [name for name in names if name in first and name in last]
        return sum(last[name] - first[name] for name in known) if known else None
