"""Phrases that the causes share, the signals as readings, and how they differ from another replica's."""

from __future__ import annotations

from stallwatch.findings import Reading
from stallwatch.probes.mysql.differing import Quantity, differ
from stallwatch.probes.mysql.differing import said as said_difference
from stallwatch.probes.mysql.innodb import redo_log
from stallwatch.probes.replication_lag.signals import activity
from stallwatch.startup import TYPE_CHECKING
from stallwatch.units import say_count, say_duration

if TYPE_CHECKING:
    from collections.abc import Iterator

    from stallwatch.findings import Finding
    from stallwatch.probes.mysql.processes import Process, Program
    from stallwatch.probes.replication_lag.causes import Case
    from stallwatch.probes.replication_lag.signals import Signals
    from stallwatch.probes.replication_lag.signals.backups import Backup
    from stallwatch.sources.mysql import Flavour

_REPLICA = (8, 0, 22)  # MySQL: START REPLICA is known from here on
_MANY_ROWS = 100_000

# A transaction without a connection. A replica of MySQL 8 has those of its source, which are ended there.
DETACHED = "a transaction that no connection has (prepared by XA)"
END_DETACHED = "see XA RECOVER: its transaction manager is to end it, on the source if it is from there"
# What grows by how many counters, from how much per second on it matters, and what it is counted in.
_RATES = (
    (("Handler_read_rnd_next",), 1000.0, "rows read in scans", "/s"),
    (("Handler_update", "Handler_delete"), 10.0, "rows changed", "/s"),
    (("Innodb_buffer_pool_reads",), 10.0, "pages read from disk", "/s"),
    (("Innodb_buffer_pool_wait_free",), 1.0, "waits for a free page", "/s"),
    (("Opened_tables",), 1.0, "tables opened", "/s"),
)


def who(process: Process | None, connection: int, program: Program | None = None) -> str:
    """Name a connection: ``204 root@localhost (mysqldump pid 32318)``."""
    account = f" {process.user}@{process.host.partition(':')[0]}" if process else ""
    return f"{connection}{account}{_program(program)}"


def _program(program: Program | None) -> str:
    if not program or not (program.name or program.pid):
        return ""
    pid = f"pid {program.pid}" if program.pid else ""
    return f" ({' '.join(filter(None, (program.name, pid)))})"


def doing(process: Process | None) -> str:
    """Say what a connection does: ``idle for 3 min``, ``runs UPDATE shop.orders``."""
    if not process:
        return ""
    if process.command == "Sleep":
        return f"idle for {say_duration(process.seconds)}"
    return f"runs {activity.said(process.info)}" if process.info else process.state


def shortened(text: str, letters: int) -> str:
    """Say the beginning of a text."""
    words = " ".join(text.split())
    return words if len(words) <= letters else f"{words[:letters].rstrip()}..."


def kill(case: Case, connection: int) -> str:
    """Say KILL, and what that costs: a backup, the work of a large transaction."""
    signals = case.signals
    modified = sum(one.modified for one in signals.transactions if one.process == connection)
    if any(connection in one.connections for one in signals.backups):
        return f"KILL {connection}, which ends that backup"
    if modified >= _MANY_ROWS:
        return f"KILL {connection}, which has to roll {say_count(modified)} rows back first, locked as long"
    return f"KILL {connection}" + (f", which rolls {say_count(modified)} rows back" if modified else "")


def backup(running: Backup) -> str:
    """Say which backup, and since when: ``mariabackup pid 26920 for 2 h``."""
    connection = f"connection {running.connections[0]}" if running.connections else ""
    parts = [running.tool, f"pid {running.pid}" if running.pid else connection]
    if not running.tool:
        parts = [f"{connection}, which holds the backup lock,"]
    if running.seconds is not None:
        parts.append(f"for {say_duration(running.seconds)}")
    return " ".join(filter(None, parts))


def replica(flavour: Flavour | None) -> str:
    """Tell what the statements of this version call a replica."""
    old = flavour and (flavour.mariadb or flavour.version < _REPLICA)
    return "SLAVE" if old else "REPLICA"


def start(case: Case, thread: str) -> str:
    """Write the statement that starts ``SQL_THREAD`` or ``IO_THREAD`` of the case's channel."""
    flavour, name = case.signals.flavour, case.snapshot.channel.name
    if not name:
        return f"START {replica(flavour)} {thread}"
    if flavour and flavour.mariadb:
        return f"START SLAVE '{name}' {thread}"
    return f"START {replica(flavour)} {thread} FOR CHANNEL '{name}'"


def findings(signals: Signals) -> Iterator[Finding]:
    """Give what is known of the whole server; what could not be measured is left out."""
    if signals.redo:
        yield redo_log(signals.redo)
    if signals.history is not None:
        what = f"InnoDB's history list has {signals.history:.0f} entries"
        yield Reading("history_list", signals.history, what=what)
    if signals.host.load:
        busy = round(signals.host.load.busy, 1)
        yield Reading("disk_busy", busy, "%", f"disk {signals.host.disk} is busy {busy:g} % of the time")


def differences(here: Signals, there: Signals) -> list[str]:
    """Say which signals are at least three times as high, or as low, as those of the reference."""
    pairs = zip(_quantities(here), _quantities(there), strict=True)
    return [said_difference(mine, theirs) for mine, theirs in pairs if differ(mine, theirs)]


def can_compare(here: Signals, there: Signals) -> bool:
    """Whether any signal is known of both: with little privileges, or one look, there may be none."""
    pairs = zip(_quantities(here), _quantities(there), strict=True)
    return any(mine.value is not None and theirs.value is not None for mine, theirs in pairs)


def _quantities(signals: Signals) -> Iterator[Quantity]:
    for names, least, name, unit in _RATES:
        yield Quantity(name, signals.rate(*names), least, unit)
    yield Quantity("bytes of redo written", signals.redo_rate, 100_000.0, "/s")
    yield Quantity("redo log", signals.redo.fill if signals.redo else None, 30.0, " %")
    yield Quantity("buffer pool misses", _misses(signals), 0.1, " %")
    yield Quantity("history list", signals.history, 10_000.0)
    yield Quantity("disk busy", signals.host.load.busy if signals.host.load else None, 30.0, " %")
    yield Quantity("threads running", _least_running(signals), 6.0)


def _misses(signals: Signals) -> float | None:
    """Tell how many per cent of the wanted pages were not in the buffer pool, within our looks."""
    missed, wanted = (signals.grown(f"Innodb_buffer_pool_{name}") for name in ("reads", "read_requests"))
    return min(100.0, 100 * (missed or 0.0) / wanted) if wanted else None


def _least_running(signals: Signals) -> float | None:
    return min(
        (one.numbers["Threads_running"] for one in signals.counted if "Threads_running" in one.numbers),
        default=None,
    )
