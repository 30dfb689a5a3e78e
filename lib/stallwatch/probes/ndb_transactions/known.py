"""What is known of the transactions of a cluster, more after each statement."""

from __future__ import annotations

from stallwatch.probes.ndb_transactions.clients import Clients
from stallwatch.probes.ndbinfo.words import FEW
from stallwatch.startup import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from stallwatch.findings import Fault, ProbeError
    from stallwatch.probes.ndb_transactions.asking import Totals, Transaction
    from stallwatch.probes.ndb_transactions.clients import Client
    from stallwatch.probes.ndb_transactions.waits import Waits, WantedRow

INACTIVE, HELD, WAITED = "inactive", "lock_held", "lock_wait"


class Known:
    """What is known so far."""

    def __init__(self, totals: Totals, alerts: Callable[[str, float | None], bool]) -> None:
        self.totals = totals
        self.alerts = alerts
        self.waits: Waits | None = None  # who waits for whom; None: not looked at
        self.has_more = False  # waits than were read
        self.longest: Sequence[Transaction] | None = None  # since they asked anything; None: not looked at
        self.involved: dict[int, Transaction] = {}  # by id, those that are told
        self.clients = Clients()
        self.tables: dict[int, str] = {}  # names by id
        self.unread: list[ProbeError] = []
        self.unclear: list[ProbeError] = []  # rows without numbers
        self.notes: list[Fault] = []

    def told_rows(self) -> list[WantedRow]:
        """Give the rows that are told if they alert: the one held for longest, and the one waited for."""
        if not self.waits:
            return []
        held, waited = self.waits.held_longest, self.waits.waited_longest
        if (held and self.alerts(HELD, held.held)) or (waited and self.alerts(WAITED, waited.waited)):
            return [row for row in (held, waited) if row]
        return []

    def told(self) -> set[int]:
        """Give the transactions that are named with these rows."""
        ids: set[int] = set()
        for row in self.told_rows():
            heads = self.waits.chain(row).heads if self.waits else ()
            ids.update([*row.in_the_way][:FEW], heads[:FEW], [row.first_waiter])
        return ids

    def client(self, transaction: int) -> Client | None:
        """Tell who has opened one of those; None if it has ended meanwhile."""
        found = self.involved.get(transaction)
        return self.clients.of(found) if found else None
