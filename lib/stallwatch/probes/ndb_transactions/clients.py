"""Whose a transaction is: which node of the cluster, which connection of an SQL node, and what that does."""

from __future__ import annotations

import time

from stallwatch.probes.ndbinfo.numbers import whole
from stallwatch.startup import TYPE_CHECKING, NamedTuple
from stallwatch.units import say_duration

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from stallwatch.probes.ndb_transactions.asking import Transaction
    from stallwatch.probes.ndb_transactions.evidence import Evidence

# An SQL node tells of its own connections alone, and of the transaction that each had last: the upper half of
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
_NO_CLIENT = "system user"
_IDLE = 3.0  # seconds without a statement: a client at work pauses, too


class Connection(NamedTuple):
    """A connection of an SQL node."""

    id: int
    user: str = ""  # "": not known
    command: str = ""  # Sleep, Query, ...; "": not known
    seconds: float = 0.0  # since that began


class Client(NamedTuple):
    """Who has opened a transaction, and what it does."""

    transaction: Transaction
    node: str  # "SQL node 51"
    where: str = ""  # the SQL node's address, or the program
    is_sql: bool = False
    connection: Connection | None = None
    since: float = 0.0  # seconds since the first look at its transaction

    def __str__(self) -> str:
        node = f"{self.node} ({self.where})" if self.where else self.node
        return f"connection {self.connection.id} of {node}" if self.connection else node

    @property
    def is_idle(self) -> bool:
        """Whether it is a client that is known to do nothing, and has been since we first saw it."""
        if self.connection is None or self.connection.user == _NO_CLIENT or self.transaction.is_active:
            return False
        least = max(_IDLE, self.since + 1)  # those seconds are whole ones
        return self.connection.command == "Sleep" and self.connection.seconds >= least

    @property
    def state(self) -> str:
        """Tell what it does, as far as that is known."""
        if self.transaction.is_active:
            return "at work in the data nodes"
        if self.connection is None or not self.connection.command:
            return f"silent for {say_duration(self.transaction.inactive)}"
        if self.connection.user == _NO_CLIENT:
            return "a thread of mysqld's own"
        spent = say_duration(self.connection.seconds)
        if self.connection.command == "Sleep":
            return f"idle for {spent}"
        return f"at work for {spent} ({self.connection.command})"

    @property
    def advice(self) -> str:
        """What to do about its transaction: only what does nothing is to be ended."""
        if self.transaction.is_own:
            return "wait: the cluster itself builds an index, copies a table or counts its rows"
        if self.connection is not None and self.is_idle:
            return f"KILL {self.connection.id} on {self.node} ends it and lets go of its locks"
        if self.connection is not None:
            return f"SHOW PROCESSLIST on {self.node} tells what connection {self.connection.id} does"
        if self.is_sql:
            tells = "ndbinfo.server_transactions tells its connection, SHOW PROCESSLIST what that does"
            return f"on {self.node} {tells}"
        return f"see what {self.node} does"


class Clients(NamedTuple):
    """Clients of some transactions, as far as they are known."""

    connections: Mapping[int, Connection] = {}  # by the upper halves of ids of transactions
    processes: Mapping[int, tuple[str, str]] = {}  # program and address by node
    since: float = 0.0  # seconds that the connections were asked after the transactions

    def of(self, transaction: Transaction) -> Client:
        """Tell who has opened it."""
        if transaction.is_own:
            return Client(transaction, f"data node {transaction.client} itself")
        program, address = self.processes.get(transaction.client, ("", ""))
        connection = self.connections.get(transaction.id >> 32)
        is_sql = program == "mysqld" or connection is not None
        kind = "SQL node" if is_sql else "API node" if program else "node"
        node = f"{kind} {transaction.client}"
        return Client(transaction, node, address if is_sql else program, is_sql, connection, self.since)


def ask(evidence: Evidence, transactions: Iterable[Transaction], begun: float) -> Clients:
    """Ask who has opened these transactions, which were asked for from ``begun`` on, in monotonic time."""
    of_clients = [one for one in transactions if not one.is_own]
    connections = _connections(evidence, {one.id >> 32 for one in of_clients})
    since = time.monotonic() - begun
    return Clients(connections, _processes(evidence, {one.client for one in of_clients}), since)


def _connections(evidence: Evidence, upper_halves: set[int]) -> dict[int, Connection]:
    """Give the connections of transactions by the upper halves of their ids."""
    rows = evidence.rows_in("which connection of its SQL node has it", _CONNECTIONS, upper_halves)
    ids = {whole(row, "upper_half"): whole(row, "connection") for row in rows}
    rows = evidence.rows_in("what its connection does", _COMMANDS, set(ids.values()))
    commands = {
        whole(row, "connection"): (
            str(row["user_name"] or ""), str(row["command"] or ""), float(str(row["seconds"] or 0))
        )
        for row in rows
    }  # fmt: skip
    return {half: Connection(one, *commands.get(one, ())) for half, one in ids.items()}


def _processes(evidence: Evidence, nodes: set[int]) -> dict[int, tuple[str, str]]:
    """Give the program and the address of nodes; not before 7.5.7."""
    rows = evidence.rows_in("which program has it", _PROCESSES, nodes)
    return {
        whole(row, "node_id"): (str(row["process_name"] or ""), _address(str(row["uri"] or "")))
        for row in rows
    }


def _address(uri: str) -> str:
    """Take ``db1:3306`` from ``mysql://db1:3306/?server-id=51``."""
    return uri.partition("://")[2].partition("/")[0]
