"""Who holds the locks of the whole server and of tables: metadata locks, backup locks."""

from __future__ import annotations

from typing import NamedTuple

from stallwatch.probes.replication.causes.statement import Statement, text, whole
from stallwatch.probes.replication.privileges import PERFORMANCE_SCHEMA, PROCESS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from stallwatch.probes.replication.causes.asking import Asking
    from stallwatch.probes.replication.causes.statement import Row

LOCKS = Statement(  # its instrument wait/lock/metadata/sql/mdl is off by default on MySQL 5.7 and MariaDB
    "SELECT m.OBJECT_TYPE AS type, m.OBJECT_SCHEMA AS base, m.OBJECT_NAME AS name, m.LOCK_TYPE AS lock_type,"
    " m.LOCK_STATUS AS status, t.PROCESSLIST_ID AS process"
    " FROM performance_schema.metadata_locks m"
    " JOIN performance_schema.threads t ON t.THREAD_ID = m.OWNER_THREAD_ID"
    " WHERE m.OBJECT_TYPE IN ('GLOBAL', 'COMMIT', 'BACKUP LOCK', 'BACKUP', 'TABLE')"
    " AND (m.LOCK_TYPE <> 'INTENTION_EXCLUSIVE' OR m.LOCK_STATUS = 'PENDING') LIMIT 2000",
    PERFORMANCE_SCHEMA,
)
PLUGIN_LOCKS = Statement(  # MariaDB, where INSTALL SONAME 'metadata_lock_info' was run
    "SELECT LOCK_TYPE AS type, TABLE_SCHEMA AS base, TABLE_NAME AS name, LOCK_MODE AS lock_type,"
    " 'GRANTED' AS status, THREAD_ID AS process FROM information_schema.METADATA_LOCK_INFO LIMIT 2000",
    PROCESS,
)
_SCOPES = {"Backup lock": "BACKUP", "Table metadata lock": "TABLE"}  # the plugin's words
_WEAK = ("SHARED_READ", "SHARED_WRITE", "SHARED_UPGRADABLE", "SHARED_HIGH_PRIO", "INTENTION_EXCLUSIVE")


class Lock(NamedTuple):
    """A metadata lock, as it was granted to or is awaited by a connection."""

    scope: str  # "GLOBAL", "COMMIT", "BACKUP LOCK", MariaDB "BACKUP", "TABLE"
    table: str  # "shop.orders", where the scope is a table
    kind: str  # "SHARED_WRITE", "EXCLUSIVE", MariaDB "FTWRL2", …
    granted: bool
    process: int

    @property
    def is_strong(self) -> bool:
        """Whether it keeps an applier from writing: plain SHARED counts for the whole server only."""
        if self.scope == "TABLE":
            return self.kind not in {*_WEAK, "SHARED"}
        return self.kind not in _WEAK and self.kind not in {
            "DML",
            "TRANS_DML",
            "SYS_DML",
            "ALTER_COPY",
            "DDL",
        }


def locks(asking: Asking) -> tuple[Lock, ...]:
    """Ask for metadata locks, where anything tells them."""
    rows = asking.rows(LOCKS)
    if not rows and asking.server.flavour.mariadb:
        rows = asking.rows(PLUGIN_LOCKS)
    return tuple(_lock(row) for row in rows)


def _lock(row: Row) -> Lock:
    base, name = text(row, "base"), text(row, "name")
    return Lock(
        scope=_SCOPES.get(text(row, "type"), text(row, "type")),
        table=f"{base}.{name}" if base and name else "",
        kind=text(row, "lock_type").removeprefix("MDL_").removeprefix("BACKUP_"),
        granted=text(row, "status") == "GRANTED",
        process=whole(row, "process"),
    )


def holders(held: Iterable[Lock], waiting: Iterable[int]) -> tuple[Lock, ...]:
    """Find what keeps these processes waiting: strong locks of others, on what is awaited if that is told."""
    waiters = set(waiting)
    locks = tuple(held)
    awaited = {(one.scope, one.table): one for one in locks if not one.granted and one.process in waiters}
    others = [one for one in locks if one.granted and one.process not in waiters]
    if awaited:
        return tuple(one for one in others if _conflicts(one, awaited.get((one.scope, one.table))))
    return tuple(one for one in others if one.scope != "TABLE" and one.is_strong)


def _conflicts(held: Lock, awaited: Lock | None) -> bool:
    return awaited is not None and (held.is_strong or awaited.kind == "EXCLUSIVE")
