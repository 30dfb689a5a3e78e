"""The names of MBeans: ``domain:key=value,key=value``, and patterns of such names."""

from __future__ import annotations

import re

from stallwatch.startup import TYPE_CHECKING, NamedTuple
from stallwatch.units import NotUnderstoodError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

# A value is quoted or holds none of the characters that part a name (javax.management.ObjectName, JDK 17).
_NOT_IN_KEY, _NOT_IN_VALUE = frozenset(",:*?\n"), frozenset('=:"\n')
_QUOTED = r'"(?:[^"\\\n]|\\["\\n*?])*"(?=,|\Z)'
_WILD = r"(?s)\\.|[*?]"


class ObjectName(NamedTuple):
    """One name, or a pattern. ``properties`` has the values as written, quotes and escapes included."""

    domain: str
    properties: dict[str, str]
    open_ended: bool = False  # ends in ",*": other properties may follow

    @classmethod
    def parse(cls, text: str) -> ObjectName:
        """Read a name. What a server would refuse, and close the connection for, is a NotUnderstoodError."""
        domain, colon, rest = text.partition(":")
        if not colon:
            raise NotUnderstoodError(f'"{text}" is no object name: write domain:key=value, as in java.lang:*')
        if "\n" in domain:
            raise NotUnderstoodError(f'the domain of "{text}" has a line break in it')
        properties: dict[str, str] = {}
        at, open_ended = 0, False
        while True:
            if rest.startswith("*", at) and rest[at + 1 : at + 2] in ("", ",") and not open_ended:
                open_ended, end = True, at + 1
            elif found := _property(rest, at):
                key, value, end = found
                if key in properties:
                    raise NotUnderstoodError(f'"{text}" has the key {key} twice')
                properties[key] = value
            else:
                raise NotUnderstoodError(_complaint(text, rest[at:].partition(",")[0]))
            if end == len(rest):
                return cls(domain, properties, open_ended)
            at = end + 1

    @property
    def is_pattern(self) -> bool:
        """Whether it may stand for several MBeans."""
        return self.open_ended or _is_wild(self.domain) or bool(self.wild_properties)

    @property
    def wild_properties(self) -> list[str]:
        """The keys whose values have wildcards."""
        return [key for key, value in self.properties.items() if _is_wild(value)]

    @property
    def canonical(self) -> str:
        """The same name with its properties in order of their keys: equal for equal names."""
        return f"{self.domain}:{self._joined(sorted(self.properties.items()))}"

    def __str__(self) -> str:
        return f"{self.domain}:{self._joined(list(self.properties.items()))}"

    @property
    def familiar(self) -> str:
        """The name in the order that people are used to, its type first; servers send the keys sorted."""
        return f"{self.domain}:{self._joined([(key, self.properties[key]) for key in self.familiar_keys])}"

    @property
    def familiar_keys(self) -> list[str]:
        """The keys of its properties in that order, ``name`` last."""
        return sorted(self.properties, key=lambda key: (key != "type", key == "name", key))

    def _joined(self, properties: list[tuple[str, str]]) -> str:
        return ",".join([f"{key}={value}" for key, value in properties] + ["*"] * self.open_ended)

    def matches(self, name: ObjectName) -> bool:
        """Whether this pattern fits a name, as the server decides it."""
        return (
            _fits(self.domain, name.domain)
            and all(
                key in name.properties and _fits(value, name.properties[key])
                for key, value in self.properties.items()
            )
            and (self.open_ended or len(self.properties) == len(name.properties))
        )


def understood(texts: Iterable[str]) -> Iterator[ObjectName]:
    """Read names that a server sent; one that is against the rules can still be asked for, as it came."""
    for text in texts:
        try:
            yield ObjectName.parse(text)
        except NotUnderstoodError:
            domain, _, rest = text.partition(":")
            key, _, value = rest.partition("=")
            yield ObjectName(domain, {key: value})


def unquoted(value: str) -> str:
    """Take the quotes and escapes from a property's value."""
    if not (len(value) > 1 and value[0] == value[-1] == '"'):
        return value
    return re.sub(r"\\(.)", lambda found: "\n" if found[1] == "n" else found[1], value[1:-1])


def _property(text: str, at: int) -> tuple[str, str, int] | None:
    """Read ``key=value``: both, and where it ends; None if it is no such pair.

    What is not quoted is read without a regular expression: to compile that takes 0.4 ms (CPython 3.11).
    """
    equals = text.find("=", at)
    key, begin = text[at:equals], equals + 1
    if equals <= at or not _NOT_IN_KEY.isdisjoint(key):
        return None
    if text.startswith('"', begin):
        quoted = re.compile(_QUOTED).match(text, begin)
        return (key, quoted[0], quoted.end()) if quoted else None
    value = text[begin:].partition(",")[0]
    return (key, value, begin + len(value)) if _NOT_IN_VALUE.isdisjoint(value) else None


def _complaint(text: str, part: str) -> str:
    if not part:
        return f'"{text}" lacks a key property: write domain:key=value'
    return f'"{part}" in "{text}" is not key=value: values with , = : " are to be quoted'


def _is_wild(text: str) -> bool:
    return ("*" in text or "?" in text) and any(found in "*?" for found in re.findall(_WILD, text))


def _fits(pattern: str, text: str) -> bool:
    """Match with ``*`` and ``?``; an escaped one stands for itself, as it is escaped in names, too."""
    if not _is_wild(pattern):
        return pattern == text
    regex, at = "", 0
    for found in re.finditer(_WILD, pattern):
        wild = {"*": ".*", "?": "."}.get(found[0]) or re.escape(found[0])
        regex += re.escape(pattern[at : found.start()]) + wild
        at = found.end()
    return re.fullmatch(regex + re.escape(pattern[at:]), text, re.DOTALL) is not None
