"""From findings to the words, the numbers and the exit code that a monitoring engine reads."""

from __future__ import annotations

import re

from stallwatch.line import LINE, clean, shorten
from stallwatch.reading import Fault, ProbeError, Reading, State
from stallwatch.run import DOUBTFUL, LASTING
from stallwatch.startup import TYPE_CHECKING, NamedTuple
from stallwatch.startup.nagiosplugin import Range as NagiosRange
from stallwatch.units import UNITS, is_number, plain

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from stallwatch.reading import Finding
    from stallwatch.table import Table
    from stallwatch.units import Range

    Limits = dict[str, Range]  # "warning" and "critical", each only where there is one

SHORTEST = 40  # bytes of text that stay on line 1 beside any perfdata
# Below line 1; in bytes, so that it stays below the 65504 that NRPE 4 sends.
LONG_LINES, LONG_LINE, LONG_OUTPUT = 50, 8000, 50_000


class Verdict(NamedTuple):
    """What one finding comes to; every text in it is fit for a line of output."""

    state: State
    what: str
    why: str = ""
    advice: str = ""
    name: str | None = None  # of the quantity; None: it was none
    value: float | None = None
    unit: str = ""
    label: str = ""  # in the perfdata; "": not in the perfdata
    warning: Range | None = None
    critical: Range | None = None
    table: Table | None = None
    in_table: bool = False

    @property
    def sentence(self) -> str:
        """All that there is to say; why and what to do only where something is wrong."""
        return self.what or "no details" if self.state is State.OK else self.detail

    @property
    def to_be_told(self) -> bool:
        """Whether it is said without being asked: what is wrong, and a fault that is none, an aside."""
        return self.state is not State.OK or self.name is None

    @property
    def detail(self) -> str:
        """The same with the evidence where all is well, too."""
        parts = (self.what, self.why, "" if self.state is State.OK else self.advice)
        return ": ".join(part for part in parts if part) or "no details"


def judge(
    findings: Iterable[Finding], thresholds: dict[str, Limits], say: Callable[[str], str] = clean
) -> list[Verdict]:
    """Give every finding its state, in the order they were found. No finding at all is UNKNOWN."""
    verdicts = [_judged(finding, thresholds, say) for finding in findings]
    return verdicts or [Verdict(State.UNKNOWN, "nothing was measured")]


def _judged(finding: Finding, thresholds: dict[str, Limits], say: Callable[[str], str]) -> Verdict:
    if isinstance(finding, ProbeError):
        finding = Fault(State.UNKNOWN, finding.what, advice=finding.advice)
    if isinstance(finding, Fault):
        return Verdict(finding.state, say(finding.what), say(finding.why), say(finding.advice))
    reading = _only_numbers(finding)
    judged_as = reading.name.removeprefix(DOUBTFUL)
    name = judged_as.removesuffix(LASTING)  # for a graph, or a program, it is the same quantity
    name = name if name in thresholds else judged_as
    shown = thresholds.get(judged_as, {})
    return Verdict(
        state=_state(reading.value, thresholds.get(reading.name, {})),
        what=say(reading.what) or say(_in_numbers(reading)),
        why=say(reading.why),
        advice=say(reading.advice),
        name=say(name) or "value",  # as its label is called then
        value=reading.value,
        unit=reading.unit if reading.unit in UNITS else "",
        label=_label(name if reading.label is None else reading.label, reading.label),
        warning=shown.get("warning"),
        critical=shown.get("critical"),
        table=reading.table.said(say) if reading.table else None,
        in_table=reading.in_table,
    )


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


def _state(value: float | None, limits: Limits) -> State:
    if value is None:
        return State.UNKNOWN
    for level, state in (("critical", State.CRITICAL), ("warning", State.WARNING)):
        limit = limits.get(level)
        if limit and not _range(limit).match(value):
            return state
    return State.OK


def _range(limit: Range) -> NagiosRange:
    return NagiosRange()._replace(invert=limit.inside, start=limit.start, end=limit.end)


def _label(label: str, wanted: str | None) -> str:
    return "" if wanted == "" else re.sub(r"[^A-Za-z0-9_.]", "_", label) or "value"


