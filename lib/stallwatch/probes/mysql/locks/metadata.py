"""Metadata locks: who holds them, who waits for them, and which of them keep which others waiting."""

from __future__ import annotations

import re

from stallwatch.probes.mysql import statements
from stallwatch.probes.mysql.asking import PERFORMANCE_SCHEMA, PROCESS, Statement, text, whole
from stallwatch.startup import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable

    from stallwatch.probes.mysql.asking import Asking, Row
    from stallwatch.probes.mysql.processes import Process

# States in the process list: those of MySQL 5.7 to 9.7 and MariaDB 10.5 to 11.8, measured there, except the
# metadata lock of a table.
GLOBAL_LOCK = re.compile(r"Waiting for (global read|backup|commit) lock")
SCHEMA_LOCK = "Waiting for schema metadata lock"
METADATA_LOCK = re.compile(r"Waiting for (table|schema|stored \w+|trigger|event) metadata lock")
FLUSH = re.compile(r"Waiting for table flush")  # a FLUSH TABLES waits for a statement, and all for that one

_COLUMNS = (
    "SELECT m.OBJECT_TYPE AS type, m.OBJECT_SCHEMA AS base, m.OBJECT_NAME AS name, m.LOCK_TYPE AS lock_type,"
    " m.LOCK_STATUS AS status, t.PROCESSLIST_ID AS process"
    " FROM performance_schema.metadata_locks m"
)
_THREADS = "JOIN performance_schema.threads t ON t.THREAD_ID = m.OWNER_THREAD_ID"
_SELECT = f"{_COLUMNS} {_THREADS}"
# The owner of what XA has prepared is a thread that is no more, once its connection has ended (8.0.15,
# 9.7.2).
_SELECT_ALL = f"{_COLUMNS} LEFT {_THREADS}"
_OF_NO_CONNECTION = "(t.THREAD_ID IS NULL OR t.PROCESSLIST_ID IS NOT NULL)"
MOST = 2000  # locks that are asked for at once
_MOST_OBJECTS = 5  # whose holders are asked for where there are more locks
LOCKS = Statement(  # its instrument wait/lock/metadata/sql/mdl is off by default on MySQL 5.7 and MariaDB
    f"{_SELECT_ALL} WHERE {_OF_NO_CONNECTION}"
    " AND m.OBJECT_TYPE IN ('GLOBAL', 'COMMIT', 'BACKUP LOCK', 'BACKUP', 'TABLE')"
    " AND (m.LOCK_TYPE <> 'INTENTION_EXCLUSIVE' OR m.LOCK_STATUS = 'PENDING')"
    f" ORDER BY m.OBJECT_TYPE = 'TABLE', m.LOCK_STATUS = 'GRANTED' LIMIT {MOST}",
    PERFORMANCE_SCHEMA,
)
HOLDERS = Statement(
    f"{_SELECT_ALL} WHERE {_OF_NO_CONNECTION}"
    " AND m.LOCK_STATUS = 'GRANTED' AND m.LOCK_TYPE <> 'INTENTION_EXCLUSIVE'"
    " AND m.OBJECT_TYPE = %s AND COALESCE(m.OBJECT_SCHEMA, '') = %s AND COALESCE(m.OBJECT_NAME, '') = %s"
    f" ORDER BY m.LOCK_TYPE IN ('SHARED_READ', 'SHARED_WRITE') LIMIT {MOST}",
    PERFORMANCE_SCHEMA,
)
BACKUP_LOCKS = Statement(
    f"{_SELECT} WHERE m.OBJECT_TYPE = 'BACKUP LOCK' AND m.LOCK_TYPE = 'SHARED'"
    " AND m.LOCK_STATUS = 'GRANTED' LIMIT 10",
    PERFORMANCE_SCHEMA,
)
SCHEMA_LOCKS = Statement(
    f"{_SELECT} WHERE m.OBJECT_TYPE = 'SCHEMA' ORDER BY m.LOCK_STATUS = 'GRANTED' LIMIT 1000",
    PERFORMANCE_SCHEMA,
)
USER_LOCKS = Statement(  # GET_LOCK()
    f"{_SELECT} WHERE m.OBJECT_TYPE = 'USER LEVEL LOCK' ORDER BY m.LOCK_STATUS = 'GRANTED' LIMIT 1000",
    PERFORMANCE_SCHEMA,
)
USED_LOCK = Statement("SELECT IS_USED_LOCK(%s) AS process")  # needs no privilege
# A statement that is nothing but one GET_LOCK(): of a longer one, what it waits for is not known.
_GET_LOCK = re.compile(
    r"""(?i)\s*(?:SELECT|DO)\s+GET_LOCK\s*\(\s*(?:'([^'\\]+)'|"([^"\\]+)")\s*,\s*[-\d.]+\s*\)(?:\s+(?:AS\s+)?\w+)?\s*"""
)
_CUT = 100  # characters, from which on SHOW PROCESSLIST has cut a statement
_MOST_NAMES = 10  # of user locks whose holders are asked for
PLUGIN_LOCKS = Statement(  # MariaDB, where INSTALL SONAME 'metadata_lock_info' was run
    "SELECT LOCK_TYPE AS type, TABLE_SCHEMA AS base, TABLE_NAME AS name, LOCK_MODE AS lock_type,"
    " 'GRANTED' AS status, THREAD_ID AS process FROM information_schema.METADATA_LOCK_INFO LIMIT 2000",
    PROCESS,
)
# What is waited for in a state that is about the whole server: MySQL and MariaDB have their own words.
_WAITED_FOR = {"global read": {"GLOBAL"}, "commit": {"COMMIT"}, "backup": {"BACKUP", "BACKUP LOCK"}}
USER_LOCK, SCHEMA = "USER LEVEL LOCK", "SCHEMA"
_SCOPES = {
    "Backup lock": "BACKUP",
    "Table metadata lock": "TABLE",
    "Schema metadata lock": SCHEMA,
    "User lock": USER_LOCK,
}  # the plugin's words

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
    table: str  # "shop.orders", where the scope is a table; the name of a user lock
    kind: str  # "SHARED_WRITE", "EXCLUSIVE", MariaDB "FTWRL2", …
    granted: bool
    process: int  # 0: of a transaction that no connection has

    def keeps_waiting(self, awaited: Lock) -> bool:
        """Whether a lock of another connection cannot be had beside this one."""
        same = (self.scope, self.table) == (awaited.scope, awaited.table)
        kinds = _KEEPS_WAITING.get(awaited.kind, frozenset())
        return same and ("EXCLUSIVE" in {self.kind, awaited.kind} or self.kind in kinds)


