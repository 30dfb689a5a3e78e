"""The sentences on one quantity, and its readings."""

from __future__ import annotations

from stallwatch.findings import Fault, Line, ProbeError, Reading, State
from stallwatch.probes.jmx import scale
from stallwatch.probes.jmx.collect import Sample
from stallwatch.probes.jmx.model import AbsentError
from stallwatch.probes.jmx.values import quoted
from stallwatch.startup import TYPE_CHECKING
from stallwatch.units import say_duration
from stallwatch.words import listed, plural

if TYPE_CHECKING:
    from collections.abc import Iterator

    from stallwatch.findings import Finding
    from stallwatch.probes.jmx.collect import Snapshot
    from stallwatch.probes.jmx.model import Quantity

_MOST = 100  # numbers of one quantity that still go into the perfdata: engines cut or drop long lines
_SOUGHT = {"rate": "rate", "delta": "change"}


def all_of_it(of: Snapshot) -> Iterator[Finding]:
    """Return what the samples come to; what has no limit at all is an AbsentError.

    Beans of a pattern that have no such attribute were not meant.
    """
    if of.quantity.aggregate == "count" or (of.quantity.aggregate and of.samples):
        yield aggregate(of)
    elif of.samples:
        if len(of.samples) + len(of.unlimited) > 1:
            yield Fault(State.OK, _summary(of))
        if len(of.samples) > _MOST:
            numbers = plural(len(of.samples), "number")
            yield Fault(State.OK, f"{numbers} are too many for the perfdata: --aggregate makes one of them")
        for sample in of.samples:
            reading = _reading(of, sample)
            yield reading if len(of.samples) <= _MOST else reading._replace(label="")
    else:
        yield from map(AbsentError, of.unlimited)
    yield from (Fault(State.OK, sentence) for sentence in of.idle)
    yield from _not_yet(of)
    yield from of.others


def aggregate(of: Snapshot) -> Reading:
    """Return what all samples show together; some beans have no limit to be a share of."""
    quantity = of.quantity
    words = quantity.common_words
    subject, beans = " ".join(words), _beans(of)
    if quantity.aggregate == "count":
        right = sum(sample.value for sample in of.samples)
        said = f"{right} of {beans} {quantity.rule}" if quantity.match else beans
        return Reading(quantity.name(words), right, what=f"{subject}: {said}", line=Line())
    number, said = _together(of)
    line = Line(then=f", {beans}")
    return Reading(quantity.name(words), number, quantity.base, f"{subject}: {said}", line=line)


def no_place(quantity: Quantity, place: str) -> ProbeError:
    """Report that no bean can fill a place of the label."""
    what = f"no MBean that matches {quantity.asked} has a key property {place}"
    return ProbeError(f"{what} for --label {quantity.label}")


def _reading(of: Snapshot, sample: Sample) -> Reading:
    """Return what one bean shows."""
    quantity = of.quantity
    words = quantity.words(sample.who)
    subject = " ".join(words)
    instead = f" (read as {sample.instead}, which took its place)" if sample.instead else ""
    if quantity.match:
        wrong = "matches" if quantity.negated else "does not match"
        wrong = "" if sample.value else f", {wrong} {quantity.match.pattern}"
        what = f"{subject} is {quoted(sample.text)}{instead}{wrong}"
        return Reading(quantity.name(words), sample.value, what=what, label="")
    what = f"{subject} {_said(of, sample)}{instead}"
    name, number = quantity.name(words), sample.number
    return Reading(name, number, quantity.base, what, label=sample.label, line=Line())


def _summary(of: Snapshot) -> str:
    """Return in one line what the samples show."""
    quantity, samples = of.quantity, of.samples
    subject = " ".join(quantity.common_words)
    if quantity.match:
        right = sum(sample.value for sample in samples)
        return f"{subject}: {right} of {len(samples)} beans {quantity.rule}"
    return f"{subject}: {_span(of)}, {_beans(of)}"


def _span(of: Snapshot) -> str:
    """Write the least and the greatest, and whose they are."""
    numbers = {sample.number: " ".join(sample.who) for sample in reversed(of.samples)}
    least, greatest = min(numbers), max(numbers)
    if not numbers.keys() - {least}:
        return f"all {_amount(of, least)}"
    return f"{_amount(of, least)} ({numbers[least]}) to {_amount(of, greatest)} ({numbers[greatest]})"


def _together(of: Snapshot) -> tuple[float, str]:
    """Return the number and the words of a sum, a mean or an extreme."""
    kind, samples = of.quantity.aggregate, of.samples
    numbers = [sample.number for sample in samples]
    if kind == "sum":
        total = sum(sample.value for sample in samples)
        one = Sample([], total, whole=_sum_of_wholes(of), per=of.quantity.per)
        return one.number, f"sum {_said(of, one)}"
    if kind == "avg":
        mean = scale.neat(sum(numbers) / len(numbers))
        return mean, f"avg {_amount(of, mean)}"
    number = max(numbers) if kind == "max" else min(numbers)
    one = samples[numbers.index(number)]
    return number, f"{kind} {_said(of, one)} ({' '.join(one.who)})"


def _sum_of_wholes(of: Snapshot) -> float | None:
    """Return the whole that the sum is a share of."""
    wholes = [sample.whole for sample in of.samples if sample.whole is not None]
    if of.quantity.of and of.quantity.of.is_one:
        return wholes[0]
    return sum(wholes) if wholes else None


def _said(of: Snapshot, sample: Sample) -> str:
    if sample.text:
        return sample.text
    if sample.whole is None or not of.quantity.of:
        return _amount(of, sample.value)
    unit = of.quantity.counted_in
    if sample.per:
        return _amount(of, sample.number)
    share = f"{_amount(of, sample.number)} {scale.say(sample.whole, unit)}"
    return f"{scale.say(sample.value, unit)}, {share}"


def _amount(of: Snapshot, number: float) -> str:
    """Write a number that is judged."""
    quantity = of.quantity
    said = scale.say(number, quantity.base)
    if quantity.of:
        within = f" in {say_duration(of.seconds)}" if quantity.change and quantity.per else ""
        return f"{said} {'per' if quantity.per else 'of'} {quantity.of.said}{within}"
    if quantity.age:
        return f"{scale.say(-number, quantity.base)} in the future" if number < 0 else f"{said} ago"
    if quantity.change == "rate":
        return f"{said} per second" if quantity.base == "s" else f"{said}/s"
    if quantity.change == "delta":
        return f"{'+' if number > 0 else ''}{said} in {say_duration(of.seconds)}"
    return said


def _beans(of: Snapshot) -> str:
    """Count the beans that a number is of; the others are those without a limit, and the new ones."""
    counted = f"{len(of.samples)} of " if len(of.samples) < of.beans else ""
    without = f", {len(of.unlimited)} without a limit" if of.unlimited else ""
    return f"{counted}{plural(of.beans, 'bean')}{without}"


def _not_yet(of: Snapshot) -> Iterator[Fault]:
    """Report of which beans a change is not known yet, and why."""
    for why, beans in of.unchanged.items():
        whose = "their" if len(beans) > 1 else "its"
        next_run = f"{whose} {_SOUGHT[of.quantity.change]} is known from the next run on"
        yield Fault(State.OK, f"{listed(beans, 1)}: {why}, so {next_run}")
