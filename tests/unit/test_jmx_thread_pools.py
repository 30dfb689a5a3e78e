# ruff: noqa: E501, ISC004 - what is said is written as it is said
"""What check_jmx_thread_pools says of a JVM, from run to run."""

import json
import os
import re
import runpy
from pathlib import Path

import pytest
from recorded_jvm import RecordedJvm
from stallwatch.sources import recording
from stallwatch.sources.jmx import ForbiddenError, UnreachableError, UnreadableError

TESTS = Path(__file__).parents[1]
PLUGIN = runpy.run_path(str(TESTS.parent / "plugins" / "check_jmx_thread_pools"))
RUNTIME, THREADING = "java.lang:type=Runtime", "java.lang:type=Threading"
METRICS = "org.apache.cassandra.metrics:type=ThreadPools,path=internal,scope={},name={}"
FLUSH = ", the disks are too slow for the flushes - check iostat -x 1"


class Jvm(RecordedJvm):
    """A JVM that has just started, and has threads but no pools."""

    def __init__(self):
        super().__init__({
            RUNTIME: {"StartTime": 1_000_000, "Uptime": 300_000},
            THREADING: {"ThreadCount": 45, "PeakThreadCount": 49, "DaemonThreadCount": 38},
        })  # fmt: skip
        self.deadlocked = []

    def pool(self, name, active=0, limit=2, pending=0, blocked=0, total=0, completed=0):
        """Let it have this pool of Cassandra's."""
        self.seen = ["java.lang", "org.apache.cassandra.metrics"]
        self.told |= {
            METRICS.format(name, "ActiveTasks"): {"Value": active},
            METRICS.format(name, "MaxPoolSize"): {"Value": limit},
            METRICS.format(name, "PendingTasks"): {"Value": pending},
            METRICS.format(name, "CurrentlyBlockedTasks"): {"Count": blocked},
            METRICS.format(name, "TotalBlockedTasks"): {"Count": total},
            METRICS.format(name, "CompletedTasks"): {"Value": completed},
        }

    def bean(self, name, **attributes):
        """Let it have this bean."""
        self.told[name] = attributes
        self.seen = sorted({*self.seen, name.partition(":")[0]})

    def later(self, seconds):
        """Let it run on."""
        self.told[RUNTIME]["Uptime"] += 1000 * seconds

    def restart(self):
        """Let it begin anew."""
        self.told[RUNTIME] = {"StartTime": self.told[RUNTIME]["StartTime"] + 1, "Uptime": 5000}

    def deadlocked_threads(self):
        """As the client's."""
        if isinstance(self.deadlocked, Exception):
            raise self.deadlocked
        return self.deadlocked


@pytest.fixture
def jvm():
    return Jvm()


@pytest.fixture
def check(jvm, clock, monkeypatch, tmp_path):
    """Run the plugin: exit status and what it says. Its second look finds what ``check.meanwhile`` does."""
    waited = []

    def sleep(seconds):
        waited.append(seconds)
        check.meanwhile()

    monkeypatch.setattr("time.sleep", sleep)

    def check(*options):
        arguments = ["-P", "7199", "--state-dir", str(tmp_path), *options]
        return PLUGIN["check"].run(PLUGIN["findings"], arguments)

    def line(*options):
        status, text = check(*options)
        return status, text.split("\n")[0].partition(" | ")[0].removeprefix("JMX_THREAD_POOLS ")

    def perfdata(*options):
        return check(*options)[1].split("\n")[0].partition(" | ")[2]

    check.meanwhile = lambda: None
    check.waited, check.line, check.perfdata = waited, line, perfdata
    with recording.use(jvm):
        yield check


def test_pools_that_a_policy_forbids_are_named(check, jvm):
    no = ForbiddenError("Jolokia's policy forbids x")
    jvm.bean("com.zaxxer.hikari:type=Pool (orders)", ActiveConnections=no, ThreadsAwaitingConnection=no)
    jvm.bean("com.zaxxer.hikari:type=PoolConfig (orders)", MaximumPoolSize=2)
    for options in ([], ["--pool", "orders"]):
        status, line = check.line(*options)
        assert status == 3
        assert line == (
            "UNKNOWN - Jolokia's policy forbids numbers of orders - take them out of <deny>, or add them to "
            "<allow>, in jolokia-access.xml"
        )
        assert len(f"JMX_THREAD_POOLS {line}") <= 160
    assert "show no numbers" not in check()[1]


# All is well


def test_pools_without_trouble_are_one_sentence(check, jvm):
    jvm.pool("MutationStage", completed=1000)
    jvm.pool("Native-Transport-Requests", active=3, limit=128)
    assert check("--no-state") == (
        0,
        "JMX_THREAD_POOLS OK - 2 pools, none blocked, busiest Native-Transport-Requests: 3 of 128 threads busy | pools=2 threads=45 active=3 pending=0 blocked=0 busy=2.34375%\n"
        "[OK] blocked tasks are counted from now on: this is the first look",
    )


def test_with_v_there_is_a_table_like_that_of_nodetool(check, jvm):
    jvm.pool("MutationStage", active=1, limit=32, pending=2, completed=1000)
    jvm.pool("ValidationExecutor", limit=2147483647)
    check()
    jvm.later(60)
    status, text = check("-v")
    assert status == 0
    assert text.splitlines()[1:] == [
        "[OK] 45 threads (38 daemons, peak 49)",
        "Pool Name           Active  Max  Pending  Completed  Blocked  All time blocked",
        "MutationStage            1   32        2       1000        0                 0",
        "ValidationExecutor       0    -        0          0        0                 0",
    ]


def test_where_nothing_is_watched_that_is_unknown_and_says_how_pools_are_shown(check):
    status, text = check()
    first, *below = text.splitlines()
    assert (status, first) == (
        3,
        "JMX_THREAD_POOLS UNKNOWN - no pool of a known kind in db1:7199, nothing is watched - make the JVM show its pools (below), or describe them with --pools FILE | pools=0 threads=45",
    )
    assert below[0].startswith("  searched for Cassandra, ")
    assert (
        "  HikariCP: registerMbeans=true; Spring Boot: spring.datasource.hikari.register-mbeans=true" in below
    )
    assert "  Tomcat and Tomcat executors: Spring Boot: server.tomcat.mbeanregistry.enabled=true" in below


def test_carriers_of_virtual_threads_which_every_jvm_has_are_no_pool_that_is_watched(check, jvm):
    carriers = "jdk.management:type=VirtualThreadScheduler"
    numbers = {"MountedVirtualThreadCount": 2, "Parallelism": 2, "QueuedVirtualThreadCount": 9}
    jvm.bean(carriers, **numbers)
    assert check.line()[0] == 3
    assert check.line("--pool", "virtual threads")[0] == 0
    jvm.pool("ReadStage")
    jvm.bean(carriers, **numbers)
    assert check.line("--no-state") == (
        0, "OK - 2 pools, none blocked, busiest virtual threads: 2 of 2 carriers busy, 9 pending"
    )  # fmt: skip


def test_the_threads_of_a_jvm_without_pools_can_be_judged(check):
    assert check.line("--threads-warning", "50") == (
        0, "OK - no pool of a known kind, 45 threads (38 daemons, peak 49)"
    )  # fmt: skip
    assert check.line("--threads-warning", "50", "--pool", "x")[0] == 3
    assert check.line("--threads-warning", "40")[0] == 1
    assert check.line("--threads-critical", "40:44")[0] == 2


def test_the_line_stays_short_however_many_pools_there_are(check, jvm):
    for number in range(60):
        jvm.pool(f"pool-{number}-of-a-long-name", active=1, blocked=1, total=5)
    status, text = check()
    assert status == 1
    assert len(text.split("\n")[0].encode()) < 1023
    assert text.splitlines()[-1] == "... and 11 more"


# Blocked


def test_blocked_in_a_full_pool_is_critical(check, jvm):
    jvm.pool("MemtableFlushWriter", active=2, pending=14, blocked=3, total=20)
    assert check.line() == (
        2,
        f"CRITICAL - MemtableFlushWriter: 3 tasks blocked, 2 of 2 threads busy, 14 pending{FLUSH}",
    )
    assert check.waited == [1.0]


