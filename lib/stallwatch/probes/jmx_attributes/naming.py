"""What a quantity is called: in words, and in the perfdata.

A name is made of the bean's own name alone, never of what other beans there are today: a graph's name must
stay the same. A bean is called the same whether it was asked for by its name or by a pattern.
"""

from __future__ import annotations

import re

from stallwatch.findings import ProbeError
from stallwatch.sources.jmx.object_name import ObjectName, unquoted
from stallwatch.startup import TYPE_CHECKING
from stallwatch.units import NotUnderstoodError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

PLACE = re.compile(r"\{([^{}]*)\}")  # a key property in a template


def understood(texts: Iterable[str]) -> Iterator[ObjectName]:
    """Read names that a server sent; one that is against the rules can still be asked for, as it came."""
    for text in texts:
        try:
            yield ObjectName.parse(text)
        except NotUnderstoodError:
            domain, _, rest = text.partition(":")
            key, _, value = rest.partition("=")
            yield ObjectName(domain, {key: value})


def familiar(name: ObjectName) -> str:
    """Write a name in the order that people are used to, its type first; servers send the keys sorted."""
    pairs = [f"{key}={name.properties[key]}" for key in _in_order(name)]
    return f"{name.domain}:{','.join([*pairs, *['*'] * name.open_ended])}"


def _in_order(name: ObjectName) -> list[str]:
    return sorted(name.properties, key=lambda key: (key != "type", key == "name", key))


def words(name: ObjectName, asked: ObjectName) -> list[str]:
    """Give the words that tell a bean from others: its key properties, ``name`` last.

    Its type is left out where there are others, its domain always, unless the question left them open.
    """
    keys = _in_order(name)
    if len(keys) > 1 and "type" in asked.properties and "type" not in asked.wild_properties:
        keys.remove("type")
    domain = [name.domain] if ObjectName(asked.domain, {}).is_pattern else []
    return domain + [_word(name, key) for key in keys]


def _word(name: ObjectName, key: str) -> str:
    return unquoted(name.properties[key]) or f"{key}="


def common_words(asked: ObjectName) -> list[str]:
    """Give the words that all beans of a pattern share."""
    fixed = {key: value for key, value in asked.properties.items() if key not in asked.wild_properties}
    return words(ObjectName(asked.domain, fixed), asked) or [asked.domain]


def fixed_words(asked: ObjectName) -> list[str]:
    """Give the words that are among those of every bean of a pattern, in their order."""
    keys = [key for key in _in_order(asked) if key != "type" and key not in asked.wild_properties]
    return [_word(asked, key) for key in keys]


def filled(template: str, values: Mapping[str, str], name: ObjectName) -> str:
    """Put the values of one bean into the places ``{key}`` of a template; ProbeError if it lacks one."""

    def fill(place: re.Match[str]) -> str:
        if place[1] not in values:
            raise ProbeError(f"{name} has no key property {place[1]} for {template}")
        return values[place[1]]

    return PLACE.sub(fill, template)
