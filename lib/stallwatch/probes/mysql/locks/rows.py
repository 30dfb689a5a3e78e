"""Transactions of InnoDB, and which of them wait for a row lock of which."""

from __future__ import annotations

import re
import time

from stallwatch.probes.mysql.asking import PERFORMANCE_SCHEMA, PROCESS, Statement, number, text, whole
from stallwatch.startup import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from stallwatch.probes.mysql.asking import Asking, Row
    from stallwatch.probes.mysql.processes import Process

# InnoDB shows times in the time zone of its host, whatever that of the session is.
_COLUMNS = (
    "SELECT trx_id, trx_state, trx_mysql_thread_id AS process,"
    " TIMESTAMPDIFF(SECOND, trx_started, CONVERT_TZ(UTC_TIMESTAMP(), '+00:00', 'SYSTEM')) AS age,"
    " TIMESTAMPDIFF(SECOND, trx_wait_started, CONVERT_TZ(UTC_TIMESTAMP(), '+00:00', 'SYSTEM')) AS waiting,"
    " trx_rows_modified AS modified, trx_rows_locked AS locked,"
    " trx_started AS started, trx_requested_lock_id AS requested, trx_isolation_level AS isolation"
)
TRANSACTIONS = Statement(f"{_COLUMNS} FROM information_schema.INNODB_TRX", PROCESS)
MOST = 1000  # transactions of a server with many: those that wait, then the oldest
FIRST = Statement(
    f"{_COLUMNS}"
    " FROM information_schema.INNODB_TRX"
    f" ORDER BY trx_state = 'LOCK WAIT' DESC, trx_started LIMIT {MOST}",
    PROCESS,
)
LOCK_WAITS = Statement(  # MySQL 8 and later
    "SELECT REQUESTING_ENGINE_TRANSACTION_ID AS waiting, BLOCKING_ENGINE_TRANSACTION_ID AS holding"
    " FROM performance_schema.data_lock_waits WHERE REQUESTING_ENGINE_TRANSACTION_ID = %s LIMIT 100",
    PERFORMANCE_SCHEMA,
)
LOCK_WAITS_BEFORE = Statement(  # MySQL 5.7, MariaDB
    "SELECT requesting_trx_id AS waiting, blocking_trx_id AS holding, requested_lock_id AS requested"
    " FROM information_schema.INNODB_LOCK_WAITS WHERE requesting_trx_id = %s LIMIT 100",
    PROCESS,
)
WAITED_FOR = Statement(
    "SELECT OBJECT_SCHEMA AS base, OBJECT_NAME AS name, INDEX_NAME AS key_name"
    " FROM performance_schema.data_locks"
    " WHERE ENGINE_TRANSACTION_ID = %s AND LOCK_STATUS = 'WAITING' LIMIT 1",
    PERFORMANCE_SCHEMA,
)
WAITED_FOR_BEFORE = Statement(
    "SELECT l.lock_table AS name, l.lock_index AS key_name FROM information_schema.INNODB_LOCKS l"
    " JOIN information_schema.INNODB_TRX t ON t.trx_requested_lock_id = l.lock_id"
    " WHERE t.trx_id = %s LIMIT 1",
    PROCESS,
)
# Of MariaDB: nothing else shows that a transaction that a connection has is prepared. It needs no privilege.
_PREPARED = Statement("XA RECOVER")
_DATA_LOCK_WAITS = (8, 0)
NO_ID = "0"  # of each transaction of MariaDB that has only read, also of one that has locked what it read
_PARTS_5_7 = 4  # of the id of a lock of a row
_CHAIN = 5  # who waits for whom is followed so far
_FOLLOWED = 1.0  # seconds


class Transaction(NamedTuple):
    """One open transaction; ``process`` is its id in the process list, times are in seconds."""

    id: str
    process: int
    age: float
    waiting: float | None  # for a row lock; None: does not wait
    modified: int = 0  # rows
    locked: int = 0  # rows
    rolls_back: bool = False
    started: str = ""  # when it began, as the server shows; "": not asked
    row: str = ""  # that it waits for: all that wait for the same have the same; "": none, or not asked
    isolation: str = ""  # "REPEATABLE READ"; "": not asked

    @property
    def is_detached(self) -> bool:
        """Whether no connection has it: it was prepared by XA, or is rolled back after a crash (9.7.2)."""
        return not self.process


class RowLock(NamedTuple):
    """A transaction that waits, and one that it waits for."""

    waiting: str
    holding: str
    row: str = ""  # that it waits for; "": unknown


def transactions(asking: Asking) -> tuple[Transaction, ...]:
    """Ask for the open transactions."""
    return _transactions(asking, TRANSACTIONS)


def first_transactions(asking: Asking) -> tuple[Transaction, ...]:
    """Ask for MOST open transactions: those that wait, then the oldest."""
    return _transactions(asking, FIRST)