def test_blocked_for_less_than_a_second_is_no_more_than_a_warning(check, jvm):
    jvm.pool("MemtableFlushWriter", active=2, blocked=1)
    check.meanwhile = lambda: jvm.pool("MemtableFlushWriter", active=2)
    assert check.line() == (
        1,
        f"WARNING - MemtableFlushWriter: 1 task blocked, 2 of 2 threads busy{FLUSH}",
    )


def test_a_pool_that_is_gone_at_the_second_look_does_not_block_any_more(check, jvm):
    jvm.pool("MemtableFlushWriter", active=2, blocked=1)
    check.meanwhile = lambda: [jvm.told.pop(name) for name in list(jvm.told) if "Memtable" in name]
    assert check.line()[0] == 1


def test_blocked_in_a_pool_that_is_not_full_is_a_warning_at_once(check, jvm):
    jvm.pool("MemtableFlushWriter", active=1, blocked=1)
    assert check.line()[0] == 1
    assert check.waited == []


def test_the_user_s_own_range_counts_for_full_pools_too(check, jvm):
    jvm.pool("MemtableFlushWriter", active=2, blocked=3)
    assert check.line("-c", "50")[0] == 1
    assert check.line("-w", "10", "-c", "50")[0] == 0
    assert check.line("-c", "2")[0] == 2
    assert check.line("-w", "10")[0] == 2


def test_connections_that_are_waited_for_are_such_a_block(check, jvm):
    jvm.bean("com.zaxxer.hikari:type=Pool (orders)", ActiveConnections=10, ThreadsAwaitingConnection=1)
    jvm.bean("com.zaxxer.hikari:type=PoolConfig (orders)", MaximumPoolSize=10)
    assert check.line() == (
        2,
        "CRITICAL - orders: 1 thread waits for a connection, 10 of 10 in use, probably slow SQL or leaks - check running SQL",
    )
    jvm.bean("com.zaxxer.hikari:type=Pool (orders)", ActiveConnections=9, ThreadsAwaitingConnection=2)
    told = "CRITICAL - orders: 2 threads wait for a connection, 9 of 10 in use, probably the pool is slow or unable"
    assert check.line()[1].startswith(told)


def test_connections_that_are_waited_for_while_nobody_has_one_cannot_be_made(check, jvm):
    jvm.bean("com.zaxxer.hikari:type=Pool (orders)", ActiveConnections=0, ThreadsAwaitingConnection=50)
    jvm.bean("com.zaxxer.hikari:type=PoolConfig (orders)", MaximumPoolSize=10)
    told = "orders: 50 threads wait for a connection, 0 of 10 in use, the pool is slow or unable to open new ones - check that the database or service answers"
    assert check.line() == (2, f"CRITICAL - {told}")
    check.meanwhile = lambda: jvm.bean(
        "com.zaxxer.hikari:type=Pool (orders)", ActiveConnections=9, ThreadsAwaitingConnection=0
    )
    assert check.line()[0] == 0  # a second later nobody waits


def test_who_waits_for_a_connection_for_less_than_a_second_is_a_problem_only_with_a_limit(check, jvm):
    def pool(waiting):
        jvm.bean(
            "com.zaxxer.hikari:type=Pool (orders)", ActiveConnections=10, ThreadsAwaitingConnection=waiting
        )

    jvm.bean("com.zaxxer.hikari:type=PoolConfig (orders)", MaximumPoolSize=10)
    check.meanwhile = lambda: pool(0)
    for options, status in ((), 0), (("--pool", "orders"), 0), (("-w", "0"), 1):
        pool(3)
        assert check.line("--no-state", *options)[0] == status
    check.meanwhile = lambda: pool(2)
    pool(3)
    assert check.line("--no-state")[0] == 2


def test_pools_of_one_name_are_looked_at_each_for_itself(check, jvm):
    jvm.bean('app1:type=ThreadPool,name="http"', maxThreads=200, currentThreadsBusy=200)
    jvm.bean('app2:type=ThreadPool,name="http"', maxThreads=200, currentThreadsBusy=0)
    assert check.line()[1].startswith(
        "WARNING - http app1: 200 of 200 threads busy, probably new requests wait "
    )
    assert check.line("--pool", "http")[1].startswith("WARNING - http app1: ")
    assert check.line("--pool", "http app2") == (0, "OK - 1 pool, all idle")


def test_the_worst_pool_leads_and_each_is_told_once(check, jvm):
    jvm.pool("A", active=1, blocked=9, total=9)
    jvm.pool("B", active=2, blocked=3, total=3)
    jvm.pool("C", active=2, blocked=5, total=5)
    status, text = check()
    assert status == 2
    assert [line.partition(" busy")[0] for line in text.splitlines() if line[0] != " "] == [
        "JMX_THREAD_POOLS CRITICAL - C: 5 tasks blocked, 2 of 2 threads",
        "[CRITICAL] B: 3 tasks blocked, 2 of 2 threads",
        "[WARNING] A: 9 tasks blocked, 1 of 2 threads",
        "[OK] blocked tasks are counted from now on: this is the first look",
    ]


def test_what_is_told_of_a_pool_is_the_worst(check, jvm):
    jvm.pool("A", active=1, blocked=1, pending=50)
    status, line = check.line("--pending-critical", "10")
    assert status == 2
    assert line.startswith("CRITICAL - A: 50 pending (limit 10), 1 task blocked, 1 of 2 threads busy, ")


# Since the last run


def test_tasks_that_were_blocked_since_the_last_run_are_a_warning(check, jvm):
    jvm.pool("MemtableFlushWriter", total=1000)
    assert check.line() == (0, "OK - 1 pool, none blocked, all idle")
    jvm.later(60)
    jvm.pool("MemtableFlushWriter", total=1017)
    assert check.line() == (
        1,
        f"WARNING - MemtableFlushWriter: 17 tasks blocked in the last 1 min, 0 of 2 threads busy{FLUSH}",
    )
    jvm.later(60)
    assert check.line() == (0, "OK - 1 pool, none blocked, all idle")


def test_a_block_now_and_since_the_last_run_is_one_problem(check, jvm):
    jvm.pool("MemtableFlushWriter")
    check()
    jvm.later(300)
    jvm.pool("MemtableFlushWriter", active=2, blocked=3, total=17)
    assert check.line()[1].startswith(
        "CRITICAL - MemtableFlushWriter: 3 tasks blocked, 17 in the last 5 min, 2 of 2 "
    )
    assert check.perfdata("--no-state").startswith(
        "pools=1 threads=45 active=2 pending=0 blocked=3 busy=100%"
    )


def test_how_many_may_be_blocked_between_runs_is_for_the_user_to_say(check, jvm):
    jvm.pool("A", total=17)
    check("--blocked-new-warning", "20", "--blocked-new-critical", "22")
    check("--blocked-new-warning", "20")
    jvm.later(60)
    jvm.pool("A", total=40)
    assert check.line("--blocked-new-warning", "20")[0] == 1
    assert check.line("--blocked-new-warning", "20", "--blocked-new-critical", "22")[0] == 2


@pytest.mark.parametrize(
    "other", [["-w", "5"], ["--deadlocks"], ["--pool", ".*"], ["--blocked-new-warning", "9"]]
)
def test_a_run_with_other_options_does_not_take_what_is_new_from_this_one(check, jvm, other):
    jvm.pool("A")
    check()
    check(*other)
    jvm.later(60)
    jvm.pool("A", total=30)
    check(*other)
    jvm.later(60)
    assert check.line()[1].startswith("WARNING - A: 30 tasks blocked in the last 2 min, ")


def test_a_first_run_says_so(check, jvm):
    jvm.pool("A", total=5)
    status, text = check()
    assert status == 0
    assert "blocked_new" not in text
    assert text.endswith("[OK] blocked tasks are counted from now on: this is the first look")


