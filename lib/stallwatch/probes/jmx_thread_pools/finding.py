"""Finding the pools of a JVM, and reading their numbers in one go."""

from __future__ import annotations

from typing import NamedTuple

from stallwatch.probes.jmx_attributes.naming import understood
from stallwatch.probes.jmx_thread_pools.families import FAMILIES
from stallwatch.probes.jmx_thread_pools.pool import NUMBERS, Pool
from stallwatch.reading import ProbeError
from stallwatch.sources.jmx.errors import NoSuchAttributeError, NoSuchBeanError
from stallwatch.sources.jmx.object_name import unquoted
from stallwatch.units import is_number

TYPE_CHECKING = False  # typing itself costs every check 2 ms
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from stallwatch.probes.jmx_attributes.reader import Reader
    from stallwatch.probes.jmx_thread_pools.families import Bean, Family
    from stallwatch.sources.jmx import Server
    from stallwatch.sources.jmx.object_name import ObjectName
    from stallwatch.sources.jmx.values import Value

# Domains that are not searched for pools that may be in any: many beans, and none of those pools.
_KNOWN = (
    "JMImplementation", "ch.qos.logback.classic", "com.sun.management", "com.zaxxer.hikari",
    "java.lang", "java.nio", "java.util.logging", "jdk.management.jfr", "kafka", "org.apache.cassandra",
    "org.eclipse.jetty",
)  # fmt: skip
_ALTERNATIVES = 2  # names that an attribute may have


class Place(NamedTuple):
    """Where a number of a pool is."""

    family: Family
    pool: str
    host: str  # a virtual host of Tomcat, or nothing
    number: str  # one of NUMBERS
    bean: str
    attributes: list[str]  # whichever of them the bean has


class Found(NamedTuple):
    """What a look at a JVM found."""

    pools: list[Pool]
    unread: list[ProbeError]  # why numbers cannot be had


def places(server: Server, trace: Callable[[str], None]) -> list[Place]:
    """Find where the numbers of all pools are; asks only for what may be there, each thing once."""
    domains = server.domains()
    trace(f"the domains of {server.where} are {', '.join(domains)}")
    names: dict[str, list[ObjectName]] = {}
    found: dict[str, list[Place]] = {}
    for family in FAMILIES:
        found[family.name] = []
        for query in family.queries:
            if found.get(family.unless) or not _fits(query, domains):
                continue
            if query not in names:
                names[query] = list(understood(server.names(query)))
                trace(f"{len(names[query])} MBeans match {query}")
            found[family.name] += [place for name in names[query] for place in _in_bean(family, name)]
    return [place for several in found.values() for place in several]


def _fits(query: str, domains: Iterable[str]) -> bool:
    wanted = query.partition(":")[0]
    return wanted in domains if wanted != "*" else not all(domain.startswith(_KNOWN) for domain in domains)


def _in_bean(family: Family, name: ObjectName) -> Iterator[Place]:
    """Give the numbers that a bean has according to the first declaration that it fits."""
    properties = {key: unquoted(value) for key, value in name.properties.items()}
    for bean in family.beans:
        if (pool := _pool(bean, properties)) is not None:
            called = " ".join(filter(None, (bean.pool.replace("{pool}", pool), properties.get("context"))))
            for number in NUMBERS:
                if attributes := getattr(bean, number).split():
                    yield Place(family, called, properties.get("host", ""), number, str(name), attributes)
            return


def _pool(bean: Bean, properties: dict[str, str]) -> str | None:
    """Give the name of the pool, or None if this is not such a bean."""
    forms = dict(form.partition("=")[::2] for form in bean.properties.split(","))
    more = forms.pop("...", None) is not None
    if not properties.keys() >= forms.keys() or bean.without in properties:
        return None
    if not more and len(properties) > len(forms):
        return None
    pool = ""
    for key, form in forms.items():
        head, sign, tail = form.partition("{pool}" if "{pool}" in form else "*")
        rest = properties[key].removeprefix(head)
        if not (properties[key].startswith(head) and rest.endswith(tail) and (sign or not rest)):
            return None
        if sign == "{pool}":
            pool = rest.removesuffix(tail)
    return pool


def read(reader: Reader, wanted: Iterable[Place], besides: Iterable[tuple[str, str]] = ()) -> Found:
    """Read these numbers, and what is asked for besides, all at once. What is gone by now is left out."""
    numbers: dict[tuple[str, str, str], dict[str, float]] = {}
    families: dict[str, Family] = {}
    unread: list[ProbeError] = []
    left, more = list(wanted), list(besides)
    for turn in range(_ALTERNATIVES):
        reader.read_ahead([*more, *((place.bean, place.attributes[turn]) for place in left)])
        asked, left, more = left, [], []
        for place in asked:
            families[place.family.name] = place.family
            pool = numbers.setdefault((place.family.name, place.pool, place.host), {})
            try:
                number = _number(reader, place.bean, place.attributes[turn])
            except NoSuchAttributeError:
                left += [place] * (turn + 1 < len(place.attributes))
            except NoSuchBeanError:
                continue
            except ProbeError as error:
                unread.append(error)
            else:
                pool |= {} if number is None else {place.number: number}
    known = ((families[family], name, values) for (family, name, _), values in numbers.items() if values)
    return Found([Pool(family, name, **values) for family, name, values in known], unread)


def _number(reader: Reader, bean: str, attribute: str) -> float | None:
    """Read a number; a negative one is how servers say that there is none. Raises ProbeError."""
    value = reader.value(bean, attribute)
    if isinstance(value, bool):
        return int(value)
    if isinstance(value, int | float) and is_number(value):
        return value if value >= 0 else None
    raise ProbeError(f"{attribute} of {bean} is {_said(value)}, which is not a number")


def _said(value: Value) -> str:
    if value is None:
        return "null"
    return str(value) if isinstance(value, float | str) else type(value).__name__
