"""What a log shows, judged by itself: an event, of which incidents are made."""

from __future__ import annotations

from enum import IntEnum

from stallwatch.startup import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from stallwatch.findings import Fault, Reading

    Instant = tuple[float, str]  # seconds since the epoch, and as the log names it

WINDOW = 60.0  # seconds without news after which an incident is over, and within which lines belong together
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
    CUT = 9  # a management node cut off nodes whose heartbeats it missed
    SILENT = 10  # others miss the heartbeats of a node
    CLOSED = 11  # a management node lost its connection to a node for a while
    COMMIT = 12  # a global checkpoint waits for a node
    HINT = 13  # a buffer or disk that is full, of which a node may end


SLOW_DISK = "the disk is too slow"  # why redo buffers are full


class Event(NamedTuple):
    """Something that a log shows, judged by itself."""

    kind: Kind
    node: int | None  # that it happened to; None: not known
    finding: Reading | Fault
    begin: float  # seconds since the epoch
    end: float
    over: bool  # no news for so long that it does not go on
    seconds: float = 0.0  # how long it took, at least; its cause took at least half of that
    speaker: int | None = None  # the node that logs it, or whose end an end was from, if it is another one
    judge: int | None = None  # the node that declared it dead
    cause: str = ""  # in words, without the node, as the cause of another event
    who: str = ""  # of a stall: the subject and the verb of ``what``
    at: str = ""  # of a stall: its end as the log names it
    like: Sequence[Instant] = ()  # of a stall: those of its kind that are not kept, in order


def one_each(moments: Iterable[float]) -> list[float]:
    """Return the first of those moments that are close together, in order."""
    instants: list[float] = []
    for when in sorted(moments):
        if not instants or when - instants[-1] > TOGETHER:
            instants.append(when)
    return instants