def test_after_a_restart_all_is_new(check, jvm):
    jvm.pool("A", total=5)
    check()
    jvm.restart()
    jvm.pool("A", total=7)
    assert check.line()[1].startswith("WARNING - A: 7 tasks blocked in the last 5 s, ")
    jvm.later(60)
    jvm.pool("A", total=8)
    assert check.line()[1].startswith("WARNING - A: 1 task blocked in the last 1 min, ")


def test_pools_that_were_there_and_are_not_are_unknown_until_they_come_back(check, jvm):
    pools = dict(jvm.told)
    assert check.line()[1].startswith("UNKNOWN - no pool of a known kind")
    jvm.pool("A")
    jvm.pool("B")
    check()
    there, jvm.told = jvm.told, pools
    for _ in range(2):
        jvm.later(60)
        assert check.line() == (
            3,
            "UNKNOWN - db1:7199 had 2 pools and has none now - check whether the JVM is starting, or lost them",
        )
    jvm.told = there
    assert check.line()[0] == 0


def test_a_counter_that_could_not_be_read_the_last_time_is_not_new(check, jvm):
    jvm.pool("A", total=None)
    check()
    jvm.later(60)
    jvm.pool("A", total=900)
    assert check.line()[0] == 0


def test_a_counter_that_went_down_begins_anew(check, jvm):
    jvm.pool("A", total=5)
    jvm.pool("B", total=5)
    check()
    jvm.later(60)
    jvm.pool("A", total=3)
    status, text = check()
    assert status == 0
    assert text.endswith("[OK] blocked tasks of A are counted from now on: it was reset, from 5 to 3")


def test_what_appeared_since_the_last_look_has_counted_since_then(check, jvm):
    jvm.pool("GossipStage")
    check()
    jvm.later(60)
    jvm.pool("A", total=0)
    jvm.pool("B", total=900)
    status, text = check()
    assert status == 1
    assert text.startswith("JMX_THREAD_POOLS WARNING - B: 900 tasks blocked in the last 1 min, ")
    assert "counted from now on" not in text


def test_what_appeared_since_a_look_by_another_clock_is_not_counted_from_then_on(check, jvm):
    jvm.pool("A")
    check()
    del jvm.told[RUNTIME]
    jvm.pool("B", total=900)
    assert check.line()[0] == 0


def test_a_pool_for_itself_has_a_memory_of_its_own(check, jvm):
    jvm.pool("A")
    check("--pool", "A")
    jvm.later(60)
    jvm.pool("A", total=3)
    check("--pool", "A|B")
    assert check.line("--pool", "A")[1].startswith("WARNING - A: 3 tasks blocked in the last 1 min, ")


# Full


def test_a_full_pool_is_no_problem_in_itself(check, jvm):
    jvm.pool("CompactionExecutor", active=2, pending=70)
    assert check.line() == (
        0,
        "OK - 1 pool, none blocked, busiest CompactionExecutor: 2 of 2 threads busy, 70 pending",
    )


def test_a_full_pool_that_serves_requests_is_a_warning_if_more_wait(check, jvm):
    jvm.pool("Native-Transport-Requests", active=128, limit=128, pending=70)
    assert check.line() == (
        1,
        "WARNING - Native-Transport-Requests: 128 of 128 threads busy, 70 pending, many or slow requests - run nodetool proxyhistograms",
    )
    check.meanwhile = lambda: jvm.pool("Native-Transport-Requests", active=127, limit=128, pending=70)
    assert check.line()[0] == 0


def test_a_tomcat_that_is_full_is_a_warning(check, jvm):
    jvm.bean('Catalina:type=ThreadPool,name="http-nio-8080"', currentThreadsBusy=200, maxThreads=200)
    assert check.line() == (
        1,
        "WARNING - http-nio-8080: 200 of 200 threads busy, probably new requests wait for a thread - take a thread dump (jstack PID)",
    )
    assert check.line("--busy-warning", "~:")[0] == 0
    assert check.line("--busy-critical", "95%")[0] == 2


def test_a_jetty_that_has_no_thread_left_and_tells_no_limit_is_judged_by_its_queue(check, jvm):
    name = "org.eclipse.jetty.util.thread:type=queuedthreadpool,id=0"
    jvm.bean(name, utilizedThreads=10, maxAvailableThreads=-1, queueSize=900, lowOnThreads=True)
    assert check.line()[1].startswith(
        "WARNING - queuedthreadpool-0: 900 pending, 10 threads busy, new requests wait "
    )
    assert check.line("--pending-warning", "1000")[0] == 0
    check.meanwhile = lambda: jvm.bean(name, utilizedThreads=10, queueSize=0, lowOnThreads=True)
    assert check.line()[0] == 0


def test_the_share_that_is_busy_can_be_judged_of_any_pool(check, jvm):
    jvm.pool("CompactionExecutor", active=3, limit=4)
    assert check.line("--busy-warning", "50%", "--busy-critical", "80%")[1].startswith(
        "WARNING - CompactionExecutor: 3 of 4 threads busy (limit 50 %), compaction is slower than the writes - "
    )
    assert check.line("--active-warning", "2")[0] == 1


def test_limits_that_cannot_be_judged_are_told(check, jvm):
    jvm.pool("A", active=3, limit=0)
    assert check.line("--busy-warning", "90%") == (
        3,
        "UNKNOWN - how busy the pools are cannot be judged: none shows how large it may be",
    )
    jvm.pool("B", active=1, limit=2)
    status, text = check("--busy-critical", "90%", "--no-state")
    assert status == 0
    assert text.endswith("[OK] how busy A may be is not judged: without a limit of its own")


def test_a_limit_of_nothing_is_none(check, jvm):
    jvm.pool("A", active=3, limit=0)
    jvm.pool("B", active=2, limit=-1)
    assert check.line() == (0, "OK - 2 pools, none blocked, busiest A: 3 threads busy")
    assert "busy=" not in check.perfdata()


def test_a_data_source_of_weblogic_as_its_documentation_has_it(check, jvm):
    name = "com.bea:ServerRuntime=web1,Name=orders,Type=JDBCDataSourceRuntime"
    jvm.bean(name, ActiveConnectionsCurrentCount=15, WaitingForConnectionCurrentCount=0)
    assert check.line() == (0, "OK - 1 pool, none blocked, busiest orders: 15 connections in use")
    jvm.bean(name, ActiveConnectionsCurrentCount=15, WaitingForConnectionCurrentCount=4)
    assert check.line()[1].startswith(
        "CRITICAL - orders: 4 threads wait for a connection, 15 connections in use, probably slow SQL or leaks"
    )


# Pools of tasks


CAMEL = 'org.apache.camel:context=camel-1,type=threadpools,name="stock"'


def camel(jvm, waiting=3, completed=10_000):
    """A pool that has completed a task of 60 ms at most again and again, until now."""
    numbers = {"CorePoolSize": 2, "MaximumPoolSize": 4, "ActiveCount": 2}
    jvm.bean(CAMEL, TaskQueueSize=waiting, CompletedTaskCount=completed, **numbers)


def test_a_queue_of_which_nothing_is_completed_from_run_to_run_is_a_warning(check, jvm):
    camel(jvm)
    assert check.line()[0] == 0
    jvm.later(60)
    assert check("--no-state")[0] == 0
    assert check.line() == (
        1,
        "WARNING - stock camel-1: 3 tasks wait, none completed in 1 min, 2 of 4 threads busy, blocked or long tasks - take a thread dump (jstack PID)",
    )
    assert "  a task took at most 144 ms on average until now" in check()[1].split("\n")
    assert check.line("--pending-warning", "5")[0] == 0


def batch(jvm, check, seconds, tasks, looks=15):
    """A batch of tasks that take so long each, two at a time: what is said every so many seconds."""
    said = []
    begun = jvm.told[RUNTIME]["Uptime"] / 1000
    for _ in range(round(seconds * tasks / 2 / looks)):
        done = 2 * int((jvm.told[RUNTIME]["Uptime"] / 1000 - begun) / seconds)
        jvm.bean("jboss.threads:name=batch,type=thread-pool", ActiveCount=2, PoolSize=2, MaximumPoolSize=2, QueueSize=tasks - done - 2, CompletedTaskCount=done)  # fmt: skip
        said.append(check.line())
        jvm.later(looks)
    return said


