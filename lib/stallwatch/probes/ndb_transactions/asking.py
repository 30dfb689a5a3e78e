"""The statements: on the tables that are cheap to read, and on that of locks if there is something to find.

With 20,000 rows locked (NDB 9.7.2, two data nodes, two processors) cluster_transactions takes 40 ms, as it
does without; cluster_locks and cluster_operations have 40,000 rows then and take 0.5 to 1.5 s, whatever is
filtered: ndbinfo has no indexes. With 256 rows at a time it is 0.2 to 0.6 s. mysqld spends 0.3 s of processor
time on that, each data node 0.2 s. So the number of operations in cluster_transactions tells what reading the
locks will cost.
"""

from __future__ import annotations

from typing import NamedTuple

from stallwatch.probes.ndbinfo.numbers import number, whole
from stallwatch.sources.mysql import MissingTableError

TYPE_CHECKING = False  # typing itself costs every check 2 ms
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from stallwatch.probes.ndbinfo.asking import Ndbinfo, Row

MOST_OPERATIONS = 50_000  # in transactions whose locks are read
MOST = 10  # transactions or rows that are told apart
_MOST_WAITS = 100  # that are read
_LONGEST = 3  # seconds that reading the locks may take
# 0x8000: blocks of clients begin there (RefConvert.hpp); below are the data nodes' own, whose transactions
# last for milliseconds.
_CLIENTS = "client_block_ref >= 32768"
_ONE = "transid, state, count_operations, outstanding_operations, inactive_seconds, client_node_id"
_TOTALS = f"""
    SELECT COUNT(*) AS transactions, SUM(count_operations) AS operations, MAX(count_operations) AS largest,
        SUM(CASE WHEN outstanding_operations > 0 THEN 1 ELSE 0 END) AS busy,
        MAX(CASE WHEN outstanding_operations = 0 THEN inactive_seconds END) AS inactive,
        MAX(CASE WHEN outstanding_operations > 0 THEN inactive_seconds END) AS waiting
    FROM ndbinfo.cluster_transactions WHERE {_CLIENTS}
"""  # noqa: S608
_INACTIVE = f"""
    SELECT {_ONE} FROM ndbinfo.cluster_transactions WHERE {_CLIENTS} AND outstanding_operations = 0
    ORDER BY inactive_seconds DESC, count_operations DESC LIMIT {MOST}
"""  # noqa: S608
# A row that is locked has its holders (H) on each replica, those that wait (W) on the primary one alone.
# Grouping 40,000 rows takes mysqld as long again as reading them, and more; a limit ends the reading.
_ROW = "node_id, tableid, fragmentid, rowid"
_LOCKS = f"""
    SELECT /*+ MAX_EXECUTION_TIME({{within}}) */ {_ROW}, transid, duration_millis FROM ndbinfo.cluster_locks
    WHERE {{which}} LIMIT {{most}}
"""  # noqa: S608
_THIS_ROW = "(node_id = %s AND tableid = %s AND fragmentid = %s AND rowid = %s)"


class Totals(NamedTuple):
    """What is open of clients."""

    transactions: int
    operations: int  # in all of them
    largest: int  # operations of the one that has most
    busy: int  # transactions that wait for a data node, maybe for a lock
    inactive: int  # seconds that a transaction has waited for its client, at most
    waiting: int  # seconds that a transaction has waited for a data node, at most


class Transaction(NamedTuple):
    """An open transaction."""

    id: int
    state: str
    operations: int
    outstanding: int  # operations that have no answer yet
    inactive: float  # seconds
    client: int  # node id


class Lock(NamedTuple):
    """A row that is locked, and wanted by somebody else."""

    table: int  # id
    waiters: int
    waited: float  # seconds, the longest of them
    waiter: int  # id of the transaction that has waited longest
    held: float | None = None  # seconds; None: it has just been let go
    holder: int | None = None  # id of a transaction


def totals(ndbinfo: Ndbinfo) -> Totals:
    """Count what is open; raises a ProbeError."""
    (row,) = ndbinfo.rows(_TOTALS)
    return Totals(*(int(float(str(row[name] or 0))) for name in Totals._fields))


