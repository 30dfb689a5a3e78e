"""Whose a transaction is: which node of the cluster, and which connection of an SQL node."""

from __future__ import annotations

from typing import NamedTuple

from stallwatch.probes.ndbinfo.numbers import whole
from stallwatch.sources.mysql import DeniedError, MissingTableError

TYPE_CHECKING = False  # typing itself costs every check 2 ms
if TYPE_CHECKING:
    from collections.abc import Sequence

    from stallwatch.probes.ndb_transactions.asking import Transaction
    from stallwatch.probes.ndbinfo.asking import Ndbinfo

# An SQL node tells of its own connections alone, and of the transaction that each had last: the upper half of
# the id stays the same (as the views ndbinfo.server_... take it).
_CONNECTIONS = """
    SELECT mysql_connection_id, ndb_transid FROM information_schema.ndb_transid_mysql_connection_map
    WHERE mysql_connection_id > 0 AND ndb_transid >> 32 IN ({places})
"""


class Client(NamedTuple):
    """Who has opened a transaction."""

    node: str  # "SQL node 51"
    where: str  # its address, or its program
    is_sql: bool
    connection: int | None  # of the SQL node

    def __str__(self) -> str:
        node = f"{self.node} ({self.where})" if self.where else self.node
        return node if self.connection is None else f"connection {self.connection} of {node}"

    @property
    def advice(self) -> str:
        """What ends its transaction."""
        if self.connection is not None:
            return f"KILL {self.connection} on {self.node} ends it and lets go of its locks"
        if self.is_sql:
            return f"ndbinfo.server_transactions on {self.node} tells the connection to KILL"
        return f"see what {self.node} does: its end lets go of the locks"


class Clients:
    """Clients of some transactions. ``denied`` is why their connections are not known."""

    def __init__(self, ndbinfo: Ndbinfo, transactions: Sequence[Transaction]) -> None:
        self.denied: DeniedError | None = None
        self._processes: dict[int, tuple[str, str]] = {}
        self._connections: dict[int, int] = {}
        if transactions:
            self._processes = _processes(ndbinfo, {one.client for one in transactions})
            try:
                self._connections = _connections(ndbinfo, {one.id >> 32 for one in transactions})
            except DeniedError as error:
                self.denied = error
            except MissingTableError:  # another fork: its nodes are named
                pass

    def of(self, transaction: Transaction) -> Client:
        """Tell who has opened it."""
        program, address = self._processes.get(transaction.client, ("", ""))
        is_sql = program == "mysqld"
        kind = "SQL node" if is_sql else "API node" if program else "node"
        connection = self._connections.get(transaction.id >> 32)
        return Client(f"{kind} {transaction.client}", address if is_sql else program, is_sql, connection)


def _processes(ndbinfo: Ndbinfo, nodes: set[int]) -> dict[int, tuple[str, str]]:
    """Give the program and the address of nodes; not before 7.5.7."""
    places = ", ".join(["%s"] * len(nodes))
    sql = (
        f"SELECT node_id, process_name, service_URI AS uri FROM ndbinfo.processes WHERE node_id IN ({places})"  # noqa: S608
    )
    try:
        rows = ndbinfo.rows(sql, *sorted(nodes))
    except MissingTableError:
        return {}
    return {
        whole(row, "node_id"): (str(row["process_name"] or ""), _address(str(row["uri"] or "")))
        for row in rows
    }


def _address(uri: str) -> str:
    """Take ``db1:3306`` from ``mysql://db1:3306/?server-id=51``."""
    return uri.partition("://")[2].partition("/")[0]


def _connections(ndbinfo: Ndbinfo, beginnings: set[int]) -> dict[int, int]:
    places = ", ".join(["%s"] * len(beginnings))
    rows = ndbinfo.rows(_CONNECTIONS.format(places=places), *sorted(beginnings))
    return {whole(row, "ndb_transid") >> 32: whole(row, "mysql_connection_id") for row in rows}
