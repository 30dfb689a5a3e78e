"""What is at the head of a queue for locks, and what ends it: one ordered table of rules.

The kind of a cause is that of the lock that others wait for, unless the head itself waits for a disk or a
replica, or nobody waits. `words` makes sentences of the next step.
"""

from __future__ import annotations

from enum import Enum, auto

from stallwatch.causes import Cause, Certainty, Kind, Rule, Scope, judged
from stallwatch.probes.mysql.locks.graph import LockKind, Release
from stallwatch.probes.mysql.processes import Phase
from stallwatch.startup import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from typing import Any

    from stallwatch.causes import Subject
    from stallwatch.probes.mysql.locks.graph import Wait
    from stallwatch.probes.mysql.locks.rows import Transaction
    from stallwatch.probes.mysql.processes import Process

    Proof = Mapping[str, Any] | None  # "step" is the next one; None: the rule does not apply

_MANY_ROWS = 100_000
_AT_WORK = 3.0  # seconds since a connection did something
_TOOLS = ("dump", "backup")  # in names of programs
_WORTH_TELLING = 1000  # rows that a KILL rolls back
_KINDS = {
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


class Step(Enum):
    """What to do next."""

    KILL = auto()
    CHECK_FIRST = auto()  # then KILL: it is not known whether this one holds the lock
    CHECK_WHICH = auto()  # of several has the lock, then KILL that one
    CHECK_WHICH_ONLY = auto()  # the same where not all of them can be ended
    KILL_ONE_OF = auto()
    LET_GO = auto()  # by itself: KILL first rolls many rows back, which lasts as long
    LET_BACKUP_END = auto()  # or KILL: the backup is lost then
    LOOK_AGAIN = auto()  # then KILL who is still at the head
    WAIT_FOR_ROLLBACK = auto()
    WAIT_FOR_APPLIER = auto()
    WAIT_FOR_THREAD = auto()  # of the server
    WAIT_FOR_TIMEOUT = auto()
    SEE_DISK = auto()
    END_BY_XA = auto()  # what no connection has
    END_OWN_BY_XA = auto()  # what a connection has prepared
    FIND_BY_XA = auto()  # which of several that no connection has
    CHECK_XA = auto()  # whether KILL has left it prepared: while its connection lives, nobody else can end it
    FIND_USER_LOCK = auto()
    GRANT = auto()  # what is missing to see the holder
    FIND_OLDER = auto()  # in the process list
    SEE_RETRIES = auto()  # of clients that got error 1205
    ORDER_ROWS = auto()  # let transactions lock rows in the same order
    SEE_STATUS = auto()
    FREE_SPACE = auto()  # on the disk that a statement waits for
    START_REPLICA = auto()  # that acknowledges, or switch semi-sync off
    SEE_REPLICAS = auto()  # that are connected and do not acknowledge
    SEE_CLUSTER = auto()  # whose members decide on a COMMIT
    FIND_PRIMARY = auto()  # among the members that are gone
    SEE_APPLIER = auto()  # of this member, which holds up the others
    SEE_QUEUES = auto()  # of the members, to find the one that holds up the others
    SEE_MEMBER = auto()  # that does not answer
    LET_IT_END = auto()  # a definition
    SEE_REDO = auto()
    SEE_ERROR_LOG = auto()
    SEE_PROCESSES = auto()


_ENDED_BY_KILL = frozenset({Step.KILL, Step.CHECK_FIRST, Step.LOOK_AGAIN})


class NextStep(NamedTuple):
    """The next step, and with whom."""

    step: Step
    connections: tuple[int, ...] = ()  # 0: the transaction that no connection has
    release: Release = Release.COMMIT  # how it lets go by itself
    rows: int = 0  # that a KILL rolls back, as far as that is worth saying


class Head(NamedTuple):
    """A connection that blocks others and does not wait itself; or a transaction that blocks nobody."""

    connection: int  # 0: a transaction that no connection has
    process: Process | None  # None: the process list does not have the connection
    transaction: Transaction | None = None
    waits: Sequence[Wait] = ()  # for what it has itself
    behind: Sequence[int] = ()  # connections
    certain: float = 0.0  # seconds that it has blocked others at least, or has been open
    possible: float = 0.0  # at most, as far as it is known
    is_of_users: bool = False  # all wait for locks of GET_LOCK(), which mean what the application wants
    beside: Sequence[Head] = ()  # others that the same connections wait for: one of them alone ends nothing
    program: str = ""  # the name that it gave itself
    is_known_backup: bool = False  # by more than this name
    digest: str = ""  # of its last statement
    prepared: bool = False  # whether XA RECOVER lists what a connection may have
    each: tuple[Cause, ...] = ()  # causes of all that the same connections wait for, if they are several

    @property
    def together(self) -> Sequence[Head]:
        """All that the same connections wait for."""
        return (self, *self.beside)

    @property
    def first(self) -> Wait:
        """What it has that others wait for, if it is several the one that is known best."""
        return next((one for one in self.waits if one.certain), self.waits[0])

    @property
    def is_proven(self) -> bool:
        """Whether a table of the server shows that it holds what others wait for."""
        return not self.waits or any(one.certain for one in self.waits)

    @property
    def certainty(self) -> Certainty:
        """How certain it is that it is this one, and each that the same connections wait for.

        It is only possible if one of several has what others wait for, and nothing shows which; of several
        rows that are waited for each may have one.
        """
        if all(one.is_proven for one in self.together):
            return Certainty.CERTAIN
        rows = {one.row for head in self.together for one in head.waits}
        return Certainty.POSSIBLE if self.are_doubted and len(rows) == 1 else Certainty.LIKELY

    @property
    def are_doubted(self) -> bool:
        """Whether there are several, and no table of the server names any of them."""
        return bool(self.beside) and not any(one.is_proven for one in self.together)

    @property
    def is_client(self) -> bool:
        """Whether it is known to be of a client."""
        return bool(self.connection and self.process and self.process.is_client)

    @property
    def is_idle(self) -> bool:
        """Whether it does nothing."""
        return bool(self.process and self.process.command == "Sleep")

    def is_in(self, phase: Phase) -> bool:
        """Whether it waits for this itself, and not for a lock."""
        return bool(self.process and self.process.is_client and self.process.phase is phase)

    @property
    def is_backup(self) -> bool:
        """Whether it is a backup or a dump."""
        return self.is_known_backup or any(word in self.program for word in _TOOLS)

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
        if not self.is_idle:
            return Release.END
        found = next((one.release for one in self.waits if not one.queued), Release.END)
        if self.transaction and found in {Release.COMMIT_OR_UNLOCK, Release.END}:
            return Release.COMMIT
        return found


def _one_of_several(head: Head) -> Proof:
    """Find several of which one has the lock, and nothing shows which."""
    if head.certainty is not Certainty.POSSIBLE:
        return None
    can_end = all(one.parameters["step"].step in _ENDED_BY_KILL for one in head.each)
    return {"step": NextStep(Step.CHECK_WHICH if can_end else Step.CHECK_WHICH_ONLY), "each": head.each}


def _one_is_not_killed(head: Head) -> Proof:
    """Find of several one for which KILL is wrong: what is to be done about it comes first."""
    steps = (one.parameters["step"] for one in head.each)
    special = next((step for step in steps if step.step not in _ENDED_BY_KILL), None)
    return {"step": special, "each": head.each} if special else None


def _several(head: Head) -> Proof:
    steps = [one.parameters["step"] for one in head.each]
    kill = Step.CHECK_FIRST if any(step.step is Step.CHECK_FIRST for step in steps) else Step.KILL
    whom = tuple(step.connections[0] for step in steps)
    return {"step": NextStep(kill, whom), "each": head.each} if steps else None


def _turn_may_be_new(head: Head) -> bool:
    """Whether a client did something just now and is hardly known to block others."""
    is_new = head.certain < min(_AT_WORK, head.possible / 2)
    process = head.process
    return bool(is_new and head.is_proven and head.is_client and process and process.seconds < _AT_WORK)


def _then(step: Step, applies: Callable[[Head], object]) -> Callable[[Head], Proof]:
    """Return a rule's function: its next step, with the connection itself, if this applies."""
    return lambda one: one.step(step) if applies(one) else None


def rules(kind: Kind, who: Certainty) -> tuple[Rule, ...]:
    """Return the table for what has a lock of this kind; ``who``: how certain it is who has it.

    The first rule that applies decides.
    """
    likely = Certainty.LIKELY if who is Certainty.CERTAIN else who

    def rule(evidence: str, step: Step, applies: Callable[[Head], object]) -> Rule:
        return Rule(kind, who, evidence, _then(step, applies))

    def itself(kind: Kind, certainty: Certainty, evidence: str, step: Step, phase: Phase) -> Rule:
        return Rule(kind, certainty, evidence, _then(step, lambda one: one.is_in(phase)))

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
        itself(Kind.SLOW_DISK, likely, "commits_for_long", Step.SEE_DISK, Phase.COMMIT),
        itself(Kind.DISK_FULL, who, "waits_for_space", Step.FREE_SPACE, Phase.SPACE),
        itself(Kind.NO_ACK, who, "waits_for_ack", Step.SEE_REPLICAS, Phase.ACK),
        rule("applier", Step.WAIT_FOR_APPLIER, lambda one: one.process and one.process.applies),
        rule("server_thread", Step.WAIT_FOR_THREAD, lambda one: one.process and not one.process.is_client),
        rule("backup_lock", Step.LET_BACKUP_END, lambda one: one.is_client and one.has_backup_lock),
        rule("backup_tool", Step.LET_BACKUP_END, lambda one: one.is_backup),
        # It stays with its connection, and outlives that.
        rule("prepared_by_xa", Step.END_OWN_BY_XA, lambda one: one.digest.startswith("XA PREPARE")),
        rule("many_rows", Step.LET_GO, lambda one: one.modified >= _MANY_ROWS),
        # MariaDB does not show of an idle transaction whether XA has prepared it.
        rule("may_be_prepared", Step.CHECK_XA, lambda one: one.prepared and one.transaction and one.is_idle),
        rule("not_proven", Step.CHECK_FIRST, lambda one: not (one.is_proven and one.process)),
        rule("idle_client", Step.KILL, lambda one: one.is_idle),
        rule("working_client", Step.KILL, lambda _: True),
    )


def judge(head: Head, server: Subject, at: float) -> Cause:
    """Judge a head at this time, seconds since 1970; of several, each is judged before."""
    each = tuple(judge(one._replace(beside=()), server, at) for one in head.together) if head.beside else ()
    kind = _KINDS[head.first.lock] if head.waits else Kind.LONG_TRANSACTION
    beside = tuple((Scope.CONNECTION, str(one.connection)) for one in head.beside if one.connection)
    subject = server._replace(thing=Scope.CONNECTION, id=str(head.connection or ""), within=beside)
    since = at - (head.certain or head.possible)
    return judged(rules(kind, head.certainty), head._replace(each=each), subject, since)[0]
