"""What a blocker is, and what ends it: one ordered table of rules for heads and for long transactions.

Who blocks whom, and for how long, is found before, in `heads`. The kind of a cause is that of the lock that
others wait for, unless it is the disk that the head itself waits for.
"""

from __future__ import annotations

from stallwatch.causes import Cause, Certainty, Kind, Rule, Scope, judged
from stallwatch.probes.mysql.locks import ending
from stallwatch.probes.mysql.locks.ending import NextStep, Step
from stallwatch.probes.mysql.locks.graph import LockKind, Release
from stallwatch.startup import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from typing import Any

    from stallwatch.causes import Subject
    from stallwatch.probes.innodb_locks.heads import Blocked, Head
    from stallwatch.probes.innodb_locks.model import Found
    from stallwatch.probes.mysql.locks.graph import Wait
    from stallwatch.probes.mysql.locks.rows import Transaction
    from stallwatch.probes.mysql.processes import Process

    Proof = Mapping[str, Any] | None  # "step" is the next one; None: the rule does not apply

_AT_WORK = 3.0  # seconds since a connection did something
_TOOLS = ("dump", "backup")  # in names of programs
_WORTH_TELLING = 1000  # rows that a KILL rolls back
_ENDED_BY_KILL = frozenset({Step.KILL, Step.CHECK_FIRST, Step.LOOK_AGAIN})
KINDS = {
    LockKind.ROW: Kind.ROW_LOCK,
    LockKind.METADATA: Kind.METADATA_LOCK,
    LockKind.DATABASE: Kind.METADATA_LOCK,
    LockKind.TABLE: Kind.TABLE_LOCK,
    LockKind.READ: Kind.GLOBAL_READ_LOCK,
    LockKind.SERVER: Kind.GLOBAL_READ_LOCK,
    LockKind.BACKUP: Kind.BACKUP_LOCK,
    LockKind.FLUSH: Kind.TABLE_FLUSH,
    LockKind.STATEMENT: Kind.TABLE_FLUSH,
    LockKind.USER: Kind.USER_LOCK,
}


class Evidence(NamedTuple):
    """What is known of a head, or of a transaction that blocks nobody."""

    connection: int  # 0: no connection has the transaction
    process: Process | None  # None: the process list does not have the connection
    transaction: Transaction | None = None
    waits: Sequence[Wait] = ()  # for what it has
    certain: float = 0.0  # seconds that it has blocked others at least
    possible: float = 0.0  # at most
    is_proven: bool = True  # whether a table of the server shows that it has what others wait for
    program: str = ""
    digest: str = ""  # of its last statement
    prepared: bool = False  # whether XA RECOVER lists what a connection may have
    pending_writes: int = 0  # that InnoDB waits for
    each: tuple[Cause, ...] = ()  # causes of several heads that the same connections wait for
    are_suspects: bool = False  # whether only one of these has the lock

    @property
    def is_client(self) -> bool:
        """Whether it is known to be of a client."""
        return bool(self.connection and self.process and self.process.is_client)

    @property
    def is_idle(self) -> bool:
        """Whether it does nothing."""
        return bool(self.process and self.process.command == "Sleep")

    @property
    def waits_for_disk(self) -> bool:
        """Whether it commits for long while InnoDB waits for writes."""
        return bool(self.pending_writes) and ending.commits(self.process)

    @property
    def has_backup_lock(self) -> bool:
        """Whether others wait for its backup lock, and for nothing else."""
        return bool(self.waits) and all(one.lock is LockKind.BACKUP for one in self.waits)

    @property
    def modified(self) -> int:
        """How many rows a KILL rolls back, if they are many enough to be worth saying."""
        found = self.transaction.modified if self.transaction else 0
        return found if found >= _WORTH_TELLING else 0

    def step(self, step: Step) -> Proof:
        """Return a next step with this connection."""
        return {"step": NextStep(step, (self.connection,), self.release, self.modified)}

    @property
    def release(self) -> Release:
        """How it lets go by itself."""
        if self.transaction or all(one.lock is LockKind.ROW for one in self.waits):
            return Release.COMMIT if self.is_idle else Release.END
        first = next((one.release for one in self.waits if not one.queued), Release.END)
        unlocks = Release.UNLOCK_TABLES if first is Release.COMMIT_OR_UNLOCK else first  # no transaction
        return unlocks if self.is_idle else Release.END


