"""The statements that are judged: what is open, and if anything is under way, who waits for whose lock.

With 20,000 rows locked (NDB 9.7.2, two data nodes, two processors) cluster_transactions takes 40 ms, as it
does without; cluster_locks and cluster_operations have 40,000 rows then and take 0.5 to 1.5 s, whatever is
filtered: ndbinfo has no indexes. With 256 rows at a time it is 0.2 to 0.6 s. mysqld spends 0.3 s of processor
time on that, each data node 0.2 s. So the number of operations in cluster_transactions tells what reading the
locks will cost.
"""

from __future__ import annotations

from stallwatch.findings import ProbeError
from stallwatch.probes.ndbinfo.numbers import number, whole
from stallwatch.startup import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence
    from typing import TypeVar

    from stallwatch.probes.ndbinfo.asking import Ndbinfo, Row

    Made = TypeVar("Made")

MOST_OPERATIONS = 50_000  # in transactions whose locks are read
MOST = 10  # transactions that are told apart
MOST_LOCKS = 1000  # that are read of those that are waited for, and of those that are held
MOST_ROWS = 100  # whose holders are asked for
_LONGEST = 3  # seconds that reading the locks may take
# While a transaction scans it has one row more for each scan, without operations; what a scan waits for is
# no outstanding operation (9.7.2). 0x8000: blocks of clients begin there (RefConvert.hpp); below are the data
# nodes' own, whose transactions last for milliseconds.
_EACH = """
    SELECT transid, SUM(count_operations) AS operations, MIN(inactive_seconds) AS inactive,
        MAX(client_node_id) AS client, MAX(client_block_ref) AS block,
        MAX(CASE WHEN outstanding_operations > 0 OR state = 'Scanning' THEN 1 ELSE 0 END) AS active
    FROM ndbinfo.cluster_transactions WHERE {which} GROUP BY transid
"""
_FIRST_CLIENT = 0x8000
_CLIENTS = f"client_block_ref >= {_FIRST_CLIENT}"
_TOTALS = f"""
    SELECT COUNT(*) AS transactions, COALESCE(SUM(operations), 0) AS operations,
        COALESCE(MAX(operations), 0) AS largest, COALESCE(SUM(active), 0) AS active,
        COALESCE(MAX(CASE WHEN active = 0 THEN inactive END), 0) AS inactive
    FROM ({_EACH.format(which=_CLIENTS)}) AS each_of_them
"""  # noqa: S608
_OPEN = f"{_EACH.format(which=_CLIENTS)} ORDER BY active, inactive DESC, operations DESC LIMIT {MOST}"
# A row that is locked has its holders (H) on each replica, those that wait (W) on the primary one alone; a
# transaction has a lock of its own for each of its operations on the row.
_KEY = ("node_id", "tableid", "fragmentid", "rowid")
_LOCKS = f"""
    SELECT /*+ MAX_EXECUTION_TIME({{within}}) */ {", ".join(_KEY)}, transid, MAX(duration_millis) AS millis
    FROM ndbinfo.cluster_locks WHERE {{which}} GROUP BY {", ".join(_KEY)}, transid
    ORDER BY millis DESC LIMIT {MOST_LOCKS}
"""  # noqa: S608
_THIS_ROW = f"({' AND '.join(f'{column} = %s' for column in _KEY)})"


class Totals(NamedTuple):
    """What is open of clients."""

    transactions: int
    operations: int  # in all of them
    largest: int  # operations of the one that has most
    active: int  # transactions that wait for data nodes, maybe for a lock
    inactive: int  # seconds that one of the others has asked nothing of them, at most


class Transaction(NamedTuple):
    """An open transaction."""

    id: int
    operations: int
    inactive: float  # seconds since it asked for anything
    client: int  # node id
    is_own: bool  # of a data node: an index is built, a table is copied, ...
    is_active: bool  # it waits for data nodes


class Lock(NamedTuple):
    """What a transaction holds or waits for; a row is node, table, fragment and number."""

    row: tuple[int, ...]
    transaction: int
    seconds: float  # the longest of its operations


def totals(ndbinfo: Ndbinfo) -> Totals:
    """Count what is open; raises a ProbeError."""
    row = ndbinfo.some(_TOTALS)[0]
    found = Totals(*(whole(row, name) for name in Totals._fields))
    if not found.transactions:
        ndbinfo.believe_nothing(_TOTALS)
    return found


def longest(ndbinfo: Ndbinfo, unclear: list[ProbeError]) -> list[Transaction]:
    """Give MOST open transactions: those that have asked nothing for longest, then those that are active."""
    return list(_clear(ndbinfo.rows(_OPEN), _transaction, unclear))


def transactions(ndbinfo: Ndbinfo, ids: Iterable[int], unclear: list[ProbeError]) -> list[Transaction]:
    """Give those of these transactions that are still open; raises a ProbeError."""
    rows = ndbinfo.rows_in(_EACH.format(which="transid IN (%s)"), sorted(ids))
    return list(_clear(rows, _transaction, unclear))


def waits(ndbinfo: Ndbinfo, unclear: list[ProbeError]) -> list[Lock]:
    """Give MOST_LOCKS locks that are waited for, longest first; raises a ProbeError."""
    ndbinfo.rows("SET ndbinfo_max_rows = 256")  # at a time, not 10: 40,000 take half as long
    return _locks(ndbinfo, unclear, "state = 'W'")


def holds(ndbinfo: Ndbinfo, rows: Sequence[tuple[int, ...]], unclear: list[ProbeError]) -> list[Lock]:
    """Give MOST_LOCKS locks that are held on these rows, longest first; raises a ProbeError."""
    # mysqld looks these up in a sorted list: without, 60 rows among 40,000 take 0.4 s instead of 0.25.
    numbers = sorted({row[-1] for row in rows})
    places = ", ".join(["%s"] * len(numbers))
    these = " OR ".join([_THIS_ROW] * len(rows))
    parts = (part for row in rows for part in row)
    return _locks(ndbinfo, unclear, f"state = 'H' AND rowid IN ({places}) AND ({these})", *numbers, *parts)


def _locks(ndbinfo: Ndbinfo, unclear: list[ProbeError], which: str, *values: int) -> list[Lock]:
    seconds = max(1, min(_LONGEST, int(ndbinfo.deadline.left() / 2)))
    rows = ndbinfo.rows(_LOCKS.format(within=1000 * seconds, which=which), *values)
    return list(_clear(rows, _lock, unclear))


def _clear(rows: Iterable[Row], make: Callable[[Row], Made], unclear: list[ProbeError]) -> Iterator[Made]:
    """Make something of each row; what lacks a number is left out, and said."""
    for row in rows:
        try:
            yield make(row)
        except ProbeError as error:
            unclear.append(error)


def _transaction(row: Row) -> Transaction:
    return Transaction(
        id=whole(row, "transid"),
        operations=whole(row, "operations"),
        inactive=number(row, "inactive"),
        client=whole(row, "client"),
        is_own=whole(row, "block") < _FIRST_CLIENT,
        is_active=bool(whole(row, "active")),
    )


def _lock(row: Row) -> Lock:
    key = tuple(whole(row, column) for column in _KEY)
    return Lock(key, whole(row, "transid"), number(row, "millis") / 1000)
