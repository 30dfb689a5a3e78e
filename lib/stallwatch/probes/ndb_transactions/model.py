"""What is open in a cluster, which locks that holds or waits for, and who has opened it."""

from __future__ import annotations

from stallwatch.startup import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping

INACTIVE, LOCK_HELD, LOCK_WAIT = "inactive", "lock_held", "lock_wait"  # the quantities
NO_CLIENT = "system user"
_IDLE = 3.0  # seconds without a statement: a client at work pauses, too


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
        if self.connection is None or self.connection.user == NO_CLIENT or self.transaction.is_active:
            return False
        least = max(_IDLE, self.since + 1)  # those seconds are whole ones
        return self.connection.command == "Sleep" and self.connection.seconds >= least


class Clients(NamedTuple):
    """Clients of some transactions, as far as they are known."""

    connections: Mapping[int, Connection] = {}  # by the upper halves of ids of transactions
    processes: Mapping[int, tuple[str, str]] = {}  # program and address by node
    since: float = 0.0  # seconds that the connections were asked after the transactions

    def of(self, transaction: Transaction) -> Client:
        """Give the one that has opened it."""
        if transaction.is_own:
            return Client(transaction, f"data node {transaction.client} itself")
        program, address = self.processes.get(transaction.client, ("", ""))
        connection = self.connections.get(transaction.id >> 32)
        is_sql = program == "mysqld" or connection is not None
        kind = "SQL node" if is_sql else "API node" if program else "node"
        node = f"{kind} {transaction.client}"
        return Client(transaction, node, address if is_sql else program, is_sql, connection, self.since)
