"""What a probe may ask of the run that it is part of."""

from __future__ import annotations

import os
from binascii import crc32
from contextlib import suppress

from stallwatch.deadline import Deadline
from stallwatch.frame import places
from stallwatch.memory import Memory
from stallwatch.startup import TYPE_CHECKING
from stallwatch.thresholds import Range

if TYPE_CHECKING:
    from argparse import Action, Namespace
    from collections.abc import Callable, Iterable, Mapping
    from contextlib import AbstractContextManager
    from typing import Any

    from stallwatch.findings import Finding, ProbeError, State
    from stallwatch.verdict import Report


_STARVED = "starved"  # how the names of their files begin
_NOT_OF_A_SERVICE = {"password", "timeout", "verbose", "output", "color", "state_dir"}  # of options
_OVERLOADED = 3  # runs of a check in a row without its time: that is no accident
_PATIENCE = 0.05  # seconds for another run that counts them
_LOAD = "look at the load of this host, or raise --timeout"


class Run:
    """What one run knows: its deadline, its thresholds, and what is to be reported besides the findings."""

    def __init__(
        self, name: str, options: Namespace, units: dict[str, str], limits: dict[str, dict[str, Action]]
    ) -> None:
        self.deadline = Deadline(options.timeout)
        self.thresholds = {
            name: {level: getattr(options, action.dest) for level, action in actions.items()}
            for name, actions in limits.items()
        }
        self.traced: list[str] = []
        self.found: list[Finding] = []
        self._so_far: list[Finding] = []
        self._all_but = ""
        self._is_over = False
        self._starved = {"name": _STARVED, "check": name, "options": _service(options)}  # before they change
        self.problems: list[ProbeError] = []  # with the memory: UNKNOWN whatever --unreachable is
        self.report: Report | None = None  # once there is one
        self.target = ""  # whom it asks, as host:port or a path; "": this host
        self.answered = False  # at length: if nothing was found wrong, there is no verdict to report
        self.output: Callable[[str], None]
        self.columns: Callable[[], int] = int  # of the terminal that reads it, 0: none does
        self.progress: Callable[[str], None]  # how far it has come, for a person who waits at a terminal
        self._name = name
        self._options = options
        self._units = units
        self._limits = limits

    def default(self, name: str, **limits: str) -> None:
        """Set ``warning`` or ``critical`` of a quantity to a range, where the user gave none."""
        for level, text in limits.items():
            if not self.is_given(name, level):
                self.thresholds[name][level] = Range(text, self._units[name])

    def judge_by(self, name: str, limits: Mapping[str, Range | None]) -> None:
        """Set ``warning`` and ``critical`` of a quantity without options of its own, as a status variable."""
        self.thresholds[name] = dict(limits)

    def is_given(self, name: str, *levels: str) -> bool:
        """Whether the user gave a threshold of a quantity, or one of these ``levels`` of it."""
        actions = [action for level, action in self._limits[name].items() if not levels or level in levels]
        return any(getattr(self._options, action.dest) is not action.default for action in actions)

    def alerts(self, name: str, value: float | None, *at_least: State) -> bool:
        """Whether a threshold of a quantity alerts on a value; on None, which is not known, none does."""
        from stallwatch.findings import Reading

        return self.is_problem(Reading(name, value), *at_least)

    def is_problem(self, finding: Finding, *at_least: State) -> bool:
        """Whether a finding is known to be wrong: a fault, or a reading that a threshold alerts on.

        ``at_least`` is how bad a reading has to be, a WARNING if it is not said.
        """
        from stallwatch.verdict import is_problem

        return is_problem(finding, self.thresholds, *at_least)

    def seconds_until(self, level: str, name: str, value: float, slope: float) -> float | None:
        """Give the seconds until a quantity that grows by ``slope`` a second goes above a threshold.

        ``level`` is "warning" or "critical". None: it will not, or has already.
        """
        limit = self.thresholds[name].get(level)
        return limit.reached_in(value, slope) if limit else None

    def so_far(self, findings: Iterable[Finding], *, all_but: str = "") -> None:
        """Report these, instead of nothing, if the run is cut short before it has found anything.

        ``all_but`` names what is still to come, if its lack is no reason for UNKNOWN, as it only explains:
        "the search for causes".
        """
        self._so_far = list(findings)
        self._all_but = all_but

    def cut_short(self, why: Finding) -> None:
        """End with what is known, and why it is not all."""
        self.found = [*(self.found or self._so_far), why]

    def out_of_time(self, why: str) -> None:
        """End at the deadline: UNKNOWN, unless only ``all_but`` of ``so_far`` is missing.

        A server that has not answered in its time is judged as one that cannot be asked.
        """
        from stallwatch.findings import Fault, ProbeError, State

        if self._is_over:  # the alarm has come while this was reported
            return
        starved = False
        if self._all_but:
            end: Finding = Fault(State.OK, f"{self._all_but} was cut short: {why}")
        elif self.deadline.waits_in_vain():
            end = Fault(self.unreachable, why)
        else:
            starved = self.deadline.account.starved() > 0
            end = ProbeError(why, _LOAD if starved else "")
        self.cut_short(end)
        self._is_over = True  # not before: an alarm must never find a run without the reason for its end
        if not starved:
            self.had_time()
        elif (runs := self._starved_runs()) >= _OVERLOADED:
            what = f"this monitoring host is overloaded, {runs} runs in a row had too little time"
            self.found[-1] = Fault(State.WARNING, what, why, _LOAD)

    @property
    def unreachable(self) -> State:
        """What it means if a server does not answer."""
        from stallwatch.findings import State

        return State[self._options.unreachable.upper()]

    def _starved_runs(self) -> int:
        """Count this run, which had no time, and return how many of them there were in a row."""
        from stallwatch.findings import ProbeError

        runs, deadline = 1, Deadline(_PATIENCE)
        with suppress(ProbeError), self._memory(self._starved, deadline, [], unchanged=False) as kept:
            before = kept.get("runs")
            runs = kept["runs"] = runs + (before if type(before) is int else 0)
        return runs

    def had_time(self) -> None:
        """Note that the run had its time: a later one that has not is the first."""
        if getattr(self._options, "no_state", True):
            return
        for place in places.candidates(self._options.state_dir):
            with suppress(OSError):
                if any(name.startswith(_STARVED) and name.endswith(".json") for name in os.listdir(place)):
                    from stallwatch.frame.state import forget

                    forget(self._starved, place)

    def end(self) -> None:
        """End what is under way, and let go of errors: each has the frames that it came through."""
        self.deadline.end()
        self.found.clear()
        self.problems.clear()

    def trace(self, sentence: str) -> None:
        """Note what was asked and how long it took; shown with -vvv."""
        self.traced.append(sentence)

    def answer(self, text: str) -> None:
        """Write a part of a long answer, at the pace of its reader: no deadline is kept from then on.

        The run then leaves with 0 unless something is found.
        """
        self.answered = True
        self.output(text)

    def memory(self, **target: object) -> AbstractContextManager[Memory]:
        """Give and keep what the next run on the same target is to know, see ``state.memory``.

        With --no-state every run is the first one.
        """
        identity = {**target, "name": self._name}
        return self._memory(identity, self.deadline, self.problems, unchanged=True)

    def known_server(self, account: dict[str, str], *, wait: float) -> AbstractContextManager[Memory]:
        """Give and keep what a server showed when this account first logged in, for all checks of this user.

        Without ``problem`` it can be kept, or is not to be: with --no-state each log-in is the first.
        Raises ProbeError if another run has hold of it for longer than ``wait`` seconds.
        """
        identity = {**account, "name": "mysql_server"}
        return self._memory(identity, self.deadline.part(wait), [], unchanged=False)

    def _memory(
        self, identity: dict[str, Any], deadline: Deadline, problems: list[ProbeError], *, unchanged: bool
    ) -> AbstractContextManager[Memory]:
        if getattr(self._options, "no_state", True):
            from contextlib import nullcontext

            return nullcontext(Memory())
        from stallwatch.frame.state import memory

        return memory(identity, self._options.state_dir, deadline, problems, unchanged=unchanged)


def _service(options: Namespace) -> int:
    """Distinguish runs of one service from those of others by its options, which cannot be read off it."""
    plain = (str, int, float, list, type(None))
    said = {name: value for name, value in vars(options).items() if isinstance(value, plain)}
    words = sorted(repr(one) for one in said.items() if one[0] not in _NOT_OF_A_SERVICE)
    return crc32("".join(words).encode("utf-8", "replace"))
