"""What the beans of one quantity show."""

from __future__ import annotations

from stallwatch.findings import ProbeError
from stallwatch.history.delta import NoIntervalError
from stallwatch.probes.jmx import scale, values
from stallwatch.probes.jmx.model import NOT_THERE, AbsentError, absent
from stallwatch.sources.jmx.errors import UnreachableError
from stallwatch.startup import TYPE_CHECKING, NamedTuple
from stallwatch.units import plain, say_duration

if TYPE_CHECKING:
    from collections.abc import Sequence

    from stallwatch.probes.jmx.changes import Changes
    from stallwatch.probes.jmx.model import Quantity, Whole
    from stallwatch.probes.jmx.reader import Reader
    from stallwatch.sources.jmx.errors import JmxError
    from stallwatch.sources.jmx.object_name import ObjectName
    from stallwatch.sources.jmx.values import Value

_NO_LIMIT = 2**63 - 1  # Long.MAX_VALUE, which in Java means that there is none; a negative one means it, too


class Sample(NamedTuple):
    """What one bean shows: a number in the base unit of its attribute; a rate is per second."""

    who: list[str]  # which bean, in words
    value: float
    text: str = ""  # the value itself, where it was no number
    whole: float | None = None  # what the value is a share of; 0 only of 0
    instead: str = ""  # what was read in its place
    per: bool = False  # the value is shown for each one of ``whole``
    label: str = ""  # in the perfdata

    @property
    def number(self) -> float:
        """The number that is judged: of a share, per cent."""
        if self.whole is None:
            return self.value
        if self.per:
            return scale.neat(self.value / self.whole)
        return scale.neat(100 * self.value / self.whole) if self.whole else 0


class Snapshot(NamedTuple):
    """What all beans of a quantity show."""

    quantity: Quantity
    seconds: float  # between the two looks of a change
    samples: list[Sample]
    unchanged: dict[str, list[str]]  # beans of which a change is not known, in words, by the reason
    idle: list[str]  # sentences: what has nothing new that there could be a share of
    unlimited: list[str]  # sentences: what has nothing that the number could be a share of
    lacking: list[JmxError]  # no such bean or attribute, and nothing is known that took its place
    others: list[ProbeError]

    @property
    def beans(self) -> int:
        """How many have the attribute, and a number in it."""
        return (
            len(self.samples) + len(self.unlimited) + len(self.idle) + sum(map(len, self.unchanged.values()))
        )


class _UnlimitedError(Exception):
    """There is nothing that the number could be a share of."""


class _IdleError(Exception):
    """The whole has not changed, so that no part of it has."""


def snapshot(
    quantity: Quantity, names: Sequence[ObjectName], reader: Reader, changes: Changes | None
) -> Snapshot:
    """Ask bean after bean; ``changes`` is needed for a quantity that is about two runs."""
    sampler = _Sampler(quantity, reader, changes)
    found = Snapshot(quantity, changes.seconds if changes else 0, [], {}, [], [], [], [])
    for name in names:
        try:
            found.samples.append(sampler.sample(name)._replace(label=quantity.label_of(name)))
        except NoIntervalError as error:
            subject = " ".join(quantity.words(quantity.who(name)))
            found.unchanged.setdefault(str(error), []).append(subject)
        except _IdleError as error:
            found.idle.append(str(error))
        except _UnlimitedError as error:
            found.unlimited.append(str(error))
        except NOT_THERE as error:
            found.lacking.append(error)
        except UnreachableError:
            raise
        except ProbeError as error:
            found.others.append(error)
    return found


def _must_count(number: float, subject: str) -> None:
    """Refuse what is no count: servers write -1 where they do not count, and that would never change."""
    if number < 0:
        raise AbsentError(f"{subject} is {plain(number)}, which is no count")


