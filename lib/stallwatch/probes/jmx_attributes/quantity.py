"""What one quantity of the command line asks for."""

from __future__ import annotations

from typing import NamedTuple

from stallwatch.probes.jmx_attributes import naming
from stallwatch.probes.jmx_attributes.scale import UNITS
from stallwatch.reading import State
from stallwatch.sources.jmx.object_name import ObjectName, unquoted

TYPE_CHECKING = False  # typing itself costs every check 2 ms
if TYPE_CHECKING:
    import re

    from stallwatch.units import Range


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

    def who(self, name: ObjectName) -> list[str]:
        """Say in words which bean is asked; where each has a name of its own, that is the label."""
        if not self.label or self.aggregate:
            return naming.words(name, self.asked)
        own = {key: unquoted(value) for key, value in name.properties.items()}
        more = {"domain": name.domain, "attribute": self.attribute, "key": "/".join(self.path)}
        return [naming.filled(self.label, {**more, **own}, name)]

    def words(self, who: list[str]) -> list[str]:
        """Say in words what one bean is asked."""
        return who if self.label and not self.aggregate else [*who, self.attribute, *self.path]

    @property
    def common_words(self) -> list[str]:
        """Say in words what all beans of a pattern are asked together."""
        if self.label and self.aggregate:
            return [self.label]
        return [*naming.common_words(self.asked), self.attribute, *self.path]


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
        """Give the bean that it is read from, for the bean ``name``."""
        if not self.template:
            return name
        return ObjectName.parse(naming.filled(self.template, name.properties, name))
