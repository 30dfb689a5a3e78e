"""What a log tells of, judged by itself: an event, of which incidents are made."""

from __future__ import annotations

from enum import IntEnum

from stallwatch.startup import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from stallwatch.findings import Fault, Reading
    from stallwatch.probes.ndb_log.model import Present

    Instant = tuple[float, str]  # seconds since the epoch, and as the log names it

WINDOW = 60.0  # seconds without news after which an incident is over, and what is told belongs together
TOGETHER = 2.0  # seconds within which several lines are one instant


class Kind(IntEnum):
    """What an event is, the strongest cause first."""

    STOOD_STILL = 0  # the whole process
    STUCK = 1  # a thread without a sign of life
    LATE = 2  # a thread that woke up late
    ENDED = 3  # a node
    PARTED = 4  # a node lost arbitration: it ends itself
    STOPPED = 5  # global checkpoints stopped, and the master ends the nodes that they wait for
    REDO = 6  # full redo buffers and disks that lag
    SAVE = 7  # a global checkpoint waits for a disk
    LINK = 8  # two nodes that run lost their connection
    SILENT = 9  # others miss the heartbeats of a node
    CLOSED = 10  # a management node lost its connection to a node for a while
    COMMIT = 11  # a global checkpoint waits for a node
    HINT = 12  # a buffer or disk that is full, of which a node may end


_COUNTED_AT_MOST = 5000  # instants: one every 2 s for 2.8 hours
SLOW_DISK = "the disk is too slow"  # why redo buffers are full


class Event(NamedTuple):
    """Something that a log tells of, judged by itself."""

    kind: Kind
    node: int | None  # that it happened to; None: not known
    finding: Reading | Fault
    begin: float  # seconds since the epoch
    end: float
    over: bool  # no news for so long that it does not go on
    seconds: float = 0.0  # how long it took, at least; its cause took at least half of that
    speaker: int | None = None  # the node that says so, or whose end an end was from, if it is another one
    judge: int | None = None  # the node that declared it dead
    cause: str = ""  # in words, without the node, as the cause of another event
    who: str = ""  # of a stall: the subject and the verb of ``what``
    at: str = ""  # of a stall: its end as the log names it
    like: Sequence[Instant] = ()  # of a stall: those of its kind that are not kept, in order


def one_each(moments: Iterable[float]) -> list[float]:
    """Give the first of those moments that are close together, in order."""
    instants: list[float] = []
    for when in sorted(moments):
        if not instants or when - instants[-1] > TOGETHER:
            instants.append(when)
    return instants


def still_counted(stalls: Iterable[tuple[float, str]], present: Present) -> list[Instant]:
    """Give the instants that still count of stalls that are too many to be kept, the last of very many."""
    by_end = {when: clock for when, clock in stalls if present.holds(when)}
    return [(when, by_end[when]) for when in one_each(by_end)[-_COUNTED_AT_MOST:]]


def named_instants(stalls: Iterable[tuple[float, str]], present: Present) -> list[Instant]:
    """Give these stalls with their ends as the present names them."""
    return [(when, present.at(clock, when, "")) for when, clock in stalls]
