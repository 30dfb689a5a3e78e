"""Causes as data: which kinds there are, of what and how certain a cause is, and what explains what.

A probe has one ordered table of rules, judged once on one Evidence by `judged`; its words are made of the
cause in its ``messages`` alone. `roots` joins causes to incidents. Kinds are stable: sites route alerts by
them (``cause`` in the JSON); contrib/docs/causes.md is made from this page.
"""

from __future__ import annotations

from enum import Enum

from stallwatch.startup import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from typing import Any

    # From the evidence to the parameters of the words; None: the rule does not apply.
    Proves = Callable[[Any], "Mapping[str, Any] | None"]

_SAME_START = 5.0  # seconds between two measurements of one server's start
_SAME_TIME = 5.0  # seconds by which a cause may look younger than its consequence


class Kind(Enum):
    """What a cause is; the value is its name in the JSON."""

    SLOW_DISK = "slow_disk"
    REDO_BURSTS = "redo_bursts"
    BUSY_THREAD = "busy_thread"
    CHECKPOINTS_BEHIND = "checkpoints_behind"
    THREADS_EXHAUSTED = "threads_exhausted"
    SLOW_REQUESTS = "slow_requests"
    BLOCKED_TASKS = "blocked_tasks"
    THREAD_DEADLOCK = "thread_deadlock"
    CONNECTIONS_HELD = "connections_held"
    NO_NEW_CONNECTIONS = "no_new_connections"
    WRITES_TOO_FAST = "writes_too_fast"
    READS_TOO_FAST = "reads_too_fast"
    FLUSHES_BEHIND = "flushes_behind"
    SLOW_COMPACTION = "slow_compaction"
    SLOW_REPAIR = "slow_repair"
    CLUSTER_VIEW_LATE = "cluster_view_late"
    HINTS_UNDELIVERED = "hints_undelivered"
    REQUESTS_TRACED = "requests_traced"
    ROW_LOCK = "row_lock"
    METADATA_LOCK = "metadata_lock"
    TABLE_LOCK = "table_lock"
    GLOBAL_READ_LOCK = "global_read_lock"
    BACKUP_LOCK = "backup_lock"
    USER_LOCK = "user_lock"
    TABLE_FLUSH = "table_flush"
    LOCK_CIRCLE = "lock_circle"
    LONG_TRANSACTION = "long_transaction"
    LOCK_TIMEOUTS = "lock_timeouts"
    DISK_FULL = "disk_full"
    NO_ACK = "no_ack"
    NO_QUORUM = "no_quorum"
    FLOW_CONTROL = "flow_control"
    SILENT_MEMBER = "silent_member"
    TOTAL_ORDER = "total_order"
    REDO_FULL = "redo_full"
    SEMAPHORES = "semaphores"
    TOO_MANY_CONNECTIONS = "too_many_connections"
    DEADLOCKS = "deadlocks"
    UNKNOWN = "unknown"


MEANINGS = {
    Kind.SLOW_DISK: "the disk takes longer for reads or writes than the server can wait",
    Kind.REDO_BURSTS: "redo is written in short bursts that are larger than the redo buffer",
    Kind.BUSY_THREAD: "a thread that has to do the work has no processor time left for more",
    Kind.CHECKPOINTS_BEHIND: "checkpoints free the redo log or the undo log more slowly than it is written",
    Kind.THREADS_EXHAUSTED: "requests or tasks wait because all threads of a pool are at work",
    Kind.SLOW_REQUESTS: "all threads of a pool work at requests, and none of these is completed",
    Kind.BLOCKED_TASKS: "tasks of a pool hang or take long, so that those in its queue wait",
    Kind.THREAD_DEADLOCK: "threads wait for each other for ever",
    Kind.CONNECTIONS_HELD: "what a pool lends, as connections, is held for long or never returned",
    Kind.NO_NEW_CONNECTIONS: "a pool that may open more connections is slow or unable to",
    Kind.WRITES_TOO_FAST: "writes arrive faster than they are applied",
    Kind.READS_TOO_FAST: "reads arrive faster than they are answered",
    Kind.FLUSHES_BEHIND: "the work that follows a flush of a memtable waits",
    Kind.SLOW_COMPACTION: "compaction is slower than the writes",
    Kind.SLOW_REPAIR: "repair waits",
    Kind.CLUSTER_VIEW_LATE: "what a node knows of its cluster is late",
    Kind.HINTS_UNDELIVERED: "a node cannot deliver hints to others",
    Kind.REQUESTS_TRACED: "too many requests are traced",
    Kind.ROW_LOCK: "a connection has locked a row that others wait for",
    Kind.METADATA_LOCK: "a connection uses or has locked a table or a database that others wait for",
    Kind.TABLE_LOCK: "a statement has locked a table of MyISAM or its like that others wait for",
    Kind.GLOBAL_READ_LOCK: "a connection has run FLUSH TABLES WITH READ LOCK, or possibly BACKUP STAGE, and"
    " others wait to write",
    Kind.BACKUP_LOCK: "a backup has locked the server against definitions of tables",
    Kind.USER_LOCK: "a connection has a lock of GET_LOCK() that others wait for",
    Kind.TABLE_FLUSH: "a statement uses a table that FLUSH TABLES waits for, and others wait behind that",
    Kind.LOCK_CIRCLE: "connections wait for one another by locks of several kinds, unseen by the server",
    Kind.LONG_TRANSACTION: "a transaction is open for longer than its limit",
    Kind.LOCK_TIMEOUTS: "waits for row locks ended with error 1205",
    Kind.DISK_FULL: "a disk is full, and statements that write to it wait",
    Kind.NO_ACK: "semi-synchronous replication waits for replicas to acknowledge a COMMIT",
    Kind.NO_QUORUM: "most members of a cluster are gone, and a COMMIT waits for them",
    Kind.FLOW_CONTROL: "a member of a cluster is slow, and holds up the writes of all",
    Kind.SILENT_MEMBER: "a member of a cluster does not answer, and the others still wait for it",
    Kind.TOTAL_ORDER: "a definition of a table runs on all members of a cluster, and no COMMIT meanwhile",
    Kind.REDO_FULL: "the redo log is full, and statements wait until pages are written",
    Kind.SEMAPHORES: "threads of InnoDB wait for one another for minutes, which ends the server after 10",
    Kind.TOO_MANY_CONNECTIONS: "clients have nearly all connections of a server, or all",
    Kind.DEADLOCKS: "transactions waited for one another by row locks, and the server ended one of them",
    Kind.UNKNOWN: "something stalls, and nothing that was seen shows why",
}


