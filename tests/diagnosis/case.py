"""What a case is: a fault, or a healthy thing that looks like one, and what is true of it.

A case is one function that yields twice: it prepares, yields while all is well, makes the fault, yields while
that lasts, and takes it back. ``fault`` and ``healthy`` put it among the cases of their part.

    @fault("row lock", strengths=RATES, right=("row lock",))
    def row_lock(scene, every):
        '''Somebody left a transaction open on the replica.'''
        scene.load(every=every)
        yield
        with scene.holding("BEGIN", "SELECT * FROM lab.beat FOR UPDATE"):
            yield
"""

from typing import NamedTuple

SERVERS = ("mysql", "mariadb")  # of replication
KINDS = (*SERVERS, "ndb", "jmx")  # of servers
WARNING, CRITICAL = 15.0, 120.0  # seconds of lag: the thresholds of every check
OK_STATE, WARNING_STATE, CRITICAL_STATE, UNKNOWN_STATE = range(4)  # as exit statuses
ALARMS = (WARNING_STATE, CRITICAL_STATE)
CASES = {}  # by part and name
ONCE = {"": None}  # the strengths of what has only one


class Expected(NamedTuple):
    """What is true of a case, and what may be said.

    right    names of causes.py that are right as the first cause; none: none is judged
    fair     names that are no error as the first cause, though not the whole truth
    states   the right states from when the evidence exists on; None: as the true lag has it
    evident  seconds after the injection at which evidence exists; None: when the lag is worth a cause
    alone    whether the replica alone holds evidence of the cause; else only with --source
    unheard  nobody but the source could know how much is missing: any lag since the injection may be said
    tells    whether the server can be asked: else no lag can be told
    allowed  alarms that are not false while a healthy thing goes on
    wrong    regular expressions of what is wrong and certain once there is evidence
    """

    right: tuple = ()
    fair: tuple = ()
    states: tuple | None = None
    evident: float | None = None
    alone: bool = True
    unheard: bool = False
    tells: bool = True
    allowed: tuple = ()
    wrong: tuple = ()


class Case(NamedTuple):
    """One case; times are in seconds.

    story      the function that makes it
    strengths  what the story is given, by name, from weak to strong
    every      between two runs of the check
    warm       from the first run to the injection
    lasts      from the injection to its end
    after      for which it is looked on after that
    fresh      it needs servers of its own, and leaves them unusable
    heavy      it needs a processor for itself: no other such is played at the same time
    servers    on which it is possible
    settings   of the data nodes of an NDB Cluster of its own: it is fresh, too
    beside     a case whose fault is there at the same time, and rightly reported, too
    """

    part: str
    name: str
    about: str
    story: object
    strengths: dict
    is_fault: bool
    expected: Expected
    every: float = 10.0
    warm: float = 15.0
    lasts: float = 50.0
    after: float = 15.0
    fresh: bool = False
    heavy: bool = False
    servers: tuple = SERVERS
    settings: dict = {}  # noqa: RUF012 - never changed
    beside: object = None

    @property
    def seconds(self):
        """How long it takes, without starting and healing servers."""
        return self.warm + self.lasts + self.after


def _case(part, name, strengths, expects, told, *, is_fault):
    def add(story):
        expected = expects(**{key: told.pop(key) for key in tuple(told) if key in expects._fields})
        about = " ".join((story.__doc__ or "").split())
        CASES[part, name] = Case(part, name, about, story, dict(strengths), is_fault, expected, **told)
        return story

    return add


def fault(name, *, strengths, part="replication", expects=Expected, **told):
    """Add a fault: ``told`` are fields of Expected, or what the part ``expects`` instead, and of Case."""
    return _case(part, name, strengths, expects, told, is_fault=True)


def healthy(name, *, strengths=None, part="replication", expects=Expected, **told):
    """Add a healthy thing that looks like a fault: nothing may alarm, whatever it looks like."""
    return _case(part, name, strengths or ONCE, expects, told, is_fault=False)


def middle(strengths):
    """The name of the strength in the middle: the only one of a quick look."""
    names = list(strengths)
    return names[len(names) // 2]
