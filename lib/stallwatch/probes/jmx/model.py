"""What one quantity of the command line asks for, what it is called, and that it is not there.

A name is made of the bean's own name alone, never of what other beans there are today: a graph's name must
stay the same. A bean is called the same whether it was asked for by its name or by a pattern; a pattern has
several, so that there a checksum in the label distinguishes those whose name might be that of another.
"""

from __future__ import annotations

import re

from stallwatch.findings import ProbeError, State
from stallwatch.labels import CHECKSUM, own
from stallwatch.line import label
from stallwatch.probes.jmx.scale import UNITS
from stallwatch.sources.jmx.errors import NoSuchAttributeError, NoSuchBeanError
from stallwatch.sources.jmx.object_name import ObjectName, unquoted
from stallwatch.startup import TYPE_CHECKING, NamedTuple
from stallwatch.units import NotUnderstoodError
from stallwatch.words import with_name

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from stallwatch.sources.jmx.errors import JmxError
    from stallwatch.thresholds import Range

PLACE = re.compile(r"\{([^{}]*)\}")  # a key property in a template
NOT_THERE = (NoSuchBeanError, NoSuchAttributeError)


class Quantity(NamedTuple):
    """An attribute of a bean or of all beans of a pattern, and how it is to be judged."""

    asked: ObjectName
    attribute: str
    path: tuple[str, ...] = ()  # into its value
    unit: str = ""  # one of scale.UNITS
    of: Whole | None = None
    per: bool = False  # shown for each one of ``of``, not in per cent of it
    age: bool = False  # a moment, shown as how long ago it is
    change: str = ""  # "rate", "delta" or nothing: between two runs
    match: re.Pattern[str] | None = None
    negated: bool = False  # right where ``match`` is not found
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
        if self.age:
            return "s"
        if self.of and not self.per:
            return "%"
        if self.aggregate == "count" or (self.change and self.counted_in == "c"):
            return ""  # what a counter grew by is no counter
        return self.counted_in

    @property
    def labels_each(self) -> bool:
        """Whether the label is that of each bean, not of all beans together."""
        return bool(self.label) and not self.aggregate

    def who(self, name: ObjectName) -> list[str]:
        """Return in words which bean is asked; where each has a name of its own, that is the label."""
        if not self.labels_each:
            return bean_words(name, self.asked)
        return [filled(self.label, self._places(name), name)]

    def _places(self, name: ObjectName) -> dict[str, str]:
        own = {key: unquoted(value) for key, value in name.properties.items()}
        return {"domain": name.domain, "attribute": self.attribute, "key": "/".join(self.path), **own}

    def unfilled(self, names: Sequence[ObjectName]) -> str:
        """Return the first place of the label for which none of these beans has a key property."""
        known = {place for name in names for place in self._places(name)}
        unfilled = (place for place in PLACE.findall(self.label) if place not in known)
        return next(unfilled, "") if self.labels_each else ""

    def words(self, who: list[str]) -> list[str]:
        """Return in words what one bean is asked."""
        return who if self.labels_each else [*who, self.attribute, *self.path]

    @property
    def common_words(self) -> list[str]:
        """Return in words what all beans of a pattern are asked together."""
        if self.label and self.aggregate:
            return [self.label]
        return [*pattern_words(self.asked), self.attribute, *self.path]

    def name(self, words: list[str]) -> str:
        """Make a name of words; a rate, a share or a sum is called otherwise than the attribute itself."""
        return ".".join(words if self.label else [*words, *self._kind])

    def label_of(self, bean: ObjectName) -> str:
        """Return the label of what one bean shows."""
        shown = label(self.name(self.words(self.who(bean))))
        return own(shown, shown if self._is_known_by_name(bean) else bean.canonical)

    def _is_known_by_name(self, bean: ObjectName) -> bool:
        """Whether no other bean of the pattern can have the same label; with --label the user decides that.

        A label does not show the keys that a pattern leaves open, nor where one of two words with dots ends.
        """
        asked, values = self.asked, bean.properties
        fixed = asked.properties.keys() - asked.wild_properties
        wild = {"domain": bean.domain} if ObjectName(asked.domain, {}).is_pattern else {}
        wild |= {key: values[key] for key in bean.familiar_keys if key not in fixed}
        if self.labels_each:
            return all(_is_label(wild[place]) for place in PLACE.findall(self.label) if place in wild)
        words = list(wild.values())
        known = not asked.open_ended or values.keys() == {*asked.properties, "type", "name"}
        return known and all(map(_is_label, words)) and "." not in "".join(words[1:])

    @property
    def _kind(self) -> list[str]:
        share = f"{'per' if self.per else 'of'}_{self.of.said}" if self.of else ""
        matched = ("no_match" if self.negated else "match") if self.match else ""
        age = "age" if self.age else ""
        return [kind for kind in (matched, age, share, self.change, self.aggregate) if kind]

    def is_right(self, text: str) -> bool:
        """Whether a text is as ``match`` wants it."""
        return not self.match or bool(self.match.search(text)) is not self.negated

    @property
    def rule(self) -> str:
        """Return what is wanted of a text: ``match NORMAL``, ``without FAILED``."""
        return f"{'without' if self.negated else 'match'} {self.match.pattern if self.match else ''}"

    @property
    def labels(self) -> re.Pattern[str]:
        """Return a pattern that fits every label it may ever have, whatever beans there are."""
        if self.labels_each:
            parts = PLACE.split(self.label)[::2]  # what is between the places
            return re.compile(_joined(".*", parts) + CHECKSUM, re.DOTALL)
        if self.aggregate or not self.asked.is_pattern:
            return re.compile(_joined("", [self.name(self.common_words)]))
        last = self.name([self.attribute, *self.path])
        words = _joined(r"\.(?:.*\.)?", [*_fixed_words(self.asked), last])
        return re.compile(rf"(?:.*\.)?{words}{CHECKSUM}", re.DOTALL)


