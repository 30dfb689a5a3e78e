"""What single lines show: alerts that they raise and clear by the table of rules, and the last backup."""

from __future__ import annotations

from stallwatch import withheld
from stallwatch.findings import Fault, Finding, Line, ProbeError, Reading, State
from stallwatch.history import remember, remembered
from stallwatch.probes.ndb_log.events import TOGETHER, WINDOW, Event, Kind
from stallwatch.probes.ndb_log.lines import number
from stallwatch.probes.ndb_log.model import Row, Subject
from stallwatch.probes.ndb_log.rule import nodes, nodes_of
from stallwatch.probes.ndb_log.rules import COMPLETED, QUANTITIES, RULES
from stallwatch.startup import TYPE_CHECKING, NamedTuple
from stallwatch.units import say_duration
from stallwatch.words import named

if TYPE_CHECKING:
    import re
    from collections.abc import Iterable, Iterator, Sequence
    from typing import Any

    from stallwatch.probes.ndb_log import lines
    from stallwatch.probes.ndb_log.model import Node, Present, Rules
    from stallwatch.probes.ndb_log.rule import Rule

_WITHIN = 600.0  # seconds in which a rule's line must come ``often`` times
_KEPT = 100  # alerts
_AT_ONCE = 10.0  # seconds; heartbeats come every 1.5 s or 5 s as default
_EARLIER = " earlier"  # ends the key of a quantity that is over, where there is a later one
_ARBITRATOR = "arbitrator"  # the key of what is known of it
_MANAGEMENT = "management node "  # how the words of a management node begin
# What rules with these keys report: a kind of event, and the seconds that each of its value takes, at least
# and at most. A management node expects a heartbeat every 1.5 s, a data node one every 5 s, as default.
_EVENTS = {
    "silence": (Kind.SILENT, 1.5, 5.0),
    "link": (Kind.LINK, 1.5, 5.0),
    "late": (Kind.SILENT, 0.0, 0.0),
    "arbitration": (Kind.PARTED, 0.0, 0.0),
    "gcp stop": (Kind.STOPPED, 0.0, 0.0),
    "gcp commit": (Kind.COMMIT, 1.0, 1.0),
    "gcp save": (Kind.SAVE, 1.0, 1.0),
    "filesystem": (Kind.HINT, 0.0, 0.0),
    "failure handling": (Kind.HINT, 0.0, 0.0),
    "long message buffer": (Kind.HINT, 0.0, 0.0),
    "job buffer": (Kind.HINT, 0.0, 0.0),
    _ARBITRATOR: (Kind.HINT, 0.0, 0.0),
    "memlock": (Kind.HINT, 0.0, 0.0),
    "send buffer": (Kind.HINT, 0.0, 0.0),
    "transporter": (Kind.HINT, 0.0, 0.0),
    "lcp wait": (Kind.COMMIT, 0.0, 0.0),  # before the next one, which begins alike
    "lcp": (Kind.SAVE, 0.0, 0.0),
}


class Alert(NamedTuple):
    """The words of a rule for one line, filled in, as it is kept between runs."""

    key: str
    state: str  # name of a State; "" for a quantity
    when: float
    clock: str
    what: str
    why: str
    advice: str
    quantity: str
    value: float
    stays: bool
    fired: bool  # its line came as often as the rule wants
    times: Sequence[float] = ()  # of its last lines, newest last
    node: int | None = None  # that it is about
    speaker: int | None = None


