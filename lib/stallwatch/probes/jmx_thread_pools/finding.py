"""Finding the pools of a JVM, and reading their numbers in one go."""

from __future__ import annotations

import math
from functools import cache

from stallwatch.findings import ProbeError
from stallwatch.probes.jmx_attributes.naming import understood
from stallwatch.probes.jmx_thread_pools.families import FAMILIES
from stallwatch.probes.jmx_thread_pools.pool import NUMBERS, Pool
from stallwatch.sources.jmx.errors import NoSuchAttributeError, NoSuchBeanError
from stallwatch.sources.jmx.object_name import unquoted
from stallwatch.startup import TYPE_CHECKING, NamedTuple
from stallwatch.units import is_number

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

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
_POOL, _DOMAIN = "{pool}", ":"  # no keys of properties
_NO_PLACE = ("class", "engine", "context")  # properties that tell no pool from another, or its name has them


class Place(NamedTuple):
    """Where a number of a pool is."""

    family: Family
    pool: str  # what it is called
    where: dict[str, str]  # what else tells it from other pools: its domain, and further key properties
    number: str  # one of NUMBERS
    bean: str
    attributes: list[str]  # whichever of them the bean has
    besides: str = ""  # the words that part it from others that are called the same

    @property
    def name(self) -> str:
        """The pool's name, which no other one of its family has."""
        return f"{self.pool} {self.besides}".rstrip()


class Found(NamedTuple):
    """What a look at a JVM found."""

    pools: list[Pool]
    unread: list[ProbeError]  # why numbers cannot be had


def places(server: Server, trace: Callable[[str], None]) -> list[Place]:
    """Find where the numbers of all pools are; asks only for what may be there, each thing once."""
    server.names_ahead(_wanted())
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
    return [place for several in found.values() for place in _apart(several)]


def _wanted() -> Iterator[tuple[str, list[str]]]:
    """Give all patterns, and which attributes their beans are asked for."""
    wanted: dict[str, list[str]] = {}
    for family in FAMILIES:
        attributes = [name for bean in family.beans for of in NUMBERS for name in getattr(bean, of).split()]
        for query in family.queries:
            wanted[query] = list(dict.fromkeys([*wanted.get(query, []), *attributes]))
    yield from wanted.items()


def _apart(several: Sequence[Place]) -> Iterator[Place]:
    """Name pools of one family that are called the same apart, by all in which they differ."""
    wheres: dict[str, list[dict[str, str]]] = {}
    for place in several:
        wheres.setdefault(place.pool, []).append(place.where)
    for place in several:
        called = wheres[place.pool]
        keys = sorted({key for where in called for key in where}, key=lambda key: (key == _DOMAIN, key))
        differ = [key for key in keys if len({where.get(key) for where in called}) > 1]
        yield place._replace(besides=" ".join(filter(None, (place.where.get(key) for key in differ))))


def _fits(query: str, domains: Iterable[str]) -> bool:
    wanted = query.partition(":")[0]
    return wanted in domains if wanted != "*" else not all(domain.startswith(_KNOWN) for domain in domains)


def _in_bean(family: Family, name: ObjectName) -> Iterator[Place]:
    """Give the numbers that a bean has according to the first declaration that it fits."""
    properties = {key: unquoted(value) for key, value in name.properties.items()}
    for bean in family.beans:
        if where := _filled(bean, properties):
            pool = bean.pool.replace(_POOL, where.pop(_POOL))
            called = " ".join(filter(None, (pool, properties.get("context"))))
            # tomcat-jdbc has a domain of its own for what Tomcat shows in that of its engine, too.
            where[_DOMAIN] = properties.get("engine", name.domain)
            for number in NUMBERS:
                if attributes := getattr(bean, number).split():
                    yield Place(family, called, where, number, str(name), attributes)
            return


def _filled(bean: Bean, properties: dict[str, str]) -> dict[str, str] | None:
    """Give the name of the pool and all that the form leaves open, or None if this is not such a bean."""
    forms, more = _forms(bean.properties)
    if not properties.keys() >= forms.keys() or bean.without in properties:
        return None
    if not more and len(properties) > len(forms):
        return None
    found = {of: properties[of] for of in properties.keys() - forms.keys() if of not in _NO_PLACE}
    for key, form in forms.items():
        head, sign, tail = form.partition(_POOL if _POOL in form else "*")
        rest = properties[key].removeprefix(head)
        if not (properties[key].startswith(head) and rest.endswith(tail) and (sign or not rest)):
            return None
        if sign:
            found[_POOL if sign == _POOL else key] = rest.removesuffix(tail)
    return found


@cache
def _forms(properties: str) -> tuple[dict[str, str], bool]:
    """Give the form of each property that a bean is to have, and whether it may have more."""
    forms = dict(form.partition("=")[::2] for form in properties.split(","))
    more = forms.pop("...", None) is not None
    return forms, more


def read(reader: Reader, wanted: Iterable[Place], besides: Iterable[tuple[str, str]] = ()) -> Found:
    """Read these numbers, and what is asked for besides, all at once. What is gone by now is left out."""
    numbers: dict[tuple[str, str], dict[str, float]] = {}
    families: dict[str, Family] = {}
    unread: list[ProbeError] = []
    heard: set[str] = set()  # beans with any of the attributes
    missing: list[tuple[Place, ProbeError]] = []
    left, more = list(wanted), list(besides)
    for turn in range(_ALTERNATIVES):
        reader.read_ahead([*more, *((place.bean, place.attributes[turn]) for place in left)])
        asked, left, more = left, [], []
        for place in asked:
            families[place.family.name] = place.family
            pool = numbers.setdefault((place.family.name, place.name), {})
            try:
                number = _number(reader, place, place.attributes[turn])
            except NoSuchAttributeError as error:
                if turn + 1 < len(place.attributes):
                    left.append(place)
                else:
                    missing.append((place, error))
            except NoSuchBeanError:
                continue
            except ProbeError as error:
                unread.append(error)
            else:
                heard.add(place.bean)
                pool |= {} if number is None else {place.number: number}
    for place, why in missing:
        known = numbers[place.family.name, place.name]
        if known and place.number not in known and place.bean not in heard:
            unread.append(why)
    told = ((families[family], name, values) for (family, name), values in numbers.items() if values)
    return Found([Pool(family, name, **values) for family, name, values in told], unread)


def _number(reader: Reader, place: Place, attribute: str) -> float | None:
    """Read a number; a negative one is how servers say that there is none. Raises ProbeError."""
    bean = place.bean
    value = reader.value(bean, attribute)
    if place.number == "idle" and isinstance(value, float) and math.isnan(value):
        return None  # of no threads: Kafka's control plane without a listener of its own (3.9 with ZooKeeper)
    if isinstance(value, bool):
        return int(value)
    if isinstance(value, int | float) and is_number(value):
        return value if value >= 0 else None
    raise ProbeError(f"{attribute} of {bean} is {_said(value)}, which is not a number")


def _said(value: Value) -> str:
    if value is None:
        return "null"
    return str(value) if isinstance(value, float | str) else type(value).__name__
