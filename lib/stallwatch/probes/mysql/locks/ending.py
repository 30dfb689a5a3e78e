"""What ends a lock: the next step as data, of which `words` makes sentences."""

from __future__ import annotations

import re
from enum import Enum, auto

from stallwatch.probes.mysql.locks.graph import Release
from stallwatch.startup import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from stallwatch.probes.mysql.processes import Process

_MANY_ROWS = 100_000
_COMMITS = r"waiting for handler commit|Commit$|Waiting for prior transaction to commit"  # states
_LONG_COMMIT = 2.0  # seconds: to write what was changed takes milliseconds


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
    CHECK_XA = auto()  # that it is not prepared, then KILL
    FIND_USER_LOCK = auto()
    GRANT = auto()  # what is missing to see the holder
    FIND_OLDER = auto()  # in the process list
    SEE_RETRIES = auto()  # of clients that got error 1205
    ORDER_ROWS = auto()  # let transactions lock rows in the same order
    SEE_STATUS = auto()


class NextStep(NamedTuple):
    """The next step, and with whom."""

    step: Step
    connections: tuple[int, ...] = ()  # 0: the transaction that no connection has
    release: Release = Release.COMMIT  # how it lets go by itself
    rows: int = 0  # that a KILL rolls back, as far as that is worth saying


def release(connection: int, by: Release, modified: int) -> NextStep:
    """Return how a connection is made to let go: by KILL, unless that rolls back too many rows."""
    step = Step.LET_GO if modified >= _MANY_ROWS else Step.KILL
    return NextStep(step, (connection,), by, modified)


def commits(process: Process | None) -> bool:
    """Whether a connection has been at its COMMIT for long, and not for an answer of a replica.

    Measured while the file system was frozen: MySQL 9.7.2 has the first state, MariaDB 10.11.19 the second.
    """
    return bool(
        process
        and process.seconds >= _LONG_COMMIT
        and re.match(_COMMITS, process.state)
        and re.match(r"(?i)\s*(XA\s+)?COMMIT\b", process.info)
    )
