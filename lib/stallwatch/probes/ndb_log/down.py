"""A node that ended, in words: what happened, why, and what to do."""

from __future__ import annotations

from stallwatch import withheld
from stallwatch.findings import Fault, Line, State
from stallwatch.line import Forms
from stallwatch.probes.ndb_log.lines import compiled, number
from stallwatch.startup import TYPE_CHECKING, NamedTuple
from stallwatch.words import listed, named

if TYPE_CHECKING:
    import re
    from collections.abc import Collection, Sequence

    from stallwatch.probes.ndb_log.model import Present

FORCED = (
    r"Forced node shutdown completed(?:, restarting)?(?:, no start)?(?:, initial)?\."
    r"(?: Occur?red during startphase (?P<phase>\d+)\.)?"
    r"(?: Initiated by signal (?P<signal>\d+)\.)?"
    r"(?: Caused by error (?P<error>\d+)(?:: '(?P<text>.*?)(?:'\.|$))?)?"  # a long text is cut off
)
RESTART = ", then restart the node"
_INITIAL = ", restart with --initial"  # no advice about a node that has started again
NO_REASON = "no reason found"
OVER = frozenset({"back", "unknown"})  # phases
# Ends of which the end of another node is the cause
_FOLLOWS = r"error 230[58]|it lost "
# Why nodes end that a split leaves without an arbitrator
SPLIT = r"it (lost node \d+ and the arbitration)$"
ERROR_LOG = "read the node's error log"
_SIGNALS = {
    6: ("aborted", ERROR_LOG),
    9: ("killed", "look in dmesg for the out-of-memory killer"),
    11: ("segmentation fault", f"{ERROR_LOG}, a bug or bad memory"),
}

# How long a node must have stalled to end of it: any time for its watchdog, 4 heartbeats for the others.
# Those are 20 s as default; shorter ones can be configured.
_STALLS = {"6050": 0.0, "2305": 4.0, "2315": 4.0, "2334": 1.0}
HEARTBEATS = 4.0
DECLARED_DEAD = "declared dead"
NEVER = 1e9
NO_SHUTDOWN, NO_ORDER = "no shutdown in the log", "the log shows no order"
LOST = "another node lost its connection"
_NOT_KNOWN = (NO_SHUTDOWN, NO_ORDER, LOST)  # what is reported where no log shows why
CUT = "it missed heartbeats"  # why a management node cut a connection


class Down(NamedTuple):
    """A node that ended, and how far it has come since."""

    node: int | None
    when: float
    clock: str
    what: str
    why: str
    advice: str
    gave_up: str = ""  # after so many failed starts the angel does not try again
    data_node: bool = False  # others named it a data node, which has a restart to complete
    hearsay: bool = False  # reported by another node, which does not know why
    phase: str = "down"  # or "starting", "back"; "unknown": an error log does not show it
    since: float = 0.0  # when that phase began
    since_clock: str = ""
    more: Sequence[str] = ()  # further evidence
    at: str = "at"  # or "before" or "after" the time that is known
    stall: float = NEVER  # seconds; a standstill of the node that took this long can be why
    lost: int | None = None  # the other node whose end was the cause
    by: int | None = None  # the management node that lost its connection to it: all that is known
    client: bool = False  # no data node, but the arbitrator: the data node ``by`` missed its heartbeats
    waited: float = 0.0  # seconds before its end in which global checkpoints waited for it
    silent: float = 0.0  # seconds without a heartbeat before it was cut off; 0: not known
    judge: int | None = None  # the data node that declared it dead, or lost it
    tellers: Sequence[int | None] = ()  # all data nodes that report to have declared it dead
    also: Sequence[int] = ()  # other nodes that ended so, of the same split

    def fault(self, present: Present) -> Fault:
        """Report that it is down; of one that is back, that it was."""
        name = "node" if self.node is None else named("node", [str(node) for node in (self.node, *self.also)])
        what = f"{name} {self.what}{present.at(self.clock, self.when, self.at)}"
        advice = self.advice.partition(RESTART)[0].partition(_INITIAL)[0]
        line = Line(more=tuple(self.more))
        if self.phase == "back":
            what += f", started again{present.at(self.since_clock, self.since)}"
        if self.phase in OVER:
            return _fault(State.WARNING, what, self.why, advice, line)
        if self.phase == "starting":
            what += f", starting again{present.at(self.since_clock, self.since, 'since')}"
            return _fault(State.CRITICAL, what, self.why, advice, line)
        if self.gave_up:
            what = Forms(f"{what}, not started again", what)
            line = Line(more=(f"its angel gave up after {self.gave_up} failures", *self.more))
        return _fault(State.CRITICAL, what, self.why, self.advice, line)


