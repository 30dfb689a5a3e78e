"""A node that ended: what there is to say of it, until it is back."""

from __future__ import annotations

from stallwatch import withheld
from stallwatch.findings import Fault, State
from stallwatch.probes.ndb_log.lines import number
from stallwatch.startup import TYPE_CHECKING, NamedTuple
from stallwatch.units import say_size

if TYPE_CHECKING:
    import re

    from stallwatch.probes.ndb_log.moments import Present

_RESTART = ", then restart the node"
_SIGNALS = {
    6: "aborted: look in the node's error log",
    9: "killed: look in dmesg for the out-of-memory killer",
    11: "a bug or bad memory: look in the node's error log",
}


class Down(NamedTuple):
    """A node that ended, and how far it has come since."""

    node: int | None
    when: float
    clock: str
    what: str
    why: str
    advice: str
    gave_up: str = ""  # after so many failed starts the angel does not try again
    data_node: bool = False  # others told of it as of a data node, which has a restart to complete
    hearsay: bool = False  # told by another node, which does not know why
    phase: str = "down"  # or "starting", "back"
    since: float = 0.0  # when that phase began
    since_clock: str = ""

    def fault(self, present: Present) -> Fault:
        """Say that it is down; of one that is back, that it was."""
        name = "node" if self.node is None else f"node {self.node}"
        what = f"{name} {self.what}{present.at(self.clock, self.when)}"
        advice = self.advice.partition(_RESTART)[0]
        if self.phase == "back":
            what += f", started again{present.at(self.since_clock, self.since)}"
            return Fault(State.WARNING, what, self.why, advice)
        if self.phase == "starting":
            what += f", starting again{present.at(self.since_clock, self.since, 'since')}"
            return Fault(State.CRITICAL, what, self.why, advice)
        if self.gave_up:
            what += f", not started again: angel gave up after {self.gave_up} failures"
        return Fault(State.CRITICAL, what, self.why, self.advice)


def forced(match: re.Match[str]) -> tuple[str, str, str]:
    """Say what happened, why, and what to do, from the line of a forced shutdown."""
    from stallwatch.probes.ndb_log import exit_codes

    # With a signal 9.7 says "startphase 0" of a node that was running.
    starting = match["phase"] and (match["error"] or match["phase"] != "0")
    what = f"failed to start (start phase {match['phase']})" if starting else "shut down"
    if match["error"]:
        code = number(match["error"])
        meaning = exit_codes.text(code) or withheld.message(match["text"])
        return what, f"error {code}: {meaning}", exit_codes.advice(code)
    if match["signal"]:
        return what, *by_signal(number(match["signal"]))
    return what, "the log does not say why", "look in the node's error log"


def by_signal(signal: int) -> tuple[str, str]:
    """Say why a signal ended a node, and what to do."""
    return f"signal {signal}", _SIGNALS.get(signal, "look in the node's error log")


def not_started(match: re.Match[str]) -> tuple[str, str, str]:
    """Say what happened, why, and what to do, where a node did not get as far as a start phase."""
    if match["bytes"]:
        why = f"{say_size(number(match['bytes']))} of memory are not to be had for {match['pools']}"
        return "cannot start", why, "lower DataMemory, or free memory on the machine"
    cause = withheld.message(match["cause"])
    return "cannot start", cause, "look whether it is running already, and at the management server"
