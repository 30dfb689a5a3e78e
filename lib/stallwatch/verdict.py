"""From findings to the report: which state each finding has, by the user's thresholds; the worst first.

A probe asks `is_problem` where it has to know.
"""

from __future__ import annotations

from collections import Counter

from stallwatch.findings import Fault, ProbeError, Reading, State
from stallwatch.line import Forms, clean, forms, in_all_forms, label
from stallwatch.startup import TYPE_CHECKING, NamedTuple
from stallwatch.startup.nagiosplugin import Critical, Ok, Unknown, Warn
from stallwatch.startup.nagiosplugin_context import Context as NagiosContext
from stallwatch.startup.nagiosplugin_context import Metric, Result
from stallwatch.units import UNITS, is_number, plain

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from typing import Any

    from stallwatch.causes import Cause
    from stallwatch.findings import Finding, Line
    from stallwatch.table import Table
    from stallwatch.thresholds import Range

    Limits = dict[str, Range]  # "warning" and "critical", each only where there is one


class Context(NagiosContext):  # type: ignore[misc]  # nagiosplugin has no types
    """The thresholds of one quantity, and how its values are judged.

    Not nagiosplugin's ScalarContext: without a threshold that alerts on whatever is negative (1.4.0).
    """

    def __init__(self, name: str, warning: Range | None = None, critical: Range | None = None) -> None:
        super().__init__(name)
        self.warning = warning
        self.critical = critical

    def evaluate(self, metric: Metric, resource: Any) -> Result:
        """Judge a metric, whose ``resource`` is the Reading that it is of.

        A value that is None, as it could not be measured, is unknown; a threshold that is None allows
        everything; what is not confirmed is a warning at most.
        """
        if metric.value is None:
            return Result(Unknown, metric=metric)
        if self.critical and self.critical.alerts(metric.value):
            return Result(Critical if resource.confirmed else Warn, metric=metric)
        if self.warning and self.warning.alerts(metric.value):
            return Result(Warn, metric=metric)
        return Result(Ok, metric=metric)

    def state(self, reading: Reading) -> State:
        """Give the state of a reading of this quantity."""
        judged = State(self.evaluate(Metric(self.name, reading.value, reading.unit), reading).state)
        known = reading.value is not None
        return max(judged, reading.state, key=lambda state: state.gravity) if known else judged


class Verdict(NamedTuple):
    """What one finding comes to; every text in it is fit for a line of output."""

    state: State
    what: str
    why: str = ""
    advice: str = ""
    name: str | None = None  # of the quantity; None: it was none
    value: float | None = None
    unit: str = ""
    label: str = ""  # in the perfdata, no other one's; "": not in the perfdata
    warning: Range | None = None
    critical: Range | None = None
    most: float | None = None  # the highest value that it can have; None: not known
    table: Table | None = None
    in_table: bool = False
    has_cause: bool = False  # whether its line shows the cause also while it is OK
    more: tuple[str, ...] = ()  # lines below
    is_note: bool = False  # whether it is about how the check runs, not about what it looks at
    cause: Cause | None = None
    root: int | None = None  # the place of the verdict whose cause explains this one; None: none does

    @property
    def sentence(self) -> str:
        """The whole sentence; cause and next step only where something is wrong."""
        in_short = self.state is State.OK and not self.has_cause
        return self.what or "no details" if in_short else self.detail

    @property
    def tag(self) -> str:
        """The word before its line: the state, of which a note has none."""
        return "NOTE" if self.is_note else self.state.name

    @property
    def is_wrong(self) -> bool:
        """Whether it is a problem."""
        return self.state is not State.OK

    @property
    def step_below(self) -> str:
        """The next step of a cause on a line that is OK, which has the cause alone: said with -v."""
        return self.advice if self.has_cause and self.why and not self.is_wrong else ""

    @property
    def to_be_told(self) -> bool:
        """Whether it is said without being asked: what is wrong, and a fault that is none, an aside."""
        return self.state is not State.OK or self.name is None

    @property
    def detail(self) -> str:
        """The same with the evidence where all is well, too."""
        advice = "" if self.state is State.OK else self.advice
        said = ", ".join(part for part in (self.what, self.why) if part) or "no details"
        return f"{said} - {advice}" if advice else said


class Report(NamedTuple):
    """The verdicts of one run, for engines and programs; ``trace`` is for whoever wants to know it all."""

    name: str
    verdicts: Sequence[Verdict]
    everything: bool = False  # also what is OK
    trace: Sequence[str] = ()
    numbers: bool = False  # also all numbers with their thresholds, as a table
    target: str = ""  # whom it was about: HOST:PORT, the path of a socket or a directory, or this host
    time: float = 0.0  # seconds since 1970

    @property
    def ranked(self) -> list[Verdict]:
        """The verdicts to be shown, worst first, equals in the order in which they were found."""
        gravest = max((one.state.gravity for one in self.verdicts if not one.in_table), default=-1)
        said = [one for one in self.verdicts if not one.in_table or one.state.gravity > gravest]
        first = [one for one in said if one.root is None]
        return sorted(first, key=lambda verdict: -verdict.state.gravity)

    def consequences(self, verdict: Verdict) -> list[Verdict]:
        """Return the verdicts that the cause of this one explains: shown below it, nowhere else."""
        if verdict.cause is None:
            return []
        return [one for one in self.verdicts if one.root is not None and self.verdicts[one.root] is verdict]

    @property
    def state(self) -> State:
        """The worst state of all."""
        return self.ranked[0].state


