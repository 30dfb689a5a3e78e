"""Where appliers look for rows to change: which tables they have open, which of them have no key.

MariaDB shows the statement of a row event. MySQL shows none (Info is NULL), but performance_schema knows
which tables a thread has open, and counts what each thread reads. An UPDATE of 150 000 rows of a table
without a key: 0.8 to 1 million rows a second read in scans by the worker, of one with a key: none (9.7.2).
"""

from __future__ import annotations

import time

from stallwatch.probes.mysql import statements
from stallwatch.probes.mysql.asking import PERFORMANCE_SCHEMA, PROCESS, Statement, number, text
from stallwatch.probes.replication_lag.signals import activity
from stallwatch.startup import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from stallwatch.probes.mysql.asking import Asking, Row
    from stallwatch.probes.mysql.processes import Process, Thread

OPENED = Statement(  # its instrument wait/lock/metadata/sql/mdl is on by default from MySQL 8 on
    "SELECT DISTINCT OBJECT_SCHEMA AS base, OBJECT_NAME AS name FROM performance_schema.metadata_locks"
    " WHERE OWNER_THREAD_ID = %s AND OBJECT_TYPE = 'TABLE' AND LOCK_TYPE = 'SHARED_WRITE'"
    " AND LOCK_STATUS = 'GRANTED' AND OBJECT_SCHEMA <> 'mysql' LIMIT 20",
    PERFORMANCE_SCHEMA,
)
READS = Statement(
    "SELECT SUM(IF(VARIABLE_NAME = 'Handler_read_rnd_next', VARIABLE_VALUE, 0)) AS been_read,"
    " SUM(IF(VARIABLE_NAME = 'Handler_read_rnd_next', 0, VARIABLE_VALUE)) AS changed"
    " FROM performance_schema.status_by_thread WHERE THREAD_ID = %s"
    " AND VARIABLE_NAME IN ('Handler_read_rnd_next', 'Handler_update', 'Handler_delete')",
    PERFORMANCE_SCHEMA,
)
_INDEXES = (
    "SELECT i.NAME AS name FROM information_schema.{tables} t JOIN information_schema.{indexes} i"
    " ON i.TABLE_ID = t.TABLE_ID WHERE t.NAME = %s"
)
INDEXES = Statement(_INDEXES.format(tables="INNODB_TABLES", indexes="INNODB_INDEXES"), PROCESS)
INDEXES_BEFORE = Statement(  # MySQL 5.7, MariaDB
    _INDEXES.format(tables="INNODB_SYS_TABLES", indexes="INNODB_SYS_INDEXES"), PROCESS
)
_OWN = "GEN_CLUST_INDEX"  # that InnoDB makes where there is no key
_RENAMED = (8, 0)
_PAUSE = 0.3  # seconds
_MOST = 4  # appliers that are asked about


class Scan(NamedTuple):
    """What an applier of MySQL that looks for rows has open, and how many rows it reads in scans."""

    process: int
    tables: tuple[str, ...]  # that it changes: "shop.orders"
    reads: float  # a second
    per_change: float  # for each row that it changes


def scans(
    asking: Asking, appliers: Sequence[Process], threads: Iterable[Thread], pause: Callable[[float], bool]
) -> tuple[Scan, ...]:
    """Look twice at what these appliers read, where the server shows no statement of theirs."""
    wanted = {one.id for one in appliers if activity.FINDS_ROW.search(one.state) and not one.info}
    found = [one for one in threads if one.id in wanted][:_MOST]
    if asking.server.flavour.mariadb or not found:
        return ()
    begun, before = time.monotonic(), [_counted(asking, one) for one in found]
    tables = [asking.rows(OPENED, one.thread) for one in found]
    if not all(before) or not pause(_PAUSE):
        return ()
    seconds, after = time.monotonic() - begun, [_counted(asking, one) for one in found]
    return tuple(
        _scan(one.id, opened, first, last, seconds)
        for one, opened, first, last in zip(found, tables, before, after, strict=True)
        if last
    )


def _counted(asking: Asking, thread: Thread) -> tuple[float, ...]:
    """Count what a thread has read in scans and changed; nothing: unknown."""
    rows = asking.rows(READS, thread.thread)
    return (number(rows[0], "been_read"), number(rows[0], "changed")) if rows else ()


def _scan(
    process: int, opened: Iterable[Row], first: Sequence[float], last: Sequence[float], seconds: float
) -> Scan:
    reads, changes = (after - before for before, after in zip(first, last, strict=True))
    tables = tuple(f"{text(row, 'base')}.{text(row, 'name')}" for row in opened)
    return Scan(process, tables, reads / seconds, reads / max(changes, 1.0))


def changed(appliers: Iterable[Process], scanning: Iterable[Scan]) -> set[str]:
    """Name the tables in which appliers look for rows to change, if known."""
    at_work = (one for one in appliers if activity.FINDS_ROW.search(one.state))
    told = {statements.changed_table(one.info, one.database) for one in at_work}
    return told.union(*(one.tables for one in scanning)) - {""}


def keyless(asking: Asking, tables: Iterable[str]) -> dict[str, bool]:
    """Return for each table ("shop.orders") whether it has no key; tables that are not found are left out."""
    flavour = asking.server.flavour
    before = flavour.mariadb or flavour.version < _RENAMED
    found = {}
    for table in tables:
        rows = asking.rows(INDEXES_BEFORE if before else INDEXES, table.replace(".", "/", 1))
        names = {text(row, "name") for row in rows}
        if names:
            found[table] = names == {_OWN}
    return found
