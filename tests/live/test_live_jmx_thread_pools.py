# ruff: noqa: E501 - what is said is written as it is said
"""check_jmx_thread_pools on real servers: what happens in their pools is what the check says."""

import contextlib
import os
import re
import shlex
import subprocess
import sys
import threading
import time
from pathlib import Path

import java_software
import pool_servers
import pytest
import software
from cassandra import OPENED, Cassandra
from java_server import PASSWORDS
from jvm import Jvm

SHEET = Path(__file__).parents[2] / "contrib" / "docs" / "check_jmx_thread_pools.md"
PLUGIN = Path(__file__).parents[2] / "plugins" / "check_jmx_thread_pools"
TABLES = 20  # of which each is a flush of its own


class NarrowCassandra(Cassandra):
    """A Cassandra that works at two requests at a time."""

    def __init__(self, folder):
        super().__init__(folder, native_transport_max_threads=2)


@pytest.fixture
def check(tmp_path):
    """Run the plugin on a server: exit status and lines. It remembers what it saw in this test."""

    def check(server, *options):
        command = [
            sys.executable,
            PLUGIN,
            "-P",
            str(server.port),
            "--state-dir",
            tmp_path / "state",
            *options,
        ]
        done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)
        assert done.stderr == ""
        return done.returncode, done.stdout.splitlines()

    return check


@pytest.fixture
def started(tmp_path):
    """Start a server of pool_servers for one test: each test has another kind, size or load."""
    with contextlib.ExitStack() as servers:

        def start(kind, *arguments):
            try:
                return servers.enter_context(kind(tmp_path / kind.__name__, *arguments))
            except software.Missing as missing:
                (pytest.fail if os.environ.get("CI") else pytest.skip)(str(missing))

        yield start


@contextlib.contextmanager
def meanwhile(work):
    """Let a thread do this again and again."""
    stop = threading.Event()

    def again():
        while not stop.is_set():
            work()

    worker = threading.Thread(target=again)
    worker.start()
    try:
        yield
    finally:
        stop.set()
        worker.join()


def until(check, server, wanted, seconds=90):
    """What is said when the first line matches, of runs one after the other."""
    end = time.monotonic() + seconds
    while not re.match(wanted, (said := check(server))[1][0]):
        assert time.monotonic() < end, said
        time.sleep(0.3)
    return said


# Cassandra


def test_a_cassandra_without_load_is_ok(check, cassandra):
    status, lines = check(cassandra)
    assert status == 0
    assert re.match(
        r"JMX_THREAD_POOLS OK - \d\d pools, none blocked, (all idle|busiest .+) \| pools=\d\d threads=\d+ active=",
        lines[0],
    )
    assert lines[1:] == ["[OK] blocked tasks are counted from now on: this is the first look"]
    time.sleep(1.1)  # two runs within a second are one look
    assert " blocked=0 blocked_new=0 busy=" in check(cassandra)[1][0]


def rows(lines):
    """The rows of the table below its head, by the pool's name; without the column Max."""
    head = next(row for row, line in enumerate(lines) if line.startswith("Pool Name"))
    maximum = lines[head].split().index("Max") - 1 if "Max" in lines[head] else None
    cells = {line.split()[0]: line.split()[1:] for line in lines[head + 1 :]}
    return {name: [of for at, of in enumerate(row, 1) if at != maximum] for name, row in cells.items()}


def test_the_table_is_that_of_nodetool(check, cassandra):
    nodetool = [
        java_software.tool("java"), *OPENED, f"-Dlogback.configurationFile={cassandra.path('logback.xml')}",
        f"-Dcassandra.logdir={cassandra.folder}", f"-Duser.home={cassandra.folder}",
        "-cp", f"{cassandra.jars}/*", "org.apache.cassandra.tools.NodeTool", "-p", str(cassandra.port), "tpstats",
    ]  # fmt: skip
    before, after = {}, rows(check(cassandra, "-v")[1])
    while before.keys() != after.keys():  # it makes a pool when it needs it first
        before = after
        done = subprocess.run(nodetool, capture_output=True, text=True, check=True, timeout=60)
        after = rows(check(cassandra, "-v")[1])
    said = rows(done.stdout[done.stdout.index("Pool Name") :].partition("\n\n")[0].splitlines())
    assert said.keys() == before.keys()
    still = [name for name, numbers in before.items() if numbers == after[name]]
    assert len(still) > 10
    assert {name: said[name] for name in still} == {name: before[name] for name in still}


