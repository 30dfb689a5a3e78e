"""From what beans said to readings: the numbers that are judged, and the words for them."""

from __future__ import annotations

from stallwatch.findings import Reading
from stallwatch.probes.jmx_attributes import scale
from stallwatch.probes.jmx_attributes.numbers import quoted
from stallwatch.probes.jmx_attributes.sample import Sample
from stallwatch.startup import TYPE_CHECKING
from stallwatch.units import say_duration

if TYPE_CHECKING:
    from collections.abc import Sequence

    from stallwatch.probes.jmx_attributes.quantity import Quantity


MANY = 100  # numbers of one quantity that still go into the perfdata: engines cut or drop long lines


class Telling:
    """Tells one quantity; ``seconds`` lie between the two looks of a change."""

    def __init__(self, quantity: Quantity, seconds: float) -> None:
        self._quantity = quantity
        self._seconds = seconds

    def reading(self, sample: Sample) -> Reading:
        """Tell what one bean said."""
        quantity = self._quantity
        words = quantity.words(sample.who)
        subject = " ".join(words)
        instead = f" (read as {sample.instead}, which took its place)" if sample.instead else ""
        if quantity.match:
            met = quantity.match.search(sample.text)
            what = f"{subject} is {quoted(sample.text)}{instead}"
            why = f"it does not match {quantity.match.pattern}"
            return Reading(quantity.name(words), 1 if met else 0, what=what, why="" if met else why, label="")
        what = f"{subject} {self._said(sample)}{instead}"
        return Reading(quantity.name(words), self._figure(sample), quantity.base, what)

    def aggregate(self, samples: Sequence[Sample], beans: int, unlimited: int) -> Reading:
        """Tell what the samples of so many beans say together; some have no limit to be a share of."""
        quantity, kind = self._quantity, self._quantity.aggregate
        words = quantity.common_words
        figure, said = (len(samples), "") if kind == "count" else self._together(samples)
        what = f"{' '.join(words)}: {said}{_beans(len(samples), beans, unlimited)}"
        return Reading(quantity.name(words), figure, quantity.base, what)

    def summary(self, samples: Sequence[Sample], beans: int, unlimited: int) -> str:
        """Tell in one line what the samples of so many beans say."""
        quantity = self._quantity
        subject = " ".join(quantity.common_words)
        if quantity.match:
            met = sum(bool(quantity.match.search(sample.text)) for sample in samples)
            return f"{subject}: {met} of {len(samples)} beans match {quantity.match.pattern}"
        many = "" if len(samples) <= MANY else ", too many for perfdata: --aggregate makes one number of them"
        return f"{subject}: {self._span(samples)}, {_beans(len(samples), beans, unlimited)}{many}"

    def _span(self, samples: Sequence[Sample]) -> str:
        """Say the least and the greatest, and whose they are."""
        figures = {self._figure(sample): " ".join(sample.who) for sample in reversed(samples)}
        ends = [f"{self._amount(figure)} ({figures[figure]})" for figure in (min(figures), max(figures))]
        return " to ".join(ends) if figures.keys() - {min(figures)} else f"all {self._amount(min(figures))}"

    def _together(self, samples: Sequence[Sample]) -> tuple[float, str]:
        """Give the number and the words of a sum, a mean or an extreme."""
        kind = self._quantity.aggregate
        figures = [self._figure(sample) for sample in samples]
        if kind == "sum":
            whole = self._sum_of_wholes(samples)
            one = Sample([], sum(sample.value for sample in samples), whole=whole)
            return self._figure(one), f"sum {self._said(one)}, "
        if kind == "avg":
            mean = scale.neat(sum(figures) / len(figures))
            return mean, f"avg {self._amount(mean)}, "
        figure = max(figures) if kind == "max" else min(figures)
        one = samples[figures.index(figure)]
        return figure, f"{kind} {self._said(one)} ({' '.join(one.who)}), "

    def _sum_of_wholes(self, samples: Sequence[Sample]) -> float | None:
        """Give the whole that the sum is a share of."""
        wholes = [sample.whole for sample in samples if sample.whole is not None]
        if self._quantity.of and self._quantity.of.is_one:
            return wholes[0]
        return sum(wholes) if wholes else None

    def _figure(self, sample: Sample) -> float:
        """Give the number that is judged."""
        if sample.whole is None:
            return sample.value
        return scale.neat(100 * sample.value / sample.whole) if sample.whole else 0

    def _said(self, sample: Sample) -> str:
        if sample.text:
            return sample.text
        if sample.whole is None or not self._quantity.of:
            return self._amount(sample.value)
        unit = self._quantity.counted_in
        share = f"{self._amount(self._figure(sample))} {scale.say(sample.whole, unit)}"
        return f"{scale.say(sample.value, unit)} ({share})"

    def _amount(self, figure: float) -> str:
        """Say a number that is judged."""
        quantity = self._quantity
        said = scale.say(figure, quantity.base)
        if quantity.of:
            return f"{said} of {quantity.of.said}"
        if quantity.change == "rate":
            return f"{said}/s"
        if quantity.change == "delta":
            return f"{'+' if figure > 0 else ''}{said} in {say_duration(self._seconds)}"
        return said


def _beans(told: int, beans: int, unlimited: int) -> str:
    """Count the beans that a number is of; the others are those without a limit, and the new ones."""
    counted = f"{told} of {beans}" if told < beans else str(told)
    return f"{counted} bean{'s' * (beans != 1)}" + f", {unlimited} without a limit" * bool(unlimited)
