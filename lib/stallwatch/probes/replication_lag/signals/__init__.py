"""All that the rules use of a replica besides its channels, and how it differs from another replica."""

from __future__ import annotations

from _thread import get_native_id
from functools import cached_property

from stallwatch.findings import Reading
from stallwatch.probes.mysql import differing, innodb, processes
from stallwatch.probes.mysql.differing import Quantity
from stallwatch.probes.mysql.locks import in_status, waits
from stallwatch.probes.mysql.locks.graph import Graph
from stallwatch.sources import processes as processes_here
from stallwatch.startup import TYPE_CHECKING, NamedTuple
from stallwatch.units import whole

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from stallwatch.probes.mysql.innodb import Redo
    from stallwatch.probes.mysql.locks.metadata import Lock
    from stallwatch.probes.mysql.locks.rows import RowLock, Transaction
    from stallwatch.probes.mysql.processes import Last, Process, Program, Thread
    from stallwatch.probes.replication_lag.signals.backups import Backup
    from stallwatch.probes.replication_lag.signals.hunger import Hunger
    from stallwatch.probes.replication_lag.signals.scans import Scan
    from stallwatch.sources.host import DiskLoad
    from stallwatch.sources.mysql import Flavour


# In this order: MariaDB has the third one, too, and it means nothing there.
_WORKERS = ("replica_parallel_workers", "slave_parallel_threads", "slave_parallel_workers")
# What grows by how many counters, from how much per second on it matters, and what it is counted in.
_RATES = (
    (("Handler_read_rnd_next",), 1000.0, "rows read in scans", "/s"),
    (("Handler_update", "Handler_delete"), 10.0, "rows changed", "/s"),
    (("Innodb_buffer_pool_reads",), 10.0, "pages read from disk", "/s"),
    (("Innodb_buffer_pool_wait_free",), 1.0, "waits for a free page", "/s"),
    (("Opened_tables",), 1.0, "tables opened", "/s"),
)


class Counters(NamedTuple):
    """What a server shows at one moment: numbers and texts by their names, metrics only if enabled."""

    at: float  # seconds, by a clock that never jumps
    numbers: Mapping[str, float]
    texts: Mapping[str, str]


class Look(NamedTuple):
    """Who was at work at one moment."""

    processes: tuple[Process, ...] = ()
    transactions: tuple[Transaction, ...] = ()
    tables: Mapping[str, tuple[str, str]] | None = None  # of rows, where the status was asked: no pairs then


class Host(NamedTuple):
    """What the host shows, if the server runs on ours."""

    disk: str = ""  # that the data is on; "": not known
    load: DiskLoad | None = None
    free: int | None = None  # bytes of the file system that the data is on
    busy_threads: Mapping[int, float] = {}  # per cent of a processor that each applier uses, by its OS id
    processors: int | None = None
    hunger: Hunger | None = None  # for a processor


class Answers(NamedTuple):
    """How long a log-in and two trivial statements take from the greeting on, in seconds."""

    now: float
    usual: float  # at earlier looks
    network: float  # a round trip of the network, as the kernel measures it; 0: not known

    @classmethod
    def of(cls, took: float, usual: float, network: float) -> Answers:
        """Make them without what this thread has waited for a processor: that is no fault of the server."""
        waited = processes_here.thread_waits(get_native_id()) or 0.0
        return cls(max(0.0, took - waited), usual, network)


class Gathered(NamedTuple):
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
    last: Mapping[int, Last] = {}  # statements of who keeps appliers waiting
    prepared: bool = False  # whether a connection may have what XA has prepared
    host: Host = Host()
    answers: Answers | None = None  # of a server that is not on our host
    missing: tuple[str, ...] = ()  # sentences, one for each GRANT
    scans: tuple[Scan, ...] = ()  # of appliers that look for rows
    keyless: Mapping[str, bool] = {}  # whether this table has no key at all: "shop.orders"