class Alerts(Subject):
    """The alerts of one log."""

    LINES = RULES

    def __init__(self, node: Node, present: Present, memory: dict[str, Any]) -> None:
        super().__init__(node, present, memory)
        self._alerts = {alert.key: alert for alert in remembered(memory, "alerts", Alert)}

    def read(self, line: lines.Line) -> None:
        """Apply the rules of one line, up to the first that raises an alert."""
        for rule, match in self.matching(line):
            self._apply(rule, _words(match, line.node), line)
            if len(self._alerts) > 2 * _KEPT:
                self._alerts = self._lasting()
            if rule.raises:
                return

    def restart(self) -> None:
        """Forget what ended with the process: its memory is empty again."""
        self._alerts = {key: alert for key, alert in self._alerts.items() if not alert.stays}

    def keep(self) -> None:
        """Put into the memory what still counts."""
        self._alerts = self._lasting()
        remember(self._memory, "alerts", self._alerts.values())

    def _lasting(self) -> dict[str, Alert]:
        """Return what still counts, of many what stays, and the last."""
        held = [a for a in self._alerts.values() if self._present.holds(a.when, stays=a.stays)]
        if len(held) > _KEPT:
            held = sorted(held, key=lambda alert: (alert.stays, alert.when))[-_KEPT:]
        return {alert.key: alert for alert in held}

    def findings(self, _: Rules) -> Iterator[Finding | Event]:
        """Yield every alert, and each quantity even when no line had it."""
        for quantity, (unit, none) in QUANTITIES.items():
            alerts = [alert for alert in self._alerts.values() if alert.quantity == quantity]
            alerts = [self._mutual(alert) for alert in _of_several(alerts)]
            for alert in alerts:
                what, line = self._what(alert), Line()
                reading = Reading(quantity, alert.value, unit, what, alert.why, alert.advice, line=line)
                yield self._event(alert, reading)
            if not alerts:
                yield Reading(quantity, 0, unit, none)
        for alert in self._alerts.values():
            if alert.state and alert.fired:
                why, advice = self._in_doubt(alert)
                fault = Fault(State[alert.state], self._what(alert), why, advice)
                yield self._event(alert, fault)

    def _mutual(self, alert: Alert) -> Alert:
        """Accuse nobody, or the data node, if two nodes missed each other's heartbeats.

        A management node that logs this itself was running: it is no suspect (E4, a frozen receive thread).
        """
        other = self._alerts.get(f"silence {alert.node} {alert.speaker}")
        if other is None or abs(other.when - alert.when) > WINDOW or alert.what.startswith(_MANAGEMENT):
            return alert
        pair = sorted((alert.node, alert.speaker), key=str)
        advice = "check the network between them, then both logs"
        if other.what.startswith(_MANAGEMENT):
            pair = [alert.speaker, alert.node]
            advice = f"check the log of node {alert.speaker}, then the network"
        what = f"nodes {pair[0]} and {pair[1]} missed {alert.value:.0f} heartbeats of each other"
        key = f"link {pair[0]} {pair[1]}"
        return alert._replace(key=key, what=what, advice=advice, node=pair[0], speaker=pair[1])

    def _in_doubt(self, alert: Alert) -> tuple[str, str]:
        """Leave open whether a node that lost the arbitrator, and has been silent since, goes on itself.

        One that goes on finds another arbitrator at once, or writes after a minute that it found none.
        """
        lost = alert.key == _ARBITRATOR and alert.node != alert.speaker
        if not lost or self._node.is_seen or self._node.until - alert.when > TOGETHER:
            return alert.why, alert.advice
        return f"{alert.why}, no line since", "check whether the data nodes run, then ndb_mgmd"

    def _event(self, alert: Alert, finding: Reading | Fault) -> Finding | Event:
        """Make an event of what may belong to an incident."""
        found = (judged for words, judged in _EVENTS.items() if f"{alert.key} ".startswith(f"{words} "))
        kind, least, most = next(found, (None, 0.0, 0.0))
        if kind is None:
            return finding
        over, begin = self._present.over(alert.when), alert.when - most * alert.value
        node = None if kind is Kind.COMMIT else alert.node
        seconds = least * alert.value
        return Event(kind, node, finding, begin, alert.when, over, seconds, alert.speaker, cause=alert.what)

    def _apply(self, rule: Rule, words: dict[str, str], line: lines.Line) -> None:
        key, when = rule.key.format(**words), line.moment
        if not rule.raises:
            for over in (key, key + _EARLIER):
                self._alerts.pop(over, None)
            return
        before = self._alerts.get(key)
        if before and not self._present.holds(before.when, stays=before.stays):
            before = None
        if before and before.quantity and when - before.when > WINDOW:
            self._set_aside(before)  # it is over, and is not to hide what begins now
            before = None
        value = float(number(words.get("value", "0")))
        if before and before.quantity and before.value > value:
            return  # the worst one speaks
        times = [*(before.times if before else []), *[when] * min(line.times, rule.often)]
        times = [time for time in times if abs(when - time) <= _WITHIN][-rule.often :]
        if before and before.fired and len(times) < rule.often:
            # It has happened often enough, and does not become less by one more.
            self._alerts[key] = before._replace(times=times)
            return
        speaker = f"node {words['node']}: " if words["node"] else ""
        why = rule.why.format(**{name: withheld.message(said) for name, said in words.items()})
        self._alerts[key] = Alert(
            key=key,
            state=rule.state.name if rule.state else "",
            when=when,
            clock=line.clock,
            what=speaker + rule.what.format(**words),
            why=why.rstrip(". "),
            advice=rule.advice.format(**words),
            quantity=rule.quantity,
            value=value,
            stays=rule.stays,
            fired=len(times) >= rule.often,
            times=times,
            node=_id(words.get("peer") or words["node"]),
            speaker=_id(words["observer"]),
        )

    def _set_aside(self, alert: Alert) -> None:
        """Keep the alert if it is the worst one of its key that is over."""
        key = alert.key + _EARLIER
        worst = self._alerts.get(key)
        if worst is None or worst.value <= alert.value or not self._present.holds(worst.when):
            self._alerts[key] = alert._replace(key=key)

    def _what(self, alert: Alert) -> str:
        return alert.what + self._present.at(alert.clock, alert.when)


