"""What is asked: what is open, and if anything is under way, who waits for whose lock; then who that is.

With 20,000 rows locked (NDB 9.7.2, two data nodes, two processors) cluster_transactions takes 40 ms, as it
does without; cluster_locks and cluster_operations have 40,000 rows then and take 0.5 to 1.5 s, whatever is
filtered: ndbinfo has no indexes. With 256 rows at a time it is 0.2 to 0.6 s. mysqld spends 0.3 s of processor
time on that, each data node 0.2 s. So the number of operations in cluster_transactions shows what reading the
locks will cost.
"""

from __future__ import annotations

import math
from functools import partial

from stallwatch.findings import ProbeError
from stallwatch.probes.mysql.asking import Inquiry, meant
from stallwatch.probes.ndbinfo.queries import address_of, number, whole
from stallwatch.startup import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
    from typing import TypeVar

    from stallwatch.probes.ndbinfo.queries import Ndbinfo, Row

    Made = TypeVar("Made")

MOST_OPERATIONS = 50_000  # in transactions whose locks are read
MOST = 10  # transactions that are distinguished
MOST_LOCKS = 1000  # that are read of those that are waited for, and of those that are held
MOST_ROWS = 100  # whose holders are asked for
_LONGEST = 3  # seconds that reading the locks may take
_ROUNDED = 1.0  # seconds: an uptime has whole ones
_SPARE = 2.0  # seconds for a statement that only explains: with 48 data nodes one on ndbinfo takes 1 s
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
# An SQL node shows its own connections alone, and of the transaction that each had last: the upper half of
# the id stays the same (as the views ndbinfo.server_... take it).
_CONNECTIONS = """
    SELECT mysql_connection_id AS connection, ndb_transid >> 32 AS upper_half
    FROM information_schema.ndb_transid_mysql_connection_map
    WHERE mysql_connection_id > 0 AND ndb_transid >> 32 IN (%s)
"""
# Of all versions, while performance_schema.processlist (8.0.22) lacks mysqld's own thread that reads the
# cluster's events.
_COMMANDS = """
    SELECT id AS connection, user AS user_name, command AS command, time AS seconds
    FROM information_schema.processlist WHERE id IN (%s)
"""
_PROCESSES = """
    SELECT node_id, process_name, service_URI AS uri FROM ndbinfo.processes WHERE node_id IN (%s)
"""
# Types 1 to 3: tables, and unique hash indexes, which are tables of their own.
_NAMES = "SELECT id, fq_name FROM ndbinfo.dict_obj_info WHERE type IN (1, 2, 3) AND id IN (%s)"


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


WAITS = "who waits for whom"


class Lock(NamedTuple):
    """What a transaction holds or waits for; a row is node, table, fragment and number."""

    row: tuple[int, ...]
    transaction: int
    seconds: float  # the longest of its operations


class Connection(NamedTuple):
    """A connection of an SQL node."""

    id: int
    user: str = ""  # "": not known
    command: str = ""  # Sleep, Query, ...; "": not known
    seconds: float = 0.0  # since that began


