"""Incidents: what belongs together in the logs of a cluster, with its cause and its symptoms.

One node that stands still makes lines in many logs: its threads overslept, the others miss its heartbeats,
the master's global checkpoint lags, and the node may be declared dead. Subjects give events. Here they become
incidents, one problem each. Rules, measured on 9.7.2 (`tests/recorded/ndb_log`, E3 to E9):

- What a node says of itself is a cause of what others say of it, and of what it then says of others.
- A whole process that stood still is a cause before a thread; both before what waited for them.
- A symptom neither begins before its cause nor outlasts it by more than a minute, nor is it far longer.
"""

from __future__ import annotations

from enum import IntEnum

from stallwatch.findings import Fault, Line, Reading, State
from stallwatch.startup import TYPE_CHECKING, NamedTuple
from stallwatch.units import say_duration
from stallwatch.words import plural, times

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

WINDOW = 60.0  # seconds without news after which an incident is over
TOGETHER = 2.0  # seconds within which several lines are one instant
_EARLIER = 5.0  # seconds by which others may see a symptom first: clocks differ, and lengths are rounded


class Kind(IntEnum):
    """What an event is, the strongest cause first."""

    STOOD_STILL = 0  # the whole process
    STUCK = 1  # a thread without a sign of life
    LATE = 2  # a thread that woke up late
    ENDED = 3  # a node
    PARTED = 4  # a node lost arbitration: it ends itself
    REDO = 5  # full redo buffers and disks that lag
    SAVE = 6  # a global checkpoint waits for a disk
    LINK = 7  # two nodes that run lost their connection
    SILENT = 8  # others miss the heartbeats of a node
    CLOSED = 9  # a management node lost its connection to a node for a while
    COMMIT = 10  # a global checkpoint waits for a node


_FEW = 8  # symptoms that are shown
_OF_ANY_NODE = (Kind.SAVE, Kind.CLOSED, Kind.COMMIT)  # these say little of which node they are from
_COUNTED = (Kind.STOOD_STILL, Kind.STUCK, Kind.LATE)


class Event(NamedTuple):
    """Something that a log tells of, judged by itself."""

    kind: Kind
    node: int | None  # that it happened to; None: not known
    finding: Reading | Fault
    begin: float  # seconds since the epoch
    end: float
    over: bool  # no news for so long that it does not go on
    seconds: float = 0.0  # how long it took, at least; its cause took at least half of that
    speaker: int | None = None  # the node that says so, or that an end was from, if it is another one
    cause: str = ""  # in words, without the node, as the cause of another event