def _id(word: str) -> int | None:
    """Read the number of a node; None where several are named, or none."""
    return number(word) if word.isdigit() else None


def _words(match: re.Match[str], node: int | None) -> dict[str, str]:
    speaker = "" if node is None else str(node)
    groups = {name: text or "" for name, text in match.groupdict().items()}
    if "peers" in groups:
        groups["peers"] = nodes("SQL node", groups["peers"])
    if "nodes" in groups:
        waited_for = nodes_of(groups["nodes"])
        groups["peer"] = str(waited_for[0]) if len(waited_for) == 1 else ""
        groups["nodes"] = nodes("node", groups["nodes"]) if waited_for else "a node"
    return {"node": speaker, "observer": speaker, **groups}


def _of_several(alerts: Iterable[Alert]) -> Iterator[Alert]:
    """Make one alert of heartbeats that a data node missed of several others at once, and accuse nobody.

    A frozen receive thread takes in nothing from anybody (9.7.2, E4).
    """
    left = sorted(alerts, key=lambda alert: (-alert.value, alert.node or 0))
    while left:
        worst = left.pop(0)
        same = [alert for alert in left if _is_at_once(alert, worst)]
        if same and worst.speaker is not None:
            left = [alert for alert in left if alert not in same]
            peers = [str(node) for node in sorted(alert.node or 0 for alert in (worst, *same))]
            what = f"node {worst.speaker} missed {worst.value:.0f} heartbeats of {named('node', peers)}"
            advice = f"check the log of node {worst.speaker}, then the network"
            worst = worst._replace(what=what, why="of several at once", advice=advice)
        yield worst


def _is_at_once(one: Alert, other: Alert) -> bool:
    """Whether a data node missed heartbeats of two nodes at the same time."""
    silences = all(
        alert.key.startswith("silence ") and not alert.what.startswith(_MANAGEMENT) for alert in (one, other)
    )
    return silences and one.speaker == other.speaker and abs(one.when - other.when) <= _AT_ONCE


class Backups(Subject):
    """The last backup of a cluster that its cluster log shows."""

    def begins(self, line: lines.Line) -> None:
        """Take note of the first line of the log: nothing is known of the time before."""
        if line.when is not None:
            self._memory.setdefault("begins", line.when)

    def _on_completed(self, match: re.Match[str], line: lines.Line) -> None:
        """Note the backup; its age matters, so a line without a time is of no use."""
        if line.clock:
            self._memory["last"] = [line.moment, line.clock, match["id"]]

    LINES = (Row(b"Backup ", COMPLETED, _on_completed),)

    def last(self) -> tuple[float, str] | None:
        """Return the age in seconds of the last completed backup, and the words for it."""
        if "last" not in self._memory:
            return None
        when, clock, number = self._memory["last"]
        age = self._present.now - when
        at = self._present.at(clock, when)
        return age, f"last backup {number} completed {say_duration(age)} ago{at}"

    def seen(self) -> float:
        """For how many seconds the log has shown the cluster."""
        now = self._present.now
        return float(now - self._memory.get("begins", now))


def of_backups(logs: list[Backups], limit: float) -> Iterator[Finding]:
    """Judge the last backup that any cluster log shows; one older than ``limit`` seconds is not well."""
    advice = "start a backup: ndb_mgm -e 'start backup'"
    completed = [last for log in logs if (last := log.last())]
    if completed:
        age, what = min(completed)
        yield Reading("backup_age", age, "s", what)
    else:
        age = max(log.seen() for log in logs)
        what = f"no backup completed in the {say_duration(age)} that the cluster log covers"
    if age > limit:
        yield Fault(State.WARNING, what, f"more than {say_duration(limit)}", advice)
    elif not completed:
        yield ProbeError(what, advice)
