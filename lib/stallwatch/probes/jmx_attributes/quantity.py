"""What one quantity of the command line asks for."""

from __future__ import annotations

import re

from stallwatch.findings import State
from stallwatch.probes.jmx_attributes import naming
from stallwatch.probes.jmx_attributes.absent import AbsentError
from stallwatch.probes.jmx_attributes.scale import UNITS
from stallwatch.sources.jmx.object_name import ObjectName, unquoted
from stallwatch.startup import TYPE_CHECKING, NamedTuple
from stallwatch.units import NotUnderstoodError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from stallwatch.thresholds import Range


class Quantity(NamedTuple):
    """An attribute of a bean or of all beans of a pattern, and how it is to be judged."""

    asked: ObjectName
    attribute: str
    path: tuple[str, ...] = ()  # into its value
    unit: str = ""  # one of scale.UNITS
    of: Whole | None = None
    change: str = ""  # "rate", "delta" or nothing: between two runs
    match: re.Pattern[str] | None = None
    aggregate: str = ""  # "sum", "max", "min", "avg", "count" or nothing
    label: str = ""  # a template; nothing: made of the bean's name
    missing: State = State.UNKNOWN
    limits: dict[str, Range] | None = None  # "warning", "critical"

    @property
    def counted_in(self) -> str:
        """The base unit of the attribute itself."""
        return UNITS[self.unit][0]

    @property
    def base(self) -> str:
        """The unit of what is judged and reported."""
        if self.of:
            return "%"
        if self.aggregate == "count" or (self.change and self.counted_in == "c"):
            return ""  # what a counter grew by is no counter
        return self.counted_in

    @property
    def labels_each(self) -> bool:
        """Whether the label is that of each bean, not of all beans together."""
        return bool(self.label) and not self.aggregate

    def who(self, name: ObjectName) -> list[str]:
        """Say in words which bean is asked; where each has a name of its own, that is the label."""
        if not self.labels_each:
            return naming.words(name, self.asked)
        return [naming.filled(self.label, self._places(name), name)]

    def _places(self, name: ObjectName) -> dict[str, str]:
        own = {key: unquoted(value) for key, value in name.properties.items()}
        return {"domain": name.domain, "attribute": self.attribute, "key": "/".join(self.path), **own}

    def unfilled(self, names: Sequence[ObjectName]) -> str:
        """Give the first place of the label for which none of these beans has a key property."""
        known = {place for name in names for place in self._places(name)}
        unfilled = (place for place in naming.PLACE.findall(self.label) if place not in known)
        return next(unfilled, "") if self.labels_each else ""

    def words(self, who: list[str]) -> list[str]:
        """Say in words what one bean is asked."""
        return who if self.labels_each else [*who, self.attribute, *self.path]

    @property
    def common_words(self) -> list[str]:
        """Say in words what all beans of a pattern are asked together."""
        if self.label and self.aggregate:
            return [self.label]
        return [*naming.common_words(self.asked), self.attribute, *self.path]

    def name(self, words: list[str]) -> str:
        """Make a name of words; a rate, a share or a sum is called otherwise than the attribute itself."""
        return ".".join(words if self.label else [*words, *self._kind])

    @property
    def _kind(self) -> list[str]:
        share = f"of_{self.of.said}" if self.of else ""
        matched = "match" if self.match else ""
        return [kind for kind in (matched, share, self.change, self.aggregate) if kind]

    @property
    def names(self) -> re.Pattern[str]:
        """Give a pattern that fits every name it may ever have, whatever beans there are."""
        if self.labels_each:
            parts = naming.PLACE.split(self.label)[::2]  # what stands between the places
            return re.compile(".*".join(map(re.escape, parts)), re.DOTALL)
        if self.aggregate or not self.asked.is_pattern:
            return re.compile(re.escape(self.name(self.common_words)))
        last = self.name([self.attribute, *self.path])
        words = map(re.escape, [*naming.fixed_words(self.asked), last])
        return re.compile(r"(?:.*\.)?" + r"\.(?:.*\.)?".join(words), re.DOTALL)


class Whole(NamedTuple):
    """What a quantity is a share of: a key beside its own or another attribute, or one of another bean."""

    said: str
    path: tuple[str, ...]  # ATTRIBUTE[/KEY], or the key
    template: str = ""  # the other bean's name, with places for key properties of this one

    @property
    def is_one(self) -> bool:
        """Whether it is the same for all beans of a pattern."""
        return bool(self.template) and not naming.PLACE.search(self.template)

    def bean(self, name: ObjectName) -> ObjectName:
        """Give the bean that it is read from, for the bean ``name``; raises ProbeError."""
        if not self.template:
            return name
        text = naming.filled(self.template, name.properties, name)
        try:
            return ObjectName.parse(text)
        except NotUnderstoodError as error:
            raise AbsentError(f"{self.template} makes no object name for {name}: {error}") from None