class _Sampler:
    """Asks a bean for one quantity."""

    def __init__(self, quantity: Quantity, reader: Reader, changes: Changes | None) -> None:
        self._quantity = quantity
        self._reader = reader
        self._changes = changes

    def sample(self, name: ObjectName) -> Sample:
        """Ask a bean; raises what ``snapshot`` catches."""
        quantity = self._quantity
        container, instead = self._value(name)
        who = quantity.who(name)
        value = values.follow(container, quantity.path, quantity.attribute, name)
        subject = values.called(quantity.attribute, quantity.path, name)
        if quantity.match:
            text = values.text(value, subject)
            return Sample(who, int(quantity.is_right(text)), text, instead=instead)
        if quantity.aggregate == "count":
            return Sample(who, 1)
        if quantity.age:
            from stallwatch.probes.jmx import moments

            return Sample(who, moments.age(value, subject, quantity.unit, self._reader), instead=instead)
        raw = Sample(who, values.number(value, subject), instead=instead, per=quantity.per)
        if quantity.change:
            return self._changed(name, raw, container)
        scaled = raw._replace(value=scale.in_base(raw.value, quantity.unit))
        if quantity.of:
            return self._share(name, scaled, container, quantity.of)
        return scaled._replace(text=values.said(value))

    def _value(self, name: ObjectName) -> tuple[Value, str]:
        """Return the attribute's value, and what was read instead if the bean is gone."""
        try:
            return self._reader.value(str(name), self._quantity.attribute), ""
        except NOT_THERE:
            from stallwatch.probes.jmx.diagnosis import successor

            if not (found := successor(name, self._quantity.attribute)):
                raise
            bean, attribute = found
            if not self._reader.server.names(str(bean)):
                raise
        return self._reader.value(str(bean), attribute), f"{attribute} of {bean}"

    def _changed(self, name: ObjectName, raw: Sample, container: Value) -> Sample:
        """Compare the number as it is: two quantities may count the same one in different units."""
        from stallwatch.probes.jmx.changes import key

        assert self._changes  # noqa: S101 - made for every run with such a quantity
        quantity = self._quantity
        if quantity.of:
            return self._changed_share(name, raw, container, quantity.of)
        about = key(name.canonical, quantity.attribute, *quantity.path)
        counts = quantity.change == "rate" or quantity.unit == "c"
        if counts:
            _must_count(raw.value, values.called(quantity.attribute, quantity.path, name))
        grown = scale.in_base(self._changes.since(about, raw.value, only_grows=counts), quantity.unit)
        if quantity.change == "rate":
            grown = scale.neat(grown / self._changes.seconds)
        return raw._replace(value=grown)

    def _changed_share(self, name: ObjectName, raw: Sample, container: Value, of: Whole) -> Sample:
        """Return what the part changed by since the last run, with what the whole changed by."""
        from stallwatch.probes.jmx.changes import key

        assert self._changes  # noqa: S101 - made for every run with such a quantity
        quantity, changes = self._quantity, self._changes
        value, subject = self._whole(name, container, of)
        about = key(name.canonical, quantity.attribute, *quantity.path)
        whole = values.number(value, subject)
        _must_count(raw.value, values.called(quantity.attribute, quantity.path, name))
        _must_count(whole, subject)
        changes.note(key(subject), whole)
        part = changes.since(about, raw.value, only_grows=True)
        grown = changes.since(key(subject), whole, only_grows=True)
        if not grown:
            what = " ".join(quantity.words(raw.who))
            raise _IdleError(f"{what}: {of.said} has not changed in {say_duration(changes.seconds)}")
        return self._with_whole(raw._replace(value=scale.in_base(part, quantity.unit)), grown)

    def _with_whole(self, part: Sample, whole: float) -> Sample:
        """Return a part, in its base unit, with its whole; that of a share is counted in the same unit."""
        return part._replace(whole=whole if part.per else scale.in_base(whole, self._quantity.unit))

    def _share(self, name: ObjectName, part: Sample, container: Value, of: Whole) -> Sample:
        """Return the part with what it is a share of, in the same base unit."""
        value, subject = self._whole(name, container, of)
        whole = values.number(value, subject)
        what = " ".join(self._quantity.words(part.who))
        if part.per and not 0 < whole < _NO_LIMIT:
            raise AbsentError(f"{what} cannot be divided: {of.said} is {value}")
        if not 0 <= whole < _NO_LIMIT:
            raise _UnlimitedError(f"{what} has no limit: {of.said} is {value}")
        if part.value < 0:
            raise AbsentError(f"{what} can be no share: it is {plain(part.value)}")
        if part.value and not whole:
            raise AbsentError(f"{what} can be no share: {of.said} is {value}")
        return self._with_whole(part, whole)

    def _whole(self, name: ObjectName, container: Value, of: Whole) -> tuple[Value, str]:
        """Return the value that is meant by ``--of``, and what it is called.

        One word is a key beside the quantity's own, else an attribute of the same bean.
        """
        quantity = self._quantity
        path = (*quantity.path[:-1], *of.path)
        if quantity.path and not of.template:
            try:
                value = values.follow(container, path, quantity.attribute, name)
                return value, values.called(quantity.attribute, path, name)
            except AbsentError as error:
                no_such_key = error
        bean, (attribute, *rest) = of.bean(name), of.path
        try:
            value = self._reader.value(str(bean), attribute)
        except NOT_THERE as error:
            if quantity.path and not of.template:
                raise no_such_key from None
            raise absent(bean, attribute, error, self._reader.server.where) from None
        way = tuple(rest)
        return values.follow(value, way, attribute, bean), values.called(attribute, way, bean)
