"""Incidents: what belongs together in the logs of a cluster, with its cause and its symptoms.

One node that stalls makes lines in many logs: its threads overslept, the others miss its heartbeats,
the master's global checkpoint lags, and the node may be declared dead. Subjects find events. They become
incidents, one problem each. Rules, measured on 9.7.2 (`tests/recorded/ndb_log`, E3 to E9):

- What a node logs of itself is a cause of what others log of it, and of what it then logs of others.
- A whole process that stalled is a cause before a thread; both before what waited for them.
- A symptom neither begins before its cause nor outlasts it by more than a minute, nor is it far longer.
- Stalls of one kind and node that come again within 10 minutes are one trouble.
- A node that stalled, and then declared another one dead, is the cause of that one's end.
"""

from __future__ import annotations

from stallwatch.findings import Fault, Line, Reading, State
from stallwatch.probes.ndb_log.events import SLOW_DISK, TOGETHER, WINDOW, Event, Kind, one_each
from stallwatch.startup import TYPE_CHECKING
from stallwatch.units import say_duration
from stallwatch.words import named, plural, times

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from stallwatch.probes.ndb_log.events import Instant

AGAIN = 600.0  # seconds after which a stall of the same node is another trouble
_EARLIER = 5.0  # seconds by which others may see a symptom first: clocks differ, and lengths are rounded
_FEW = 8  # symptoms that are shown
# These show little of which node they are from.
_OF_ANY_NODE = (Kind.STOPPED, Kind.SAVE, Kind.CUT, Kind.CLOSED, Kind.COMMIT)
_COUNTED = (Kind.STOOD_STILL, Kind.STUCK, Kind.LATE)


class Incident:
    """One node's trouble from ``begin`` to ``end``: its cause, and the symptoms that follow from it."""

    def __init__(self, cause: Event) -> None:
        self.cause = cause  # the longest event of the strongest kind
        self.events = [cause]  # in the order of their kinds
        self.begin = cause.begin
        self.end = cause.end
        self.again = False  # whether it is one trouble that was over for a while and came again

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
        ended, node = self.cause.kind is Kind.ENDED, self.cause.node
        if event.kind is self.cause.kind and (not ended or event.speaker is None):
            return False
        if event.kind is Kind.HINT and not self._of(Kind.ENDED):
            return False
        of_nodes = (event.node, event.speaker or -1, -1 if ended else event.judge or -1)
        near = event.kind in _OF_ANY_NODE or node in of_nodes
        near |= ended and node is None  # every node, or the only one of a log that does not name it
        # A node is silent first, and then it is declared dead.
        since = self.begin - (WINDOW if ended and event.kind not in (Kind.REDO, Kind.SAVE) else _EARLIER)
        long_enough = ended or self.end - self.begin >= event.seconds / 2
        began = max(event.begin, event.end - event.seconds)
        return near and long_enough and since <= began and event.end <= self.end + WINDOW

    def joins(self, other: Incident) -> bool:
        """Whether another incident of this node, which begins later, is the same trouble that came again."""
        mine, its = self.cause, other.cause
        if self._of(Kind.ENDED) or other._of(Kind.ENDED):
            return False
        if mine.kind is its.kind:
            last = max([self.end, *(when for when, _ in self._like() if when <= other.begin)])
            return other.begin - last <= AGAIN
        # What reports several stalls together takes no time itself.
        return not its.seconds and self.begin <= other.end <= self.end + WINDOW

    def join(self, other: Incident) -> None:
        """Take all of another incident that is the same trouble."""
        self.again = True
        self.end = max(self.end, other.end)
        self.cause = max(self.cause, other.cause, key=lambda one: one.seconds)
        self.events = sorted([*self.events, *other.events], key=lambda one: one.kind)

    def fault(self, gravity: Callable[[Event], State], now: float) -> Fault:
        """Write it: the cause with its evidence and the next step, the symptoms below."""
        ended = self._of(Kind.ENDED)
        gap = self._usual_gap()
        counting = [one._replace(over=one.over and not self._goes_on(one, now, gap)) for one in self.events]
        if ended and all(event.over for event in ended):  # what came before the last end is over, too
            last = max(event.end for event in ended)
            counting = [one for one in counting if one.kind is Kind.ENDED or one.begin > last]
        state = max((gravity(event) for event in counting), key=lambda one: one.gravity)
        cause = self.cause.finding
        what, then, why, more = cause.what, self._often(), cause.why, self._more(self.cause)
        told = {what}  # a cluster log repeats the lines of its nodes
        advice = cause.advice
        if slow := self._slow_disk():
            why, advice = f"{why.partition(',')[0]}, {slow.why}", slow.advice
        if self.again:
            what, then, why, more = self._again(), "", "", [self._said(self.cause), *more]
        elif ended and self.cause.kind is not Kind.ENDED:
            own = [event for event in ended if event.node == self.cause.node or self.cause.node is None]
            more = [self._said(self.cause), *more]
            if own:
                first = max(own, key=lambda event: event.end)
                more[1:1] = [first.finding.why]
                what, why, then = first.finding.what, self.cause.cause, ""
            else:
                then, why = f", then {self._ends(ended)}", ""
            told.add(what)
        symptoms = [event for event in self.events if event.finding.what not in told]
        symptoms = [event for event in symptoms if not self._is_counted(event)]
        more += [self._said(event) for event in symptoms[:_FEW]]
        more += [f"and {len(symptoms) - _FEW} more"] if len(symptoms) > _FEW else []
        more = [text for text in dict.fromkeys(more) if text]
        return Fault(state, what, why, advice, Line(then, tuple(more)))

    def _is_counted(self, event: Event) -> bool:
        """Whether an event is counted on the line: not other threads in the same instant."""
        if event.kind is Kind.STOOD_STILL:
            return True
        same = event.kind is self.cause.kind and event.kind in _COUNTED and event.seconds > 0
        return same and abs(event.end - self.cause.end) > TOGETHER

    def _slow_disk(self) -> Reading | Fault | None:
        """Return what shows that the disk of a node is why others waited for it until it was ended."""
        waited = self.cause.kind is Kind.ENDED and self.cause.begin < self.cause.end
        lags = (one for one in self._of(Kind.REDO) if waited and one.node == self.cause.node)
        return next((one.finding for one in lags if one.finding.why == SLOW_DISK), None)

    def _usual_gap(self) -> float | None:
        """Return the seconds between two stalls of one trouble that came again; None: there is no rule."""
        if not self.again or (count := self._count()) <= 2:  # noqa: PLR2004 - twice is no rule
            return None
        return (self.end - self._since()[0]) / (count - 1)

    def _goes_on(self, event: Event, now: float, gap: float | None) -> bool:
        """Whether a stall goes on: one that comes again does so for its usual gap."""
        if gap is None or event.kind is not self.cause.kind:
            return False
        return 0 <= now - event.end <= min(2 * gap, AGAIN)

    def _again(self) -> str:
        """Return what came repeatedly: how long at most, how often, since when, and when the last was."""
        longest, (_, since) = say_duration(self.cause.seconds), self._since()
        last = max(self._of(self.cause.kind), key=lambda one: (one.seconds > 0, one.end))
        when = f" since{since}, the last at{last.at}" if since else ""
        return f"{self.cause.who} up to {longest}, {self._how_often()}{when}"

    def _often(self) -> str:
        """Return how often it happened, if it did several times."""
        if self.cause.kind not in _COUNTED or self._count() <= 1:
            return ""
        return f", {self._how_often()} in {say_duration(self.end - self._since()[0])}"

    def _how_often(self) -> str:
        # The others may be of other threads than the one that the line names.
        count = self._count()
        return times(count) if self.cause.kind is Kind.STOOD_STILL else plural(count, "stall")

    def _count(self) -> int:
        """Count the instants of its kind, those that are not kept included."""
        ends, (since, _) = [event.end for event in self._of(self.cause.kind) if event.seconds], self._since()
        return len(one_each([*ends, *(when for when, _ in self._like() if since <= when <= self.end)]))

    def _since(self) -> Instant:
        """Return when the first stall ended, which need not be kept, or began if there is but one."""
        first = min(self._of(self.cause.kind), key=lambda one: one.end)
        since, at = first.begin, first.at
        for when, name in reversed(self._like()):
            if since - (AGAIN if self.again else WINDOW) <= when < since:
                since, at = when, name
        return since, at

    def _like(self) -> Sequence[Instant]:
        return max((event.like for event in self._of(self.cause.kind)), key=len)

    def _ends(self, ended: list[Event]) -> str:
        """Return what became of other nodes."""
        if len({event.node for event in ended}) == 1:
            return f"node {ended[0].node} {ended[0].cause}"
        return f"{named('node', [str(event.node) for event in ended])} ended"

    def _of(self, kind: Kind) -> list[Event]:
        return [event for event in self.events if event.kind is kind]

    def _said(self, event: Event) -> str:
        return ", ".join(filter(None, (event.finding.what, event.finding.why)))

    def _more(self, event: Event) -> list[str]:
        return list(event.finding.line.more) if event.finding.line else []


