"""What is asked: little while nobody waits, then who waits for what, with limits that the server keeps."""

from __future__ import annotations

import time

from stallwatch.findings import ProbeError
from stallwatch.history.delta import Look
from stallwatch.probes.mysql import other_waits
from stallwatch.probes.mysql.asking import PERFORMANCE_SCHEMA, Asking, Statement
from stallwatch.probes.mysql.locks import in_status, metadata, rows, waits
from stallwatch.probes.mysql.locks.graph import Graph, LockKind, Wait
from stallwatch.probes.mysql.processes import (
    Phase,
    by_id,
    last_statements,
    processes,
    programs,
    progress,
    since_idle,
    waiting_by_state,
)
from stallwatch.probes.mysql.status import global_status, metrics, numbers, variables
from stallwatch.startup import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from stallwatch.deadline import Deadline
    from stallwatch.frame.run import Run
    from stallwatch.probes.mysql.locks.deadlocks import Party
    from stallwatch.probes.mysql.locks.metadata import Lock
    from stallwatch.probes.mysql.locks.rows import Transaction
    from stallwatch.probes.mysql.processes import Last, Process, Program
    from stallwatch.sources.mysql.server import Server

TIMEOUTS, DEADLOCKS, WAITS = "lock_timeouts", "lock_deadlocks", "Innodb_row_lock_waits"
_CONNECTED = "Threads_connected"
_HISTORY = "trx_rseg_history_len"
MOST_ROWS = 20  # that are waited for and whose holders are asked for, those with most waiters first
MOST_FOLLOWED = 500  # transactions whose holders are asked for, to find the head of a chain
_MOST_SUSPECTS = 4  # one of whom has the row, where nothing shows pairs
_TRIES = 3  # to see the head of a queue that moves
_CACHED = 0.11  # seconds: the server keeps what INNODB_TRX has shown for 0.1 s (MySQL, MariaDB)
PAUSE = 1.5  # seconds between two looks: a queue that moves has another head then
LEFT = 2.0  # seconds that are left for all else after that
_LONGEST = 1.5  # seconds that the server may take for one statement of the costly look


class Waiting(NamedTuple):
    """What the cheap look shows."""

    transactions: tuple[Transaction, ...]  # those that wait, then the oldest: rows.MOST at most
    by_state: int  # connections that wait for a lock that is not one of a row
    longest: float  # seconds that one of all has waited; of others than rows, for which its statement runs
    by_counter: int = 0  # that wait for a row, where there are too many transactions to list them all
    other_waits: int = 0  # connections that wait for something else for 2 s, as at their COMMIT

    @property
    def number(self) -> int:
        """How many connections wait for a lock."""
        return self.by_state + max(self.by_counter, len(self.for_rows()))

    @property
    def left_out(self) -> int:
        """How many connections wait for a row and were not looked at."""
        return max(0, self.by_counter - len(self.for_rows()))

    def for_rows(self) -> dict[int, float]:
        """Return for how many seconds connections have waited for a row."""
        return {one.process: one.waiting for one in self.transactions if one.waiting is not None}


class Details(NamedTuple):
    """The result of the costly look: who waits for whom, and what every connection does."""

    graph: Graph
    processes: Mapping[int, Process]
    unexplained: Mapping[int, LockKind] = {}  # connections that wait, nobody knows for whom, and what for
    other_waits: Mapping[int, Phase] = {}  # connections that wait for something that is no lock
    last: Mapping[int, Last] = {}  # statements of heads
    prepared: bool = False  # whether a connection may have what XA has prepared: KILL does not end that
    tells: bool = False  # whether any table of the server names holders of other locks than of rows
    rows_left_out: int = 0  # that are waited for, and whose holders were not asked for
    locks_left_out: bool = False  # there are more metadata locks than were listed