class Certainty(Enum):
    """How certain a cause is: in words it stands as it is, after "probably", or behind "check"."""

    CERTAIN = "certain"
    LIKELY = "likely"
    POSSIBLE = "possible"


class Scope(Enum):
    """What a cause and its consequence have to share; all but SERVER are things of one server."""

    CHANNEL = "channel"
    CONNECTION = "connection"
    TABLE = "table"
    DISK = "disk"
    NODE = "node"
    POOL = "pool"
    SERVER = "server"


class Subject(NamedTuple):
    """What a cause is about, so that the findings of several checks can be compared."""

    server: str  # as its check names it: HOST:PORT, or the path of a socket
    thing: Scope = Scope.SERVER
    id: str = ""  # of the thing: "173" of a connection, "4" of a node; "": it is the server, or has none
    started: float | None = None  # the server, or the node; seconds since 1970: later ids are used again
    within: tuple[tuple[Scope, str], ...] = ()  # what it belongs to, as a connection to a channel

    def shares(self, other: Subject, scope: Scope) -> bool:
        """Whether both are about the same thing of this scope."""
        if self.server != other.server:
            return False
        apart, nodes = 0.0, {self.id, other.id} if self.thing is other.thing is Scope.NODE else ()
        if self.started is not None and other.started is not None and len(nodes) <= 1:
            apart = abs(self.started - other.started)
        return apart <= _SAME_START and (scope is Scope.SERVER or bool(self._of(scope) & other._of(scope)))

    def _of(self, scope: Scope) -> set[str]:
        return {of for thing, of in ((self.thing, self.id), *self.within) if thing is scope and of}


class Cause(NamedTuple):
    """Why something stalls."""

    kind: Kind
    subject: Subject
    certainty: Certainty = Certainty.CERTAIN
    parameters: Mapping[str, Any] = {}  # of its words
    evidence: str = ""  # the rule that has decided
    since: float | None = None  # seconds since 1970; None: not known


class Rule(NamedTuple):
    """A row of a probe's table of rules."""

    kind: Kind
    certainty: Certainty
    evidence: str  # its name
    proves: Proves


class Explains(NamedTuple):
    """A row of the table of what explains what."""

    cause: Kind
    consequence: Kind
    scope: Scope