def incidents(events: Iterable[Event]) -> list[Incident]:
    """Put together what belongs together; nodes that ended first, then the strongest and longest causes."""
    found: list[Incident] = []
    for event in sorted(events, key=lambda one: (one.kind, one.begin)):
        since, until = event.begin - WINDOW, event.end + WINDOW
        near = (one for one in found if since <= one.end and one.begin <= until)  # most of many are not
        if fitting := [incident for incident in near if incident.fits(event)]:
            _likeliest(fitting, event).take(event)
        else:
            found.append(Incident(event))
    return sorted(_joined(found), key=_first_said)


def _joined(found: Iterable[Incident]) -> list[Incident]:
    """Make one of those that are one trouble which came again and again."""
    joined: list[Incident] = []
    last: dict[tuple[Kind, int | None], Incident] = {}
    for incident in sorted(found, key=lambda one: (one.cause.kind, one.begin)):
        kind, node = incident.cause.kind, incident.cause.node
        before = [last.get((one, node)) for one in ((kind, Kind.STUCK) if kind is Kind.LATE else (kind,))]
        same = next((one for one in before if one and kind in _COUNTED and one.joins(incident)), None)
        if same:
            same.join(incident)
        else:
            joined.append(incident)
            last[kind, node] = incident
    return joined


def _likeliest(incidents: list[Incident], event: Event) -> Incident:
    """Choose the incident that an event follows from: of two stalls the longer one, else one of its node."""
    stalls = [incident for incident in incidents if incident.cause.kind in _COUNTED]
    if len(stalls) > 1:
        return max(stalls, key=lambda one: one.cause.seconds)
    return next((one for one in incidents if one.cause.node == event.node), incidents[0])


def _first_said(incident: Incident) -> tuple[bool, int, float]:
    kinds = {event.kind for event in incident.events}
    return Kind.ENDED not in kinds, incident.cause.kind, -incident.cause.seconds
