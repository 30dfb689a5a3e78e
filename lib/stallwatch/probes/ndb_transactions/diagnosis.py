"""Who waits for whom: rows that are wanted, and whose end would let all go on; and what else was found."""

from __future__ import annotations

from stallwatch.startup import TYPE_CHECKING, NamedTuple
from stallwatch.words import FEW

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from stallwatch.findings import Fault, ProbeError
    from stallwatch.probes.mysql.asking import Refusal
    from stallwatch.probes.ndb_transactions.queries import Connection, Lock, Totals, Transaction

INACTIVE, LOCK_HELD, LOCK_WAIT = "inactive", "lock_held", "lock_wait"  # the quantities
NO_CLIENT = "system user"
_IDLE = 3.0  # seconds without a statement: a client at work pauses, too


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
    def short(self) -> str:
        """Who it is, without the address or the program."""
        return f"connection {self.connection.id} of {self.node}" if self.connection else self.node

    @property
    def is_mysqld(self) -> bool:
        """Whether it is a thread of mysqld's own."""
        return self.connection is not None and self.connection.user == NO_CLIENT

    @property
    def is_idle(self) -> bool:
        """Whether it is a client that is known to do nothing, and has been since we first saw it."""
        if self.connection is None or self.is_mysqld or self.transaction.is_active:
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


class WantedRow(NamedTuple):
    """A row that somebody waits for. Transactions are given by their ids, with seconds."""

    table: int  # id
    waiters: dict[int, float]
    holders: dict[int, float]  # who do not wait for it themselves
    sharers: dict[int, float]  # who hold it with others and wait to have it alone

    @property
    def held(self) -> float | None:
        """Seconds that the row has been locked by somebody who is waited for; None: that is not seen."""
        return max(self.in_the_way.values(), default=None)

    @property
    def waited(self) -> float:
        """Seconds that somebody has waited, at most."""
        return max(self.waiters.values())

    @property
    def first_waiter(self) -> int:
        """The transaction that has waited for longest."""
        return max(self.waiters, key=lambda one: self.waiters[one])

    @property
    def in_the_way(self) -> dict[int, float]:
        """Who is waited for, longest first: of those who wait themselves another one is."""
        return self.holders or (self.sharers if len(self.waiters) > 1 else {})

    def before(self, transaction: int) -> set[int]:
        """Give those for whom this one waits here."""
        return {*self.holders, *self.sharers} - {transaction}


class Chain(NamedTuple):
    """What is at the end of all waiting for a row."""

    heads: tuple[int, ...]  # transactions that do not wait for a lock
    is_whole: bool  # no other is waited for, as far as all locks were seen

    @property
    def is_deadlock(self) -> bool:
        """Whether they wait for each other."""
        return self.is_whole and not self.heads


class Waits:
    """All ``rows`` that are wanted; there may be others unless it ``is_whole``."""

    def __init__(self, rows: Sequence[WantedRow], *, is_whole: bool) -> None:
        self.rows = rows
        self._is_whole = is_whole
        self._waited_for: dict[int, list[WantedRow]] = {}  # by transaction
        for row in rows:
            for waiter in row.waiters:
                self._waited_for.setdefault(waiter, []).append(row)

    @property
    def held_longest(self) -> WantedRow | None:
        """The row that has been locked for longest, of those whose holder is seen."""
        return max(
            (row for row in self.rows if row.held is not None), key=lambda row: row.held or 0, default=None
        )

    @property
    def waited_longest(self) -> WantedRow | None:
        """The row that somebody has waited for for longest."""
        return max(self.rows, key=lambda row: row.waited, default=None)

    def chain(self, row: WantedRow) -> Chain:
        """Follow who waits for whom, from the holders of a row to those who hold up all of them."""
        heads, whole = [], self._is_whole
        todo, seen = list(row.in_the_way), set(row.in_the_way)
        for one in todo:
            waits = [row.before(one) for row in self._waited_for.get(one, ())]
            if not waits:
                heads.append(one)
            whole &= all(waits)
            further = set().union(*waits) - seen
            todo += sorted(further)
            seen |= further
        return Chain(tuple(heads), whole)


def wanted(waiting: Iterable[Lock], holding: Iterable[Lock], *, is_whole: bool = True) -> Waits:
    """Bring locks together by their rows."""
    waiters, holders = _by_row(waiting), _by_row(holding)
    rows = []
    for row, asked in waiters.items():
        held = holders.get(row, {})
        # Who waited for longer than it holds the row has got it since it was seen to wait.
        waits = {one: seconds for one, seconds in asked.items() if held.get(one, seconds) >= seconds}
        sharers = {one: seconds for one, seconds in held.items() if one in waits}
        others = {one: seconds for one, seconds in held.items() if one not in waits}
        if waits:
            rows.append(WantedRow(row[1], waits, others, sharers))
    return Waits(rows, is_whole=is_whole)


def _by_row(locks: Iterable[Lock]) -> dict[tuple[int, ...], dict[int, float]]:
    """Give the seconds of transactions by row, the longest first."""
    found: dict[tuple[int, ...], dict[int, float]] = {}
    for lock in sorted(locks, key=lambda lock: lock.seconds, reverse=True):
        found.setdefault(lock.row, {}).setdefault(lock.transaction, lock.seconds)
    return found


class Diagnosis:
    """What was found so far, more after each statement.

    ``alerts`` returns whether a threshold of that name alerts on a value.
    """

    def __init__(
        self, totals: Totals, unclear: list[ProbeError], refused: Sequence[Refusal],
        alerts: Callable[[str, float | None], bool],
    ) -> None:  # fmt: skip
        self.totals, self.alerts = totals, alerts
        self.waits: Waits | None = None  # who waits for whom; None: not known
        self.has_more = False  # waits than were read
        self.longest: Sequence[Transaction] | None = None  # since they asked anything; None: not asked
        self.involved: dict[int, Transaction] = {}  # by id, in lock waits that alert
        self.clients = Clients()
        self.tables: dict[int, str] = {}  # names by id
        self.unread: list[ProbeError] = []
        self.unclear = unclear  # rows without numbers
        self.refused = refused  # what could not be asked
        self.notes: list[Fault] = []

    def lock_waits(self) -> list[WantedRow]:
        """Give the row held for longest and the one waited for for longest, if one of them alerts."""
        if not self.waits:
            return []
        held, waited = self.waits.held_longest, self.waits.waited_longest
        if (held and self.alerts(LOCK_HELD, held.held)) or (waited and self.alerts(LOCK_WAIT, waited.waited)):
            return [row for row in (held, waited) if row]
        return []

    def named(self) -> set[int]:
        """Give the transactions that are named with these rows."""
        ids: set[int] = set()
        for row in self.lock_waits():
            heads = self.waits.chain(row).heads if self.waits else ()
            ids.update([*row.in_the_way][:FEW], heads[:FEW], [row.first_waiter])
        return ids

    def client(self, transaction: int) -> Client | None:
        """Give who has opened one of those; None if it has ended meanwhile."""
        found = self.involved.get(transaction)
        return self.clients.of(found) if found else None