def transactions_of(asking: Asking, ids: Iterable[str]) -> tuple[Transaction, ...]:
    """Ask for the transactions of these ids: of a server with many, ``first_transactions`` lacks some."""
    listed = ", ".join(one for one in ids if one.isdecimal())
    if not listed:
        return ()
    sql = f"{_COLUMNS} FROM information_schema.INNODB_TRX WHERE trx_id IN ({listed})"
    return _transactions(asking, Statement(sql, PROCESS))


def _transactions(asking: Asking, statement: Statement) -> tuple[Transaction, ...]:
    mariadb = asking.server.flavour.mariadb
    return tuple(_transaction(row, mariadb=mariadb) for row in asking.rows(statement))


def row_of(requested: str, *, mariadb: bool) -> str:
    """Take the row of the id of a lock: space, page and number within it.

    ``26:5:3:2`` begins with the transaction on MySQL 5.7 and MariaDB;
    ``140417812145744:2:2:4:2:140417714687776`` does, too, and ends with an address (9.7.2; 8.0 has one part
    less). A lock of a table has fewer parts, and is one of its own.
    """
    parts = requested.split(":")
    if mariadb or len(parts) == _PARTS_5_7:
        return ":".join(parts[1:])
    return ":".join(parts[-4:-1]) if len(parts) > _PARTS_5_7 else requested


def _transaction(row: Row, *, mariadb: bool) -> Transaction:
    waits = text(row, "trx_state") == "LOCK WAIT"
    return Transaction(
        id=text(row, "trx_id"),
        process=whole(row, "process"),
        age=max(0.0, number(row, "age")),
        waiting=max(0.0, number(row, "waiting")) if waits else None,
        modified=whole(row, "modified"),
        locked=whole(row, "locked"),
        rolls_back=text(row, "trx_state") == "ROLLING BACK",
        started=text(row, "started"),
        row=row_of(text(row, "requested"), mariadb=mariadb),
        isolation=text(row, "isolation"),
    )


def may_be_prepared(
    asking: Asking, processes: Mapping[int, Process], transactions: Sequence[Transaction]
) -> bool:
    """Whether somebody idle may have what XA has prepared: not all of it is detached, or that is unknown.

    KILL takes the connection from a prepared transaction, and no lock (MariaDB 10.5.23 to 11.8.9).
    """
    owners = (processes.get(one.process) for one in transactions)
    if not asking.server.flavour.mariadb or not any(one and one.command == "Sleep" for one in owners):
        return False
    detached = sum(one.is_detached and not one.rolls_back for one in transactions)
    return len(asking.rows(_PREPARED)) > detached or asking.failed is not None


def row_locks(asking: Asking, waiting: Iterable[str], most: int = _CHAIN) -> tuple[RowLock, ...]:
    """Ask for whom these transactions wait, and those in turn: this many, for a second at most.

    MySQL 8 has 125 000 pairs of 500 that wait for one row, so each is asked for by itself. MySQL 5.7 and
    MariaDB have such a table in information_schema only.
    """
    ahead = list(waiting)
    statement = LOCK_WAITS_BEFORE if has_no_data_locks(asking) else LOCK_WAITS
    found: list[RowLock] = []
    asked: set[str] = set()
    mariadb = asking.server.flavour.mariadb
    until = time.monotonic() + _FOLLOWED
    while ahead and len(asked) < most and time.monotonic() < until:
        asked.add(one := ahead.pop(0))
        pairs = _pairs(asking.rows(statement, one), mariadb=mariadb)
        found += pairs
        ahead += [pair.holding for pair in pairs[:_CHAIN] if pair.holding not in {*asked, *ahead}]
    return tuple(found)


def waited_for(asking: Asking, transaction: str) -> tuple[str, str]:
    """Ask which row a transaction waits for: its table, ``shop.orders``, and the index; "": unknown."""
    found = asking.rows(WAITED_FOR_BEFORE if has_no_data_locks(asking) else WAITED_FOR, transaction)
    row = found[0] if found else {}
    base, name = text(row, "base"), text(row, "name").replace("`", "")
    name = re.sub(r" /\* Partition (.*) \*/$", r" (partition \1)", name)  # MariaDB
    return f"{base}.{name}" if base else name, text(row, "key_name").strip("`")


def has_no_data_locks(asking: Asking) -> bool:
    """Whether it is MySQL 5.7 or MariaDB, which show who waits for whom in another table."""
    flavour = asking.server.flavour
    return flavour.mariadb or flavour.version < _DATA_LOCK_WAITS


def _pairs(rows: Iterable[Row], *, mariadb: bool) -> tuple[RowLock, ...]:
    found = [
        RowLock(text(row, "waiting"), text(row, "holding"), row_of(text(row, "requested"), mariadb=mariadb))
        for row in rows
    ]
    named = dict.fromkeys(one for one in found if one.holding != NO_ID)
    return (*named, *(one for one in found if one.holding == NO_ID))