_KEEPS_CLIENTS = (  # who waits keeps its connection, and its client opens more
    Kind.ROW_LOCK, Kind.METADATA_LOCK, Kind.TABLE_LOCK, Kind.GLOBAL_READ_LOCK, Kind.BACKUP_LOCK,
    Kind.TABLE_FLUSH, Kind.LOCK_CIRCLE, Kind.DISK_FULL, Kind.SLOW_DISK, Kind.NO_ACK, Kind.NO_QUORUM,
    Kind.FLOW_CONTROL, Kind.SILENT_MEMBER, Kind.TOTAL_ORDER, Kind.REDO_FULL, Kind.SEMAPHORES,
)  # fmt: skip
EXPLAINS = (
    # A local checkpoint frees the logs when all data nodes have written theirs: the slowest disk counts.
    Explains(Kind.SLOW_DISK, Kind.CHECKPOINTS_BEHIND, Scope.SERVER),
    # Cassandra's mutations wait for memtables that are flushed, and what follows a flush waits for its end.
    Explains(Kind.SLOW_DISK, Kind.WRITES_TOO_FAST, Scope.SERVER),
    Explains(Kind.SLOW_DISK, Kind.FLUSHES_BEHIND, Scope.SERVER),
    # Threads that are deadlocked complete nothing; whose they are no MBean shows.
    Explains(Kind.THREAD_DEADLOCK, Kind.SLOW_REQUESTS, Scope.SERVER),
    Explains(Kind.THREAD_DEADLOCK, Kind.BLOCKED_TASKS, Scope.SERVER),
    # A transaction has its locks of rows, and those of the tables that it uses, until it ends.
    Explains(Kind.LONG_TRANSACTION, Kind.ROW_LOCK, Scope.CONNECTION),
    Explains(Kind.LONG_TRANSACTION, Kind.METADATA_LOCK, Scope.CONNECTION),
    # Who cannot go on keeps what others wait for.
    Explains(Kind.REDO_FULL, Kind.ROW_LOCK, Scope.CONNECTION),
    Explains(Kind.SEMAPHORES, Kind.ROW_LOCK, Scope.CONNECTION),
    # innodb_lock_wait_timeout ends waits for rows alone, and only after its time: not behind a young lock.
    Explains(Kind.ROW_LOCK, Kind.LOCK_TIMEOUTS, Scope.SERVER),
    *(Explains(one, Kind.TOO_MANY_CONNECTIONS, Scope.SERVER) for one in _KEEPS_CLIENTS),
)


class Hides(NamedTuple):
    """A row of the table of what cannot be seen behind what."""

    cause: Kind
    hidden: Kind
    scope: Scope  # the kind of thing that the cause is about


HIDES = (
    # A buffer that a slow disk keeps full shows no bursts.
    Hides(Kind.SLOW_DISK, Kind.REDO_BURSTS, Scope.NODE),
    # Who waits to write at all does not wait for rows yet.
    Hides(Kind.GLOBAL_READ_LOCK, Kind.ROW_LOCK, Scope.CONNECTION),
)


def judged(
    rules: Iterable[Rule], evidence: object, subject: Subject, since: float | None = None
) -> tuple[Cause, ...]:
    """Return the causes of all rules that apply to the evidence, in their order; of none: a possible UNKNOWN.

    Each rule is evaluated once. The first cause is the one to report, the others are further evidence.
    """
    found = tuple(
        Cause(rule.kind, subject, rule.certainty, parameters, rule.evidence, since)
        for rule in rules
        if (parameters := rule.proves(evidence)) is not None
    )
    return found or (Cause(Kind.UNKNOWN, subject, Certainty.POSSIBLE, since=since),)


def explains(cause: Cause, other: Cause) -> bool:
    """Whether another cause follows from this one: by a row, in its scope, and not younger than it.

    What is only possible explains nothing: it would hide what is known.
    """
    if cause.certainty is Certainty.POSSIBLE:
        return False
    if cause.since is not None and other.since is not None and cause.since > other.since + _SAME_TIME:
        return False
    return any(
        (row.cause, row.consequence) == (cause.kind, other.kind)
        and cause.subject.shares(other.subject, row.scope)
        for row in EXPLAINS
    )


def unseen(cause: Cause, causes: Iterable[Cause | None]) -> list[str]:
    """Write what cannot be seen while a certain cause lasts, but for what ``causes`` have of its thing."""
    if cause.certainty is not Certainty.CERTAIN:
        return []
    seen = {
        other.kind for other in causes if other and other.subject.shares(cause.subject, cause.subject.thing)
    }
    return [
        f"whether {MEANINGS[row.hidden]} cannot be seen while this lasts"
        for row in HIDES
        if (row.cause, row.scope) == (cause.kind, cause.subject.thing) and row.hidden not in seen
    ]


def roots(causes: Sequence[Cause | None]) -> list[int | None]:
    """Return of each cause the place of the one that it follows from in the end; None: from none.

    A second cause of the same kind and subject is the same incident, below the first. ``causes`` has None
    for what has no cause.
    """
    nearest = [_nearest(place, causes) for place in range(len(causes))]

    def root(place: int | None) -> int | None:
        further = None if place is None else nearest[place]
        return place if further is None else root(further)

    return [root(place) for place in nearest]


def _nearest(place: int, causes: Sequence[Cause | None]) -> int | None:
    one = causes[place]
    if one is None:
        return None
    others = [(at, other) for at, other in enumerate(causes) if other is not None and at != place]
    same = [at for at, other in others if at < place and _are_one(other, one)]
    return next((at for at, other in others if explains(other, one)), same[0] if same else None)


def _are_one(cause: Cause, other: Cause) -> bool:
    is_known = Kind.UNKNOWN is not cause.kind is other.kind
    return (
        is_known
        and cause.subject.id == other.subject.id
        and cause.subject.shares(other.subject, cause.subject.thing)
    )