def test_a_batch_of_tasks_that_take_minutes_is_no_trouble(check, jvm):
    assert {status for status, _ in batch(jvm, check, seconds=240, tasks=20)} == {0}


def test_tasks_that_take_longer_than_five_minutes_are_a_warning_until_it_is_known_that_they_do(check, jvm):
    said = batch(jvm, check, seconds=1200, tasks=12)
    first, second, *others = [said[at : at + 80] for at in range(0, 480, 80)]
    assert {status for status, _ in first[:20]} == {0}
    assert {text.partition(", 2 of 2")[2] for status, text in first[21:] if status} == {
        " threads busy, probably blocked or long tasks - take a thread dump (jstack PID)"
    }
    assert {status for status, _ in first[21:]} == {1}
    assert {status for looks in others for status, _ in looks} == {0}
    assert {status for status, _ in second} == {0, 1}


def test_tasks_that_never_ended_before_are_told_after_five_minutes(check, jvm):
    camel(jvm, completed=0)
    for minute in range(7):
        assert check.line()[0] == (minute >= 5)
        jvm.later(60)
    text = check()[1]
    assert ", probably blocked or long tasks - " in text
    assert "  none has been completed since the JVM started: they may be long by design" in text.split("\n")


def test_short_tasks_that_hang_are_told_soon_though_the_pool_was_idle_for_days(check, jvm):
    jvm.later(10 * 86_400)
    camel(jvm, completed=5000)
    check()
    jvm.later(60)
    camel(jvm, completed=6000)  # while they waited: 0.24 s each at most
    check()
    for status in (1, 1):
        jvm.later(60)
        assert check.line()[0] == status


def test_a_thread_pool_of_weblogic_as_its_documentation_has_it(check, jvm):
    def pool(waiting, completed):
        jvm.bean("com.bea:ServerRuntime=web1,Name=ThreadPoolRuntime,Type=ThreadPoolRuntime", ExecuteThreadTotalCount=9, PendingUserRequestCount=waiting, CompletedRequestCount=completed)  # fmt: skip

    pool(0, 90_000)
    assert check.line() == (0, "OK - 1 pool")
    for _ in range(2):
        jvm.later(60)
        pool(4, 90_000)
        check()
    assert check.line()[1].startswith(
        "WARNING - ThreadPoolRuntime: 4 tasks wait, none completed in 1 min, 9 threads busy, blocked or long requests - "
    )


def tomcat(jvm, busy, requests):
    jvm.bean('Tomcat:type=ThreadPool,name="http-nio-8080"', maxThreads=8, currentThreadsBusy=busy)
    jvm.bean('Tomcat:type=GlobalRequestProcessor,name="http-nio-8080"', requestCount=requests)


def test_a_tomcat_whose_requests_do_not_end_is_told_for_certain(check, jvm):
    tomcat(jvm, busy=8, requests=70)
    assert ", probably new requests wait for a thread - " in check.line()[1]
    jvm.later(16)
    assert check.line() == (
        1,
        "WARNING - http-nio-8080: 8 of 8 threads busy, none completed in 16 s, blocked or long requests - take a thread dump (jstack PID)",
    )
    jvm.later(16)
    tomcat(jvm, busy=8, requests=71)
    assert ", probably new requests wait for a thread - " in check.line()[1]
    jvm.later(16)
    tomcat(jvm, busy=7, requests=71)
    assert check.line()[0] == 0


def test_a_connector_whose_threads_are_those_of_an_executor_is_no_pool(check, jvm):
    jvm.bean('Tomcat:type=ThreadPool,name="http"', maxThreads=-1, currentThreadsBusy=-1)
    jvm.bean('Tomcat:type=GlobalRequestProcessor,name="http"', requestCount=5)
    jvm.bean("Tomcat:type=Executor,name=shared", maxThreads=8, activeCount=1)
    assert check.line()[1].startswith("OK - 1 pool, busiest shared")


def test_a_queue_stands_still_over_several_runs_however_often_the_check_runs(check, jvm):
    camel(jvm)
    for status in (0, 0, 0, 1, 1):
        assert check.line()[0] == status
        jvm.later(6)
    camel(jvm, completed=10_001)
    assert check.line()[0] == 0


def test_tasks_on_which_no_thread_works_are_not_called_long(check, jvm):
    for _ in range(4):
        camel(jvm)
        next(numbers for name, numbers in jvm.told.items() if "camel" in name)["ActiveCount"] = 0
        line = check.line()[1]
        jvm.later(6)
    assert ", 0 of 4 threads busy, no thread works on them - take a thread dump" in line


def test_a_queue_that_moves_is_none(check, jvm):
    camel(jvm)
    check()
    jvm.later(60)
    camel(jvm, completed=10_001)
    assert check.line() == (0, "OK - 1 pool, busiest stock camel-1: 2 of 4 threads busy, 3 pending")


def test_a_queue_that_was_empty_at_the_last_run_has_not_stood_still_since(check, jvm):
    camel(jvm, waiting=0)
    check()
    jvm.later(60)
    camel(jvm)
    assert check.line()[0] == 0


def test_a_queue_does_not_stand_still_between_two_runs_by_hand(check, jvm):
    camel(jvm)
    check()
    jvm.later(5)
    assert check.line()[0] == 0


def test_where_tasks_wait_all_threads_are_at_work(check, jvm):
    worker = 'org.xnio:type=Xnio,provider="nio",worker="XNIO-1"'
    numbers = {
        "BusyWorkerThreadCount": -1,
        "WorkerPoolSize": 2,
        "MaxWorkerPoolSize": 2,
        "CoreWorkerPoolSize": 2,
    }
    jvm.bean(worker, WorkerQueueSize=0, **numbers)
    assert check.line() == (0, "OK - 1 pool")
    jvm.bean(worker, WorkerQueueSize=3, **numbers)
    assert check.line() == (
        1,
        "WARNING - XNIO-1: 2 of 2 threads busy, 3 pending, new requests wait for a thread - take a thread dump (jstack PID)",
    )


# Pools of a site's own


OWN = """
[[pool]]
name = "Till"
object = "shop:type=Till,name={pool},*"
active = "Used"
maximum = "Size"
blocked = "Waiting"
lends = "till"
why = "the branch is closed"
advice = "call the branch"
"""


NEEDS = "needs one of active, pending, blocked, total_blocked or idle"


@pytest.fixture
def own(check, tmp_path):
    """Run the plugin with such a file."""

    def own(text, *options):
        (tmp_path / "pools.toml").write_text(text)
        return check.line("--pools", str(tmp_path / "pools.toml"), *options)

    return own


def test_a_site_describes_its_own_pools_in_a_file(own, jvm):
    jvm.bean("shop:type=Till,name=left,floor=1", Used=2, Size=2, Waiting=3)
    assert own(OWN) == (
        2,
        "CRITICAL - left: 3 threads wait for a till, 2 of 2 in use, the branch is closed - call the branch",
    )
    jvm.bean("shop:type=Till,name=left,floor=1", Used=2, Size=2, Waiting=0)
    assert own(OWN) == (0, "OK - 1 pool, none blocked, busiest left: 2 of 2 tills in use")


