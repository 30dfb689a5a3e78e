"""One look at a server: each quantity becomes readings, or says why there are none."""

from __future__ import annotations

from contextlib import suppress
from itertools import count

from stallwatch.findings import Fault, ProbeError, Reading, State
from stallwatch.probes.jmx_attributes.absent import AbsentError, absent
from stallwatch.probes.jmx_attributes.reader import Reader
from stallwatch.probes.jmx_attributes.sample import Lacking, Sample, Sampler, Unchanged, Unlimited
from stallwatch.probes.jmx_attributes.telling import MANY, Telling
from stallwatch.sources.jmx.errors import UnreachableError
from stallwatch.startup import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Container, Iterator, Sequence
    from contextlib import AbstractContextManager
    from typing import Any

    from stallwatch.findings import Finding
    from stallwatch.frame.run import Run
    from stallwatch.probes.jmx_attributes.absent import Sought
    from stallwatch.probes.jmx_attributes.changes import Changes
    from stallwatch.probes.jmx_attributes.quantity import Quantity
    from stallwatch.sources.jmx import Server
    from stallwatch.sources.jmx.errors import JmxError
    from stallwatch.sources.jmx.object_name import ObjectName

_SOUGHT = {"rate": "rate", "delta": "change"}


def findings(
    quantities: Sequence[Quantity],
    server: Server,
    memory: AbstractContextManager[dict[str, Any]],
    run: Run,
) -> Iterator[Finding]:
    """Read the quantities and give what they are; each reading's limits are put into ``run.thresholds``.

    ``memory`` is what the last run on these quantities kept and becomes what the next one is to know.
    What may have been meant by what is not there is added to ``run.found`` when all else is done: to find
    that out may take longer than all else, and fail.
    """
    vague: list[tuple[Fault, Sought]] = []
    reader = Reader(server, run.trace)
    with memory as kept:
        for quantity, finding in _found(quantities, reader, kept, run):
            if not isinstance(finding, AbsentError):
                yield finding
                continue
            fault = Fault(quantity.missing, finding.what, advice=finding.advice)
            if finding.sought and fault.state is not State.OK:
                vague.append((fault, finding.sought))
            yield fault
    if vague:
        _explain(vague, server, run)


def _found(
    quantities: Sequence[Quantity], reader: Reader, memory: dict[str, Any], run: Run
) -> Iterator[tuple[Quantity, Finding]]:
    reader.read_ahead(_known_beforehand(quantities, reader))
    changes = None
    if any(quantity.change for quantity in quantities):
        from stallwatch.probes.jmx_attributes.changes import Changes

        changes = Changes(memory, reader)
    for place, quantity in enumerate(quantities):
        run.deadline.doing = f"judging {quantity.attribute} of {quantity.asked}"
        for finding in Look(quantity, reader, changes).findings():
            if isinstance(finding, Reading):
                finding = _numbered(finding, quantities[:place], run.thresholds)  # noqa: PLW2901
                run.thresholds[finding.name] = quantity.limits or {}
            yield quantity, finding
    if changes:
        changes.keep()


def _known_beforehand(quantities: Sequence[Quantity], reader: Reader) -> Iterator[tuple[str, str]]:
    """Give the beans and attributes that are known to be needed, so that they can be read at once."""
    if any(quantity.change for quantity in quantities):
        from stallwatch.probes.jmx_attributes.changes import CLOCK

        yield from CLOCK
    for quantity in quantities:
        for name in reader.names(quantity.asked):
            yield str(name), quantity.attribute
            if quantity.of and (quantity.of.template or not quantity.path):
                with suppress(ProbeError):  # which is told later
                    yield str(quantity.of.bean(name)), quantity.of.path[0]


def _numbered(reading: Reading, earlier: Sequence[Quantity], taken: Container[str]) -> Reading:
    """Give a reading whose name no other one has.

    How many earlier quantities might have the same name decides, not whether they have it today: a graph
    goes on with the same number. The rest is two beans of one pattern whose words are the same.
    """
    copies = 1 + sum(bool(quantity.names.fullmatch(reading.name)) for quantity in earlier)
    names = (f"{reading.name}_{number}" if number > 1 else reading.name for number in count(copies))
    return reading._replace(name=next(name for name in names if name not in taken))


