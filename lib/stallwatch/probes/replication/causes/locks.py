"""Who holds the locks of the whole server and of tables: metadata locks, backup locks."""

from __future__ import annotations

from stallwatch.probes.mysql.privileges import PERFORMANCE_SCHEMA, PROCESS
from stallwatch.probes.mysql.statement import Statement, text, whole
from stallwatch.startup import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable

    from stallwatch.probes.mysql.asking import Asking
    from stallwatch.probes.mysql.statement import Row

_SELECT = (
    "SELECT m.OBJECT_TYPE AS type, m.OBJECT_SCHEMA AS base, m.OBJECT_NAME AS name, m.LOCK_TYPE AS lock_type,"
    " m.LOCK_STATUS AS status, t.PROCESSLIST_ID AS process"
    " FROM performance_schema.metadata_locks m"
    " JOIN performance_schema.threads t ON t.THREAD_ID = m.OWNER_THREAD_ID"
)
LOCKS = Statement(  # its instrument wait/lock/metadata/sql/mdl is off by default on MySQL 5.7 and MariaDB
    f"{_SELECT} WHERE m.OBJECT_TYPE IN ('GLOBAL', 'COMMIT', 'BACKUP LOCK', 'BACKUP', 'TABLE')"
    " AND (m.LOCK_TYPE <> 'INTENTION_EXCLUSIVE' OR m.LOCK_STATUS = 'PENDING')"
    " ORDER BY m.OBJECT_TYPE = 'TABLE', m.LOCK_STATUS = 'GRANTED' LIMIT 2000",
    PERFORMANCE_SCHEMA,
)
BACKUP_LOCKS = Statement(
    f"{_SELECT} WHERE m.OBJECT_TYPE = 'BACKUP LOCK' AND m.LOCK_TYPE = 'SHARED'"
    " AND m.LOCK_STATUS = 'GRANTED' LIMIT 10",
    PERFORMANCE_SCHEMA,
)
PLUGIN_LOCKS = Statement(  # MariaDB, where INSTALL SONAME 'metadata_lock_info' was run
    "SELECT LOCK_TYPE AS type, TABLE_SCHEMA AS base, TABLE_NAME AS name, LOCK_MODE AS lock_type,"
    " 'GRANTED' AS status, THREAD_ID AS process FROM information_schema.METADATA_LOCK_INFO LIMIT 2000",
    PROCESS,
)
_SCOPES = {"Backup lock": "BACKUP", "Table metadata lock": "TABLE"}  # the plugin's words

_READS, _WRITES, _UPGRADES = "SHARED_READ", "SHARED_WRITE", "SHARED_UPGRADABLE"
_ONLY, _NO_WRITE, _NO_READ = "SHARED_READ_ONLY", "SHARED_NO_WRITE", "SHARED_NO_READ_WRITE"
_FTWRL = frozenset({"FTWRL1", "FTWRL2"})
# What keeps a request waiting, by its kind (sql/mdl.cc of MySQL 8.0 and MariaDB 10.11). EXCLUSIVE is
# compatible with nothing. A backup's BACKUP_START keeps no statement waiting.
_KEEPS_WAITING = {
    "INTENTION_EXCLUSIVE": frozenset({"SHARED"}),
    _READS: frozenset({_NO_READ}),
    _WRITES: frozenset({_ONLY, _NO_WRITE, _NO_READ}),
    "SHARED_WRITE_LOW_PRIO": frozenset({_ONLY, _NO_WRITE, _NO_READ}),
    _UPGRADES: frozenset({_UPGRADES, _NO_WRITE, _NO_READ}),
    _ONLY: frozenset({_WRITES, _NO_READ}),
    _NO_WRITE: frozenset({_WRITES, _UPGRADES, _NO_WRITE, _NO_READ}),
    _NO_READ: frozenset({_READS, _WRITES, _UPGRADES, _ONLY, _NO_WRITE, _NO_READ}),
    "DML": frozenset({"FLUSH", "WAIT_FLUSH", "WAIT_DDL", "WAIT_COMMIT"}) | _FTWRL,
    "TRANS_DML": _FTWRL,
    "SYS_DML": frozenset({"WAIT_COMMIT"}) | _FTWRL,
    "DDL": frozenset({"WAIT_DDL", "WAIT_COMMIT", "BLOCK_DDL"}) | _FTWRL,
    "ALTER_COPY": frozenset({"WAIT_COMMIT"}) | _FTWRL,
    "COMMIT": frozenset({"WAIT_COMMIT", "FTWRL2"}),
}


class Lock(NamedTuple):
    """A metadata lock, as it was granted to or is awaited by a connection."""

    scope: str  # "GLOBAL", "COMMIT", "BACKUP LOCK", MariaDB "BACKUP", "TABLE"
    table: str  # "shop.orders", where the scope is a table
    kind: str  # "SHARED_WRITE", "EXCLUSIVE", MariaDB "FTWRL2", …
    granted: bool
    process: int

    def keeps_waiting(self, awaited: Lock) -> bool:
        """Whether a lock of another connection cannot be had beside this one."""
        same = (self.scope, self.table) == (awaited.scope, awaited.table)
        kinds = _KEEPS_WAITING.get(awaited.kind, frozenset())
        return same and ("EXCLUSIVE" in {self.kind, awaited.kind} or self.kind in kinds)


def locks(asking: Asking) -> tuple[Lock, ...]:
    """Ask for metadata locks, where anything tells them."""
    rows = asking.rows(LOCKS)
    if not rows and asking.server.flavour.mariadb:
        rows = asking.rows(PLUGIN_LOCKS)
    return tuple(_lock(row) for row in rows)


def backup_locks(asking: Asking) -> tuple[Lock, ...]:
    """Ask who holds the backup lock of MySQL 8 and later."""
    return () if asking.server.flavour.mariadb else tuple(_lock(row) for row in asking.rows(BACKUP_LOCKS))


def _lock(row: Row) -> Lock:
    base, name = text(row, "base"), text(row, "name")
    return Lock(
        scope=_SCOPES.get(text(row, "type"), text(row, "type")),
        table=f"{base}.{name}" if base and name else "",
        kind=text(row, "lock_type").removeprefix("MDL_").removeprefix("BACKUP_"),
        granted=text(row, "status") == "GRANTED",
        process=whole(row, "process"),
    )


def holders(locks: Iterable[Lock], awaited: Iterable[Lock]) -> list[Lock]:
    """Find the granted locks of others that keep somebody waiting for one of these."""
    wanted = list(awaited)
    waiting = {one.process for one in wanted}
    return [
        one
        for one in locks
        if one.granted and one.process not in waiting and any(one.keeps_waiting(other) for other in wanted)
    ]
