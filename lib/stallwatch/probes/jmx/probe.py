"""One run: ask for quantity after quantity, then look for what may have been meant by what is not there."""

from __future__ import annotations

from contextlib import suppress

from stallwatch.findings import Fault, Line, ProbeError, Reading, State
from stallwatch.line import label
from stallwatch.probes.jmx import collect, collectors, messages
from stallwatch.probes.jmx.model import AbsentError, absent
from stallwatch.probes.jmx.reader import Reader
from stallwatch.startup import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping, Sequence
    from contextlib import AbstractContextManager
    from typing import Any

    from stallwatch.findings import Finding
    from stallwatch.frame.run import Run
    from stallwatch.probes.jmx.changes import Changes
    from stallwatch.probes.jmx.model import Quantity, Sought
    from stallwatch.sources.jmx import Server


def findings(
    quantities: Mapping[str, Quantity],
    server: Server,
    memory: AbstractContextManager[dict[str, Any]],
    run: Run,
) -> Iterator[Finding]:
    """Read the quantities and yield what they are; the keys are the names of their thresholds.

    ``memory`` is what the last run on these quantities kept and becomes what the next one is to know.
    What may have been meant by what is not there is looked for when all else is done: that may take longer
    than all else, and fail.
    """
    found: list[Finding] = []
    vague: dict[int, tuple[Fault, Sought]] = {}  # by place in what was found
    with memory as kept:
        for quantity, several in _found(quantities, Reader(server, run.trace), kept, run):
            for finding in several:
                if isinstance(finding, AbsentError):
                    fault = _missing(
                        finding, quantity, others=any(isinstance(one, Reading) for one in several)
                    )
                    if finding.sought and fault.state is not State.OK:
                        vague[len(found)] = fault, finding.sought
                    found.append(fault)
                else:
                    found.append(finding)
            run.so_far(found)
    if vague:
        _explain(found, vague, server, run)
    yield from found


def _missing(error: AbsentError, quantity: Quantity, *, others: bool) -> Fault:
    """Report what is missing, in the state that the user wants for it; ``others`` have it."""
    ignore = "if that is normal, add --missing ok"
    advice, more = error.advice, error.more
    if quantity.missing is not State.UNKNOWN or error.sought:  # the user has decided, or a hint follows
        pass
    elif not advice:
        advice = ignore
    elif others:
        more = (*more, ignore)
    return Fault(quantity.missing, error.what, advice=advice, line=Line(more=more))


def _found(
    quantities: Mapping[str, Quantity], reader: Reader, memory: dict[str, Any], run: Run
) -> Iterator[tuple[Quantity, list[Finding]]]:
    reader.read_ahead(_known_beforehand(quantities.values(), reader))
    changes = None
    if any(quantity.change for quantity in quantities.values()):
        from stallwatch.probes.jmx.changes import Changes

        changes = Changes(memory, reader)
    earlier: list[Quantity] = []
    for thresholds, quantity in quantities.items():
        run.deadline.doing = f"judging {quantity.attribute} of {quantity.asked}"
        several = list(_of_one(quantity, reader, changes, zero_alerts=run.alerts(thresholds, 0)))
        for place, finding in enumerate(several):
            if isinstance(finding, Reading):
                several[place] = finding._replace(label=_numbered(finding, earlier), judged_as=thresholds)
        yield quantity, _worst_first(several, run)
        earlier.append(quantity)
    if changes:
        changes.keep()


def _worst_first(several: list[Finding], run: Run) -> list[Finding]:
    """Write first which of several beans is worst; the numbers stay in their order.

    Then nothing is reported of all of them together, which would be called OK.
    """
    readings = [one for one in several if isinstance(one, Reading)]
    wrong = [one for one in readings if run.is_problem(one)]
    if len(readings) == 1 or not wrong:
        return several

    def gravity(one: Reading) -> tuple[bool, float]:
        ranges = [limit for limit in run.thresholds[one.judged_as].values() if limit]
        beyond = [limit.distance(one.value or 0.0) for limit in ranges]
        return run.is_problem(one, State.CRITICAL), max(beyond)

    said = [one._replace(label="") for one in sorted(wrong, key=gravity, reverse=True)]
    numbers = [one._replace(in_table=True) if one in wrong else one for one in readings]
    others = several[1:] if isinstance(several[0], Fault) else several  # without the sentence on all
    return [*said, *numbers, *(one for one in others if not isinstance(one, Reading))]


def _known_beforehand(quantities: Collection[Quantity], reader: Reader) -> Iterator[tuple[str, str]]:
    """Yield the beans and attributes that are known to be needed, so that they can be read at once."""
    if any(quantity.change for quantity in quantities):
        from stallwatch.probes.jmx.changes import CLOCK

        yield from CLOCK
    for quantity in quantities:
        for name in reader.names(quantity.asked):
            yield str(name), quantity.attribute
            if quantity.of and (quantity.of.template or not quantity.path):
                with suppress(ProbeError):  # which is reported later
                    yield str(quantity.of.bean(name)), quantity.of.path[0]


def _of_one(
    quantity: Quantity, reader: Reader, changes: Changes | None, *, zero_alerts: bool
) -> Iterator[Finding]:
    """Yield what there is to report of one quantity; of what is absent an AbsentError.

    Nothing counted is a number, too, and may be what a limit is about.
    """
    names = collectors.summed(quantity, reader.names(quantity.asked))
    if names and (place := quantity.unfilled(names)):
        yield messages.no_place(quantity, place)
        return
    found = collect.snapshot(quantity, names, reader, changes)
    if len(found.lacking) < len(names):
        yield from messages.all_of_it(found)
        return
    if quantity.aggregate == "count":
        yield messages.aggregate(found)
    if quantity.aggregate != "count" or not (zero_alerts or quantity.missing is State.OK):
        error = found.lacking[0] if found.lacking else None
        yield absent(quantity.asked, quantity.attribute, error, reader.server.where)


def _numbered(one: Reading, earlier: Sequence[Quantity]) -> str:
    """Return its label with its number among those that the command line asks for by the same label.

    How many earlier quantities might have the same label decides, not whether they have it today.
    """
    own = label(one.name) if one.label is None else one.label
    copies = 1 + sum(bool(quantity.labels.fullmatch(own)) for quantity in earlier)
    return f"{own}_{copies}" if own and copies > 1 else own


def _explain(
    found: list[Finding], vague: Mapping[int, tuple[Fault, Sought]], server: Server, run: Run
) -> None:
    """Add to what was found missing what may have been meant, as long as half of the time is left."""
    from stallwatch.probes.jmx import diagnosis

    def in_time() -> bool:
        return run.deadline.left() > run.deadline.seconds / 2

    hints: dict[str, str] = {}
    for place, (fault, sought) in vague.items():
        about = f"{sought.asked} {sought.attribute if sought.error else ''}"
        if about not in hints:
            run.deadline.doing = f"looking for what may have been meant by {sought.asked}"
            hints[about] = diagnosis.hint(server, sought, in_time)
        found[place] = fault._replace(advice=hints[about])
        run.so_far(found)
