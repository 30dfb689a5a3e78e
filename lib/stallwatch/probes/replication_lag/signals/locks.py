"""Who holds locks, and who waits: metadata locks, backup locks, the transactions of InnoDB."""

from __future__ import annotations

from stallwatch.probes.mysql.asking import PERFORMANCE_SCHEMA, PROCESS, Statement, number, text, whole
from stallwatch.startup import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable

    from stallwatch.probes.mysql.asking import Asking, Row

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
# InnoDB tells moments in the time zone of its host, whatever that of the session is.
TRANSACTIONS = Statement(
    "SELECT trx_id, trx_state, trx_mysql_thread_id AS process,"
    " TIMESTAMPDIFF(SECOND, trx_started, CONVERT_TZ(UTC_TIMESTAMP(), '+00:00', 'SYSTEM')) AS age,"
    " TIMESTAMPDIFF(SECOND, trx_wait_started, CONVERT_TZ(UTC_TIMESTAMP(), '+00:00', 'SYSTEM')) AS waiting,"
    " trx_rows_modified AS modified, trx_rows_locked AS locked"
    " FROM information_schema.INNODB_TRX",
    PROCESS,
)
LOCK_WAITS = Statement(  # MySQL 8 and later
    "SELECT REQUESTING_ENGINE_TRANSACTION_ID AS waiting, BLOCKING_ENGINE_TRANSACTION_ID AS holding"
    " FROM performance_schema.data_lock_waits WHERE REQUESTING_ENGINE_TRANSACTION_ID = %s LIMIT 100",
    PERFORMANCE_SCHEMA,
)
LOCK_WAITS_BEFORE = Statement(  # MySQL 5.7, MariaDB
    "SELECT requesting_trx_id AS waiting, blocking_trx_id AS holding"
    " FROM information_schema.INNODB_LOCK_WAITS",
    PROCESS,
)
_DATA_LOCK_WAITS = (8, 0)
_CHAIN = 5  # who waits for whom is followed so far
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


class Transaction(NamedTuple):
    """One open transaction; ``process`` is its id in the process list, times are in seconds."""

    id: str
    process: int
    age: float
    waiting: float | None  # for a row lock; None: does not wait
    modified: int = 0  # rows
    locked: int = 0  # rows
    rolls_back: bool = False

    @property
    def is_detached(self) -> bool:
        """Whether no connection has it: it was prepared by XA, or is rolled back after a crash (9.7.2)."""
        return not self.process


class RowLock(NamedTuple):
    """A transaction that waits, and one that it waits for."""

    waiting: str
    holding: str


def transactions(asking: Asking) -> tuple[Transaction, ...]:
    """Ask for the open transactions."""
    return tuple(_transaction(row) for row in asking.rows(TRANSACTIONS))


def _transaction(row: Row) -> Transaction:
    waits = text(row, "trx_state") == "LOCK WAIT"
    return Transaction(
        id=text(row, "trx_id"),
        process=whole(row, "process"),
        age=max(0.0, number(row, "age")),
        waiting=max(0.0, number(row, "waiting")) if waits else None,
        modified=whole(row, "modified"),
        locked=whole(row, "locked"),
        rolls_back=text(row, "trx_state") == "ROLLING BACK",
    )


def row_locks(asking: Asking, waiting: Iterable[str]) -> tuple[RowLock, ...]:
    """Ask for whom these transactions wait, and those in turn.

    MySQL 8 has 125 000 pairs of 500 that wait for one row, so each is asked for by itself. MySQL 5.7 and
    MariaDB have such a table in information_schema only.
    """
    flavour, ahead = asking.server.flavour, list(waiting)
    if not ahead:
        return ()
    if flavour.mariadb or flavour.version < _DATA_LOCK_WAITS:
        return _pairs(asking.rows(LOCK_WAITS_BEFORE))
    found: list[RowLock] = []
    asked: set[str] = set()
    while ahead and len(asked) < _CHAIN:
        asked.add(one := ahead.pop(0))
        pairs = _pairs(asking.rows(LOCK_WAITS, one))
        found += pairs
        ahead += [pair.holding for pair in pairs[:_CHAIN] if pair.holding not in {*asked, *ahead}]
    return tuple(found)


def _pairs(rows: Iterable[Row]) -> tuple[RowLock, ...]:
    return tuple({RowLock(text(row, "waiting"), text(row, "holding")): None for row in rows})