def test_a_pool_of_a_site_s_own_may_be_a_single_mbean(own, jvm):
    jvm.bean("shop:type=Printer", Jobs=5)
    text = '[[pool]]\nname = "printer"\nobject = "shop:type=Printer"\npending = "Jobs"\n'
    assert own(text) == (0, "OK - 1 pool, busiest printer: 5 pending")
    assert own(text, "--pool", "printer", "--pending-warning", "4")[1].startswith(
        "WARNING - printer: 5 pending"
    )


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "the file must consist of [[pool]] entries"),
        ("[[pool]]\nname = 1", "[[pool]] 1: name must be text"),
        ("[[pool]]\nactve = 'A'", "[[pool]] 1: unknown key actve (known: name, object, why, "),
        ("[[pool]]\nserves = 'A'", "[[pool]] 1: serves must be true or false"),
        ("[[pool]]\nname = 'A'\nactive = 'B'", "[[pool]] 1: object is missing"),
        ("[[pool]]\nname = 'A'\nobject = 'a:b=c'", f"[[pool]] 1: {NEEDS}"),
        *(
            (f"[[pool]]\nname = 'A'\nobject = 'a:b=c'\n{number} = 'B'", f"[[pool]] 1: {NEEDS}")
            for number in ("size", "maximum", "core", "completed", "low", "spare")
        ),
        (
            f"{OWN}\n[[pool]]\nname = 'A'\nobject = 'a:b=c'\nsize = 'B'\ncompleted = 'C'",
            f"[[pool]] 2: {NEEDS}",
        ),
        (f"{OWN}\n[[pool]]\nname = 'A'\nobject = 'a'\nactive = 'B'", "[[pool]] 2: "),
        (
            "[[pool]]\nname = 'A'\nobject = '{pool}:a=b'\nactive = 'B'",
            "[[pool]] 1: object {pool}:a=b: {pool} may stand once, in the value of a key property",
        ),
        ("[[pool", "Expected "),
        ("x" * 70000, "the file is larger than 64 KiB"),
    ],
)
def test_what_is_wrong_in_a_site_s_file_is_said(own, tmp_path, text, said):
    status, line = own(text)
    assert status == 3
    assert line.startswith(f"UNKNOWN - --pools {tmp_path}/pools.toml: {said}")


@pytest.mark.parametrize("number", ["active", "pending", "blocked", "total_blocked", "idle"])
def test_one_number_that_shows_how_a_pool_is_is_enough(own, jvm, number):
    jvm.bean("shop:type=Till", Number=0.5)
    text = f"[[pool]]\nname = 'A'\nobject = 'shop:type=Till'\n{number} = 'Number'"
    assert own(text, "-w", "1")[1].startswith("OK - 1 pool")


def test_a_file_of_pools_that_is_not_there_is_said(check):
    assert (
        check.line("--pools", "/nowhere.toml")[1]
        == "UNKNOWN - --pools /nowhere.toml: No such file or directory"
    )


# Kafka


def test_kafka_s_threads_are_to_be_idle_for_a_third_of_the_time(check, jvm):
    name = "kafka.server:type=KafkaRequestHandlerPool,name=RequestHandlerAvgIdlePercent"
    jvm.bean(name, OneMinuteRate=0.31)
    assert check("--no-state") == (
        0,
        "JMX_THREAD_POOLS OK - 1 pool, RequestHandler idle 31 % of the time | pools=1 threads=45 idle=31%",
    )
    jvm.bean(name, OneMinuteRate=0.29)
    assert check.line() == (
        1,
        "WARNING - RequestHandler: idle 29 % of the time (minimum 30 %), requests probably queue up - check top and iostat -x 1",
    )
    jvm.later(60)
    jvm.bean(name, OneMinuteRate=0.09)
    assert check.line()[0] == 2
    assert check.line("--idle-warning", "5:", "--idle-critical", "2:")[0] == 0


def test_an_average_over_a_minute_is_not_known_before_a_minute_has_passed(check, jvm):
    jvm.bean("kafka.server:type=KafkaRequestHandlerPool,name=RequestHandlerAvgIdlePercent", OneMinuteRate=0.0)
    jvm.told[RUNTIME]["Uptime"] = 59_000
    assert check() == (
        0,
        "JMX_THREAD_POOLS OK - 1 pool | pools=1 threads=45\n"
        "[OK] how idle RequestHandler are is not known yet: the JVM has just started",
    )
    jvm.later(1)
    assert check.line()[0] == 1
    jvm.later(60)
    assert check.line()[0] == 2


def test_threads_that_are_not_idle_are_critical_only_if_they_were_not_at_the_last_run(check, jvm):
    name = "kafka.server:type=KafkaRequestHandlerPool,name=RequestHandlerAvgIdlePercent"
    jvm.bean(name, OneMinuteRate=0.0)
    assert check.line()[0] == 1
    assert check.line("--pool", ".*")[0] == 1
    jvm.later(60)
    jvm.bean(name, OneMinuteRate=0.9)
    assert check.line()[0] == 0
    jvm.later(60)
    jvm.bean(name, OneMinuteRate=0.0)
    assert check.line()[0] == 1
    jvm.later(60)
    assert check.line()[0] == 2


def test_two_runs_at_once_do_not_say_that_threads_were_not_idle_before(check, jvm):
    jvm.bean("kafka.server:type=KafkaRequestHandlerPool,name=RequestHandlerAvgIdlePercent", OneMinuteRate=0.0)
    assert check.line()[0] == 1
    jvm.later(0.5)
    assert check.line()[0] == 1
    jvm.later(60)
    assert check.line()[0] == 2
    jvm.later(0.5)
    assert check.line()[0] == 2


def test_what_threads_were_before_a_restart_of_the_jvm_does_not_count(check, jvm):
    jvm.bean("kafka.server:type=KafkaRequestHandlerPool,name=RequestHandlerAvgIdlePercent", OneMinuteRate=0.0)
    assert check.line()[0] == 1
    jvm.restart()
    jvm.later(60)
    assert check.line()[0] == 1
    jvm.later(60)
    assert check.line()[0] == 2


def test_how_idle_threads_were_by_another_clock_does_not_count(check, jvm, clock):
    jvm.bean("kafka.server:type=KafkaRequestHandlerPool,name=RequestHandlerAvgIdlePercent", OneMinuteRate=0.0)
    assert check.line()[0] == 1
    del jvm.told[RUNTIME]
    assert check.line()[0] == 1
    clock.later(60)
    assert check.line()[0] == 2


HANDLERS = "kafka.server:type=KafkaRequestHandlerPool,name={}AvgIdlePercent"
CONTROLLER = "kafka.controller:type=KafkaController,name=LastAppliedRecordOffset"
REPLICAS = "kafka.server:type=ReplicaManager,name=UnderReplicatedPartitions"
QUEUE_UP = ", requests probably queue up - check top and iostat -x 1"


@pytest.fixture
def combined(jvm):
    """A broker that is its own controller, before Kafka 4.2; the function sets the sum of their idle times."""
    jvm.bean(CONTROLLER, Value=7)
    jvm.bean(REPLICAS, Value=0)
    return lambda total: jvm.bean(HANDLERS.format("RequestHandler"), OneMinuteRate=total)


@pytest.mark.parametrize(
    ("total", "line", "lasts"),
    [
        (0.1, (1, f"WARNING - RequestHandler: idle 0 to 5 % of the time (minimum 30 %){QUEUE_UP}"), 2),
        (0.2, (1, f"WARNING - RequestHandler: idle 0 to 10 % of the time (minimum 30 %){QUEUE_UP}"), 1),
        (0.8, (1, f"WARNING - RequestHandler: idle 0 to 40 % of the time (minimum 30 %){QUEUE_UP}"), 1),
        (1.0, (1, f"WARNING - RequestHandler: idle 0 to 50 % of the time (minimum 30 %){QUEUE_UP}"), 1),
        (1.2, (1, f"WARNING - RequestHandler: idle 20 to 60 % of the time (minimum 30 %){QUEUE_UP}"), 1),
        (1.31, (0, "OK - 1 pool, RequestHandler idle at least 31 % of the time"), 0),
        (1.9, (0, "OK - 1 pool, RequestHandler idle at least 90 % of the time"), 0),
        (2.04, (0, "OK - 1 pool, RequestHandler idle at least 100 % of the time"), 0),
    ],
)
def test_a_sum_of_two_idle_times_is_critical_only_if_one_of_them_is_surely_too_low(
    check, jvm, combined, total, line, lasts
):
    combined(total)
    assert check.line() == line
    jvm.later(60)
    status, text = check.line()
    assert status == lasts
    limit = {0: "", 1: " (minimum 30 %)", 2: " (minimum 10 %)"}[lasts]
    assert limit in text


