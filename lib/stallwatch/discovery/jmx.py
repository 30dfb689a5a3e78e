"""What there is to watch at a JVM: its heap, its thread pools, and Cassandra's own numbers if it is one."""

from __future__ import annotations

from collections import Counter
from typing import NamedTuple

from stallwatch.declared import Service
from stallwatch.discovery.plan import Host, Plan
from stallwatch.findings import ProbeError
from stallwatch.probes.jmx_thread_pools.finding import places
from stallwatch.startup import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from stallwatch.declared import Options
    from stallwatch.sources.jmx import Server

STORAGE = "org.apache.cassandra.db:type=StorageService"
DROPPED = "org.apache.cassandra.metrics:type=DroppedMessage,scope=*,name=Dropped"
NRPE_PROCESS = "stallwatch_cassandra_process"
COMPACTIONS = "org.apache.cassandra.metrics:type=Compaction,name=PendingTasks"
COLLECTORS = "java.lang:type=GarbageCollector,name=*"
MEMORY = "java.lang:type=Memory"

_CRITICAL = (("unreachable", "critical"),)
HEAP = (
    "-O", MEMORY, "-A", "HeapMemoryUsage", "-K", "used", "--of", "max", "--unit", "B", "-w", "95%",
    "--label", "heap",
)  # fmt: skip
RING = (
    "-O", STORAGE, "-A", "OperationMode", "--match", "^NORMAL$",
    "-A", "UnreachableNodes", "-w", "0", "--label", "unreachable_nodes",
)  # fmt: skip
RATE = ("--rate", "--aggregate", "sum")
COLLECTING = (
    "-O", COLLECTORS, "-A", "CollectionTime", "--unit", "ms", *RATE, "-w", "100", "-c", "300", "--label",
    "collecting",
)  # fmt: skip
THROWN_AWAY = ("-O", DROPPED, "-A", "Count", *RATE, "-w", "0", "-c", "100", "--label", "dropped")
WAITING = ("-O", COMPACTIONS, "-A", "Value", "--label", "pending", "-w", "100")

CASSANDRAS_HEAP = Service("JVM heap", "jmx", "How full is the heap?", words=HEAP)
LEADING_HEAP = Service(
    "JVM heap", "jmx", "How full is the heap? CRITICAL if the JVM does not answer.", _CRITICAL, HEAP,
    leads=True,
)  # fmt: skip


class Place(NamedTuple):
    """Where the JVM is for the engine, and how its services get there."""

    name: str
    address: str
    port: int  # of its registry, at which its process listens
    reach: Options


def look(server: Server, place: Place, trace: Callable[[str], None], *, local: bool) -> Plan:
    """Find out what it is."""
    remarks: list[str] = []
    cassandra = bool(server.names(STORAGE))
    kind = "Cassandra" if cassandra else "JVM"
    services = [*_of_cassandra(server)] if cassandra else []
    services.append(CASSANDRAS_HEAP if cassandra else LEADING_HEAP)
    if server.names(COLLECTORS):
        about = "Milliseconds of each second that collectors take"
        services.append(Service("Garbage collection", "jmx", about, words=COLLECTING))
    try:
        pools = {(place.family.name, place.name) for place in places(server, trace)}
    except ProbeError as error:
        pools = set()
        remarks.append(f"Pools are not known: {error.what}")
    if pools:
        families = sorted(Counter(family for family, _ in pools).items())
        told = ", ".join(f"{number} of {family}" for family, number in families)
        about = f"Who is blocked? There are pools: {told}. Blocked tasks are told once."
        services.append(Service(f"{kind} thread pools", "jmx_thread_pools", about, attempts=1))
    inside = Service(
        f"{kind} process", "mysqld_process", "What does the JVM's process use, and which of its threads?",
        (("program", "java"), ("listens", str(place.port))),
        nrpe=NRPE_PROCESS if cassandra else "",
    )  # fmt: skip
    about = f"{'Cassandra' if cassandra else 'a JVM'} at {server.where}"
    host = Host(place.name, place.address, about, tuple(services), (inside,), place.reach, local=local)
    return Plan((host,), tuple(remarks))


def _of_cassandra(server: Server) -> Iterator[Service]:
    about = "Is it in the ring, and does it see the others? CRITICAL if it does not answer."
    yield Service("Cassandra", "jmx", about, _CRITICAL, RING, leads=True)
    if server.names(DROPPED):
        about = "Messages that waited too long and were thrown away, per second"
        yield Service("Dropped messages", "jmx", about, words=THROWN_AWAY)
    if server.names(COMPACTIONS):
        about = "Compactions that wait: reads have to look into more and more files"
        yield Service("Compactions", "jmx", about, words=WAITING)
