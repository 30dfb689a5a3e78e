"""Transactions of InnoDB, and which of them wait for a row lock of which."""

from __future__ import annotations

from stallwatch.probes.mysql.asking import PERFORMANCE_SCHEMA, PROCESS, Statement, number, text, whole
from stallwatch.startup import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable

    from stallwatch.probes.mysql.asking import Asking, Row

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


def root(
    waits: Transaction, row_locks: Iterable[RowLock], known: Iterable[Transaction]
) -> Transaction | None:
    """Find the transaction at the root of a wait: who waits in turn is not to blame; None: none is known."""
    transactions = {one.id: one for one in known}
    holding: dict[str, list[str]] = {}
    for one in row_locks:
        holding.setdefault(one.waiting, []).append(one.holding)
    seen, at = {waits.id}, waits.id
    while ahead := [one for one in holding.get(at, ()) if one not in seen and one in transactions]:
        at = max(ahead, key=lambda one: transactions[one].age)
        seen.add(at)
    return transactions[at] if at != waits.id else None