def test_a_sum_that_was_surely_too_low_only_now_is_not_critical_yet(check, jvm, combined):
    combined(1.0)
    assert check.line()[0] == 1
    jvm.later(60)
    combined(0.1)
    assert check.line()[0] == 1
    jvm.later(60)
    assert check.line()[0] == 2


def test_a_sum_of_two_idle_times_is_explained_with_where_to_look(check, combined):
    combined(1.02)
    assert check("-v", "--no-state")[1].splitlines() == [
        f"JMX_THREAD_POOLS WARNING - RequestHandler: idle 2 to 51 % of the time (minimum 30 %){QUEUE_UP} | pools=1 threads=45 idle=2%",
        "  before Kafka 4.2 a broker that is also a controller shows only the sum of both idle times; RequestQueueTimeMs of kafka.network:type=RequestMetrics shows which requests wait",
        "  also which clients send so many requests; num.io.threads sets the number of threads",
        "[OK] 1 pool, RequestHandler idle at least 2 % of the time",
        "[OK] 45 threads (38 daemons, peak 49)",
        "Pool Name       Idle %  Idle % at most",
        "RequestHandler       2              51",
    ]


def test_nobody_is_idle_for_more_than_all_of_the_time(check, combined):
    combined(2.04)
    _, text = check("-v", "--no-state")
    assert re.search(r"^RequestHandler +100 +100$", text, re.MULTILINE), text


NETWORK = "kafka.network:type=SocketServer,name=NetworkProcessorAvgIdlePercent"
NETWORK_THREADS = (
    "\n[OK] the broker's network threads are not watched, NetworkProcessor is the controller's: "
    "use check_jmx -O 'kafka.server:type=socket-server-metrics,listener=*,networkProcessor=*' -A io-wait-ratio --unit share --aggregate min -w 30%:"
)


def test_a_combined_kafka_shows_that_the_network_threads_of_the_broker_are_not_watched(check, jvm, combined):
    combined(1.9)
    jvm.bean(NETWORK, Value=1.0)
    assert check("--no-state")[1] == (
        "JMX_THREAD_POOLS OK - 2 pools, RequestHandler idle at least 90 % of the time | pools=2 threads=45 idle=90%"
        + NETWORK_THREADS
    )
    jvm.bean(HANDLERS.format("BrokerRequestHandler"), OneMinuteRate=0.97)  # as 4.2 does
    combined(0.97)
    assert NETWORK_THREADS in check("--no-state")[1]
    assert NETWORK_THREADS in check("--no-state", "--pool", "NetworkProcessor")[1]
    assert NETWORK_THREADS not in check("--no-state", "--pool", "RequestHandler")[1]


def test_the_command_for_these_threads_is_that_of_the_sheet():
    sheet = (TESTS.parent / "contrib" / "docs" / "check_jmx_thread_pools.md").read_text()
    command = NETWORK_THREADS.partition("use check_jmx ")[2]
    assert command in " ".join(sheet.split())


def test_a_pool_without_a_name_is_none_of_two(check, jvm):
    jvm.bean('Catalina:type=ThreadPool,name=""', currentThreadsBusy=1, maxThreads=200)
    assert "\n" not in check("--no-state")[1]


@pytest.mark.parametrize("role", [CONTROLLER, REPLICAS])
def test_a_broker_or_a_controller_alone_has_all_of_its_network_threads_watched(check, jvm, role):
    jvm.bean(role, Value=0)
    jvm.bean(HANDLERS.format("RequestHandler"), OneMinuteRate=0.9)
    jvm.bean(NETWORK, Value=1.0)
    assert check("--no-state") == (
        0,
        "JMX_THREAD_POOLS OK - 2 pools, RequestHandler idle 90 % of the time | pools=2 threads=45 idle=90%",
    )


def test_limits_of_the_user_are_judged_with_both_ends_of_a_sum(check, jvm, combined):
    combined(1.2)
    limits = ["--idle-warning", "50:", "--idle-critical", "40:"]
    for expected in (1, 1):  # 20 to 60 %
        assert check.line(*limits)[0] == expected
        jvm.later(60)
    limits = ["--idle-warning", "90:", "--idle-critical", "70:"]
    for expected in (1, 2):
        assert check.line(*limits)[0] == expected
        jvm.later(60)
    assert check.line("--idle-warning", "19:", "--idle-critical", "10:")[0] == 0


def test_a_sum_is_known_once_it_was_too_large_for_one_pool(check, jvm):
    name = HANDLERS.format("RequestHandler")
    jvm.bean(name, OneMinuteRate=1.98)
    assert check.perfdata() == "pools=1 threads=45 idle=98%"
    jvm.later(60)
    jvm.bean(name, OneMinuteRate=1.0)
    assert check.line() == (
        1,
        f"WARNING - RequestHandler: idle 0 to 50 % of the time (minimum 30 %){QUEUE_UP}",
    )


def _restarts(jvm):
    jvm.restart()


def _fails_over(jvm):
    """Let another JVM answer, which has run for longer."""
    jvm.told[RUNTIME]["StartTime"] -= 1


def _is_upgraded_unseen(jvm):
    """To Kafka 4.2, where the JVM does not show when it started."""
    jvm.bean(HANDLERS.format("BrokerRequestHandler"), OneMinuteRate=0.7)


@pytest.mark.parametrize(
    ("happens", "clocked"), [(_restarts, True), (_fails_over, True), (_is_upgraded_unseen, False)]
)
def test_that_a_number_was_a_sum_does_not_count_for_another_jvm(check, jvm, clock, happens, clocked):
    name = HANDLERS.format("RequestHandler")
    if not clocked:
        del jvm.told[RUNTIME]
    jvm.bean(name, OneMinuteRate=1.9)
    assert check.line() == (0, "OK - 1 pool, RequestHandler idle at least 90 % of the time")
    happens(jvm)
    jvm.bean(name, OneMinuteRate=0.62)
    for _ in range(2):
        if clocked:
            jvm.later(60)
        clock.later(60)
        status, line = check.line()
        assert (status, line.rpartition(", ")[2]) == (0, "RequestHandler idle 62 % of the time")


def test_a_broker_or_a_controller_alone_shows_no_sum(check, jvm):
    jvm.bean(HANDLERS.format("RequestHandler"), OneMinuteRate=1.0)
    assert check.line() == (0, "OK - 1 pool, RequestHandler idle 100 % of the time")
    jvm.bean(CONTROLLER, Value=7)
    assert check.line("--pool", ".*") == (0, "OK - 1 pool, RequestHandler idle 100 % of the time")


def test_a_combined_kafka_that_has_just_started_is_not_judged(check, jvm, combined):
    combined(0.7)
    jvm.told[RUNTIME]["Uptime"] = 20_000
    assert check() == (
        0,
        "JMX_THREAD_POOLS OK - 1 pool | pools=1 threads=45\n"
        "[OK] how idle RequestHandler are is not known yet: the JVM has just started",
    )
    jvm.later(60)
    combined(1.98)
    assert check.line() == (0, "OK - 1 pool, RequestHandler idle at least 98 % of the time")


@pytest.mark.parametrize("pool", [".*", "RequestHandler"])
def test_from_kafka_4_2_on_nothing_is_a_sum_whichever_pools_are_chosen(check, jvm, combined, pool):
    combined(0.97)
    jvm.bean(HANDLERS.format("BrokerRequestHandler"), OneMinuteRate=0.97)
    jvm.bean(HANDLERS.format("ControllerRequestHandler"), OneMinuteRate=0.98)
    status, line = check.line("--pool", pool)
    assert (status, line.endswith("RequestHandler idle 97 % of the time")) == (0, True)


def test_a_broker_alone_that_is_said_to_be_idle_a_little_too_long_is_idle(check, jvm):
    jvm.bean(
        "kafka.server:type=KafkaRequestHandlerPool,name=RequestHandlerAvgIdlePercent", OneMinuteRate=1.02
    )
    assert check.perfdata() == "pools=1 threads=45 idle=100%"


# Choice