class Queries:
    """The statements of one run.

    Without totals there is nothing to judge: that raises a ProbeError. What else cannot be asked is nothing,
    and one of ``refused``; ``unclear`` are rows that lack a number.
    """

    def __init__(self, ndbinfo: Ndbinfo, uptimes: Mapping[int, float]) -> None:
        self.unclear: list[ProbeError] = []
        self._ndbinfo = ndbinfo
        self._uptimes = uptimes  # seconds, of the processes of data nodes, by node
        self._inquiry = Inquiry(ndbinfo.deadline)
        self.refused = self._inquiry.refused

    def totals(self) -> Totals:
        """Count what is open."""
        row = self._ndbinfo.some(_TOTALS)[0]
        found = Totals(*(whole(row, name) for name in Totals._fields))
        if not found.transactions:
            self._ndbinfo.believe_nothing(_TOTALS)
        return found

    def longest(self) -> list[Transaction] | None:
        """Give MOST open transactions: those that asked nothing for longest, then those that are active."""
        ask = partial(self._ndbinfo.rows, _OPEN)
        rows = self._inquiry.ask("its client", ask, evidence=True, takes=0.0)
        return None if rows is None else list(self._clear(rows, _transaction))

    def transactions(self, ids: Iterable[int]) -> list[Transaction]:
        """Explain whose locks they are: those of these transactions that are still open."""
        sql = _EACH.format(which="transid IN (%s)")
        rows = self._explain("which transaction has the lock", sql, sorted(ids), takes=0.0)
        return list(self._clear(rows, _transaction))

    def waits(self) -> list[Lock] | None:
        """Give MOST_LOCKS locks that are waited for, longest first."""

        def ask() -> list[Lock]:
            self._ndbinfo.rows("SET ndbinfo_max_rows = 256")  # at a time, not 10: 40,000 take half as long
            return self._locks("state = 'W'")

        return self._inquiry.ask(WAITS, ask, takes=0.0)

    def holds(self, rows: Sequence[tuple[int, ...]]) -> list[Lock] | None:
        """Give MOST_LOCKS locks that are held on these rows, longest first."""
        # mysqld looks these up in a sorted list: without, 60 rows among 40,000 take 0.4 s instead of 0.25.
        numbers = sorted({row[-1] for row in rows})
        places = ", ".join(["%s"] * len(numbers))
        these = " OR ".join([_THIS_ROW] * len(rows))
        parts = (part for row in rows for part in row)
        which = f"state = 'H' AND rowid IN ({places}) AND ({these})"
        ask = partial(self._locks, which, *numbers, *parts)
        return self._inquiry.ask("who holds what others wait for", ask, takes=0.0)

    def _locks(self, which: str, *values: int) -> list[Lock]:
        seconds = max(1, min(_LONGEST, int(self._ndbinfo.deadline.left() / 2)))
        rows = self._ndbinfo.rows(_LOCKS.format(within=1000 * seconds, which=which), *values)
        return list(self._clear(rows, self._lock))

    def _lock(self, row: Row) -> Lock:
        """Make a lock; one that is older than its data node has just begun.

        9.7.2 shows now and then, of who begins to wait, the uptime of the host (seen as 4,792 s and 5,282 s).
        """
        key = tuple(whole(row, column) for column in _KEY)
        seconds = number(row, "millis") / 1000
        begins = seconds > self._uptimes.get(key[0], math.inf) + _ROUNDED
        return Lock(key, whole(row, "transid"), 0.0 if begins else seconds)

    def _clear(self, rows: Iterable[Row], make: Callable[[Row], Made]) -> Iterator[Made]:
        """Make something of each row, but of those that lack a number."""
        for row in rows:
            try:
                yield make(row)
            except ProbeError as error:
                self.unclear.append(error)

    def connections(self, upper_halves: set[int]) -> dict[int, Connection]:
        """Explain whose transactions are: connections by the upper halves of the ids of transactions."""
        rows = self._explain("which connection of its SQL node has it", _CONNECTIONS, upper_halves)
        ids = {whole(row, "upper_half"): whole(row, "connection") for row in rows}
        rows = self._explain("what its connection does", _COMMANDS, set(ids.values()), takes=0.0)
        commands = {
            whole(row, "connection"): (
                str(row["user_name"] or ""), str(row["command"] or ""), meant(row["seconds"]) or 0.0
            )
            for row in rows
        }  # fmt: skip
        return {half: Connection(one, *commands.get(one, ())) for half, one in ids.items()}

    def processes(self, nodes: set[int]) -> dict[int, tuple[str, str]]:
        """Explain what nodes are: the program and the address of each; not before 7.5.7."""
        rows = self._explain("which program has it", _PROCESSES, nodes)
        return {
            whole(row, "node_id"): (str(row["process_name"] or ""), address_of(str(row["uri"] or "")))
            for row in rows
        }

    def tables(self, ids: set[int]) -> dict[int, str]:
        """Explain which tables locks are of: names by id."""
        rows = self._explain("the name of the table", _NAMES, ids)
        return {whole(row, "id"): str(row["fq_name"]).replace("/def/", ".") for row in rows}

    def _explain(self, what: str, sql: str, values: Collection[int], takes: float = _SPARE) -> list[Row]:
        """Give rows, or none if ``what`` they would explain is not seen."""
        ask = partial(self._ndbinfo.rows_in, sql, sorted(values))
        return (self._inquiry.ask(what, ask, evidence=True, takes=takes) if values else None) or []


def _transaction(row: Row) -> Transaction:
    return Transaction(
        id=whole(row, "transid"),
        operations=whole(row, "operations"),
        inactive=number(row, "inactive"),
        client=whole(row, "client"),
        is_own=whole(row, "block") < _FIRST_CLIENT,
        is_active=bool(whole(row, "active")),
    )