def judge(
    findings: Iterable[Finding], thresholds: dict[str, Limits], say: Callable[[str], str] = clean
) -> list[Verdict]:
    """Give every finding its state, in the order they were found. No finding at all is UNKNOWN."""
    verdicts = [_judged(finding, thresholds, say) for finding in findings]
    if any(one.cause is not None for one in verdicts):
        verdicts = _as_incidents(verdicts)
    return _without_duplicates(verdicts) or [Verdict(State.UNKNOWN, "nothing was measured")]


def _as_incidents(verdicts: list[Verdict]) -> list[Verdict]:
    """Mark what follows from another cause, which is as bad as the worst of its consequences then.

    Below a cause stands what cannot be seen while it lasts.
    """
    from stallwatch.causes import roots, unseen

    causes = [one.cause if one.is_wrong and not one.in_table else None for one in verdicts]
    incidents = [one._replace(root=root) for one, root in zip(verdicts, roots(causes), strict=True)]
    for place, one in enumerate(incidents):
        if one.root is not None:
            worst = max(one.state, incidents[one.root].state, key=lambda state: state.gravity)
            incidents[one.root] = incidents[one.root]._replace(state=worst)
        elif cause := causes[place]:
            incidents[place] = one._replace(more=(*one.more, *unseen(cause, causes)))
    return incidents


def _without_duplicates(verdicts: list[Verdict]) -> list[Verdict]:
    """Take out of the perfdata what shares a label: no graph shows now one thing, now another."""
    times = Counter(one.label for one in verdicts if one.label)
    if len(times) == times.total():
        return verdicts
    notes = [
        Verdict(State.OK, f"{count} numbers would have the label {name}: none of them is in the perfdata")
        for name, count in times.items()
        if count > 1
    ]
    kept = [one._replace(label="") if times[one.label] > 1 else one for one in verdicts]
    return [*kept, *(note._replace(is_note=True) for note in notes)]


def is_problem(finding: Finding, thresholds: dict[str, Limits], at_least: State = State.WARNING) -> bool:
    """Whether a finding is known to be wrong: a fault, or a reading that a threshold alerts on.

    ``at_least`` is how bad a reading has to be. Infinity asks whether any limit is above.
    """
    if isinstance(finding, Reading):
        return finding.value is not None and _state(finding, thresholds).gravity >= at_least.gravity
    return isinstance(finding, Fault) and finding.state is not State.OK


def _state(reading: Reading, thresholds: dict[str, Limits]) -> State:
    return Context(reading.name, **_limits(reading, thresholds)).state(reading)


def _limits(reading: Reading, thresholds: dict[str, Limits]) -> Limits:
    return thresholds.get(reading.judged_as or reading.name, {})


def _judged(finding: Finding, thresholds: dict[str, Limits], say: Callable[[str], str]) -> Verdict:
    if isinstance(finding, ProbeError):
        finding = finding.fault(State.UNKNOWN)
    if isinstance(finding, Fault):
        line = finding.line
        what = _what(finding.what, "", line.then if line else "", say)
        why, advice = in_all_forms(finding.why, say), in_all_forms(finding.advice, say)
        told = Verdict(finding.state, what, why, advice, cause=finding.cause)
        return told._replace(has_cause=True, more=_lines(line, say)) if line else told
    reading = _only_numbers(finding)
    shown = _limits(reading, thresholds)
    line = reading.line
    limit, then = (_broken(reading, shown), line.then) if line else ("", "")
    return Verdict(
        state=_state(reading, thresholds),
        what=_what(reading.what, limit, then, say) or say(_in_numbers(reading)),
        why=in_all_forms(reading.why, say),
        advice=in_all_forms(reading.advice, say),
        name=say(reading.name) or "value",  # as its label is called then
        value=reading.value,
        unit=reading.unit if reading.unit in UNITS else "",
        label=_label(reading),
        warning=shown.get("warning"),
        critical=shown.get("critical"),
        most=reading.most,
        table=reading.table.said(say) if reading.table else None,
        in_table=reading.in_table,
        has_cause=line is not None,
        more=_lines(line, say) if line else (),
        cause=reading.cause,
    )


def _what(what: str, limit: str, then: str, say: Callable[[str], str]) -> str:
    """Return what was found, the limit that it breaks and the rest, which short forms leave out."""
    whats, rests = forms(what), forms(then)
    if len(whats) > 1 or len(rests) > 1:
        rests = (*rests, "")
    texts = [text + limit + rest for text in whats for rest in rests]
    return Forms(*dict.fromkeys(map(say, texts))) if len(texts) > 1 else say(texts[0])


def _label(reading: Reading) -> str:
    if reading.label == "" or reading.value is None:
        return ""
    return label(reading.label or reading.name) or "value"


def _lines(line: Line, say: Callable[[str], str]) -> tuple[str, ...]:
    return tuple(text for one in line.more if (text := say(one)))


def _broken(reading: Reading, limits: Limits) -> str:
    """Return in brackets which limit its value breaks, the one that its state is from."""
    levels = ("critical", "warning") if reading.confirmed else ("warning", "critical")
    ranges = [limit for level in levels if (limit := limits.get(level)) and reading.value is not None]
    broken = next(filter(None, (limit.broken_by(reading.value or 0.0, reading.unit) for limit in ranges)), "")
    return broken and f" ({broken})"


def _only_numbers(reading: Reading) -> Reading:
    """Take what is no number (NaN, infinity, True, text) for what it is: not measured."""
    if reading.value is None or is_number(reading.value):
        return reading
    odd = str(reading.value) if isinstance(reading.value, float | bool) else type(reading.value).__name__
    return reading._replace(value=None, what=f"{reading.name} is {odd}, which is not a number")


def _in_numbers(reading: Reading) -> str:
    if reading.value is None:
        return f"{reading.name} could not be measured"
    return f"{reading.name} is {plain(reading.value)}{reading.unit}"