class Signals(Gathered):
    """What was gathered, and what follows from it."""

    @property
    def workers(self) -> tuple[str, int] | None:
        """Which variable sets how many appliers work side by side, and how many; None: not known."""
        for name in _WORKERS:
            if (workers := whole(self.settings.get(name, ""))) is not None:
                return name, workers
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

    @property
    def misses(self) -> float | None:
        """The share of the wanted pages that were not in the buffer pool, 0 to 1; None: none was wanted."""
        missed, wanted = (self.grown(f"Innodb_buffer_pool_{name}") for name in ("reads", "read_requests"))
        if not wanted or wanted < 0:
            return None
        return min(1.0, (missed or 0.0) / wanted)  # what is read ahead nobody has wanted

    @cached_property  # slow for a thousand connections
    def graph(self) -> Graph:
        """Who waits for whom on this server, in the model of check_mysql_stalls."""
        look = self.looks[-1] if self.looks else Look()
        copies = {number for one in self.backups for number in one.connections}
        if look.tables is None:
            for_rows = waits.for_rows(look.transactions, self.row_locks, {})
        else:
            for_rows = in_status.waits(look.transactions, look.tables)
        return Graph([*for_rows, *waits.for_others(self.processes, self.locks, look.transactions, copies)])

    def program(self, connection: int) -> Program | None:
        """Return what program a connection is of: a backup tool that was found, or its attributes."""
        for one in self.backups:
            if connection in one.connections and one.tool:
                return processes.Program(one.tool, one.pid)
        return self.programs.get(connection)

    def rate(self, *names: str) -> float | None:
        """Return how much these counters grew per second, together; None: not known."""
        growth = self.grown(*names)
        if growth is None or self.counted[-1].at <= self.counted[0].at:
            return None
        return growth / (self.counted[-1].at - self.counted[0].at)

    def grown(self, *names: str) -> float | None:
        """Return how much these counters grew together, from the first look to the last; None: not known."""
        if len(self.counted) < 2:  # noqa: PLR2004
            return None
        first, last = self.counted[0].numbers, self.counted[-1].numbers
        known = [name for name in names if name in first and name in last]
        return sum(last[name] - first[name] for name in known) if known else None


def readings(signals: Signals) -> Iterator[Reading]:
    """Give what is known of the whole server; what could not be measured is left out."""
    if signals.redo:
        yield innodb.redo_log(signals.redo)
    if signals.history is not None:
        what = f"InnoDB's history list has {signals.history:.0f} entries"
        yield Reading("history_list", signals.history, what=what)
    if signals.host.load:
        busy = round(signals.host.load.busy, 1)
        yield Reading("disk_busy", busy, "%", f"disk {signals.host.disk} is busy {busy:g} % of the time")


def differences(here: Signals, there: Signals) -> list[str]:
    """Return which signals are at least three times as high, or as low, as those of the reference."""
    pairs = zip(_quantities(here), _quantities(there), strict=True)
    return [differing.said(mine, theirs) for mine, theirs in pairs if differing.differ(mine, theirs)]


def can_compare(here: Signals, there: Signals) -> bool:
    """Whether any signal is known of both: with little privileges, or one look, there may be none."""
    pairs = zip(_quantities(here), _quantities(there), strict=True)
    return any(mine.value is not None and theirs.value is not None for mine, theirs in pairs)


def _quantities(signals: Signals) -> Iterator[Quantity]:
    for names, least, name, unit in _RATES:
        yield Quantity(name, signals.rate(*names), least, unit)
    yield Quantity("bytes of redo written", signals.redo_rate, 100_000.0, "/s")
    yield Quantity("redo log", signals.redo.fill if signals.redo else None, 30.0, " %")
    misses = signals.misses
    yield Quantity("buffer pool misses", None if misses is None else 100 * misses, 0.1, " %")
    yield Quantity("history list", signals.history, 10_000.0)
    yield Quantity("disk busy", signals.host.load.busy if signals.host.load else None, 30.0, " %")
    yield Quantity("threads running", _least_running(signals), 6.0)


def _least_running(signals: Signals) -> float | None:
    return min(
        (one.numbers["Threads_running"] for one in signals.counted if "Threads_running" in one.numbers),
        default=None,
    )