@pytest.mark.slow("a Tomcat starts and is filled")
def test_requests_that_queue_up_are_told(check, started):
    narrow = started(NarrowCassandra)
    with meanwhile(lambda: narrow.write(6000)):
        until(
            check,
            narrow,
            r"JMX_THREAD_POOLS WARNING - Native-Transport-Requests: 2 of 2 threads busy, \d+ pending, many or slow requests - ",
        )


@pytest.mark.slow("looks are seconds apart")
def test_a_flush_writer_that_is_blocked_is_told(check, started):
    old = started(pool_servers.OldCassandra)
    old.execute(
        "CREATE KEYSPACE tests WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}",
        *(f"CREATE TABLE tests.t{number} (key int PRIMARY KEY, value text)" for number in range(TABLES)),
    )
    inserts = [
        f"INSERT INTO tests.t{number} (key, value) VALUES (1, '{'x' * 20000}')" for number in range(TABLES)
    ]
    assert check(old)[0] == 0
    with meanwhile(lambda: old.execute(*inserts)):
        blocked = r"JMX_THREAD_POOLS (WARNING|CRITICAL) - FlushWriter: (1 task|\d+ tasks) blocked"
        (line, *_) = until(check, old, blocked)[1]
    assert ", probably the disks are too slow for the flushes - check iostat -x 1 " in f"{line} "


# Web servers and pools of connections


@pytest.mark.slow("a Tomcat starts and is filled")
def test_a_tomcat_whose_threads_are_all_busy(check, started):
    tomcat = started(pool_servers.Tomcat, 1)
    status, lines = check(tomcat)
    assert status == 0
    assert lines[0].startswith("JMX_THREAD_POOLS OK - 7 pools, none blocked, busiest jdbc/")
    for port in tomcat.ports:
        tomcat.request(port, 5, "/orders/")
    wait = r"JMX_THREAD_POOLS WARNING - shared: 3 of 3 threads busy, 2 pending, new requests wait .*1 more problem"
    until(check, tomcat, wait)


def test_a_tomcat_whose_connections_are_all_in_use(check, started):
    tomcat = started(pool_servers.Tomcat, 4)
    status, lines = until(
        check, tomcat, r".*: 2 threads wait for a connection, 2 of 2.* \(\+3 more problems\)"
    )
    assert status == 2
    assert sum("/" in line and ": 2 threads wait for a connection, 2 of 2" in line for line in lines) == 4


@pytest.mark.slow("a Jetty starts and is filled")
@pytest.mark.parametrize("measured", [(), ("measured",)])
def test_a_jetty_whose_threads_are_all_busy(check, started, measured):
    jetty = started(pool_servers.Jetty, *measured)
    assert check(jetty)[0] == 0
    jetty.request(jetty.ports[0], 9)
    until(
        check,
        jetty,
        r"JMX_THREAD_POOLS WARNING - queuedthreadpool-0: [34] of 4 threads busy, \d+ pending, new",
    )


def test_pools_of_connections_that_are_waited_for(check, started):
    pools = started(pool_servers.ConnectionPools, 4)
    wait = r"JMX_THREAD_POOLS CRITICAL - orders: 2 threads wait for a connection, 2 of 2 in use, .*\(\+1 more problem\)"
    status, lines = until(check, pools, wait)
    assert status == 2
    stock = "[CRITICAL] stock: 2 threads wait for a connection, 2 of 2 in use, "
    assert any(line.startswith(stock) for line in lines)


def test_pools_of_connections_that_nobody_waits_for(check, started):
    pools = started(pool_servers.ConnectionPools, 2)
    busy = "JMX_THREAD_POOLS OK - 2 pools, none blocked, busiest orders: 2 of 2 connections "
    assert until(check, pools, busy)[0] == 0


@pytest.mark.parametrize(
    ("threads", "status", "told"),
    [
        (0, 0, "OK - 3 pools, none blocked, all idle"),
        (2, 1, "WARNING - bills: 2 of 2 connections in use, probably threads wait for a connection - "),
        (4, 2, "CRITICAL - orders: 2 threads wait for a connection, 2 of 2 in use, "),
    ],
)
def test_c3p0_druid_and_vibur_at_rest_in_use_and_waited_for(check, started, threads, status, told):
    pools = started(pool_servers.LentPools, threads)
    found, lines = until(check, pools, f"JMX_THREAD_POOLS {told}")
    assert found == status
    waited = [line for line in lines if ": 2 threads wait for a connection, 2 of 2 in use, " in line]
    assert len(waited) == (2 if threads > 2 else 0)  # of c3p0 and Druid


# Frameworks