def inactive(ndbinfo: Ndbinfo) -> list[Transaction]:
    """Give the transactions whose clients have done nothing for longest; raises a ProbeError."""
    return [_transaction(row) for row in ndbinfo.rows(_INACTIVE)]


def transactions(ndbinfo: Ndbinfo, ids: Iterable[int]) -> list[Transaction]:
    """Give those of these transactions that are still open; raises a ProbeError."""
    wanted = sorted(ids)
    if not wanted:
        return []
    places = ", ".join(["%s"] * len(wanted))
    sql = f"SELECT {_ONE} FROM ndbinfo.cluster_transactions WHERE transid IN ({places})"  # noqa: S608
    return [_transaction(row) for row in ndbinfo.rows(sql, *wanted)]


def locks(ndbinfo: Ndbinfo) -> list[Lock]:
    """Give some rows that somebody waits for, those that have been locked for longest first.

    Raises a ProbeError, a NoAnswerError if it takes too long.
    """
    ndbinfo.rows("SET ndbinfo_max_rows = 256")  # at a time, not 10: 40,000 take half as long
    waits: dict[tuple[int, ...], list[tuple[float, int]]] = {}
    for row, seconds, transaction in _locks(ndbinfo, _MOST_WAITS, "state = 'W'"):
        waits.setdefault(row, []).append((seconds, transaction))
    longest = sorted(waits, key=lambda row: max(waits[row]), reverse=True)[:MOST]
    held = dict.fromkeys(longest, (None, None)) | _holders(ndbinfo, longest)
    found = [Lock(row[1], len(waits[row]), *max(waits[row]), *held[row]) for row in longest]
    return sorted(found, key=lambda lock: lock.held or 0, reverse=True)


def _holders(
    ndbinfo: Ndbinfo, rows: list[tuple[int, ...]]
) -> dict[tuple[int, ...], tuple[float | None, int | None]]:
    """Tell for how long each of these rows has been locked, and by whom, of several by one of them."""
    if not rows:
        return {}
    which = f"state = 'H' AND ({' OR '.join([_THIS_ROW] * len(rows))})"
    values = [number for row in rows for number in row]
    return {row: (held, by) for row, held, by in _locks(ndbinfo, len(rows), which, *values)}


def _locks(
    ndbinfo: Ndbinfo, most: int, which: str, *values: int
) -> Iterator[tuple[tuple[int, ...], float, int]]:
    """Give row, seconds and transaction of locks."""
    seconds = max(1, min(_LONGEST, int(ndbinfo.deadline.left() / 2)))
    sql = _LOCKS.format(within=1000 * seconds, which=which, most=most)
    for row in ndbinfo.rows(sql, *values):
        key = tuple(whole(row, name) for name in _ROW.split(", "))
        yield key, number(row, "duration_millis") / 1000, whole(row, "transid")


def table_names(ndbinfo: Ndbinfo, ids: Iterable[int]) -> dict[int, str]:
    """Give the names of tables, as far as they are known: ``shop.seats``."""
    wanted = sorted(set(ids))
    if not wanted:
        return {}
    places = ", ".join(["%s"] * len(wanted))
    # Types 1 to 3: tables, and unique hash indexes, which are tables of their own.
    sql = f"SELECT id, fq_name FROM ndbinfo.dict_obj_info WHERE type IN (1, 2, 3) AND id IN ({places})"  # noqa: S608
    try:
        rows = ndbinfo.rows(sql, *wanted)
    except MissingTableError:  # before 7.5
        return {}
    return {whole(row, "id"): str(row["fq_name"]).replace("/def/", ".") for row in rows}


def _transaction(row: Row) -> Transaction:
    return Transaction(
        id=whole(row, "transid"),
        state=str(row["state"] or ""),
        operations=whole(row, "count_operations"),
        outstanding=whole(row, "outstanding_operations"),
        inactive=number(row, "inactive_seconds"),
        client=whole(row, "client_node_id"),
    )
