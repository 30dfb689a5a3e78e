"""What one bean says of a quantity."""

from __future__ import annotations

from stallwatch.probes.jmx_attributes import numbers, scale
from stallwatch.probes.jmx_attributes.absent import NOT_THERE, AbsentError, NoChangeError, absent
from stallwatch.probes.jmx_attributes.path import called, follow
from stallwatch.startup import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from stallwatch.probes.jmx_attributes.changes import Changes
    from stallwatch.probes.jmx_attributes.quantity import Quantity, Whole
    from stallwatch.probes.jmx_attributes.reader import Reader
    from stallwatch.sources.jmx.errors import JmxError
    from stallwatch.sources.jmx.object_name import ObjectName
    from stallwatch.sources.jmx.values import Value


_NO_LIMIT = 2**63 - 1  # Long.MAX_VALUE, as Java says that there is none; a negative one means it, too


class Sample(NamedTuple):
    """A number in the base unit of its attribute; a rate is per second."""

    who: list[str]  # which bean, in words
    value: float
    text: str = ""  # the value itself, where it was no number
    whole: float | None = None  # what the value is a share of; 0 only of 0
    instead: str = ""  # what was read in its place


class Unchanged(NamedTuple):
    """There is nothing to compare a bean with."""

    who: list[str]
    why: str


class Unlimited(NamedTuple):
    """There is nothing that the number could be a share of."""

    what: str


class Lacking(NamedTuple):
    """There is no such bean, or it has no such attribute, and nothing is known that took its place."""

    error: JmxError


class Sampler:
    """Asks bean after bean for one quantity. ``changes`` is needed for one that is about two runs."""

    def __init__(self, quantity: Quantity, reader: Reader, changes: Changes | None) -> None:
        self._quantity = quantity
        self._reader = reader
        self._changes = changes

    def sample(self, name: ObjectName) -> Sample | Unchanged | Unlimited | Lacking:
        """Ask a bean; raises AbsentError, or the ProbeError that says why there is no number."""
        quantity = self._quantity
        try:
            container, instead = self._value(name)
        except NOT_THERE as error:
            return Lacking(error)
        who = quantity.who(name)
        value = follow(container, quantity.path, quantity.attribute, name)
        subject = called(quantity.attribute, quantity.path, name)
        if quantity.aggregate == "count":
            return Sample(who, 1)
        if quantity.match:
            return Sample(who, 1, numbers.text(value, subject), instead=instead)
        raw = Sample(who, numbers.number(value, subject), instead=instead)
        if quantity.change:
            return self._changed(name, raw)
        scaled = raw._replace(value=scale.in_base(raw.value, quantity.unit))
        if quantity.of:
            return self._share(name, scaled, container, quantity.of)
        return scaled._replace(text=numbers.said(value))

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

    def _changed(self, name: ObjectName, raw: Sample) -> Sample | Unchanged:
        """Compare the number as it is: two quantities may count the same one in different units."""
        from stallwatch.probes.jmx_attributes.changes import key

        assert self._changes  # noqa: S101 - made for every run with such a quantity
        quantity = self._quantity
        about = key(name.canonical, quantity.attribute, *quantity.path)
        counts = quantity.change == "rate" or quantity.unit == "c"
        try:
            grown = self._changes.since(about, raw.value, only_grows=counts)
        except NoChangeError as error:
            return Unchanged(raw.who, str(error))
        grown = scale.in_base(grown, quantity.unit)
        if quantity.change == "rate":
            grown = scale.neat(grown / self._changes.seconds)
        return raw._replace(value=grown)

    def _share(self, name: ObjectName, part: Sample, container: Value, of: Whole) -> Sample | Unlimited:
        """Give the part with what it is a share of, in the same base unit."""
        value, subject = self._whole(name, container, of)
        whole = numbers.number(value, subject)
        what = " ".join(self._quantity.words(part.who))
        if not 0 <= whole < _NO_LIMIT:
            return Unlimited(f"{what} has no limit: {of.said} is {value}")
        if part.value and not whole:
            raise AbsentError(f"{what} can be no share: {of.said} is {value}")
        return part._replace(whole=scale.in_base(whole, self._quantity.unit))

    def _whole(self, name: ObjectName, container: Value, of: Whole) -> tuple[Value, str]:
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
            raise absent(bean, attribute, error, self._reader.server.where) from None
        return follow(value, tuple(rest), attribute, bean), called(attribute, tuple(rest), bean)
