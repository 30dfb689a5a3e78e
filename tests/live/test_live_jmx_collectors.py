"""What `discover jmx` proposes for each collector: no alarm at rest, a warning where the heap is full."""

import contextlib
import subprocess
import sys
import time
from pathlib import Path

import pool_servers
import pytest
from stallwatch.deadline import Deadline
from stallwatch.discovery import jmx as discovery
from stallwatch.discovery.plan import Place
from stallwatch.sources import jmx

PLUGIN = Path(__file__).parents[2] / "plugins" / "check_jmx"
EXPERIMENTAL = "-XX:+UnlockExperimentalVMOptions"
COLLECTORS = {
    "11-zgc": (11, (EXPERIMENTAL, "-XX:+UseZGC")),
    "17-serial": (17, ("-XX:+UseSerialGC",)),
    "17-parallel": (17, ("-XX:+UseParallelGC",)),
    "17-zgc": (17, ("-XX:+UseZGC",)),
    "21-zgc-generational": (21, ("-XX:+UseZGC", "-XX:+ZGenerational")),
    "25-g1": (25, ("-XX:+UseG1GC",)),
    "25-zgc": (25, ("-XX:+UseZGC",)),
    "25-shenandoah-generational": (
        25,
        (EXPERIMENTAL, "-XX:+UseShenandoahGC", "-XX:ShenandoahGCMode=generational"),
    ),
}
FILLING = ("17-zgc", "21-zgc-generational", "25-zgc")  # their heap between collections, more than others
REPRESENTATIVE = ("17-parallel", "21-zgc-generational", "25-g1")


def names(collectors):
    """Of collectors: the others than representative ones are for all cells."""
    for name in collectors:
        marks = [] if name in REPRESENTATIVE else [pytest.mark.only_in_all_cells]
        yield pytest.param(name, id=name, marks=marks)


@contextlib.contextmanager
def collecting(tmp_path, name, live):
    """A JVM of 256 MiB with that collector; so many MiB live, and it makes 50 MiB of garbage a second."""
    version, options = COLLECTORS[name]
    with pool_servers.Garbage(tmp_path / "jvm", version, options, live, 50) as jvm:
        time.sleep(4)
        yield jvm


def judged(jvm, tmp_path, title):
    """Exit status and line of the service of this title."""
    with jmx.connect(jmx.Target(jvm.host, jvm.port), Deadline(20)) as server:
        plan = discovery.look(server, Place("app1", jvm.host, "app1"), jvm.port, lambda _: None, local=False)
    (service,) = (one for one in plan.hosts[0].services if one.title == title)
    command = [sys.executable, PLUGIN, "-P", str(jvm.port), "--state-dir", tmp_path / "state", *service.words]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)
    return done.returncode, done.stdout


@pytest.mark.slow("JVMs of many collectors collect for some seconds each")
@pytest.mark.parametrize("name", [*names(COLLECTORS)])
def test_a_heap_that_is_not_full_is_ok_with_every_collector(tmp_path, name):
    with collecting(tmp_path, name, 100) as jvm:
        judged(jvm, tmp_path, "Garbage collection")
        heap = judged(jvm, tmp_path, "JVM heap")
        assert heap[0] == 0, heap
        time.sleep(6)
        pauses = judged(jvm, tmp_path, "Garbage collection")
        assert pauses[0] == 0, pauses


@pytest.mark.slow("JVMs of several collectors collect for some seconds each")
@pytest.mark.parametrize("name", [*names(FILLING)])
def test_a_heap_of_which_most_is_live_is_a_warning(tmp_path, name):
    with collecting(tmp_path, name, 205) as jvm:
        status, line = judged(jvm, tmp_path, "JVM heap")
        assert (status, line.startswith("JMX WARNING - heap: sum ")) == (1, True), line


@pytest.mark.slow("a Kafka starts")
def test_a_kafka_at_rest_is_ok_by_what_discover_proposes_for_it(tmp_path):
    with pool_servers.Kafka(tmp_path / "kafka") as kafka:
        status, line = judged(kafka, tmp_path, "Under-replicated partitions")
        assert (status, "under_replicated=0;" in line) == (0, True), line
        status, line = judged(kafka, tmp_path, "Partitions without leader")
        assert (status, "offline=0;" in line, "active_controllers=1" in line) == (0, True, True), line


def until(look, wanted, seconds=120):
    """What a look gives once it is what is wanted; ``look`` gives a status and a text."""
    end = time.monotonic() + seconds
    while not wanted(*(seen := look())):
        assert time.monotonic() < end, seen
        time.sleep(1)
    return seen


@pytest.mark.only_in_all_cells
@pytest.mark.slow("two Kafkas start, and one of them is ended")
def test_a_kafka_whose_other_broker_is_gone(tmp_path):
    with contextlib.ExitStack() as servers:
        kafka = servers.enter_context(pool_servers.Kafka(tmp_path / "kafka"))
        other = servers.enter_context(pool_servers.Kafka(tmp_path / "other", kafka))
        topics = ("shared:1+2", "lost:2")
        servers.enter_context(pool_servers.KafkaLoad(tmp_path / "client", kafka.broker, 0, *topics))

        def look(title):
            return lambda: judged(kafka, tmp_path, title)

        replicas, leaders = look("Under-replicated partitions"), look("Partitions without leader")
        until(replicas, lambda status, _: status == 0)
        assert leaders()[0] == 0
        other.stop()
        _, line = until(replicas, lambda status, _: status == 1)
        assert line.startswith("JMX WARNING - under_replicated 1 "), line
        _, line = until(leaders, lambda status, _: status == 2)
        assert line.startswith("JMX CRITICAL - offline 1 "), line
