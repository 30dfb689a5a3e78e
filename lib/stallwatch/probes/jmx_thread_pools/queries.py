"""Which MBeans are asked for: where a JVM keeps the numbers of its pools."""

from __future__ import annotations

import re
from functools import cache

from stallwatch.labels import own
from stallwatch.line import label
from stallwatch.probes.jmx_thread_pools.families import FAMILIES
from stallwatch.probes.jmx_thread_pools.families.form import between
from stallwatch.probes.jmx_thread_pools.model import NUMBERS
from stallwatch.sources.jmx.object_name import understood, unquoted
from stallwatch.startup import TYPE_CHECKING, NamedTuple
from stallwatch.words import plural

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from stallwatch.probes.jmx_thread_pools.families.form import Bean, Family
    from stallwatch.sources.jmx import Server
    from stallwatch.sources.jmx.object_name import ObjectName

# Domains that are not searched for pools that may be in any: many beans, and none of those pools.
_KNOWN = (
    "JMImplementation", "ch.qos.logback.classic", "com.alibaba.druid", "com.hazelcast", "com.mchange.v2.c3p0",
    "com.sun.management", "com.zaxxer.hikari", "java.lang", "java.nio", "java.util.logging", "jboss.threads",
    "jdk.management", "kafka", "org.apache.activemq", "org.apache.camel", "org.apache.cassandra",
    "org.infinispan", "org.vibur.dbcp", "org.xnio",
)  # fmt: skip
_HASHED, _HASH = r"\((0x[0-9a-f]+)\)", "hash"  # what Camel calls a pool's owner by
_POOL, _DOMAIN = "{pool}", ":"  # no keys of properties
_NO_PLACE = ("class", "engine", "context")  # properties that do not distinguish pools, or are in their names


class Place(NamedTuple):
    """Where a number of a pool is."""

    family: Family
    pool: str  # what it is called
    where: dict[str, str]  # what else differs from other pools: its domain, and further key properties
    number: str  # one of NUMBERS
    bean: str
    attributes: list[str]  # whichever of them the bean has
    besides: str = ""  # the words that part it from others that are called the same

    @property
    def name(self) -> str:
        """The pool's name, which no other one of its family has."""
        return f"{self.pool} {self.besides}".rstrip()

    @property
    def key(self) -> tuple[str, str]:
        """That of the pool, as ``Pool.key``."""
        return self.family.name, self.name

    @property
    def label(self) -> str:
        """Its label: pools of other families and places may have the name that a user chose, too."""
        if self.family.fixed:
            return label(self.pool)
        where = [f"{key}={value}" for key, value in sorted(self.where.items()) if key != _HASH]
        return own(self.pool, "/".join([self.family.name, self.pool, *where]))

    def fits(self, patterns: Sequence[re.Pattern[str]]) -> bool:
        """Whether the pool's whole name fits one; pools that share a name may be meant by that alone."""
        return any(pattern.fullmatch(name) for pattern in patterns for name in (self.name, self.pool))


def places(
    server: Server, trace: Callable[[str], None], families: Sequence[Family] = FAMILIES
) -> list[Place]:
    """Find where the numbers of all pools are; asks only for what may be there, each thing once."""
    server.names_ahead(_wanted(families))
    domains = server.domains()
    trace(f"the domains of {server.where} are {', '.join(domains)}")
    names: dict[str, list[ObjectName]] = {}
    found: dict[str, list[Place]] = {}
    for family in families:
        found.setdefault(family.name, [])
        for query in family.queries:
            if found.get(family.unless) or not _fits(query, domains):
                continue
            if query not in names:
                names[query] = list(understood(server.names(query)))
                trace(f"{query} matches {plural(len(names[query]), 'MBean')}")
            taken = {place.pool for place in found.get(family.again, ())}
            places = (place for name in names[query] for place in _in_bean(family, name))
            found[family.name] += [place for place in places if place.pool not in taken]
    return [place for several in found.values() for place in _apart(several)]


def _wanted(families: Sequence[Family]) -> Iterator[tuple[str, list[str]]]:
    """Yield all patterns, and which attributes their beans are asked for."""
    wanted: dict[str, list[str]] = {}
    for family in families:
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
    """Yield the numbers that a bean has according to the first declaration that it fits."""
    properties = {key: unquoted(value) for key, value in name.properties.items()}
    for bean in family.beans:
        if (where := _filled(bean, properties)) is not None:
            pool = bean.pool.replace(_POOL, where.pop(_POOL, ""))
            pool, *hashed = re.split(_HASHED, pool)
            if hashed:  # which is another one at every start
                where[_HASH] = hashed[0]
            called = " ".join(filter(None, (pool, properties.get("context"))))
            # tomcat-jdbc has a domain of its own for what Tomcat shows in that of its engine, too.
            where[_DOMAIN] = properties.get("engine", name.domain)
            for number in NUMBERS:
                if attributes := getattr(bean, number).split():
                    yield Place(family, called, where, number, str(name), attributes)
            return


def _filled(bean: Bean, properties: dict[str, str]) -> dict[str, str] | None:
    """Return the name of the pool and all that the form leaves open; None: it is no such bean."""
    forms, more = _forms(bean.properties)
    if not properties.keys() >= forms.keys() or bean.without in properties:
        return None
    if not more and len(properties) > len(forms):
        return None
    found = {of: properties[of] for of in properties.keys() - forms.keys() if of not in _NO_PLACE}
    for key, form in forms.items():
        wild = _POOL if _POOL in form else "*"
        if (open_part := between(form, properties[key], wild)) is None:
            return None
        if wild in form:
            found[_POOL if wild == _POOL else key] = open_part
    return found


@cache
def _forms(properties: str) -> tuple[dict[str, str], bool]:
    """Return the form of each property that a bean is to have, and whether it may have more."""
    forms = dict(form.partition("=")[::2] for form in properties.split(","))
    more = forms.pop("...", None) is not None
    return forms, more
