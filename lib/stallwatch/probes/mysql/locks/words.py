"""Words for locks and for who holds them, and what makes a connection let go."""

from __future__ import annotations

import re

from stallwatch.probes.mysql import statements
from stallwatch.probes.mysql.locks.metadata import GLOBAL_LOCK, SCHEMA, table_of
from stallwatch.startup import TYPE_CHECKING
from stallwatch.units import say_count, say_duration
from stallwatch.words import plural

if TYPE_CHECKING:
    from stallwatch.probes.mysql.locks.metadata import Lock
    from stallwatch.probes.mysql.processes import Process, Program

# A transaction without a connection. A replica of MySQL 8 has those of its source, which are ended there.
# The text before the bracket is never cut: it has that, too.
DETACHED = "a transaction that no connection has (prepared by XA)"
END_DETACHED = "end it by XA where it began (XA RECOVER, XA COMMIT or ROLLBACK): here or on the source"

GLOBAL_READ_LOCK = "global read lock"  # of FLUSH TABLES WITH READ LOCK
BACKUP_LOCK = "backup lock"  # of LOCK INSTANCE FOR BACKUP, and of MariaDB's BACKUP STAGE
TABLE_LEVEL_LOCK = "lock of table"  # of MyISAM and its like: no table of the server has the holder
READ_OR_BACKUP_LOCK = "global lock"  # one of these two
_MANY_ROWS = 100_000
_COMMITS = r"waiting for handler commit|Commit$|Waiting for prior transaction to commit"  # states
_LONG_COMMIT = 2.0  # seconds: to write what was changed takes milliseconds


def who(connection: int, process: Process | None, program: Program | None = None) -> str:
    """Name a connection: ``204 root@localhost (mysqldump pid 32318)``."""
    account = f" {process.user}@{process.host.partition(':')[0]}" if process else ""
    if not program or not program.name:
        return f"{connection}{account}"
    return f"{connection}{account} ({program.name}{f' pid {program.pid}' if program.pid else ''})"


def doing(process: Process | None) -> str:
    """Return what a connection does: ``idle for 3 min``, ``runs UPDATE shop.orders``."""
    if not process:
        return ""
    if process.command == "Sleep":
        return f"idle for {say_duration(process.seconds)}" if process.tells_idle else "idle"
    return f"runs {statements.said(process.info)}" if process.info else process.state


def commits(process: Process | None) -> bool:
    """Whether a connection has been at its COMMIT for long, and not for an answer of a replica.

    Measured while the file system was frozen: MySQL 9.7.2 has the first state, MariaDB 10.11.19 the second.
    """
    return bool(
        process
        and process.seconds >= _LONG_COMMIT
        and re.match(_COMMITS, process.state)
        and re.match(r"(?i)\s*(XA\s+)?COMMIT\b", process.info)
    )


def lock(held: Lock) -> tuple[str, str]:
    """Name a lock, and what releases it."""
    if held.scope == "TABLE":
        return f"metadata lock on {held.table}", "COMMIT or UNLOCK TABLES"
    if held.scope == SCHEMA:
        return f"metadata lock on database {held.table}", "end"
    if held.scope == "BACKUP LOCK":
        return BACKUP_LOCK, "UNLOCK INSTANCE"
    if held.scope == "BACKUP" and "FTWRL" not in held.kind:
        return BACKUP_LOCK, "BACKUP STAGE END"
    return GLOBAL_READ_LOCK, "UNLOCK TABLES"


def awaited_lock(waits: Process) -> str:
    """Name the lock that a connection waits for by its state and statement, where no table names it.

    MariaDB has one state for both: "Waiting for backup lock".
    """
    if match := GLOBAL_LOCK.search(waits.state):
        return READ_OR_BACKUP_LOCK if match[1] == "backup" else f"{match[1]} lock"
    table = table_of(waits)
    return f"metadata lock on {table}" if table else "metadata lock"


def release(connection: int, by: str, modified: int, where: str = "") -> str:
    """Return how a connection is made to let go: KILL, unless that rolls back too many rows.

    ``where`` is the server, as " on the replica".
    """
    if modified >= _MANY_ROWS:
        return f"let {connection} {by}: KILL first rolls {say_count(modified)} rows back, locked as long"
    rolls = f" (rolls {plural(modified, 'row')} back)" if modified else ""
    return f"KILL {connection}{where}{rolls}, or let it {by}"


def wait_for_rollback(who: str = "") -> str:
    """Return what to do while a transaction is rolled back; ``who`` names it."""
    return f"wait for the rollback{f' of {who}' if who else ''}: KILL does not help"


def end_detached(*, named: bool = False) -> str:
    """Return in short how what XA has prepared is ended; ``named``: it has not been spoken of."""
    return f"end {'the XA transaction' if named else 'it'} by XA where it began"


def end_prepared(connection: int) -> str:
    """Return how a connection is made to let go whose transaction XA PREPARE has prepared."""
    return f"end {connection} by XA COMMIT or XA ROLLBACK: KILL leaves it prepared"


def release_backup(connection: int, where: str = "") -> str:
    """Return how a backup is made to let go: KILL is the second choice, as the backup is lost then."""
    return f"let that backup end, or KILL {connection}{where}"


def check_first(connection: int, where: str = "") -> str:
    """Return what to do about who only probably holds a lock."""
    return f"check it, then KILL {connection}{where}"
