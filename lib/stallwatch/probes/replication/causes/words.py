"""Phrases that the causes share."""

from __future__ import annotations

from stallwatch.probes.replication.causes import statements
from stallwatch.startup import TYPE_CHECKING
from stallwatch.units import say_count, say_duration

if TYPE_CHECKING:
    from stallwatch.probes.mysql.processes import Process, Program
    from stallwatch.probes.replication.causes.backups import Backup
    from stallwatch.probes.replication.causes.case import Case
    from stallwatch.sources.mysql import Flavour

_REPLICA = (8, 0, 22)  # MySQL: START REPLICA is known from here on
_MANY_ROWS = 100_000

# A transaction without a connection. A replica of MySQL 8 has those of its source, which are ended there.
DETACHED = "a transaction that no connection has (prepared by XA)"
END_DETACHED = "see XA RECOVER: its transaction manager is to end it, on the source if it is from there"


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
    return f"runs {statements.said(process.info)}" if process.info else process.state


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
    flavour, name = case.signals.flavour, case.evidence.channel.name
    if not name:
        return f"START {replica(flavour)} {thread}"
    if flavour and flavour.mariadb:
        return f"START SLAVE '{name}' {thread}"
    return f"START {replica(flavour)} {thread} FOR CHANNEL '{name}'"