def _is_label(value: str) -> bool:
    """Whether a label shows all of a value; an empty one is shown as its key."""
    return value == label(value) != ""


def _joined(between: str, parts: Sequence[str]) -> str:
    """Make a regular expression for the label of a name of these parts."""
    return between.join(re.escape(label(part)) for part in parts)


class Whole(NamedTuple):
    """What a quantity is a share of: a key beside its own or another attribute, or one of another bean."""

    said: str
    path: tuple[str, ...]  # ATTRIBUTE[/KEY], or the key
    template: str = ""  # the other bean's name, with places for key properties of this one

    @property
    def is_one(self) -> bool:
        """Whether it is the same for all beans of a pattern."""
        return bool(self.template) and not PLACE.search(self.template)

    def bean(self, name: ObjectName) -> ObjectName:
        """Return the bean that it is read from, for the bean ``name``; raises ProbeError."""
        if not self.template:
            return name
        text = filled(self.template, name.properties, name)
        try:
            return ObjectName.parse(text)
        except NotUnderstoodError as error:
            raise AbsentError(f"{self.template} makes no object name for {name}: {error}") from None


def bean_words(name: ObjectName, asked: ObjectName) -> list[str]:
    """Return the words that distinguish a bean from others: its key properties, ``name`` last.

    Its type is left out where there are others, its domain always, unless the question left them open.
    """
    keys = name.familiar_keys
    if len(keys) > 1 and "type" in asked.properties and "type" not in asked.wild_properties:
        keys.remove("type")
    domain = [name.domain] if ObjectName(asked.domain, {}).is_pattern else []
    return domain + [_word(name, key) for key in keys]


def _word(name: ObjectName, key: str) -> str:
    return unquoted(name.properties[key]) or f"{key}="


def pattern_words(asked: ObjectName) -> list[str]:
    """Return the words that all beans of a pattern share."""
    fixed = {key: value for key, value in asked.properties.items() if key not in asked.wild_properties}
    return bean_words(ObjectName(asked.domain, fixed), asked) or [asked.domain]


def _fixed_words(asked: ObjectName) -> list[str]:
    """Return the words that are among those of every bean of a pattern, in their order."""
    keys = [key for key in asked.familiar_keys if key != "type" and key not in asked.wild_properties]
    return [_word(asked, key) for key in keys]


def filled(template: str, values: Mapping[str, str], name: ObjectName) -> str:
    """Put the values of one bean into the places ``{key}`` of a template; ProbeError if it lacks one."""

    def fill(place: re.Match[str]) -> str:
        if place[1] not in values:
            raise ProbeError(f"{name} has no key property {place[1]} for {template}")
        return values[place[1]]

    return PLACE.sub(fill, template)


class Sought(NamedTuple):
    """What was asked for in vain; the error of the first bean asked, or none if a pattern fits no bean."""

    asked: ObjectName
    attribute: str
    error: JmxError | None


class AbsentError(ProbeError):
    """There is no such bean, attribute or key, or it holds no number now: the user sets what that means."""

    def __init__(self, what: str, advice: str = "", sought: Sought | None = None) -> None:
        super().__init__(what, advice)
        self.sought = sought  # a hint may be found at what was meant


def absent(asked: ObjectName, attribute: str, error: JmxError | None, where: str) -> AbsentError:
    """Report that there is no such bean, or that none has the attribute."""
    name = str(asked)
    what = error.what if error else f"no MBean at {where} matches {name}"
    if asked.is_pattern and error:
        what = f"no MBean at {where} that matches {name} has an attribute {attribute}"
    return AbsentError(with_name(what, name), sought=Sought(asked, attribute, error))