def test_a_choice_of_pools_has_perfdata_and_thresholds_of_its_own(check, jvm):
    jvm.pool("MemtableFlushWriter", active=1, pending=11, completed=60)
    jvm.pool("MemtablePostFlush", pending=12)
    jvm.pool("ReadStage", pending=13)
    options = ["--pool", "Memtable.*", "--pending-warning", "11", "--pending-critical", "50"]
    check(*options)
    jvm.later(60)
    jvm.pool("MemtableFlushWriter", active=1, pending=11, completed=180)
    assert check(*options) == (
        1,
        "JMX_THREAD_POOLS WARNING - MemtablePostFlush: 12 pending (limit 11), 0 of 2 threads busy, work after a flush waits - check iostat -x 1"
        " | pools=2 threads=45 active=1 pending=23 blocked=0 blocked_new=0 busy=50%"
        " MemtableFlushWriter.blocked=0;0 MemtableFlushWriter.blocked_new=0;0 MemtableFlushWriter.busy=50% MemtableFlushWriter.pending=11;11;50 MemtableFlushWriter.active=1 MemtableFlushWriter.completed_per_s=2"
        " MemtablePostFlush.blocked=0;0 MemtablePostFlush.blocked_new=0;0 MemtablePostFlush.busy=0% MemtablePostFlush.pending=12;11;50 MemtablePostFlush.active=0 MemtablePostFlush.completed_per_s=0\n"
        "  for slow flushes, the commit log or old reads; also nodetool compactionstats",
    )


def test_the_trouble_of_a_chosen_pool_is_told_once_and_its_perfdata_stays_as_it_is(check, jvm):
    jvm.pool("FlushWriter")
    options = ["--pool", "Flush.*", "--busy-warning", "90%"]
    check(*options)
    jvm.later(60)
    before = check.perfdata(*options)
    assert before.endswith(
        " FlushWriter.blocked=0;0 FlushWriter.blocked_new=0;0 FlushWriter.busy=0%;90 FlushWriter.pending=0 FlushWriter.active=0 FlushWriter.completed_per_s=0"
    )
    jvm.later(60)
    jvm.pool("FlushWriter", active=2, pending=9, blocked=3, total=17)
    status, line = check.line(*options)
    assert status == 2
    assert "more problem" not in line
    limits = [
        [re.sub("=[^;]*", "", one) for one in told.split()] for told in (before, check.perfdata(*options))
    ]
    assert limits[0] == limits[1]


def test_chosen_pools_of_one_name_have_labels_of_their_own(check, jvm):
    jvm.bean("com.zaxxer.hikari:type=Pool (orders)", ActiveConnections=1, ThreadsAwaitingConnection=0)
    hikari = re.findall(r" (orders_\w{6}\.active)=(\d)", check.perfdata("--pool", "orders"))
    assert [number for _, number in hikari] == ["1"]
    jvm.bean("com.alibaba.druid:type=DruidDataSource,id=orders", ActiveCount=2, MaxActive=8)
    both = re.findall(r" (orders_\w{6}\.active)=(\d)", check.perfdata("--pool", "orders"))
    assert sorted(number for _, number in both) == ["1", "2"]
    assert set(hikari) < set(both)


def test_a_label_never_goes_over_to_another_pool(check, jvm):
    beans = [
        f"{domain}:type=BasicDataSource,name={name},connectionpool=connections"
        for domain, name in (
            ("shop", "orders"),
            ("depot", "orders"),
            ("shop", "or ders"),
            ("shop", "or-ders"),
        )
    ]
    alone = []
    for number, bean in enumerate(beans, 1):
        jvm.bean(bean, NumActive=number, MaxTotal=8)
        alone += re.findall(r" (\S+\.active=\d)", check.perfdata("--pool", "or.*"))
        del jvm.told[bean]
    for number, bean in enumerate(beans, 1):
        jvm.bean(bean, NumActive=number, MaxTotal=8)
    assert len({one.partition("=")[0] for one in alone}) == len(beans)
    assert sorted(alone) == sorted(re.findall(r" (\S+\.active=\d)", check.perfdata("--pool", "or.*")))


def test_the_label_of_a_pool_stays_if_what_it_is_called_by_is_another_one_at_every_start(check, jvm):
    labels = set()
    for owner in ("0x1f2e", "0x3d4c"):
        bean = f"org.apache.camel:type=threadpools,name=work({owner}),context=shop"
        jvm.bean(bean, ActiveCount=1, MaximumPoolSize=2)
        labels |= set(re.findall(r" (work_shop_\w{6})\.active", check.perfdata("--pool", "work.*")))
        del jvm.told[bean]
    assert len(labels) == 1


def test_pools_that_their_software_names_are_called_by_that_name(check, jvm):
    jvm.pool("Native-Transport-Requests", active=1)
    assert " Native_Transport_Requests.active=1" in check.perfdata("--pool", "Native.*")


def test_many_chosen_pools_have_only_sums_in_the_perfdata(check, jvm):
    for number in range(11):
        jvm.pool(f"pool{number}", active=1, pending=5)
    _, text = check("--pool", "pool.*", "--no-state")
    assert text.split("\n")[0].endswith(" | pools=11 threads=45 active=11 pending=55 blocked=0 busy=50%")
    assert text.endswith("[OK] 11 pools fit, more than 10: only their sums are in the perfdata")
    status, text = check("--pool", "pool.*", "--pending-critical", "4")
    assert (status, text.count("\n[CRITICAL] ")) == (2, 10)
    assert "pool3.pending=5" in check.perfdata("--pool", "pool.")


def test_a_chosen_pool_that_tells_no_numbers_is_unknown_and_says_so(check, jvm):
    jvm.bean('Catalina:type=ThreadPool,name="http-nio-8080"', maxThreads=-1, currentThreadsBusy=-1)
    assert check("--pool", "http-nio-8080") == (
        3,
        f"JMX_THREAD_POOLS UNKNOWN - the pools of db1:7199 that fit http-nio-8080 show no numbers | threads=45\n  {CONNECTOR}",
    )


CONNECTOR = "a Tomcat connector with a shared Executor or virtual threads has no numbers: the Executor is the pool, or check connectionCount of the connector's ThreadPool with check_jmx"


@pytest.mark.parametrize(
    ("bean", "numbers", "name", "more"),
    [
        ('Catalina:type=ThreadPool,name="http-nio-8080"', {"maxThreads": 200, "currentThreadsBusy": -1}, "http-nio-8080", [f"  {CONNECTOR}"]),
        ("com.zaxxer.hikari:type=PoolConfig (db)", {"MaximumPoolSize": 10}, "db", []),
        ("org.eclipse.jetty.util.thread:type=queuedthreadpool,id=0", {"maxThreads": 8, "lowOnThreads": True}, "queuedthreadpool-0", []),
    ],
)  # fmt: skip
def test_a_pool_of_which_only_the_size_is_known_is_not_watched(check, jvm, bean, numbers, name, more):
    jvm.bean(bean, **numbers)
    status, output = check()
    assert (status, output.split("\n")) == (
        3,
        [
            f"JMX_THREAD_POOLS UNKNOWN - the pools of db1:7199 show no numbers: {name}, nothing is watched - check other numbers with check_jmx | pools=0 threads=45",
            *more,
        ],
    )
    assert check.line("--threads-warning", "1000")[1].startswith(f"OK - no numbers of {name}, 45 threads ")


def test_a_pool_without_a_free_connection_is_not_called_idle_while_threads_wait(check, jvm):
    jvm.bean("com.zaxxer.hikari:type=Pool (db)", ActiveConnections=0, ThreadsAwaitingConnection=4)
    status, output = check("-v")
    assert (status, "all idle" in output) == (2, False)
    assert "[OK] 1 pool, 1 blocked\n" in output


def test_a_name_that_no_pool_has_is_unknown_and_says_which_there_are(check, jvm):
    jvm.pool("FlushWriter")
    jvm.pool("ReadStage")
    assert check.line("--pool", "Flush", "--pool", "Read") == (
        3,
        "UNKNOWN - no pool of db1:7199 fits Flush or Read: there are FlushWriter, ReadStage",
    )
    assert check.line("--pool", "Flush.*")[0] == 0