def _fault(state: State, what: str, why: str, advice: str, line: Line) -> Fault:
    """Report it with a shorter next step, too: without the restart."""
    return Fault(state, what, why, Forms(advice, advice.partition(RESTART)[0]), line)


def all_down(nodes: Sequence[str], faults: Sequence[Fault], phases: Collection[str], since: str) -> Fault:
    """Report that no data node is up, and why if the logs of all know one reason, or which ended first."""
    are = "are down" if "starting" not in phases else "are down or starting"
    what = f"all data nodes ({listed(nodes)}) {are}{since}"
    more = tuple(", ".join(filter(None, (fault.what, fault.why))) for fault in faults)
    if CUT in (fault.why for fault in faults) and "starting" not in phases:  # they may run out of reach
        what = f"no contact to any data node ({listed(nodes)}){since}"
        advice = "check the network of the management node, then the machines of the data nodes"
        return Fault(State.CRITICAL, what, "missed heartbeats", advice, Line(more=more))
    known = {fault.why: fault for fault in faults if fault.why not in _NOT_KNOWN}
    if len(known) == 1:
        (fault,) = known.values()
        return Fault(State.CRITICAL, what, fault.why, fault.advice, Line(more=more))
    first = [fault for fault in faults if not compiled(_FOLLOWS).match(fault.why)]
    if first and len(first) < len(faults):  # the others ended of these ends, the earliest is named
        whose = first[0].what.partition(" at ")[0].partition(" (")[0]
        advice = first[0].advice.partition(_INITIAL)[0]  # there is no group to take data from
        return Fault(State.CRITICAL, what, f"{whose}: {first[0].why}", advice, Line(more=more))
    why = "" if known else min((fault.why for fault in faults), key=_NOT_KNOWN.index)
    advice = "check their machines and logs" + (", then start them" if "down" in phases else "")
    return Fault(State.CRITICAL, what, why, advice, Line(more=more))


def stall(error: str | None) -> float:
    """Return the seconds that a node must have stalled to end with this error."""
    return _STALLS.get(error or "", NEVER)


def forced(match: re.Match[str]) -> tuple[str, str, str, tuple[str, ...]]:
    """Return what happened, why, what to do, and NDB's own words, from the line of a forced shutdown."""
    from stallwatch.probes.ndb_log import exit_codes

    # With a signal 9.7 logs "startphase 0" of a node that was running.
    starting = match["phase"] and (match["error"] or match["phase"] != "0")
    what = f"failed to start (phase {match['phase']})" if starting else "shut down"
    if match["error"]:
        code = number(match["error"])
        meaning, advice = exit_codes.meaning(code)
        text = meaning or withheld.message(match["text"] or "")
        said = f"error {code}: {exit_codes.short(code, text)}".removesuffix(": ")
        return what, said, advice, (text,) if text and not said.endswith(text) else ()
    if match["signal"]:
        return what, *by_signal(number(match["signal"])), ()
    return what, NO_REASON, ERROR_LOG, ()


def by_signal(signal: int) -> tuple[str, str]:
    """Return why a signal ended a node, and what to do."""
    meaning, advice = _SIGNALS.get(signal, ("", ERROR_LOG))
    return f"signal {signal}{f' ({meaning})' if meaning else ''}", advice
