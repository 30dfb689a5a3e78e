"""What is asked of the server that a backup is of: base tables and binary logs, and the privileges for that.

Tried out privilege by privilege on MySQL 9.7 and MariaDB 10.11: information_schema.TABLES shows the tables
that one has a privilege on. Of those that cover all tables and let nobody read or change rows, SHOW VIEW is
the least.
"""

from __future__ import annotations

import re

from stallwatch.findings import ProbeError
from stallwatch.history import recall
from stallwatch.probes.mysql.asking import PROCESS, Statement, having, number, text, whole
from stallwatch.probes.mysql_backup import physical
from stallwatch.probes.mysql_backup.model import Table
from stallwatch.sources.mysql import DeniedError, MysqlError
from stallwatch.sources.mysql.privilege import Privilege
from stallwatch.startup import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
    from contextlib import AbstractContextManager
    from typing import Any

    from stallwatch.findings import Finding, State
    from stallwatch.probes.mysql.asking import Row
    from stallwatch.probes.mysql_backup.model import Backup
    from stallwatch.sources.mysql.server import Server

TABLES = Privilege("SHOW VIEW", "SHOW VIEW", "which tables there are, for check_mysql_backup")
BINARY_LOG = Privilege(
    "REPLICATION CLIENT", "BINLOG MONITOR", "which binary logs are still there, for check_mysql_backup"
)

# With any of these ON *.* all tables are seen.
_SHOWING_ALL = frozenset(
    ("ALL PRIVILEGES", "SELECT", "INSERT", "UPDATE", "DELETE", "CREATE", "DROP", "REFERENCES", "INDEX",
     "ALTER", "SHOW VIEW", "TRIGGER"),
)  # fmt: skip
# Not those of the server itself, which is set up anew in other ways; MariaDB calls a table with system
# versioning by a type of its own.
_BASE_TABLES = Statement(
    "SELECT TABLE_SCHEMA AS `schema`, TABLE_NAME AS name, ENGINE AS engine FROM information_schema.TABLES"
    " WHERE TABLE_TYPE IN ('BASE TABLE', 'SYSTEM VERSIONED') AND TABLE_SCHEMA NOT IN"
    " ('mysql', 'sys', 'information_schema', 'performance_schema', 'ndbinfo')",
    TABLES,
)
# Asked only of tables that are missing: MariaDB has to open a table for it.
_MADE = Statement(
    "SELECT TABLE_NAME AS name, UNIX_TIMESTAMP(CREATE_TIME) AS made FROM information_schema.TABLES"
    " WHERE TABLE_SCHEMA = %s",
    TABLES,
)
# Asked only of tables that have no file of rows in the backup. UPDATE_TIME is NULL where nothing was written
# since the server started; MySQL 8 and later may show both as they were a day ago, unless set not to.
_FILLED = Statement(
    "SELECT TABLE_NAME AS name, TABLE_ROWS AS estimate, UNIX_TIMESTAMP(UPDATE_TIME) AS updated"
    " FROM information_schema.TABLES WHERE TABLE_SCHEMA = %s AND TABLE_ROWS > 0",
    TABLES,
)
_AS_THEY_ARE = "SET SESSION information_schema_stats_expiry = 0"
_SINCE = (8, 0)
# InnoDB tables that have no file of their own. MySQL 8 calls it otherwise than 5.7 and MariaDB.
_SHARED = Statement(
    "SELECT NAME AS name FROM information_schema.INNODB_SYS_TABLES WHERE SPACE_TYPE <> 'Single'", PROCESS
)
_SHARED_8 = Statement(
    "SELECT NAME AS name FROM information_schema.INNODB_TABLES WHERE SPACE_TYPE <> 'Single'", PROCESS
)
_LOGS = Statement("SHOW BINARY LOGS", BINARY_LOG)
_GRANTS = Statement("SHOW GRANTS")

_NO_BINARY_LOG = 1381  # ER_NO_BINARY_LOGGING
_ON_ALL = re.compile(r"GRANT (.+) ON \*\.\* TO ", re.IGNORECASE)
_ROLE = re.compile(r"GRANT [`'][^ ]+ TO ", re.IGNORECASE)
_LEFTOVER = "#"  # how the names of temporary tables begin that a crash has left


_KEPT = "absent_since"
_MOST = 10_000  # tables that are remembered


class Rows(NamedTuple):
    """What a server shows of the rows of a table."""

    estimate: int
    updated: float | None  # seconds since the epoch; None: not since the server started


class Snapshot(NamedTuple):
    """What a server has shown."""

    where: str
    tables: Sequence[Table]  # that this account sees
    sees_all: bool  # whether there are no others
    logs: Mapping[str, int] | None  # bytes of each binary log; None: it has none, or that is not known
    no_logs: ProbeError | None = None  # why that is not known
    wanted: Sequence[Table] = ()  # tables that have to be in the backup
    made: Mapping[Table, float] = {}  # when those were made that seem to be missing, seconds since the epoch
    filled: Mapping[Table, Rows] = {}  # tables that have rows on the server, and none in the backup
    problem: ProbeError | None = None  # why it is not known whether some are missing


