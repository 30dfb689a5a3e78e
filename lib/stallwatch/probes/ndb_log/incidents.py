"""Alerts that single lines raise and clear, by the table of rules."""

from __future__ import annotations

import re
from functools import cache

from stallwatch import withheld
from stallwatch.findings import Fault, Finding, Reading, State
from stallwatch.history.problems import remember, remembered
from stallwatch.probes.ndb_log.lines import number
from stallwatch.probes.ndb_log.rules import QUANTITIES, RULES
from stallwatch.startup import TYPE_CHECKING, NamedTuple
from stallwatch.words import worst_first

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from typing import Any

    from stallwatch.probes.ndb_log.lines import Line
    from stallwatch.probes.ndb_log.moments import Present
    from stallwatch.probes.ndb_log.node import Node
    from stallwatch.probes.ndb_log.rules import Rule

_WITHIN = 600.0  # seconds in which a rule's line must come ``often`` times
_KEPT = 100  # alerts


class Alert(NamedTuple):
    """What a line of a rule said, filled in, as it is kept between runs."""

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


class Incidents:
    """The alerts of one log; ``memory`` is the JSON object that it keeps between runs."""

    WORDS = tuple(rule.word for rule in RULES)

    def __init__(self, node: Node, present: Present, memory: dict[str, Any]) -> None:
        self._node = node
        self._present = present
        self._memory = memory
        self._alerts = {alert.key: alert for alert in remembered(memory, "alerts", Alert)}

    def hear(self, line: Line) -> None:
        """Take in one line of the log."""
        when = self._present.of(line)
        if when is None:
            return
        for rule, pattern in _compiled():
            if match := pattern.match(line.text):
                self._apply(rule, _words(match, line.node or self._node.id), when, line)
                if len(self._alerts) > 2 * _KEPT:
                    self._alerts = self._lasting()
                if rule.raises:
                    return

    def begin(self) -> None:
        """Forget what ended with the process: its memory is empty again."""
        self._alerts = {key: alert for key, alert in self._alerts.items() if not alert.stays}

    def keep(self) -> None:
        """Put into the memory what still counts."""
        self._alerts = self._lasting()
        remember(self._memory, "alerts", self._alerts.values())

    def _lasting(self) -> dict[str, Alert]:
        """Give what still counts, of many the last."""
        held = [a for a in self._alerts.values() if self._present.holds(a.when, stays=a.stays)]
        return {alert.key: alert for alert in held[-_KEPT:]}

    def findings(self) -> Iterator[Finding]:
        """Give every alert, and each quantity even when nothing was said of it."""
        for quantity, (unit, none) in QUANTITIES.items():
            alerts = worst_first(
                (a for a in self._alerts.values() if a.quantity == quantity), lambda alert: alert.value
            )
            for alert in alerts:
                label = quantity if alert is alerts[0] else ""
                yield Reading(quantity, alert.value, unit, self._what(alert), alert.why, alert.advice, label)
            if not alerts:
                yield Reading(quantity, 0, unit, none)
        for alert in self._alerts.values():
            if alert.state and alert.fired:
                yield Fault(State[alert.state], self._what(alert), alert.why, alert.advice)

    def _apply(self, rule: Rule, words: dict[str, str], when: float, line: Line) -> None:
        key = rule.key.format(**words)
        if not rule.raises:
            self._alerts.pop(key, None)
            return
        before = self._alerts.get(key)
        if before and not self._present.holds(before.when, stays=before.stays):
            before = None
        value = float(number(words.get("value", "0")))
        if before and before.quantity and before.value > value:
            return  # the worst one within the hold speaks
        times = [*(before.times if before else []), *[when] * min(line.times, rule.often)]
        times = [time for time in times if abs(when - time) <= _WITHIN][-rule.often :]
        if before and before.fired and len(times) < rule.often:
            # It has happened often enough, and does not become less by one more.
            self._alerts[key] = before._replace(times=times)
            return
        self._alerts[key] = Alert(
            key=key,
            state=rule.state.name if rule.state else "",
            when=when,
            clock=line.clock,
            what=_speaker(words) + rule.what.format(**words),
            why=rule.why.format(**{name: withheld.message(said) for name, said in words.items()}).rstrip(
                ". "
            ),
            advice=rule.advice.format(**words),
            quantity=rule.quantity,
            value=value,
            stays=rule.stays,
            fired=len(times) >= rule.often,
            times=times,
        )

    def _what(self, alert: Alert) -> str:
        return alert.what + self._present.at(alert.clock, alert.when)


@cache
def _compiled() -> Sequence[tuple[Rule, re.Pattern[str]]]:
    """Give the rules with their patterns, which takes 3 ms: not before there is a line to look at."""
    return tuple((rule, re.compile(rule.pattern)) for rule in RULES)


def _words(match: re.Match[str], node: int | None) -> dict[str, str]:
    speaker = "" if node is None else str(node)
    groups = {name: text or "" for name, text in match.groupdict().items()}
    return {"node": speaker, "observer": speaker, **groups}


def _speaker(words: dict[str, str]) -> str:
    return f"node {words['node']}: " if words["node"] else ""
