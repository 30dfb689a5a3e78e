"""What one bean says of a quantity."""

from __future__ import annotations

from typing import NamedTuple

from stallwatch.probes.jmx_attributes import numbers, scale
from stallwatch.probes.jmx_attributes.absent import NOT_THERE, AbsentError
from stallwatch.probes.jmx_attributes.path import called, follow

TYPE_CHECKING = False  # typing itself costs every check 2 ms
if TYPE_CHECKING:
    from stallwatch.probes.jmx_attributes.changes import Changes
    from stallwatch.probes.jmx_attributes.quantity import Quantity, Whole
    from stallwatch.probes.jmx_attributes.reader import Reader
    from stallwatch.sources.jmx.object_name import ObjectName
    from stallwatch.sources.jmx.values import Value


class UnlimitedError(AbsentError):
    """There is nothing that the number could be a share of."""


class Sample(NamedTuple):
    """A number in the base unit of its attribute; a rate is per second."""

    who: list[str]  # which bean, in words
    value: float
    text: str = ""  # the value itself, where it was no number
    whole: float | None = None  # what the value is a share of, above 0
    instead: str = ""  # what was read in its place


class Sampler:
    """Asks bean after bean for one quantity. ``changes`` is needed for one that is about two runs."""

    def __init__(self, quantity: Quantity, reader: Reader, changes: Changes | None) -> None:
        self._quantity = quantity
        self._reader = reader
        self._changes = changes

    def sample(self, name: ObjectName) -> Sample:
        """Ask a bean.

        Raises NoChangeError, AbsentError (NoSuchBeanError and NoSuchAttributeError if nothing is known that
        took its place), or the ProbeError that says why there is no number.
        """
        quantity = self._quantity
        who = quantity.who(name)
        container, instead = self._value(name)
        value = follow(container, quantity.path, quantity.attribute, name)
        subject = called(quantity.attribute, quantity.path, name)
        if quantity.aggregate == "count":
            return Sample(who, 1)
        if quantity.match:
            return Sample(who, 1, numbers.text(value, subject), instead=instead)
        number = numbers.number(value, subject)
        if isinstance(value, bool):
            return Sample(who, number, "true" if value else "false", instead=instead)
        number = scale.in_base(number, quantity.unit)
        if quantity.change:
            number = self._changed(name, number)
        whole = self._whole(name, container, quantity.of) if quantity.of else None
        return Sample(who, number, whole=whole, instead=instead)

    def _value(self, name: ObjectName) -> tuple[Value, str]:
        """Give the attribute's value, and what was read instead if the bean is gone."""
        try:
            return self._reader.value(str(name), self._quantity.attribute), ""
        except NOT_THERE:
            from stallwatch.probes.jmx_attributes import renamed

            if not (found := renamed.successor(name, self._quantity.attribute)):
                raise
            bean, attribute = found
            if not self._reader.server.names(str(bean)):
                raise
        return self._reader.value(str(bean), attribute), f"{attribute} of {bean}"

    def _changed(self, name: ObjectName, number: float) -> float:
        assert self._changes  # noqa: S101 - made for every run with such a quantity
        quantity = self._quantity
        key = "/".join((name.canonical, quantity.attribute, *quantity.path))
        counts = quantity.change == "rate" or quantity.unit == "c"
        grown = self._changes.since(key, number, only_grows=counts)
        return scale.neat(grown / self._changes.seconds) if quantity.change == "rate" else grown

    def _whole(self, name: ObjectName, container: Value, of: Whole) -> float:
        """Give what the number is a share of, in the same base unit."""
        value, subject = self._whole_value(name, container, of)
        whole = scale.in_base(numbers.number(value, subject), self._quantity.unit)
        if whole > 0:
            return whole
        what = " ".join(self._quantity.words(self._quantity.who(name)))
        limited = "has no limit" if whole < 0 else "can be no share"
        raise UnlimitedError(f"{what} {limited}: {of.said} is {value}")

    def _whole_value(self, name: ObjectName, container: Value, of: Whole) -> tuple[Value, str]:
        """Give the value that is meant by ``--of``, and what it is called.

        One word is a key beside the quantity's own, else an attribute of the same bean.
        """
        path = (*self._quantity.path[:-1], *of.path)
        if self._quantity.path and not of.template:
            try:
                value = follow(container, path, self._quantity.attribute, name)
                return value, called(self._quantity.attribute, path, name)
            except AbsentError as error:
                no_such_key = error
        bean, (attribute, *rest) = of.bean(name), of.path
        try:
            value = self._reader.value(str(bean), attribute)
        except NOT_THERE as error:
            if self._quantity.path and not of.template:
                raise no_such_key from None
            from stallwatch.probes.jmx_attributes import missing

            raise missing.explained(self._reader.server, bean, attribute, error) from None
        return follow(value, tuple(rest), attribute, bean), called(attribute, tuple(rest), bean)