class Report(NamedTuple):
    """The verdicts of one run, for engines and programs; ``trace`` is for whoever wants to know it all."""

    name: str
    verdicts: Sequence[Verdict]
    everything: bool = False  # also what is OK
    trace: Sequence[str] = ()

    @property
    def ranked(self) -> list[Verdict]:
        """What there is to say, worst first, in the order it was found among equals."""
        gravest = max((one.state.gravity for one in self.verdicts if not one.in_table), default=-1)
        said = [one for one in self.verdicts if not one.in_table or one.state.gravity > gravest]
        return sorted(said, key=lambda verdict: -verdict.state.gravity)

    @property
    def state(self) -> State:
        """The worst state of all."""
        return self.ranked[0].state

    def text(self) -> str:
        """Write it for Nagios, Icinga and NRPE: the worst and the perfdata on line 1, the rest below."""
        headline, *others = self.ranked
        head = f"{self.name.upper()} {headline.state.name} - "
        more, perfdata = _more(others), self._perfdata()
        room = LINE - len((head + more + perfdata).encode())
        if room < SHORTEST:  # the perfdata cannot be kept within the line anyhow
            room = LINE - len((head + more).encode())
        said = shorten(headline.sentence, room)
        below = [] if said == headline.sentence else [headline]
        below += [verdict for verdict in others if self.everything or verdict.to_be_told]
        lines = [f"[{verdict.state.name}] {verdict.detail}" for verdict in below]
        lines += self._tables() if self.everything else []
        return "\n".join([head + said + more + perfdata, *_capped(lines), *_capped(self.trace)])

    def _perfdata(self) -> str:
        """Write `` | label=value[unit][;[warning][;critical]] ...``.

        Not by nagiosplugin's Performance, which quotes a label with a dot and prints ranges (1.4.0).
        """
        items = []
        for verdict, label in zip(self.verdicts, self.labels, strict=True):
            if verdict.value is not None and label:
                limits = ";".join(("", _limit(verdict.warning), _limit(verdict.critical))).rstrip(";")
                items.append(f"{label}={plain(verdict.value)}{verdict.unit}{limits}")
        return " | " + " ".join(items) if items else ""

    def _tables(self) -> list[str]:
        return [line for verdict in self.verdicts if verdict.table for line in verdict.table.lines()]

    @property
    def labels(self) -> list[str]:
        """The label of each verdict in the perfdata, unique; "" of what is not in it."""
        labels: list[str] = []
        taken: set[str] = set()
        for verdict in self.verdicts:
            label, copy = "" if verdict.value is None else verdict.label, 1
            while label in taken:
                copy += 1
                label = f"{verdict.label}_{copy}"
            taken |= {label} - {""}
            labels.append(label)
        return labels

    def json(self) -> str:
        """Write it for a program."""
        from stallwatch import as_json

        findings = [
            {
                "name": verdict.name,
                "label": label or None,
                "value": verdict.value,
                "unit": verdict.unit,
                "warning": str(verdict.warning) if verdict.warning else None,
                "critical": str(verdict.critical) if verdict.critical else None,
                "state": verdict.state.name,
                "what": verdict.what or "no details",
                "why": verdict.why,
                "advice": verdict.advice,
                **({"table": verdict.table.by_column()} if verdict.table else {}),
            }
            for verdict, label in zip(self.verdicts, self.labels, strict=True)
        ]
        summary = self.ranked[0].sentence
        return as_json.written(self.name, self.state.name, summary, findings, self.trace)


def _more(others: Iterable[Verdict]) -> str:
    problems = sum(verdict.state is not State.OK for verdict in others)
    return f" (+{problems} more problem{'s' if problems > 1 else ''})" if problems else ""


def _limit(limit: Range | None) -> str:
    return "" if limit is None or limit.plain_limit is None else plain(limit.plain_limit)


def _capped(lines: Sequence[str]) -> list[str]:
    kept: list[str] = []
    room = LONG_OUTPUT
    for line in lines[:LONG_LINES]:
        short = shorten(line, LONG_LINE)
        room -= len(short.encode()) + 1
        if room < 0:
            break
        kept.append(short)
    missing = len(lines) - len(kept)
    return [*kept, f"... and {missing} more"] if missing else kept
