"""An entry of the table of pools: where a server shows their numbers, and what a block means."""

from __future__ import annotations

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
    """What a block in pools of these names means, and the next step."""

    pools: str  # names of pools, blanks between; "*" matches anything, once in a name
    why: str
    advice: str
    more: str = ""  # what else helps, on a line of its own
    serves: bool = False  # requests, or whatever waits as soon as the pool is full


class Family(NamedTuple):
    """Pools of one kind of server."""

    name: str
    seen: str  # the versions with names, attributes and a block seen; or whose documentation has them
    queries: tuple[str, ...]  # object name patterns
    beans: tuple[Bean, ...]
    meanings: tuple[Meaning, ...]  # the first that fits counts
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
    # The pool whose idle time is that of two, added up, if there are all MBeans of ``sums_with`` and not
    # the one of ``sums_without``; and why.
    sums: str = ""
    sums_with: tuple[str, ...] = ()
    sums_without: str = ""
    sums_why: str = ""
    # The pool that is only one of two, if there are all MBeans of ``sums_with``; that the other one is not
    # watched, and how to check it.
    one_of_two: str = ""
    other_of_two: str = ""
    absent: str = ""  # the pool that may have no threads: its idle time is no number then
    settles: float = 0  # seconds after the start of the JVM until averages mean what they should

    def meaning(self, pool: str) -> Meaning:
        """Return what a block in the pool of this name means."""
        for row in self.meanings:
            if any(between(form, pool) is not None for form in row.pools.split()):
                return row
        return Meaning("*", "", "")


def between(form: str, name: str, wild: str = "*") -> str | None:
    """Return what ``wild``, once in a form, stands for in a name of this form; None: it has another form."""
    head, sign, tail = form.partition(wild)
    rest = name.removeprefix(head)
    is_one = name.startswith(head) and rest.endswith(tail) and (sign or not rest)
    return rest.removesuffix(tail) if is_one else None