def _explain(vague: Sequence[tuple[Fault, Sought]], server: Server, run: Run) -> None:
    """Add to what was found missing what may have been meant, as long as half of the time is left."""
    from stallwatch.probes.jmx_attributes import missing

    def in_time() -> bool:
        return run.deadline.left() > run.deadline.seconds / 2

    hints: dict[str, str] = {}
    for fault, sought in vague:
        about = f"{sought.asked} {sought.attribute if sought.error else ''}"
        if about not in hints:
            run.deadline.doing = f"looking for what may have been meant by {sought.asked}"
            hints[about] = missing.hint(server, sought, in_time)
        advised = fault._replace(advice=hints[about])
        run.found[:] = [advised if one is fault else one for one in run.found]


class Look:
    """Looks at one quantity; ``changes`` is needed for one that is about two runs."""

    def __init__(self, quantity: Quantity, reader: Reader, changes: Changes | None) -> None:
        self._quantity = quantity
        self._reader = reader
        self._sampler = Sampler(quantity, reader, changes)
        self._telling = Telling(quantity, changes.seconds if changes else 0)
        self._samples: list[Sample] = []
        self._unchanged: list[Unchanged] = []
        self._unlimited: list[Unlimited] = []
        self._lacking: list[JmxError] = []
        self._others: list[ProbeError] = []

    def findings(self) -> Iterator[Finding]:
        """Give what there is to say of this quantity; of what is absent an AbsentError."""
        names = self._reader.names(self._quantity.asked)
        if names and (place := self._quantity.unfilled(names)):
            what = f"no MBean that matches {self._quantity.asked} has a key property {place}"
            yield ProbeError(f"{what} for --label {self._quantity.label}")
            return
        for name in names:
            self._look_at(name)
        if len(self._lacking) == len(names):
            yield from self._nothing()
        else:
            yield from self._told()
            yield from self._others

    def _look_at(self, name: ObjectName) -> None:
        try:
            outcome = self._sampler.sample(name)
        except UnreachableError:
            raise
        except ProbeError as error:
            self._others.append(error)
            return
        match outcome:
            case Sample():
                self._samples.append(outcome)
            case Unchanged():
                self._unchanged.append(outcome)
            case Unlimited():
                self._unlimited.append(outcome)
            case Lacking():
                self._lacking.append(outcome.error)

    def _nothing(self) -> Iterator[Finding]:
        """Say that there is nothing; nothing counted is a number, too, and may be what a limit is about."""
        quantity = self._quantity
        judged = any(limit.alerts(0) for limit in (quantity.limits or {}).values())
        if quantity.aggregate == "count":
            yield self._telling.aggregate([], 0, 0)
        if quantity.aggregate != "count" or not (judged or quantity.missing is State.OK):
            error = self._lacking[0] if self._lacking else None
            yield absent(quantity.asked, quantity.attribute, error, self._reader.server.where)

    def _told(self) -> Iterator[Finding]:
        """Give what the samples come to. Beans of a pattern that have no such attribute were not meant."""
        samples, unlimited = self._samples, len(self._unlimited)
        beans = len(samples) + unlimited + len(self._unchanged)
        if self._quantity.aggregate and samples:
            yield self._telling.aggregate(samples, beans, unlimited)
        elif samples:
            if len(samples) + unlimited > 1:
                yield Fault(State.OK, self._telling.summary(samples, beans, unlimited))
            yield from self._readings()
        else:
            yield from (AbsentError(one.what) for one in self._unlimited)
        yield from self._not_yet()

    def _readings(self) -> Iterator[Reading]:
        readings = map(self._telling.reading, self._samples)
        if len(self._samples) > MANY:
            yield from (reading._replace(label="") for reading in readings)
        else:
            yield from readings

    def _not_yet(self) -> Iterator[Finding]:
        """Say of which beans a change is not known yet, and why."""
        subjects: dict[str, list[str]] = {}
        for one in self._unchanged:
            subjects.setdefault(one.why, []).append(" ".join(self._quantity.words(one.who)))
        for why, (first, *more) in subjects.items():
            others = f" and {len(more)} more" if more else ""
            next_run = f"its {_SOUGHT[self._quantity.change]} is told from the next run on"
            yield Fault(State.OK, f"{first}{others}: {why}, {next_run}")
