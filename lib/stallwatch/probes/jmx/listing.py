"""All that a JVM shows over JMX: its domains, MBeans and attributes, and what these are at the moment."""

from __future__ import annotations

import json
import math
import re
import sys

from stallwatch import withheld
from stallwatch.findings import ProbeError
from stallwatch.line import shorten
from stallwatch.probes.jmx import diagnosis
from stallwatch.sources.jmx.errors import JmxError, NoSuchBeanError
from stallwatch.sources.jmx.info import Bean
from stallwatch.sources.jmx.object_name import ObjectName, understood
from stallwatch.startup import TYPE_CHECKING
from stallwatch.words import listed_to_fit, plural, with_name

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from typing import Any

    from stallwatch.sources.jmx import Server
    from stallwatch.sources.jmx.info import Attribute
    from stallwatch.sources.jmx.values import Value, Values

_TOGETHER = 2000  # beans asked about at once: their values are never all in memory, and round trips are few
_LONGEST_VALUE, _WIDEST_NAME = 200, 40
_SECRET = re.compile(r"passw(?:or)?d|passphrase|secret|credential", re.IGNORECASE)
_SECRET_WITHIN = re.compile(rf"((?:{_SECRET.pattern})[^=\s]*=)\S+", re.IGNORECASE)


class Wanted:
    """Which beans to list: those of an object name pattern, or with a word in their or an attribute's name.

    The word may hold ``*`` and ``?``; upper and lower case are one. Raises NotUnderstoodError.
    """

    def __init__(self, text: str) -> None:
        self._text = text
        self._pattern = ObjectName.parse(text) if ":" in text else None
        wild = {"*": ".*", "?": "."}
        regex = "".join(wild.get(letter) or re.escape(letter) for letter in text)
        self._word = re.compile(regex, re.IGNORECASE)

    def beans(self, server: Server) -> list[Bean]:
        """Return those that may be wanted, their names as people write them, sorted by those."""
        found = server.beans(str(self._pattern) if self._pattern else "*:*")
        named = [Bean(name.familiar, bean.class_name) for bean in found for name in understood([bean.name])]
        return sorted(named, key=lambda bean: bean.name.partition(":"))

    def names(self, bean: Bean) -> bool:
        """Whether the bean is wanted by its own name."""
        return bool(self._pattern or self._word.search(bean.name))

    def attributes(self, bean: Bean, attributes: list[Attribute]) -> list[Attribute]:
        """Return those to list: all of a bean that is wanted by its name, else those with the word."""
        if self.names(bean):
            return attributes
        return [one for one in attributes if self._word.search(one.name)]

    def none(self, server: Server) -> ProbeError:
        """Report that there are none."""
        if self._pattern:
            none = f"no MBean at {server.where} matches {self._text}"
            return ProbeError(with_name(none, self._text), diagnosis.beans(server, self._pattern))
        none = f"no MBean or attribute at {server.where} has {self._text} in its name"
        return ProbeError(with_name(none, self._text), listed_to_fit("its domains are ", server.domains()))


def listing(
    server: Server,
    wanted: Wanted,
    style: Text | JsonLines,
    so_far: Callable[[str], None],
    *,
    values: bool,
) -> Iterator[ProbeError]:
    """Write the wanted beans in that style; ``so_far`` is called with how far it has come.

    The text of a value or an error is withheld before anybody shortens or quotes it; names and types are what
    they are.
    """
    so_far(f"asking {server.where} for its MBeans")
    beans = wanted.beans(server)
    for start in range(0, len(beans), _TOGETHER):
        with server.passing() as keep:
            described = _described(server, beans[start : start + _TOGETHER], wanted, style)
            told = _with_values(server, described, values=values)
            for done, (bean, attributes, found) in enumerate(told, start):
                style.bean(bean, attributes, found)
                keep(sys.getsizeof(style.written[-1]))
                if not done % 100:
                    so_far(f"listed {done} of {len(beans)} MBeans of {server.where}")
    if not style.written:
        yield wanted.none(server)
        return
    style.end()


def _described(
    server: Server, beans: Sequence[Bean], wanted: Wanted, style: Text | JsonLines
) -> list[tuple[Bean, list[Attribute]]]:
    """Ask for the attributes of beans. Those that have gone meanwhile are no error."""
    known = []
    for bean, attributes in zip(beans, server.describe(beans), strict=True):
        if isinstance(attributes, list):
            chosen = wanted.attributes(bean, attributes)
            if chosen or wanted.names(bean):
                known.append((bean, chosen))
        elif wanted.names(bean) and not isinstance(attributes, NoSuchBeanError):
            style.unknown(bean, attributes.what)
    return known


def _with_values(
    server: Server, described: list[tuple[Bean, list[Attribute]]], *, values: bool
) -> Iterator[tuple[Bean, list[Attribute], Values]]:
    if not values:
        yield from ((bean, attributes, {}) for bean, attributes in described)
        return
    asked = [(bean.name, [one.name for one in attributes if one.readable]) for bean, attributes in described]
    for (bean, attributes), found in zip(described, server.read(asked), strict=True):
        if isinstance(found, dict):
            yield bean, attributes, found
        elif not isinstance(found, NoSuchBeanError):
            yield bean, attributes, {one.name: found for one in attributes if one.readable}