class Incident:
    """One node's trouble from ``begin`` to ``end``: its cause, and the symptoms that follow from it."""

    def __init__(self, cause: Event) -> None:
        self.cause = cause  # the longest event of the strongest kind
        self.events = [cause]  # in the order of their kinds
        self.begin = cause.begin
        self.end = cause.end

    def fits(self, event: Event) -> bool:
        """Whether an event belongs here; kinds come in their order, and the earliest of each first."""
        return self._repeats(event) or self._explains(event)

    def take(self, event: Event) -> None:
        """Add an event that fits."""
        if self._repeats(event):
            self.end = max(self.end, event.end)
            self.cause = max(self.cause, event, key=lambda one: one.seconds)
        self.events.append(event)

    def _repeats(self, event: Event) -> bool:
        """Whether it is of the same kind and node, before the incident is over."""
        same = (event.kind, event.node) == (self.cause.kind, self.cause.node)
        return same and event.kind is not Kind.ENDED and event.begin - self.end <= WINDOW

    def _explains(self, event: Event) -> bool:
        ended = self.cause.kind is Kind.ENDED
        if event.kind is self.cause.kind and (not ended or event.speaker is None):
            return False
        node = self.cause.node
        near = event.kind in _OF_ANY_NODE or node in (event.node, event.speaker or -1)
        near |= ended and node is None  # every node, or the only one of a log that does not name it
        # A node is silent first, and then it is declared dead.
        since = self.begin - (WINDOW if ended and event.kind not in (Kind.REDO, Kind.SAVE) else _EARLIER)
        long_enough = ended or self.end - self.begin >= event.seconds / 2
        began = max(event.begin, event.end - event.seconds)
        return near and long_enough and since <= began and event.end <= self.end + WINDOW

    def fault(self, gravity: Callable[[Event], State]) -> Fault:
        """Say it: the cause with its evidence and the next step, the symptoms below."""
        ended = self._of(Kind.ENDED)
        counting = self.events
        if ended and all(event.over for event in ended):  # what came before the last end is over, too
            last = max(event.end for event in ended)
            counting = [one for one in self.events if one.kind is Kind.ENDED or one.begin > last]
        state = max((gravity(event) for event in counting), key=lambda one: one.gravity)
        first = self.cause
        if ended and self.cause.kind is not Kind.ENDED:
            first = max(ended, key=lambda event: (event.node == self.cause.node, event.end))
        cause = self.cause.finding
        why = first.finding.why
        more = list(cause.line.more) if cause.line else []
        if first is not self.cause:
            more = [self._said(self.cause), why, *more]
            why = self.cause.cause
        told = {first.finding.what, cause.what}  # a cluster log repeats what its nodes say
        symptoms = [event for event in self.events if event.finding.what not in told]
        symptoms = [event for event in symptoms if event.kind is not Kind.STOOD_STILL]  # these are counted
        more += [self._said(event) for event in symptoms[:_FEW]]
        more += [f"and {len(symptoms) - _FEW} more"] if len(symptoms) > _FEW else []
        more = [text for text in dict.fromkeys(more) if text]
        return Fault(state, first.finding.what, why, cause.advice, Line(self._often(first), tuple(more)))

    def _often(self, first: Event) -> str:
        """Say how often it happened, if it did several times."""
        # What tells of several stalls together takes no time itself.
        instants = len(one_each(event.end for event in self._of(first.kind) if event.seconds))
        if first.kind not in _COUNTED or instants <= 1:
            return ""
        # The others may be of other threads than the one that the line names.
        often = times(instants) if first.kind is Kind.STOOD_STILL else plural(instants, "stall")
        return f", {often} in {say_duration(self.end - self.begin)}"

    def _of(self, kind: Kind) -> list[Event]:
        return [event for event in self.events if event.kind is kind]

    def _said(self, event: Event) -> str:
        return ", ".join(filter(None, (event.finding.what, event.finding.why)))


def one_each(moments: Iterable[float]) -> list[float]:
    """Give the first of those moments that are close together, in order."""
    instants: list[float] = []
    for when in sorted(moments):
        if not instants or when - instants[-1] > TOGETHER:
            instants.append(when)
    return instants


def incidents(events: Iterable[Event]) -> list[Incident]:
    """Put together what belongs together; nodes that ended first, then the strongest and longest causes."""
    found: list[Incident] = []
    for event in sorted(events, key=lambda one: (one.kind, one.begin)):
        since, until = event.begin - WINDOW, event.end + WINDOW
        near = (one for one in found if since <= one.end and one.begin <= until)  # most of many are not
        if fitting := [incident for incident in near if incident.fits(event)]:
            _likeliest(fitting).take(event)
        else:
            found.append(Incident(event))
    return sorted(found, key=_first_said)


def _likeliest(incidents: list[Incident]) -> Incident:
    """Choose the incident that an event follows from: of two stalls the longer one."""
    stalls = [incident for incident in incidents if incident.cause.kind in _COUNTED]
    return max(stalls, key=lambda one: one.cause.seconds) if len(stalls) > 1 else incidents[0]


def _first_said(incident: Incident) -> tuple[bool, int, float]:
    kinds = {event.kind for event in incident.events}
    return Kind.ENDED not in kinds, incident.cause.kind, -incident.cause.seconds