class Collector:
    """The statements of one run. Raises a ProbeError if the server does not show whether anybody waits."""

    def __init__(self, server: Server, run: Run) -> None:
        self.asking = Asking(server, run.trace)
        self.flavour = server.flavour
        self.history: float | None = None  # length of the history list; None: not asked, or not known
        self.connected = self.most_connections = 0  # clients; max_connections, 0: not known
        self._waiting_now = 0  # for rows, as the server counts them
        self._listed: tuple[Process, ...] | None = None  # the process list, which is asked for once
        self._tables: Mapping[str, tuple[str, str]] | None = None  # of rows, if the status was asked for them

    def counters(self) -> Look:
        """Look at what is counted."""
        status = numbers(global_status(self.asking, ("Uptime", WAITS, in_status.WAITING, _CONNECTED)))
        self.asking.must_have_answered()
        self._waiting_now = int(status.pop(in_status.WAITING, 0))
        self.connected = int(status.pop(_CONNECTED, 0))
        found = status | numbers(metrics(self.asking, (TIMEOUTS, DEADLOCKS, _HISTORY)))
        self.history = found.pop(_HISTORY, None)
        return Look(found.pop("Uptime", 0.0), time.time(), found)

    def waiting(self) -> Waiting:
        """See who waits: the cheap look."""
        transactions = self.transactions()
        counted = waiting_by_state(self.asking)
        self.asking.must_have_answered()
        longest = max((one.waiting or 0.0 for one in transactions), default=0.0)
        is_cut = self._tables is not None or len(transactions) >= rows.MOST
        by_counter = self._waiting_now if is_cut else 0
        longest = max(counted.seconds, longest)
        self.most_connections = counted.most
        return Waiting(transactions, counted.waiting, longest, by_counter, counted.others)

    def transactions(self) -> tuple[Transaction, ...]:
        """Ask for the transactions that wait, and the oldest: in a way that the server can bear."""
        if in_status.is_better(self.asking, self._waiting_now):
            is_new, listed = self._listed is None, self._processes()
            if is_new:
                self.asking.must_have_answered()
            answer = in_status.ask(self.asking, listed=listed)
            if not answer.text:
                what = f"{self._waiting_now} connections of {self.asking.server.where} wait for a row"
                raise ProbeError(f"{what}, who blocks them is not known: {answer.excuse}")
            found, self._tables = in_status.read(answer.text)
        else:
            found, self._tables = rows.first_transactions(self.asking), None
            self.asking.must_have_answered()
        return found

    def _processes(self) -> tuple[Process, ...]:
        if self._listed is None:
            self._listed = processes(self.asking)
        return self._listed

    def details(self, waiting: Waiting) -> tuple[Waiting, Details]:
        """See who waits for whom: the costly look. Who waits may have changed meanwhile."""
        self.asking.rows(Statement(f"SET SESSION {self.flavour.statement_limit(_LONGEST)}"))
        if variables(self.asking, ("performance_schema",)).get("performance_schema") == "OFF":
            self.asking.switch_off(PERFORMANCE_SCHEMA)
        listed = by_id(self._processes())
        kinds = {number: kind for number, one in listed.items() if (kind := waits.kind(one))}
        locks: tuple[Lock, ...] = metadata.locks(self.asking) if kinds else ()
        if any(one.state == metadata.SCHEMA_LOCK for one in listed.values()):
            locks += metadata.schema_locks(self.asking)
        tells = bool(locks)
        if for_user_locks := [listed[number] for number, kind in kinds.items() if kind is LockKind.USER]:
            locks += metadata.user_locks(self.asking, for_user_locks)
        for _ in range(_TRIES):
            groups = _by_row(waiting.transactions)
            waiting, for_rows, unknown = self._for_rows(waiting, groups[:MOST_ROWS])
            if not unknown or self.asking.failed:
                break
            self.asking.server.deadline.rest(_CACHED)
            try:
                waiting = waiting._replace(transactions=self.transactions())
            except ProbeError:  # what is known already is worth more
                break
            unknown = _stuck(groups[:MOST_ROWS], unknown, waiting.transactions)
        graph = Graph([*for_rows, *waits.for_others(listed, locks, waiting.transactions)])
        explained = {one.waiting for one in graph.waits}
        unexplained = {number: kind for number, kind in kinds.items() if number not in explained}
        last = last_statements(self.asking, graph.heads())
        listed = since_idle(listed, last)
        unexplained |= dict.fromkeys((*unknown, *_waiting_ends(graph, waiting)), LockKind.ROW)
        prepared = rows.may_be_prepared(self.asking, listed, waiting.transactions)
        phases = {number: phase for number, one in listed.items() if (phase := other_waits.phase(one))}
        for_locks = {one.waiting for one in graph.waits} | unexplained.keys() | waiting.for_rows().keys()
        phases = {number: phase for number, phase in phases.items() if number not in for_locks}
        details = Details(graph, listed, unexplained, phases, last, prepared, tells=tells)
        return waiting, details._replace(
            rows_left_out=sum(group[0].process not in explained for group in groups[MOST_ROWS:])
            if self._tables is None
            else 0,
            locks_left_out=len(locks) >= metadata.MOST,
        )

    def without_progress(self, details: Details, deadline: Deadline) -> Details:
        """Leave out the writes that make progress, or of which that is not known: these wait for nothing."""
        writes = [number for number, phase in details.other_waits.items() if phase is Phase.WRITE]
        if not writes:
            return details
        moving, before = {*writes}, progress(self.asking, writes)
        if before and deadline.left() > PAUSE + LEFT:
            deadline.rest(PAUSE)
            after = progress(self.asking, writes)
            moving = {one for one in writes if before.get(one) != after.get(one, ())}
        stand = {number: phase for number, phase in details.other_waits.items() if number not in moving}
        return details._replace(other_waits=stand)

    def _for_rows(
        self, waiting: Waiting, groups: Sequence[Sequence[Transaction]]
    ) -> tuple[Waiting, list[Wait], list[int]]:
        """Ask of each row for whom the one waits that has waited for longest; return also who is not shown.

        A queue that moves is no wait here: who had the row when its transactions were listed has it no more.
        Where there are more transactions than were listed, those that hold rows are asked for.
        """
        if self._tables is not None:
            found_waits = list(in_status.waits(waiting.transactions, self._tables, _MOST_SUSPECTS))
            told_of = {one.waiting for one in found_waits}
            return waiting, found_waits, [one for one in waiting.for_rows() if one not in told_of]
        first = [group[0] for group in groups]
        found = rows.row_locks(self.asking, [one.id for one in first], MOST_FOLLOWED)
        if len(waiting.transactions) >= rows.MOST:
            known = {one.id for one in waiting.transactions}
            more = rows.transactions_of(self.asking, {one.holding for one in found} - known)
            waiting = waiting._replace(transactions=(*waiting.transactions, *more))
        told = {one.waiting for one in found}
        unknown = [one.process for group in groups if group[0].id not in told for one in group]
        tables = {one.row: rows.waited_for(self.asking, one.id) for one in first if one.id in told}
        at_heads = {one.waiting for one in found if one.holding not in told}  # at the end of a long chain
        for one in waiting.transactions:
            if one.id in at_heads and one.row not in tables and len(tables) < 2 * MOST_ROWS:
                tables[one.row] = rows.waited_for(self.asking, one.id)
        return waiting, list(waits.for_rows(waiting.transactions, found, tables)), unknown

    def latest_deadlock(self, budget: float) -> tuple[tuple[Party, ...], tuple[str, float] | None]:
        """Ask whose statements were in the latest deadlock, and when, within so many seconds of ``budget``.

        None: the server does not show it.
        """
        from stallwatch.probes.mysql.locks import deadlocks

        status = in_status.ask(self.asking, budget, self._listed).text
        return deadlocks.latest(status), deadlocks.moment(status)

    def programs(self, connections: Collection[int]) -> dict[int, Program]:
        """Ask which programs connections are of."""
        return programs(self.asking, connections) if connections else {}


def _waiting_ends(graph: Graph, waiting: Waiting) -> set[int]:
    """Return who waits itself at the end of a chain that was not followed any further: it is no head."""
    return {one for one in graph.heads() if one in waiting.for_rows()}


def _stuck(
    groups: Sequence[Sequence[Transaction]], unknown: Sequence[int], later: Sequence[Transaction]
) -> list[int]:
    """Leave out the queues that have moved on: who waited for longest for the row waits for it no more."""
    still = {(one.process, one.row) for one in later}
    stuck = [group for group in groups if (group[0].process, group[0].row) in still]
    return [one.process for group in stuck for one in group if one.process in unknown]


def _by_row(transactions: Sequence[Transaction]) -> list[list[Transaction]]:
    """Put those that wait for the same row together, longest wait first; the largest group first."""
    groups: dict[str, list[Transaction]] = {}
    for one in transactions:
        if one.waiting is not None:
            groups.setdefault(one.row, []).append(one)
    for group in groups.values():
        group.sort(key=lambda one: -(one.waiting or 0.0))
    return sorted(groups.values(), key=lambda group: (-len(group), -(group[0].waiting or 0.0)))
