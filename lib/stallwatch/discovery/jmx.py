"""What there is to watch at a JVM: its heap, its thread pools, and Cassandra's own numbers if it is one."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise

from stallwatch.discovery.plan import Host, Plan
from stallwatch.findings import ProbeError
from stallwatch.probes.jmx import declared
from stallwatch.probes.jmx.reader import Reader
from stallwatch.probes.jmx_thread_pools import collect, messages
from stallwatch.probes.jmx_thread_pools.declared import THREAD_POOLS
from stallwatch.probes.jmx_thread_pools.families import kafka
from stallwatch.probes.jmx_thread_pools.queries import places
from stallwatch.probes.mysqld_process.declared import JVM_PROCESS
from stallwatch.sources.jmx.errors import ForbiddenError, JmxError, UnreachableError
from stallwatch.sources.jmx.object_name import ObjectName, understood
from stallwatch.startup import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from stallwatch.declared import Service
    from stallwatch.discovery.plan import Place
    from stallwatch.sources.jmx import Server

NRPE_PROCESS = "stallwatch_cassandra_process"


def look(server: Server, place: Place, port: int, trace: Callable[[str], None], *, local: bool) -> Plan:
    """Find out what it is; ``port`` is that of its registry, at which its process listens."""
    remarks: list[str] = []
    cassandra = bool(server.names(declared.STORAGE))
    kind = "Cassandra" if cassandra else "JVM"
    services = [*_of_cassandra(server)] if cassandra else []
    services += [*_of_memory(server), *_of_kafka(server)]
    allowed = _allowed(services, Reader(server, trace))
    if without := [service.title for service in services if service not in allowed]:
        remarks.append(f"Jolokia's policy forbids what these services read: {', '.join(without)}")
    services = allowed if cassandra or not allowed else [declared.leading(allowed[0]), *allowed[1:]]
    try:
        own = [place for place in places(server, trace) if not place.family.everywhere]
        found = collect.read(Reader(server, trace), own, trace)
    except ProbeError as error:
        own, found = [], collect.Found([], [])
        remarks.append(f"Pools are not known: {error.what}")
    pools = {pool.key for pool in found.pools}
    if found.forbidden:
        remarks.append(f"{messages.forbidden(found.forbidden)}: {messages.POLICY_OF_BEANS}")
    own = [one for one in own if one.name not in found.forbidden]
    silent = [one for one in own if one.key not in {*pools, kafka.MAY_BE_EMPTY}]
    if names := dict.fromkeys(one.name for one in silent):
        whys = dict.fromkeys(one.family.silent for one in silent if one.family.silent)
        remarks.append("; ".join([f"These pools show no numbers: {', '.join(names)}", *whys]))
    if pools:
        families = sorted(Counter(family for family, _ in pools).items())
        told = ", ".join(f"{number} of {family}" for family, number in families)
        title, about = THREAD_POOLS.title.format(kind=kind), THREAD_POOLS.about.format(pools=told)
        services.append(THREAD_POOLS._replace(title=title, about=about))
    inside = JVM_PROCESS._replace(
        title=f"{kind} process",
        options=(*JVM_PROCESS.options, ("listens", str(port))),
        nrpe=NRPE_PROCESS if cassandra else "",
    )
    about = f"{'Cassandra' if cassandra else 'a JVM'} at {server.where}"
    host = Host(place.name, place.address, about, tuple(services), (inside,), place.reach, local=local)
    return Plan((host,), tuple(remarks))


def _allowed(services: list[Service], reader: Reader) -> list[Service]:
    """Give those services whose MBeans may be read, or are not there."""
    wanted = {
        service.title: [
            (str(name), attribute)
            for asked, attribute in _asked(service)
            for name in reader.names(ObjectName.parse(asked))
        ]
        for service in services
    }
    reader.read_ahead(pair for several in wanted.values() for pair in several)
    return [
        service
        for service in services
        if not any(_is_forbidden(*pair, reader) for pair in wanted[service.title])
    ]


def _asked(service: Service) -> Iterator[tuple[str, str]]:
    """Give the object names and attributes in the words of a service."""
    name = ""
    for option, value in pairwise(service.words):
        if option == "-O":
            name = value
        elif option == "-A":
            yield name, value


def _is_forbidden(bean: str, attribute: str, reader: Reader) -> bool:
    try:
        reader.value(bean, attribute)
    except ForbiddenError:
        return True
    except UnreachableError:
        raise
    except JmxError:
        pass
    return False


def _of_memory(server: Server) -> Iterator[Service]:
    """Give the services for heap and collections, as they are right for this collector."""
    names = [one.properties.get("name", "") for one in understood(server.names(declared.COLLECTORS))]
    live = [declared.LIVE_POOLS[name] for name in names if name in declared.LIVE_POOLS]
    heap = declared.UNLIMITED_HEAP if names == ["ZGC"] else declared.HEAP
    heap = declared.live_heap(live[0]) if live else heap
    yield heap
    if names:
        pauses = any(name.endswith(declared.PAUSES) for name in names)
        yield declared.PAUSING if pauses else declared.COLLECTING


def _of_kafka(server: Server) -> Iterator[Service]:
    """Give what its broker and its controller show, which need not be one process."""
    if server.names(declared.REPLICAS):
        yield declared.UNDER_REPLICATED
    if server.names(f"{declared.CONTROLLER}OfflinePartitionsCount"):
        yield declared.WITHOUT_LEADER


def _of_cassandra(server: Server) -> Iterator[Service]:
    yield declared.RING
    if server.names(declared.DROPPED):
        yield declared.THROWN_AWAY
    if server.names(declared.COMPACTIONS):
        yield declared.WAITING