@pytest.mark.slow("a JVM with four frameworks starts, looks are 16 s apart")
def test_queues_of_frameworks_that_stand_still_or_move(check, started):
    blocked = started(pool_servers.TaskPools, 5, 600_000, 500)
    assert check(blocked)[0] == 0
    blocked.request(blocked.ports[0], 5)
    until(
        check,
        blocked,
        r"JMX_THREAD_POOLS WARNING - XNIO-1: 2 of 2 threads busy, 3 pending, new requests wait",
    )
    time.sleep(16)
    _, lines = until(check, blocked, r"JMX_THREAD_POOLS WARNING - .* \(\+3 more problems\)")
    for pool in ("orders", "stock camel-1", "bills"):
        assert any(re.search(rf"{pool}: \d+ tasks? waits?, none completed in ", line) for line in lines), (
            "\n".join(lines)
        )


@pytest.mark.slow("a JVM with four frameworks starts, looks are 16 s apart")
def test_queues_of_tasks_that_take_long_from_the_start_are_ok(check, started):
    batch = started(pool_servers.TaskPools, 5, 25_000, 0)
    assert check(batch)[0] == 0
    for _ in range(2):
        time.sleep(16)
        status, lines = check(batch)
        assert status == 0, lines
    assert " pending=9 " in lines[0]


@pytest.mark.slow("a JVM with four frameworks starts, looks are 16 s apart")
def test_queues_of_frameworks_that_move_are_ok(check, started):
    busy = started(pool_servers.TaskPools, 5, 200, 0)
    assert check(busy)[0] == 0
    time.sleep(16)
    status, lines = check(busy)
    assert status == 0
    assert ": 2 of 2 threads busy, 3 pending | " in lines[0]


@pytest.mark.parametrize(
    ("tasks", "status", "told"),
    [
        (0, 0, "OK - 2 pools, all idle"),
        (
            5,
            1,
            "WARNING - non-blocking: 2 of 2 threads busy, 3 pending, operations wait for threads that should not block",
        ),
    ],
)
def test_infinispan_at_rest_and_blocked(check, started, tasks, status, told):
    infinispan = started(pool_servers.Infinispan, tasks, 600_000)
    assert until(check, infinispan, f"JMX_THREAD_POOLS {told}")[0] == status
    assert any(
        re.match(rf"threadpool-1 +{min(tasks, 2)} +2 +{max(tasks - 2, 0)} +1", line)
        for line in check(infinispan, "-v")[1]
    )


# Servers whose pools no MBean shows


@pytest.mark.parametrize(
    ("broker", "producers", "said"),
    [
        (pool_servers.ActiveMq, 0, r"JMX OK - no MBean at \S+ matches .*,endpoint=Producer,"),
        (pool_servers.ActiveMq, 3, r"JMX WARNING - .+ ProducerBlocked: sum 3, 3 beans "),
        (pool_servers.Artemis, 0, r"JMX OK - addresses AddressLimitPercent: all 0 %, 2 beans "),
        (pool_servers.Artemis, 3, r"JMX WARNING - orders .+ AddressLimitPercent \d{3} % \(limit 99 %\) "),
    ],
)
def test_brokers_block_producers_as_the_sheet_says(check, started, broker, producers, said):
    row = re.search(
        rf"^\| {broker.__name__} \| .*`(-O .*)` \|", SHEET.read_text(), re.MULTILINE | re.IGNORECASE
    )
    one = started(broker, producers)
    assert "nothing is watched" in check(one)[1][0]
    asked = [sys.executable, PLUGIN.with_name("check_jmx"), "-P", str(one.port), *shlex.split(row[1])]
    end = time.monotonic() + 60
    while not re.match(said, (told := _said(asked))):
        assert time.monotonic() < end, told


def _said(command):
    return subprocess.run(command, capture_output=True, text=True, check=False, timeout=60).stdout


# Kafka


@pytest.mark.slow("a Kafka starts")
def test_a_kafka_that_has_just_started_is_not_called_busy(check, started):
    status, lines = check(started(pool_servers.Kafka))
    assert status == 0
    assert (
        lines[1]
        == "[OK] the idle time of RequestHandler and NetworkProcessor is not known yet: the JVM has just started"
    )


@pytest.mark.only_in_all_cells
@pytest.mark.slow("an average over a minute is waited for")
def test_a_kafka_whose_request_handlers_are_saturated(check, started):
    kafka = started(pool_servers.Kafka)
    started(pool_servers.KafkaLoad, kafka.broker, 6, "compressed:1")
    busy = (
        r"JMX_THREAD_POOLS WARNING - RequestHandler: idle \d to \d+ % of the time \(minimum 30 %\), "
        r"probably requests queue up"
    )
    assert until(check, kafka, busy, seconds=300)[0] == 1  # its controller is idle: only the sum is known