def test_a_choice_where_there_are_no_pools_at_all_is_unknown(check):
    assert (
        check.line("--pool", "x")[1]
        == "UNKNOWN - no pool of a known kind in db1:7199, nothing is watched - make the JVM show its pools (below), or describe them with --pools FILE"
    )


def test_what_is_no_regular_expression_is_refused(check):
    status, line = check.line("--pool", "Flush[")
    assert status == 3
    assert line.startswith(
        'UNKNOWN - argument --pool: "Flush[" is not a regular expression: unterminated character'
    )


# Deadlocks


def test_deadlocks_are_looked_for_only_if_asked(check, jvm):
    jvm.deadlocked = [21, 22]
    jvm.pool("A")
    assert check.line()[0] == 0
    assert check.line("--deadlocks") == (
        2,
        "CRITICAL - 2 threads deadlocked, #21 and #22 - find these numbers in a thread dump (jstack PID), then restart the JVM",
    )


def test_what_to_do_where_deadlocks_cannot_be_looked_for_is_what_the_transport_says(check, jvm):
    jvm.deadlocked = UnreadableError("findDeadlockedThreads cannot be invoked by jmxquery", "use --via rmi")
    assert check.line("--deadlocks")[1].endswith(" cannot be invoked by jmxquery - use --via rmi")


def test_a_server_that_is_lost_while_deadlocks_are_looked_for_is_unreachable(check, jvm):
    jvm.deadlocked = UnreachableError("db1:7199 closed the connection")
    assert check.line("--deadlocks", "--unreachable", "critical") == (
        2,
        "CRITICAL - db1:7199 closed the connection",
    )


def test_no_deadlock_is_a_zero(check):
    assert check.perfdata("--deadlocks") == "pools=0 threads=45 deadlocked=0;;0"


def test_deadlocks_are_not_for_a_role_that_is_read_only(check, jvm):
    jvm.deadlocked = UnreadableError(
        "findDeadlockedThreads of java.lang:type=Threading cannot be read: this user may not, SecurityException: "
        "Access denied! Invalid access level for requested MBeanServer operation."
    )
    assert check.line("--deadlocks") == (
        3,
        "UNKNOWN - deadlocks cannot be looked for: the role of this user is read-only - leave out --deadlocks, "
        "or use another role",
    )


def test_a_role_that_may_not_look_for_deadlocks_is_told(check, jvm):
    jvm.deadlocked = UnreadableError(
        "findDeadlockedThreads of java.lang:type=Threading cannot be read: this user may not"
    )
    jvm.pool("A", active=1, blocked=1)
    status, text = check("--deadlocks")
    assert status == 1
    assert (
        "[UNKNOWN] deadlocks cannot be looked for: findDeadlockedThreads of java.lang:type=Threading cannot be read: this user may not - a read-only JMX role may not do that: log in as another one, or leave out --deadlocks"
    ) in text.splitlines()


# What cannot be known


def test_a_number_that_cannot_be_read_is_unknown_and_hides_nothing(check, jvm):
    jvm.pool("A", active=None, pending=None)
    status, text = check()
    assert status == 3
    assert text.startswith(
        "JMX_THREAD_POOLS UNKNOWN - Value of org.apache.cassandra.metrics:type=ThreadPools,path=internal,scope=A,name=ActiveTasks is null, which is not a number (and 1 more) | pools=1 threads=45 blocked=0"
    )
    jvm.pool("B", active=2, blocked=1)
    assert check.line()[0] == 2


def test_a_server_that_is_lost_meanwhile_is_unreachable(check, jvm):
    jvm.pool("A", active=2, blocked=1)

    def lost(_):
        raise UnreachableError("db1:7199 closed the connection")

    check.meanwhile = lambda: setattr(jvm, "read", lost)
    status, text = check()
    assert status == 1
    assert text.startswith("JMX_THREAD_POOLS WARNING - A: 1 task blocked, 2 of 2 threads busy, its ")
    assert "[UNKNOWN] db1:7199 closed the connection" in text.splitlines()
    del jvm.read
    assert check.line("--unreachable", "critical") == (
        2,
        "CRITICAL - db1:7199 closed the connection (+1 more problem)",
    )


def test_without_time_for_a_second_look_nothing_is_critical_and_that_is_said(check, jvm):
    jvm.pool("A", active=2, blocked=1)
    status, text = check("-t", "2s", "--no-state")
    assert status == 1
    assert text.endswith(
        "\n[OK] no time was left for a second look at who waits: only what lasts is critical"
    )
    assert check.waited == []


def test_how_much_is_in_use_is_not_told_where_it_is_not_known(check, jvm):
    jvm.pool("A", active=0, pending=5)
    del jvm.told[METRICS.format("A", "ActiveTasks")]
    assert check.line() == (0, "OK - 1 pool, none blocked, busiest A: 5 pending")


def test_threads_that_cannot_be_counted_are_unknown(check, jvm):
    del jvm.told[THREADING]
    jvm.pool("A")
    assert check.line() == (3, "UNKNOWN - there is no MBean java.lang:type=Threading at db1:7199")


def test_without_a_start_time_our_own_clock_has_to_do(check, jvm, clock):
    del jvm.told[RUNTIME]
    jvm.pool("A")
    assert check.line()[0] == 0
    jvm.pool("A", total=1)
    clock.later(60)
    assert check.line()[1].startswith("WARNING - A: 1 task blocked in the last 1 min, ")


def test_two_runs_at_once_are_one_look(check, jvm):
    jvm.pool("A")
    check()
    jvm.later(60)
    jvm.pool("A", total=1)
    assert check.line()[0] == 1
    assert check.line()[0] == 1


def test_a_damaged_memory_is_a_first_look(check, jvm, tmp_path):
    jvm.pool("A", total=4)
    check()
    (kept,) = tmp_path.glob("*.json")
    content = json.loads(kept.read_text())
    content["values"]["last"]["numbers"] = {"Cassandra/A blocked": "many"}
    kept.write_text(json.dumps(content))
    jvm.later(60)
    assert check()[1].endswith("counted from now on: this is the first look")


# Output


def test_programs_get_every_pool(check, jvm):
    jvm.pool("A", active=1)
    told = json.loads(check("--output", "json")[1])
    assert told["summary"] == "1 pool, none blocked, busiest A: 1 of 2 threads busy"
    assert told["findings"][0]["table"] == [
        {
            "Pool Name": "A",
            "Active": 1,
            "Max": 2,
            "Pending": 0,
            "Completed": 0,
            "Blocked": 0,
            "All time blocked": 0,
        }
    ]


def test_people_get_the_table(check, jvm):
    jvm.pool("A", active=1)
    assert check("--output", "human", "--no-state")[1].splitlines()[-2:] == [
        "  Pool Name  Active  Max  Pending  Completed  Blocked  All time blocked",
        "  A               1    2        0          0        0                 0",
    ]


def test_what_was_asked_is_told_with_vvv(check, jvm):
    jvm.pool("A")
    lines = check("-vvv")[1].splitlines()
    assert lines[-3:-1] == [
        "the domains of db1:7199 are java.lang, org.apache.cassandra.metrics",
        "org.apache.cassandra.metrics:type=ThreadPools,* matches 6 MBeans",
    ]
    assert lines[-1].startswith("read 6 numbers of 1 pool in ")


def test_a_name_cannot_break_the_output(check, jvm):
    jvm.bean('evil:type=ThreadPool,name="a|b\\n=1;2"', currentThreadsBusy=1, maxThreads=2)
    status, text = check("--pool", "(?s).*", "-v")
    assert status == 0
    assert text.count("|") == 1
    assert " a_b__1_2_b6ecec.busy=50% " in text
    assert text.splitlines()[-1] == "a/b =1;2        1    2"


def test_help_says_that_a_read_only_role_may_not_look_for_deadlocks(check):
    status, text = check("-h")
    assert status == 3
    assert max(len(line) for line in text.splitlines()) <= 80
    assert "which a read-only JMX role may not" in " ".join(text.split())


def test_the_plugin_may_be_executed():
    assert os.access(TESTS.parent / "plugins" / "check_jmx_thread_pools", os.X_OK)