def _one_of_several(evidence: Evidence) -> Proof:
    """Find several of which one has the lock, and nothing shows which."""
    if not evidence.are_suspects:
        return None
    can_end = all(one.parameters["step"].step in _ENDED_BY_KILL for one in evidence.each)
    return {"step": NextStep(Step.CHECK_WHICH if can_end else Step.CHECK_WHICH_ONLY), "each": evidence.each}


def _one_is_not_killed(evidence: Evidence) -> Proof:
    """Find of several one for which KILL is wrong: what is to be done about it comes first."""
    steps = (one.parameters["step"] for one in evidence.each)
    special = next((step for step in steps if step.step not in _ENDED_BY_KILL), None)
    return {"step": special, "each": evidence.each} if special else None


def _several(evidence: Evidence) -> Proof:
    steps = [one.parameters["step"] for one in evidence.each]
    if not steps:
        return None
    is_sure = evidence.is_proven and all(step.step is not Step.CHECK_FIRST for step in steps)
    kill = Step.KILL if is_sure else Step.CHECK_FIRST
    return {"step": NextStep(kill, tuple(step.connections[0] for step in steps)), "each": evidence.each}


def _turn_may_be_new(evidence: Evidence) -> bool:
    """Whether a client did something just now and is hardly known to block others."""
    is_new = evidence.certain < min(_AT_WORK, evidence.possible / 2)
    process = evidence.process
    return bool(
        is_new and evidence.is_proven and evidence.is_client and process and process.seconds < _AT_WORK
    )


def _many_rows(evidence: Evidence) -> Proof:
    step = ending.release(evidence.connection, evidence.release, evidence.modified)
    return {"step": step} if step.step is Step.LET_GO else None


def _then(step: Step, applies: Callable[[Evidence], object]) -> Callable[[Evidence], Proof]:
    """Return a rule's function: its next step, with the connection itself, if this applies."""
    return lambda one: one.step(step) if applies(one) else None


def rules(kind: Kind, who: Certainty) -> tuple[Rule, ...]:
    """Return the table for what has a lock of this kind; ``who``: how certain it is who has it.

    The first rule that applies decides.
    """
    likely = Certainty.LIKELY if who is Certainty.CERTAIN else who
    disk = Kind.SLOW_DISK

    def rule(evidence: str, step: Step, applies: Callable[[Evidence], object]) -> Rule:
        return Rule(kind, who, evidence, _then(step, applies))

    return (
        Rule(kind, who, "one_of_several", _one_of_several),
        Rule(kind, who, "one_is_not_killed", _one_is_not_killed),
        Rule(kind, who, "several", _several),
        rule(
            "rolls_back", Step.WAIT_FOR_ROLLBACK, lambda one: one.transaction and one.transaction.rolls_back
        ),
        rule("killed", Step.WAIT_FOR_ROLLBACK, lambda one: one.process and one.process.command == "Killed"),
        # What XA has prepared: a KILL has nobody to end.
        rule("no_connection", Step.END_BY_XA, lambda one: not one.connection and one.transaction),
        rule("one_of_several_without_connection", Step.FIND_BY_XA, lambda one: not one.connection),
        rule("turn_may_be_new", Step.LOOK_AGAIN, _turn_may_be_new),
        Rule(disk, who, "commit_waits_for_the_disk", _then(Step.SEE_DISK, lambda one: one.waits_for_disk)),
        Rule(disk, likely, "commits_for_long", _then(Step.SEE_DISK, lambda one: ending.commits(one.process))),
        rule("applier", Step.WAIT_FOR_APPLIER, lambda one: one.process and one.process.applies),
        rule("server_thread", Step.WAIT_FOR_THREAD, lambda one: one.process and not one.process.is_client),
        rule("backup_lock", Step.LET_BACKUP_END, lambda one: one.is_client and one.has_backup_lock),
        rule("backup_tool", Step.LET_BACKUP_END, lambda one: any(word in one.program for word in _TOOLS)),
        # It stays with its connection, and outlives that.
        rule("prepared_by_xa", Step.END_OWN_BY_XA, lambda one: one.digest.startswith("XA PREPARE")),
        Rule(kind, who, "many_rows", _many_rows),
        # MariaDB does not show of an idle transaction whether XA has prepared it.
        rule("may_be_prepared", Step.CHECK_XA, lambda one: one.prepared and one.transaction and one.is_idle),
        rule("not_proven", Step.CHECK_FIRST, lambda one: not (one.is_proven and one.process)),
        rule("idle_client", Step.KILL, lambda one: one.is_idle),
        rule("working_client", Step.KILL, lambda _: True),
    )


