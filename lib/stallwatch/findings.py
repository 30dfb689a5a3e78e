"""The three words that every probe speaks: a Reading, a Fault, a ProbeError."""

from __future__ import annotations

from enum import Enum

from stallwatch.startup import TYPE_CHECKING, NamedTuple
from stallwatch.startup.nagiosplugin import Critical, Ok, Unknown, Warn

if TYPE_CHECKING:
    from stallwatch.causes import Cause
    from stallwatch.table import Table


class State(Enum):
    """What a finding means: the states of nagiosplugin, by the names that engines show.

    ``state.value.code`` is the exit status.
    """

    OK = Ok
    WARNING = Warn
    CRITICAL = Critical
    UNKNOWN = Unknown

    @property
    def gravity(self) -> int:
        """Rank among states, 0 to 3: a known problem outranks something that could not be found out.

        nagiosplugin ranks UNKNOWN above CRITICAL (``worst``, 1.4.0).
        """
        return _GRAVITY[self]


_WORSE_AND_WORSE = (State.OK, State.UNKNOWN, State.WARNING, State.CRITICAL)
_GRAVITY = {state: rank for rank, state in enumerate(_WORSE_AND_WORSE)}


class Line(NamedTuple):
    """What the line of a finding shows beside ``WHAT, CAUSE - NEXT STEP``, and the lines below it.

    With a Line a finding shows the limit that it breaks, and its cause also while it is OK.
    """

    then: str = ""  # text after ``what`` and the broken limit, or its Forms: " and grows 1 s/s"
    more: tuple[str, ...] = ()  # lines below: further evidence, other causes; if it is OK only with -v


class Reading(NamedTuple):
    """A quantity, judged by the thresholds of its name, or of ``judged_as``.

    ``value`` is in base units (seconds, bytes, per cent, a count); None means that it could not be
    measured: UNKNOWN with ``what`` as the reason, no perfdata, never 0.
    """

    name: str
    value: float | None
    unit: str = ""  # "s", "B", "%", "c" or nothing
    what: str = ""  # the quantity in words, said in every state
    why: str = ""  # the evidence or cause, said when it is not OK
    advice: str = ""  # the next step, said when it is not OK
    label: str | None = None  # in the perfdata; None: the name; "": not in the perfdata
    table: Table | None = None  # the numbers behind it, shown with -v
    in_table: bool = False  # of another reading: said only if it is worse than all that is said
    confirmed: bool = True  # False: the next look may be good, or it may not be so: a WARNING at most
    judged_as: str = ""  # whose thresholds judge it, if they are others than those of its name
    state: State = State.OK  # how bad a known one is at least, whatever the thresholds are
    line: Line | None = None  # None: no limit, no further lines, and no cause while it is OK
    most: float | None = None  # the highest value that it can have: in the perfdata with 0 as the lowest
    cause: Cause | None = None  # of which ``why`` and ``advice`` are the words


class Fault(NamedTuple):
    """Something that is wrong in itself, whatever the thresholds; an OK one is an aside, always shown."""

    state: State
    what: str
    why: str = ""
    advice: str = ""
    line: Line | None = None  # None: no limit, no further lines, and no cause while it is OK
    cause: Cause | None = None  # of which ``why`` and ``advice`` are the words


class ProbeError(Exception):
    """Something could not be found out: a sentence with the request, who got it, and the answer.

    Raised, it ends the run with its ``state``, or with that of --unreachable. Yielded among the findings, it
    does not affect the others.
    """

    state: State | None = None  # that it has whatever --unreachable is
    ends_connection = False  # whether nothing more can be asked on the connection that it came of
    more: tuple[str, ...] = ()  # lines below, such as a server's own words

    def __init__(self, what: str, advice: str = "") -> None:
        super().__init__(what)
        self.what = what
        self.advice = advice

    def fault(self, state: State) -> Fault:
        """Give it as a finding of this state, unless it has one."""
        return Fault(self.state or state, self.what, advice=self.advice, line=Line(more=self.more))


Finding = Reading | Fault | ProbeError