class Source(NamedTuple):
    """The server that was backed up, and how to ask it."""

    connect: Callable[[], AbstractContextManager[Server]]
    unreachable: State  # what it means if it does not answer
    ignored: Sequence[re.Pattern[str]]  # tables, as SCHEMA.TABLE, that need not be in the backup

    def look(self, backup: Backup, memory: dict[str, Any], *, verify: bool) -> Snapshot | Finding:
        """Ask for all that is to be compared with a backup, which may yet be read to ``verify`` it.

        If the server does not answer, return what is to be reported of that.
        """
        try:
            with self.connect() as server:
                return self._look(server, backup, memory, verify=verify)
        except MysqlError as error:
            return error.fault(self.unreachable)

    def _look(self, server: Server, backup: Backup, memory: dict[str, Any], *, verify: bool) -> Snapshot:
        snapshot = _snapshot(server)
        wanted = [
            table for table in snapshot.tables if not any(one.fullmatch(str(table)) for one in self.ignored)
        ]
        absent = backup.absent(wanted)
        problem = None
        if backup.is_copy and absent.missing:
            try:
                shared = physical.in_shared_tablespaces(_shared(server), absent.missing)
                wanted = [table for table in wanted if table not in shared]
                absent = backup.absent(wanted)
            except DeniedError as error:
                what = f"whether they are in a shared tablespace, is not known: {error.what}"
                problem = ProbeError(what, error.advice)
        perhaps = absent.unknown if verify and not backup.is_sealed else ()
        made = _made(server, [*absent.missing, *perhaps])
        made = _remembered(memory, [*absent.missing, *perhaps], made)
        gone = {*absent.missing, *absent.unknown}
        without_rows = backup.without_rows or (lambda _: False)
        empty = [table for table in wanted if table not in gone and without_rows(table)]
        filled = _filled(server, empty)
        return snapshot._replace(wanted=wanted, made=made, filled=filled, problem=problem)


def _remembered(
    memory: dict[str, Any], missing: Sequence[Table], made: Mapping[Table, float]
) -> dict[Table, float]:
    """Return when tables were made or, if that is earlier, since when they are known to be missing.

    OPTIMIZE TABLE, TRUNCATE and many an ALTER make a table anew: the server shows the time of the
    last one.
    """
    kept = recall(memory, _KEPT, dict[str, float]) or {}
    since = dict(made)
    for table in missing:
        if (before := kept.get(str(table))) is not None:
            since[table] = min(before, since.get(table, before))
    memory[_KEPT] = {str(table): since[table] for table in missing[:_MOST] if table in since}
    return since


def _snapshot(server: Server) -> Snapshot:
    """Ask for tables and binary logs; raises a MysqlError."""
    tables = [
        Table(text(row, "schema"), text(row, "name"), text(row, "engine"))
        for row in having(server.rows(_BASE_TABLES.sql), "schema", "name", "engine")
        if not text(row, "name").startswith(_LEFTOVER)
    ]
    snapshot = Snapshot(server.where, tables, _sees_all(server), None)
    try:
        rows = having(server.rows(_LOGS.sql), "Log_name", "File_size")
    except MysqlError as error:
        no_logs: ProbeError | None = None if error.number == _NO_BINARY_LOG else error
        if isinstance(error, DeniedError):  # it names a stronger privilege first
            grant = BINARY_LOG.mariadb if server.flavour.mariadb else BINARY_LOG.mysql
            account = error.account or "this account"
            advice = f"GRANT {grant} ON *.* TO {account}"
            no_logs = ProbeError(f"{server.where} does not show its binary logs to {account}", advice)
        return snapshot._replace(no_logs=no_logs)
    return snapshot._replace(logs={text(row, "Log_name"): whole(row, "File_size") for row in rows})


def _made(server: Server, tables: Iterable[Table]) -> dict[Table, float]:
    """Return when these tables were made, in seconds since the epoch, as far as the server knows."""
    rows = _rows_of(tables, server, _MADE, "name")
    return {table: number(row, "made") for table, row in rows if row["made"] is not None}


def _filled(server: Server, tables: Sequence[Table]) -> dict[Table, Rows]:
    """Return which of these tables have rows, by the server's estimate."""
    if tables and _is_new(server):
        server.rows(_AS_THEY_ARE)
    return {
        table: Rows(whole(row, "estimate"), None if row["updated"] is None else number(row, "updated"))
        for table, row in _rows_of(tables, server, _FILLED, "name", "estimate")
    }


def _rows_of(
    tables: Iterable[Table], server: Server, statement: Statement, *columns: str
) -> Iterator[tuple[Table, Row]]:
    """Ask the statement for each schema of these tables, and yield what it shows of them."""
    wanted = {(table.schema, table.name): table for table in tables}
    for schema in sorted({schema for schema, _ in wanted}):
        for row in having(server.rows(statement.sql, schema), *columns):
            if table := wanted.get((schema, text(row, "name"))):
                yield table, row


def _shared(server: Server) -> frozenset[str]:
    """List the InnoDB tables without a file of their own, as InnoDB calls them: ``shop/orders``."""
    rows = having(server.rows((_SHARED_8 if _is_new(server) else _SHARED).sql), "name")
    return frozenset(text(row, "name") for row in rows)


def _is_new(server: Server) -> bool:
    """Whether it is MySQL 8 or later."""
    return not server.flavour.mariadb and server.flavour.version >= _SINCE


def _sees_all(server: Server) -> bool:
    """Whether the account has a privilege that shows all tables; a role is assumed to have it."""
    grants = [str(value) for row in server.rows(_GRANTS.sql) for value in row.values()]
    privileges = {
        one.strip().upper() for grant in grants if (on := _ON_ALL.match(grant)) for one in on[1].split(",")
    }
    return bool(privileges & _SHOWING_ALL) or any(_ROLE.match(grant) for grant in grants)
