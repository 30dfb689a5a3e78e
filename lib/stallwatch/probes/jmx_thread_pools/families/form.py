"""An entry of the table of pools: where a server shows their numbers, and what a block means."""

from __future__ import annotations

from stallwatch.causes import Certainty, Kind
from stallwatch.line import Forms
from stallwatch.startup import NamedTuple


class Bean(NamedTuple):
    """MBeans of one form, and the pool's numbers that are attributes of them.

    Several names for an attribute: the first that the bean has.
    """

    properties: str  # of an object name; {pool} is the pool's name, * anything, ... for more
    pool: str = "{pool}"  # what the pool is called
    active: str = ""  # threads or connections in use
    size: str = ""  # threads that there are, at work or not: all are at work where tasks wait
    maximum: str = ""  # of those
    core: str = ""  # threads from which on tasks go to the queue, where that is less than the maximum
    pending: str = ""  # tasks that wait in the queue
    blocked: str = ""  # who cannot even get into the queue, or waits for a connection
    total_blocked: str = ""  # since the pool was made
    completed: str = ""  # since the pool was made
    idle: str = ""  # share of the time in which its threads had nothing to do, 0 to 1
    low: str = ""  # whether it has no thread left, if the server shows it itself
    spare: str = ""  # how many threads are so few that it shows that
    without: str = ""  # beans that have this property, too, are parts of a pool


class Meaning(NamedTuple):
    """What a block in pools of these names means, and the next step; both may have shorter Forms."""

    pools: str  # names of pools, blanks between; "*" matches anything, once in a name
    kind: Kind
    why: str
    advice: str
    more: str = ""  # what else helps, on a line of its own
    serves: bool = False  # requests, or whatever waits as soon as the pool is full
    certainty: Certainty = Certainty.CERTAIN  # of the kind, where somebody is seen to wait


DUMP = Forms("take a thread dump (jstack PID)", "run jstack PID")
SERVES = Meaning(
    "*",
    Kind.THREADS_EXHAUSTED,
    Forms("new requests wait for a thread", "requests wait"),
    DUMP,
    "it shows what holds the threads: a slow database or service?",
    serves=True,
)


class Family(NamedTuple):
    """Pools of one kind of server."""

    name: str
    seen: str  # the versions with names, attributes and a block seen; or whose documentation has them
    queries: tuple[str, ...]  # object name patterns
    beans: tuple[Bean, ...]
    meanings: tuple[Meaning, ...]  # the first that fits counts, or the last
    shown: str = ""  # what makes a server show these pools, where it does not do so by itself
    silent: str = ""  # which of them show no numbers, and what to check instead
    unless: str = ""  # another family, whose pools these would be once more
    again: str = ""  # another family, of which those of the same name are shown here once more
    busy: tuple[str, str] = ("thread busy", "threads busy")
    waiting: tuple[str, str] = ("task blocked", "tasks blocked")  # one, several
    blocks_when_full: bool = False  # where something is blocked, the pool is full
    lends: bool = False  # connections, which may fail to be made: who waits may find none in use
    drains: bool = False  # tasks are short: a queue of which none is completed from run to run stalls
    fixed: bool = False  # the software names the pools, in labels differently, too
    everywhere: bool = False  # in every JVM: to see only such pools is to see none


def between(form: str, name: str, wild: str = "*") -> str | None:
    """Return what ``wild``, once in a form, stands for in a name of this form; None: it has another form."""
    head, sign, tail = form.partition(wild)
    rest = name.removeprefix(head)
    is_one = name.startswith(head) and rest.endswith(tail) and (sign or not rest)
    return rest.removesuffix(tail) if is_one else None
