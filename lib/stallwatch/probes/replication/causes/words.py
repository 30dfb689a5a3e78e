"""Phrases that the causes share."""

from __future__ import annotations

import re

from stallwatch.units import say_duration

TYPE_CHECKING = False
if TYPE_CHECKING:
    from stallwatch.probes.replication.causes.backups import Backup
    from stallwatch.probes.replication.causes.case import Case
    from stallwatch.probes.replication.causes.processes import Process, Program
    from stallwatch.sources.mysql import Flavour

_REPLICA = (8, 0, 22)  # MySQL: START REPLICA is known from here on
_MILLION = 1e6
_TABLE = re.compile(
    r"\b(?:update|into|from|table)\s+(?:ignore\s+|only\s+)?([`\w$]+(?:\.[`\w$]+)?)", re.IGNORECASE
)


def say_count(number: float) -> str:
    """Say a count in two or three digits: ``2.2 million``, ``33 000``, ``940``."""
    if number >= _MILLION:
        return f"{number / _MILLION:.3g} million"
    digits = max(0, len(str(int(number))) - 2)
    return f"{round(number, -digits):,.0f}".replace(",", " ")


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
    """Say what a connection does: ``idle for 3 min``, ``runs SELECT …``."""
    if not process:
        return ""
    if process.command == "Sleep":
        return f"idle for {say_duration(process.seconds)}"
    return f"runs {shortened(process.info)}" if process.info else process.state


def shortened(statement: str, letters: int = 60) -> str:
    """Say the beginning of a statement."""
    words = " ".join(statement.split())
    return words if len(words) <= letters else f"{words[:letters].rstrip()}..."


def table_of(statement: str) -> str:
    """Name the first table of a statement; "": there is none."""
    match = _TABLE.search(statement)
    return match[1].replace("`", "") if match else ""


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
