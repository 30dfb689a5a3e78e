"""Which services `discover jmx` proposes for a JVM: those that are right for its collector."""


import pytest
from recorded_jvm import RecordedJvm
from stallwatch.discovery import jmx
from stallwatch.discovery.plan import Place
from stallwatch.probes.jmx_thread_pools import messages
from stallwatch.sources.jmx import ForbiddenError

STORAGE = {"org.apache.cassandra.db:type=StorageService": {}}
CARRIERS = {"jdk.management:type=VirtualThreadScheduler": {}}
# Their beans on JDK 11 to 25.
COLLECTORS = {
    "Serial": ("Copy", "MarkSweepCompact"),
    "Parallel": ("PS MarkSweep", "PS Scavenge"),
    "G1": ("G1 Old Generation", "G1 Young Generation"),
    "G1 of JDK 20": ("G1 Concurrent GC", "G1 Old Generation", "G1 Young Generation"),
    "ZGC of JDK 11": ("ZGC",),
    "ZGC": ("ZGC Cycles", "ZGC Pauses"),
    "generational ZGC": ("ZGC Major Cycles", "ZGC Major Pauses", "ZGC Minor Cycles", "ZGC Minor Pauses"),
    "Shenandoah": ("Shenandoah Cycles", "Shenandoah Pauses"),
}
ALL = "java.lang:type=GarbageCollector,name=*"


def looked_at(*collectors, more=()):
    beans = {f"java.lang:name={name},type=GarbageCollector": {} for name in collectors}
    return jmx.look(
        RecordedJvm(beans | dict(more)),
        Place("app1", "127.0.0.1", "app1:9010"),
        9010,
        lambda _: None,
        local=False,
    )


def services(*collectors, more=()):
    plan = looked_at(*collectors, more=more)
    return {service.title: service for service in plan.hosts[0].services}


def option(service, name):
    words = service.words
    return words[words.index(name) + 1] if name in words else None


@pytest.mark.parametrize(
    ("collector", "pauses", "heap", "limit"),
    [
        ("Serial", ALL, "java.lang:type=Memory", "95%"),
        ("Parallel", ALL, "java.lang:type=Memory", "95%"),
        ("G1", ALL, "java.lang:type=Memory", "95%"),
        ("G1 of JDK 20", ALL, "java.lang:type=Memory", "95%"),
        ("ZGC of JDK 11", ALL, "java.lang:type=Memory", None),
        ("ZGC", f"{ALL}Pauses", "java.lang:type=MemoryPool,name=ZHeap", "85%"),
        ("generational ZGC", f"{ALL}Pauses", "java.lang:type=MemoryPool,name=ZGC*", "85%"),
        ("Shenandoah", f"{ALL}Pauses", "java.lang:type=MemoryPool,name=Shenandoah*", "85%"),
    ],
)
@pytest.mark.parametrize("more", [{}, STORAGE], ids=["JVM", "Cassandra"])
def test_heap_and_pauses_are_judged_as_is_right_for_the_collector(collector, pauses, heap, limit, more):
    found = services(*COLLECTORS[collector], more=more)
    assert option(found["Garbage collection"], "-O") == pauses
    assert (option(found["JVM heap"], "-O"), option(found["JVM heap"], "-w")) == (heap, limit)
    assert found["JVM heap"].leads is not bool(more)


def test_a_jvm_without_pools_of_its_own_gets_no_service_for_them():
    assert "JVM thread pools" not in services("Copy", more=CARRIERS)
    pool = {'Catalina:type=ThreadPool,name="http-nio-8080"': {"currentThreadsBusy": 0, "maxThreads": 200}}
    about = services("Copy", more={**CARRIERS, **pool})["JVM thread pools"].about
    assert "There are pools: 1 of Tomcat." in about


def test_a_tomcat_with_virtual_threads_gets_a_remark_instead_of_a_service_that_is_unknown():
    pool = {'Tomcat:type=ThreadPool,name="http-nio-8080"': {"currentThreadsBusy": -1, "maxThreads": 200}}
    plan = looked_at("Copy", more=pool)
    assert "JVM thread pools" not in {service.title for service in plan.hosts[0].services}
    (remark,) = plan.remarks
    assert remark.startswith("These pools show no numbers: http-nio-8080; a Tomcat connector with ")


def test_what_a_policy_forbids_is_named_and_no_service_that_would_be_unknown():
    no = ForbiddenError("Jolokia's policy forbids x")
    heap = {"java.lang:type=Memory": {"HeapMemoryUsage": no}}
    orders = {
        "com.zaxxer.hikari:type=Pool (orders)": {"ActiveConnections": no, "ThreadsAwaitingConnection": no},
        "com.zaxxer.hikari:type=PoolConfig (orders)": {"MaximumPoolSize": 2},
    }
    plan = looked_at("Copy", more={**heap, **orders})
    (first, *others) = plan.hosts[0].services
    assert first.title == "Garbage collection"
    assert first.leads  # CRITICAL if the JVM does not answer, which the heap would have been
    assert others == []
    assert plan.remarks == (
        "Jolokia's policy forbids what these services read: JVM heap",
        f"Jolokia's policy forbids numbers of orders: {messages.POLICY_OF_BEANS}",
    )


def test_a_kafka_gets_services_for_what_its_process_shows():
    replicas = {"kafka.server:type=ReplicaManager,name=UnderReplicatedPartitions": {}}
    offline = {"kafka.controller:type=KafkaController,name=OfflinePartitionsCount": {}}
    both = {"Under-replicated partitions", "Partitions without leader"}
    assert services("Copy").keys() & both == set()
    assert services("Copy", more=replicas).keys() & both == {"Under-replicated partitions"}
    assert services("Copy", more=offline).keys() & both == {"Partitions without leader"}