# A plain JVM


def test_a_jvm_without_pools_is_unknown_and_its_threads_can_be_judged(check, jvm):
    status, lines = check(jvm)
    assert status == 3
    assert lines[0].startswith("JMX_THREAD_POOLS UNKNOWN - no pool of a known kind in localhost:")
    assert "  Hazelcast: hazelcast.jmx=true" in lines
    status, lines = check(jvm, "--threads-warning", "1000")
    assert status == 0
    assert re.match(r"JMX_THREAD_POOLS OK - no pool of a known kind, \d+ threads \(\d+ daemons,", lines[0])


def test_virtual_threads_are_no_pool_that_makes_a_jvm_watched(check, tmp_path):
    with Jvm(tmp_path / "jvm", java=java_software.java(25)) as jvm:
        assert check(jvm)[0] == 3
        status, lines = check(jvm, "--pool", "virtual threads", "-v")
    assert status == 0
    assert re.search(r"^virtual threads +0 +\d+ +0$", "\n".join(lines), re.MULTILINE)


def test_virtual_threads_that_wait_for_pinned_carriers(check, started):
    pinned = started(pool_servers.Pinned, 5)
    status, lines = check(pinned, "--pool", "virtual threads", "--pending-warning", "0")
    assert status == 1
    assert re.match(
        r"JMX_THREAD_POOLS WARNING - virtual threads: 5 pending, 2 of 2 carriers busy, "
        r"all carriers are at work or pinned",
        lines[0],
    ), lines


def test_deadlocked_threads_are_critical(check, changeable_jvm):
    assert check(changeable_jvm, "--deadlocks")[0] == 0
    changeable_jvm.tell("deadlock")
    status, lines = check(changeable_jvm, "--deadlocks")
    assert status == 2
    assert re.match(
        r"JMX_THREAD_POOLS CRITICAL - 2 threads deadlocked, #\d+ and #\d+ - find these numbers in ", lines[0]
    )
    assert check(changeable_jvm)[0] == 3  # it has no pools


def test_a_read_only_role_may_not_look_for_deadlocks(check, jvm_variant, monkeypatch):
    jvm = jvm_variant("password")
    monkeypatch.setenv("STALLWATCH_JMX_PASSWORD", PASSWORDS["monitorRole"])
    status, lines = check(jvm, "-u", "monitorRole", "--deadlocks")
    assert status == 3
    assert lines[0].startswith("JMX_THREAD_POOLS UNKNOWN - deadlocks cannot be looked for: ")
    assert "the role of this user is read-only - leave out --deadlocks" in lines[0]
    monkeypatch.setenv("STALLWATCH_JMX_PASSWORD", PASSWORDS["controlRole"])
    assert check(jvm, "-u", "controlRole", "--deadlocks")[0] == 0


def test_pools_that_appear_and_vanish(check, changeable_jvm):
    name = "org.apache.cassandra.metrics:type=ThreadPools,path=internal,scope=GossipStage,name={}"
    changeable_jvm.bean(name.format("ActiveTasks"), {"Value": ("java.lang.Object", 1)})
    assert check(changeable_jvm)[1][0].startswith(
        "JMX_THREAD_POOLS OK - 1 pool, busiest GossipStage: 1 thread busy | "
    )
    changeable_jvm.bean(name.format("CurrentlyBlockedTasks"), {"Count": 1})
    assert check(changeable_jvm)[1][0].startswith(
        "JMX_THREAD_POOLS CRITICAL - GossipStage: 1 task blocked, 1 thread busy, "
    )
    changeable_jvm.tell("unregister", "org.apache.cassandra.metrics:*")
    status, lines = check(changeable_jvm)
    assert status == 3
    assert re.match(r"JMX_THREAD_POOLS UNKNOWN - .+ had 1 pool and has none now - check whether ", lines[0])
    assert check(changeable_jvm, "--no-state")[1][0].startswith("JMX_THREAD_POOLS UNKNOWN - no pool of a ")


def test_java_sees_the_same_pools(check, changeable_jvm):
    changeable_jvm.tell("unregister", "target:*")
    changeable_jvm.bean(
        'Catalina:type=ThreadPool,name="http-nio-8080"',
        {"maxThreads": ("int", 200), "currentThreadsBusy": ("int", 7)},
    )
    assert check(changeable_jvm, "--via", "jmxquery", "-t", "50") == check(changeable_jvm)
