"""What the server has that a backup is of: base tables and binary logs."""

from __future__ import annotations

import re

from stallwatch.findings import ProbeError
from stallwatch.probes.mysql.privileges import PROCESS
from stallwatch.probes.mysql.statement import Statement, having, number, text, whole
from stallwatch.probes.mysql_backup.backup import Table
from stallwatch.probes.mysql_backup.privileges import BINARY_LOG, SHOWING_ALL, TABLES
from stallwatch.sources.mysql import DeniedError, MysqlError
from stallwatch.startup import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from stallwatch.sources.mysql.server import Server

# Not those of the server itself, which is set up anew in other ways; MariaDB calls a table with system
# versioning by a type of its own.
BASE_TABLES = Statement(
    "SELECT TABLE_SCHEMA AS `schema`, TABLE_NAME AS name, ENGINE AS engine FROM information_schema.TABLES"
    " WHERE TABLE_TYPE IN ('BASE TABLE', 'SYSTEM VERSIONED') AND TABLE_SCHEMA NOT IN"
    " ('mysql', 'sys', 'information_schema', 'performance_schema', 'ndbinfo')",
    TABLES,
)
# Asked only of tables that are missing: MariaDB has to open a table for it.
MADE = Statement(
    "SELECT TABLE_NAME AS name, UNIX_TIMESTAMP(CREATE_TIME) AS made FROM information_schema.TABLES"
    " WHERE TABLE_SCHEMA = %s",
    TABLES,
)
# Asked only of tables that have no file of rows in the backup. UPDATE_TIME is NULL where nothing was written
# since the server started; MySQL 8 and later may tell both as they were a day ago, unless told not to.
FILLED = Statement(
    "SELECT TABLE_NAME AS name, TABLE_ROWS AS estimate, UNIX_TIMESTAMP(UPDATE_TIME) AS updated"
    " FROM information_schema.TABLES WHERE TABLE_SCHEMA = %s AND TABLE_ROWS > 0",
    TABLES,
)
_AS_THEY_ARE = "SET SESSION information_schema_stats_expiry = 0"
_SINCE = (8, 0)
# InnoDB tables that have no file of their own. MySQL 8 calls it otherwise than 5.7 and MariaDB.
SHARED = Statement(
    "SELECT NAME AS name FROM information_schema.INNODB_SYS_TABLES WHERE SPACE_TYPE <> 'Single'", PROCESS
)
SHARED_8 = Statement(
    "SELECT NAME AS name FROM information_schema.INNODB_TABLES WHERE SPACE_TYPE <> 'Single'", PROCESS
)
LOGS = Statement("SHOW BINARY LOGS", BINARY_LOG)
GRANTS = Statement("SHOW GRANTS")

_NO_BINARY_LOG = 1381  # ER_NO_BINARY_LOGGING
_ON_ALL = re.compile(r"GRANT (.+) ON \*\.\* TO ", re.IGNORECASE)
_ROLE = re.compile(r"GRANT [`'][^ ]+ TO ", re.IGNORECASE)
_LEFTOVER = "#"  # how the names of temporary tables begin that a crash has left


class Has(NamedTuple):
    """What a server has."""

    where: str
    tables: Sequence[Table]
    sees_all: bool  # whether there may be tables that this account does not see
    logs: Mapping[str, int] | None  # bytes of each binary log; None: it has none, or that is not known
    no_logs: ProbeError | None = None  # why that is not known


def look(server: Server) -> Has:
    """Ask for it all; raises a MysqlError."""
    tables = [
        Table(text(row, "schema"), text(row, "name"), text(row, "engine"))
        for row in having(server.rows(BASE_TABLES.sql), "schema", "name", "engine")
        if not text(row, "name").startswith(_LEFTOVER)
    ]
    sees_all = _sees_all(server)
    try:
        rows = having(server.rows(LOGS.sql), "Log_name", "File_size")
        logs = {text(row, "Log_name"): whole(row, "File_size") for row in rows}
    except MysqlError as error:
        no_logs: ProbeError | None = None if error.number == _NO_BINARY_LOG else error
        if isinstance(error, DeniedError):  # it names a stronger privilege first
            grant = BINARY_LOG.mariadb if server.flavour.mariadb else BINARY_LOG.mysql
            account = error.account or "this account"
            advice = f"GRANT {grant} ON *.* TO {account}"
            no_logs = ProbeError(f"{server.where} does not show its binary logs to {account}", advice)
        return Has(server.where, tables, sees_all, None, no_logs)
    return Has(server.where, tables, sees_all, logs)


def made(server: Server, tables: Iterable[Table]) -> dict[Table, float]:
    """Tell when these tables were made, in seconds since the epoch, as far as the server knows."""
    wanted = {(table.schema, table.name): table for table in tables}
    found = {}
    for schema in sorted({schema for schema, _ in wanted}):
        for row in having(server.rows(MADE.sql, schema), "name"):
            table = wanted.get((schema, text(row, "name")))
            if table and row["made"] is not None:
                found[table] = number(row, "made")
    return found


class Rows(NamedTuple):
    """What a server tells of the rows of a table."""

    estimate: int
    updated: float | None  # seconds since the epoch; None: not since the server started


def filled(server: Server, tables: Iterable[Table]) -> dict[Table, Rows]:
    """Tell which of these tables have rows, by the server's estimate."""
    wanted = {(table.schema, table.name): table for table in tables}
    found = {}
    if wanted and not server.flavour.mariadb and server.flavour.version >= _SINCE:
        server.rows(_AS_THEY_ARE)
    for schema in sorted({schema for schema, _ in wanted}):
        for row in having(server.rows(FILLED.sql, schema), "name", "estimate"):
            if table := wanted.get((schema, text(row, "name"))):
                updated = None if row["updated"] is None else number(row, "updated")
                found[table] = Rows(whole(row, "estimate"), updated)
    return found


def shared(server: Server) -> frozenset[str]:
    """List the InnoDB tables without a file of their own, as InnoDB calls them: ``shop/orders``."""
    newer = not server.flavour.mariadb and server.flavour.version >= _SINCE
    rows = having(server.rows((SHARED_8 if newer else SHARED).sql), "name")
    return frozenset(text(row, "name") for row in rows)


def _sees_all(server: Server) -> bool:
    """Whether the account has a privilege that shows all tables; a role is given the benefit of the doubt."""
    grants = [str(value) for row in server.rows(GRANTS.sql) for value in row.values()]
    privileges = {
        one.strip().upper() for grant in grants if (on := _ON_ALL.match(grant)) for one in on[1].split(",")
    }
    return bool(privileges & SHOWING_ALL) or any(_ROLE.match(grant) for grant in grants)