def locks(asking: Asking) -> tuple[Lock, ...]:
    """Ask for metadata locks, where a table has them."""
    rows = asking.rows(LOCKS)
    if len(rows) >= MOST:
        rows += _holders(asking, rows)
    if not rows and asking.server.flavour.mariadb:
        rows = asking.rows(PLUGIN_LOCKS)
    return tuple(_lock(row) for row in rows)


def _holders(asking: Asking, rows: Iterable[Row]) -> list[Row]:
    """Ask who holds what most of these wait for: where so many wait, the holders may have been left out."""
    waits: dict[tuple[str, ...], int] = {}
    for row in rows:
        if text(row, "status") != "GRANTED":
            of = tuple(text(row, column) for column in ("type", "base", "name"))
            waits[of] = waits.get(of, 0) + 1
    objects = sorted(waits, key=lambda one: -waits[one])[:_MOST_OBJECTS]
    return [row for one in objects for row in asking.rows(HOLDERS, *one)]


def backup_locks(asking: Asking) -> tuple[Lock, ...]:
    """Ask who holds the backup lock of MySQL 8 and later."""
    return () if asking.server.flavour.mariadb else tuple(_lock(row) for row in asking.rows(BACKUP_LOCKS))


def user_locks(asking: Asking, waiting: Iterable[Process]) -> tuple[Lock, ...]:
    """Ask who holds the locks of GET_LOCK() that these wait for.

    Where no table shows them (MariaDB, MySQL 5.7), the server is asked for the names in the statements.
    """
    if not asking.server.flavour.mariadb and (rows := asking.rows(USER_LOCKS)):
        return tuple(_lock(row) for row in rows)
    awaited = [
        Lock(USER_LOCK, name, "EXCLUSIVE", granted=False, process=one.id)
        for one in waiting
        if (name := _name_of_user_lock(one.info))
    ]
    held = []
    for name in list(dict.fromkeys(one.table for one in awaited))[:_MOST_NAMES]:
        holders = (whole(row, "process") for row in asking.rows(USED_LOCK, name))
        held += [Lock(USER_LOCK, name, "EXCLUSIVE", granted=True, process=one) for one in holders if one]
    return (*held, *awaited)


def _name_of_user_lock(statement: str) -> str:
    """Read the name from a statement that is nothing but one GET_LOCK() with a literal; "": it is another."""
    found = _GET_LOCK.fullmatch(statement) if len(statement) < _CUT else None
    return found[1] or found[2] if found else ""


def schema_locks(asking: Asking) -> tuple[Lock, ...]:
    """Ask who holds, and waits for, locks of whole databases; of MariaDB ``locks`` has who holds."""
    return () if asking.server.flavour.mariadb else tuple(_lock(row) for row in asking.rows(SCHEMA_LOCKS))


def _lock(row: Row) -> Lock:
    base, name = text(row, "base"), text(row, "name")
    return Lock(
        scope=_SCOPES.get(text(row, "type"), text(row, "type")),
        table=".".join(filter(None, (base, name))),
        kind=text(row, "lock_type").removeprefix("MDL_").removeprefix("BACKUP_"),
        granted=text(row, "status") == "GRANTED",
        process=whole(row, "process"),
    )


def holders_of(locks: Iterable[Lock], awaited: Iterable[Lock]) -> list[Lock]:
    """Find the granted locks of others that keep somebody waiting for one of these."""
    wanted = list(awaited)
    waiting = {one.process for one in wanted}
    return [
        one
        for one in locks
        if one.granted and one.process not in waiting and any(one.keeps_waiting(other) for other in wanted)
    ]


def awaited(locks: Iterable[Lock], waits: Process) -> list[Lock]:
    """List what a connection waits for: from metadata_locks, else from its state and statement."""
    told = [one for one in locks if not one.granted and one.process == waits.id]
    match = GLOBAL_LOCK.search(waits.state)
    scopes = _WAITED_FOR[match[1]] if match else {SCHEMA if waits.state == SCHEMA_LOCK else "TABLE"}
    if told:
        return [one for one in told if one.scope in scopes]
    if SCHEMA in scopes:  # the statement may name any of several
        return []
    defines = statements.defines(waits.info)
    if match:
        kinds = ["DDL", "ALTER_COPY"] if defines else ["DML", "TRANS_DML", "COMMIT"]
        kinds.append("INTENTION_EXCLUSIVE")
        return [Lock(scope, "", kind, granted=False, process=waits.id) for scope in scopes for kind in kinds]
    table = table_of(waits)
    kind = "EXCLUSIVE" if defines else "SHARED_READ" if statements.reads(waits.info) else "SHARED_WRITE"
    return [Lock("TABLE", table, kind, granted=False, process=waits.id)] if table else []


def table_of(waits: Process) -> str:
    """Name the table that the statement of a connection defines, changes or reads first; "": unknown."""
    return statements.first_table(waits.info, waits.database)