class Text:
    """The list for a person: a line for each bean, one for each of its attributes.

    ``values`` has those that were asked for, or why they cannot be had.
    """

    def __init__(self, more: bool) -> None:  # noqa: FBT001
        self.written: list[str] = []
        self._more = more  # also classes and descriptions
        self._domains: list[str] = []
        self._beans = self._attributes = self._unreadable = 0

    def bean(self, bean: Bean, attributes: list[Attribute], values: Values) -> None:
        """Write a bean."""
        width = min(_WIDEST_NAME, max((len(one.name) for one in attributes), default=0))
        types = min(_WIDEST_NAME, max((len(_short(one.type)) for one in attributes), default=0))
        lines = [self._attribute(one, values, width, types) for one in attributes]
        self.written.append("".join(f"{line}\n" for line in [*self._head(bean), *lines]))
        self._attributes += len(attributes)
        self._unreadable += sum(isinstance(value, JmxError) for value in values.values())

    def unknown(self, bean: Bean, why: str) -> None:
        """Write a bean whose attributes cannot be had."""
        self.written.append("".join(f"{line}\n" for line in [*self._head(bean), f"  ! {_printable(why)}"]))

    def end(self) -> None:
        """Write how much it was."""
        unreadable = f", {self._unreadable} of them unreadable" if self._unreadable else ""
        counted = f"{plural(self._beans, 'MBean')} with {plural(self._attributes, 'attribute')}{unreadable}"
        self.written.append(f"\n{counted}; domains: {len(self._domains)}\n")

    def _head(self, bean: Bean) -> list[str]:
        domain = bean.name.partition(":")[0]
        head = [""] if self._beans else []
        if domain not in self._domains[-1:]:
            self._domains.append(domain)
            head += [f"[{_printable(domain)}]", ""]
        self._beans += 1
        kind = f"  ({_printable(bean.class_name)})" if self._more else ""
        return [*head, f"{_printable(bean.name)}{kind}"]

    def _attribute(self, attribute: Attribute, values: Values, width: int, types: int) -> str:
        name, kind = _printable(attribute.name), _printable(_short(attribute.type))
        line = f"  {name:<{width}}  {kind:<{types}}  {_access(attribute):<2}"
        if attribute.name in values:
            line += f"  {self._value(attribute.name, values[attribute.name])}"
        if self._more and attribute.description not in ("", attribute.name):
            line += f"  # {_printable(withheld.message(attribute.description))}"
        return line.rstrip()

    @staticmethod
    def _value(name: str, value: Value | JmxError) -> str:
        if isinstance(value, JmxError):
            return f"! {_printable(value.what.partition(' cannot be read: ')[2] or value.what)}"
        return _printable(shorten(_json(_presentable(name, value)), _LONGEST_VALUE))


class JsonLines:
    """The list for a program: an object for each bean, each in a line of its own."""

    def __init__(self) -> None:
        self.written: list[str] = []

    def bean(self, bean: Bean, attributes: list[Attribute], values: Values) -> None:
        """Write a bean."""
        told = [self._attribute(one, values) for one in attributes]
        self._write({"bean": bean.name, "class": bean.class_name, "attributes": told})

    def unknown(self, bean: Bean, why: str) -> None:
        """Write a bean whose attributes cannot be had."""
        self._write({"bean": bean.name, "class": bean.class_name, "error": why})

    def end(self) -> None:
        """Write nothing more."""

    def _write(self, bean: dict[str, Any]) -> None:
        """Write it; what would disturb a terminal is an escape, which only texts can hold."""
        line = _json(bean)
        if not line.isprintable():
            line = "".join(one if one.isprintable() else json.dumps(one)[1:-1] for one in line)
        self.written.append(f"{line}\n")

    @staticmethod
    def _attribute(attribute: Attribute, values: Values) -> dict[str, Any]:
        told: dict[str, Any] = {"name": attribute.name, "type": attribute.type, "access": _access(attribute)}
        if attribute.description not in ("", attribute.name):
            told["description"] = withheld.message(attribute.description)
        if attribute.name in values:
            value = values[attribute.name]
            if isinstance(value, JmxError):
                told["error"] = value.what
            else:
                told["value"] = _presentable(attribute.name, value)
        return told


def _presentable(name: str, value: Value) -> Value:
    """Make a value fit for JSON: its texts withheld, and *** for what its name or a setting calls secret."""
    if isinstance(value, dict):
        parts = ((withheld.data(key), part) for key, part in value.items())
        return {key: _presentable(key, part) for key, part in parts}
    if isinstance(value, list):
        return [_presentable(name, part) for part in value]
    if isinstance(value, float) and not math.isfinite(value):
        return {math.inf: "Infinity", -math.inf: "-Infinity"}.get(value, "NaN")
    if isinstance(value, str) and value:
        return "***" if _SECRET.search(name) else _SECRET_WITHIN.sub(r"\1***", withheld.data(value))
    return value


def _short(kind: str) -> str:
    """Leave out the packages that everybody knows."""
    return kind.removeprefix("java.lang.").removeprefix("javax.management.").removeprefix("openmbean.")


def _access(attribute: Attribute) -> str:
    """Report ``r``, ``w`` or ``rw``."""
    return "r" * attribute.readable + "w" * bool(attribute.writable)


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


def _printable(text: str) -> str:
    """Write what would disturb a terminal, or is no text, as an escape."""
    if text.isprintable():
        return text
    return "".join(letter if letter.isprintable() else repr(letter)[1:-1] for letter in text)