def of_head(found: Found, head: Head) -> Cause:
    """Judge a head; of several that the same connections wait for, each is judged before."""
    each = tuple(of_head(found, one._replace(beside=())) for one in head.together) if head.beside else ()
    evidence = _evidence(found, head.connection, head.process, head.transaction)._replace(
        waits=head.waits,
        certain=head.certain,
        possible=head.possible,
        is_proven=head.certainty is Certainty.CERTAIN,
        each=each,
        are_suspects=head.certainty is Certainty.POSSIBLE,
    )
    beside = tuple((Scope.CONNECTION, str(one.connection)) for one in head.beside if one.connection)
    subject = _connection(found, head.connection)._replace(within=beside)
    table = rules(KINDS[head.first.lock], head.certainty)
    return judged(table, evidence, subject, found.at - (head.certain or head.possible))[0]


def of_transaction(found: Found, one: Transaction) -> Cause:
    """Judge a transaction that is open for long and blocks nobody."""
    evidence = _evidence(found, one.process, found.details.processes.get(one.process), one)
    table = rules(Kind.LONG_TRANSACTION, Certainty.CERTAIN)
    return judged(table, evidence, _connection(found, one.process), found.at - one.age)[0]


def of_circle(found: Found, circle: Blocked) -> Cause:
    """Judge connections that wait for one another: any client of them can be ended."""
    first, *others = circle.connections
    within = tuple((Scope.CONNECTION, str(one)) for one in others)
    processes, waits = found.details.processes, between(found, circle)
    clients = tuple(one for one in circle.connections if one not in processes or processes[one].is_client)
    return Cause(
        Kind.LOCK_CIRCLE,
        _connection(found, first)._replace(within=within),
        Certainty.CERTAIN if all(one.certain for one in waits) else Certainty.LIKELY,
        {"step": NextStep(Step.KILL_ONE_OF if clients else Step.WAIT_FOR_TIMEOUT, clients)},
        "circle",
    )


def between(found: Found, circle: Blocked) -> list[Wait]:
    """List the waits of connections that wait for one another."""
    among = set(circle.connections)
    return [one for one in found.details.graph.waits if {one.waiting, one.holding} <= among]


def of_unknown(found: Found, waits: Blocked) -> Cause:
    """Return where to look for who blocks, where nothing shows it."""
    step = Step.GRANT if found.missing else Step.FIND_OLDER
    step = Step.FIND_USER_LOCK if waits.lock is LockKind.USER else step
    return Cause(Kind.UNKNOWN, found.server, Certainty.POSSIBLE, {"step": NextStep(step)})


def of_timeouts(found: Found) -> Cause:
    """Return the cause of waits that have timed out since the last run: nothing shows when in that time."""
    step, since = NextStep(Step.SEE_RETRIES), found.at - found.interval.seconds
    return Cause(Kind.LOCK_TIMEOUTS, found.server, parameters={"step": step}, since=since)


def of_deadlocks(found: Found) -> Cause:
    """Return the cause of deadlocks that the server has ended."""
    parties = tuple(one.connection for one in found.deadlock)
    step = NextStep(Step.ORDER_ROWS, parties) if parties else NextStep(Step.SEE_STATUS)
    return Cause(Kind.DEADLOCKS, found.server, parameters={"step": step})


def _evidence(
    found: Found, connection: int, process: Process | None, transaction: Transaction | None
) -> Evidence:
    program, last = found.programs.get(connection), found.last.get(connection)
    return Evidence(
        connection,
        process,
        transaction,
        program=program.name if program else "",
        digest=last.digest if last else "",
        prepared=found.details.prepared,
        pending_writes=found.pending_writes,
    )


def _connection(found: Found, connection: int) -> Subject:
    """Return a connection as the subject of a cause; without an id it is a transaction that none has."""
    return found.server._replace(thing=Scope.CONNECTION, id=str(connection or ""))
