# ruff: noqa: E501 - a case is a row
"""What check_jmx_thread_pools finds in a JVM, from run to run: states, numbers and causes.

Its words are in tests/recorded/jmx_thread_pools, except notes that no recording has.
"""

import json
import os
import re
import runpy
from pathlib import Path

import pytest
from recorded_jvm import RecordedJvm
from stallwatch.causes import Certainty, Subject, judged
from stallwatch.findings import Reading, State
from stallwatch.probes.jmx_thread_pools import messages
from stallwatch.probes.jmx_thread_pools.collect import Snapshot
from stallwatch.probes.jmx_thread_pools.diagnosis import RULES, Trouble
from stallwatch.probes.jmx_thread_pools.families import FAMILIES
from stallwatch.probes.jmx_thread_pools.model import Observation, Pool
from stallwatch.render.text import written
from stallwatch.sources import recording
from stallwatch.sources.jmx import ForbiddenError, UnreachableError, UnreadableError
from stallwatch.thresholds import Range
from stallwatch.verdict import Report, judge

TESTS = Path(__file__).parents[1]
PLUGIN = runpy.run_path(str(TESTS.parent / "plugins" / "check_jmx_thread_pools"))
RUNTIME, THREADING = "java.lang:type=Runtime", "java.lang:type=Threading"
METRICS = "org.apache.cassandra.metrics:type=ThreadPools,path=internal,scope={},name={}"
GRAVITY = ("OK", "UNKNOWN", "WARNING", "CRITICAL")
FLUSH, COMPACTION, REQUESTS = "MemtableFlushWriter", "CompactionExecutor", "Native-Transport-Requests"


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

    def hikari(self, active, waiting, limit=10):
        """Let it have a pool of connections."""
        self.bean("com.zaxxer.hikari:type=PoolConfig (orders)", MaximumPoolSize=limit)
        self.bean(
            "com.zaxxer.hikari:type=Pool (orders)",
            ActiveConnections=active,
            ThreadsAwaitingConnection=waiting,
        )

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
    """Run the plugin: exit status and output. Its second look finds what ``check.meanwhile`` does."""
    waited = []

    def sleep(seconds):
        waited.append(seconds)
        check.meanwhile()

    monkeypatch.setattr("time.sleep", sleep)

    def check(*options):
        arguments = ["-P", "7199", "--state-dir", str(tmp_path), *options]
        return PLUGIN["check"].run(PLUGIN["findings"], arguments)

    def state(*options):
        return check(*options)[0]

    def perfdata(*options):
        return check(*options)[1].split("\n")[0].partition(" | ")[2]

    def findings(*options):
        """All of it that may be first, the worst first."""
        found = json.loads(check("--output", "json", *options)[1])["findings"]
        return sorted(found, key=lambda one: ("explained_by" in one, -GRAVITY.index(one["state"])))

    def worst(*options):
        """The state, the number that is worst, and why: its kind and certainty."""
        one = findings(*options)[0]
        cause = one.get("cause", {})
        return one["state"], one["name"], one["value"], cause.get("kind"), cause.get("certainty")

    check.meanwhile = lambda: None
    check.waited, check.state, check.perfdata = waited, state, perfdata
    check.findings, check.worst = findings, worst
    with recording.use(jvm):
        yield check


# One look


@pytest.mark.parametrize(
    ("name", "numbers", "second", "options", "worst"),
    [
        (FLUSH, {"active": 2, "blocked": 3}, None, (), ("CRITICAL", "blocked", 3, "slow_disk", "likely")),
        (FLUSH, {"active": 2, "blocked": 3}, {"active": 2}, (), ("WARNING", "blocked", 3, "slow_disk", "likely")),
        (FLUSH, {"active": 1, "blocked": 3}, None, (), ("WARNING", "blocked", 3, "slow_disk", "likely")),
        (FLUSH, {"active": 2, "blocked": 3}, None, ("-c", "50"), ("WARNING", "blocked", 3, "slow_disk", "likely")),
        (FLUSH, {"active": 2, "blocked": 3}, None, ("-w", "10", "-c", "50"), None),
        (FLUSH, {"active": 2, "blocked": 3}, None, ("-c", "2"), ("CRITICAL", "blocked", 3, "slow_disk", "likely")),
        (FLUSH, {"active": 2, "blocked": 3}, None, ("-w", "10"), ("CRITICAL", "blocked", 3, "slow_disk", "likely")),
        (FLUSH, {"active": 1, "blocked": 1, "pending": 50}, None, ("--pending-critical", "10"),
         ("CRITICAL", "pending", 50, "slow_disk", "likely")),
        (COMPACTION, {"active": 2, "pending": 70}, None, (), None),  # full is no problem in itself
        (COMPACTION, {"active": 3, "limit": 4}, None, ("--busy-warning", "50%", "--busy-critical", "80%"),
         ("WARNING", "busy", 75, "slow_compaction", "likely")),
        (COMPACTION, {"active": 3, "limit": 4}, None, ("--active-warning", "2"),
         ("WARNING", "active", 3, "slow_compaction", "likely")),
        (COMPACTION, {"pending": 3}, None, ("--pending-warning", "2"),
         ("WARNING", "pending", 3, "slow_compaction", "certain")),
        (REQUESTS, {"active": 2, "pending": 70}, None, (), ("WARNING", "busy", 100, "threads_exhausted", "certain")),
        (REQUESTS, {"active": 2, "pending": 70}, {"active": 1, "pending": 70}, (), None),
        ("A", {"active": 3, "limit": 0}, None, (), None),  # a limit of nothing is none
    ],
)  # fmt: skip
def test_a_pool_at_one_look(check, jvm, name, numbers, second, options, worst):
    jvm.pool(name, **numbers)
    check.meanwhile = lambda: jvm.pool(name, **(second or numbers))
    assert check.worst("--no-state", *options) == worst or worst is None
    jvm.pool(name, **numbers)
    assert check.state("--no-state", *options) == (2 if worst and worst[0] == "CRITICAL" else bool(worst))


@pytest.mark.parametrize(
    ("active", "waiting", "second", "options", "worst"),
    [
        (10, 1, (10, 1), (), ("CRITICAL", "blocked", 1, "connections_held", "likely")),
        (9, 2, (9, 2), (), ("CRITICAL", "blocked", 2, "no_new_connections", "likely")),
        (0, 50, (0, 50), (), ("CRITICAL", "blocked", 50, "no_new_connections", "certain")),
        (0, 50, (9, 0), (), None),  # a second later nobody waits
        (10, 3, (10, 0), (), None),  # short bursts are no problem, except to a limit
        (10, 3, (10, 0), ("--pool", "orders"), None),
        (10, 3, (10, 0), ("-w", "0"), ("WARNING", "blocked", 3, "connections_held", "likely")),
        (10, 3, (10, 2), (), ("CRITICAL", "blocked", 3, "connections_held", "likely")),
    ],
)
def test_who_waits_for_a_connection(check, jvm, active, waiting, second, options, worst):
    jvm.hikari(active, waiting)
    check.meanwhile = lambda: jvm.hikari(*second)
    found = check.worst("--no-state", *options)
    assert (found if worst else found[0]) == (worst or "OK")


TOMCAT = 'Catalina:type=ThreadPool,name="http-nio-8080"'
JETTY = "org.eclipse.jetty.util.thread:type=queuedthreadpool,id=0"
UNDERTOW = 'org.xnio:type=Xnio,provider="nio",worker="XNIO-1"'
WEBLOGIC = "com.bea:ServerRuntime=web1,Name=orders,Type=JDBCDataSourceRuntime"
FULL = ("threads_exhausted", "likely")


@pytest.mark.parametrize(
    ("bean", "numbers", "options", "worst"),
    [
        (TOMCAT, {"currentThreadsBusy": 200, "maxThreads": 200}, (), ("WARNING", "busy", 100, *FULL)),
        (TOMCAT, {"currentThreadsBusy": 200, "maxThreads": 200}, ("--busy-critical", "95%"), ("CRITICAL", "busy", 100, *FULL)),
        (TOMCAT, {"currentThreadsBusy": 200, "maxThreads": 200}, ("--busy-warning", "~:"), None),
        (JETTY, {"utilizedThreads": 10, "maxAvailableThreads": -1, "queueSize": 900, "lowOnThreads": True}, (),
         ("WARNING", "pending", 900, "threads_exhausted", "certain")),
        (JETTY, {"utilizedThreads": 10, "maxAvailableThreads": -1, "queueSize": 900, "lowOnThreads": True},
         ("--pending-warning", "1000"), None),
        (UNDERTOW, {"BusyWorkerThreadCount": -1, "WorkerPoolSize": 2, "MaxWorkerPoolSize": 2, "WorkerQueueSize": 0}, (), None),
        (UNDERTOW, {"BusyWorkerThreadCount": -1, "WorkerPoolSize": 2, "MaxWorkerPoolSize": 2, "WorkerQueueSize": 3}, (),
         ("WARNING", "busy", 100, "threads_exhausted", "certain")),  # where tasks wait, all threads are at work
        (WEBLOGIC, {"ActiveConnectionsCurrentCount": 15, "WaitingForConnectionCurrentCount": 0}, (), None),
        (WEBLOGIC, {"ActiveConnectionsCurrentCount": 15, "WaitingForConnectionCurrentCount": 4}, (),
         ("CRITICAL", "blocked", 4, "connections_held", "likely")),
    ],
)  # fmt: skip
def test_pools_of_other_servers_at_one_look(check, jvm, bean, numbers, options, worst):
    jvm.bean(bean, **numbers)
    found = check.worst("--no-state", *options)
    assert (found if worst else found[0]) == (worst or "OK")


def test_a_second_look_is_a_second_later_and_only_if_somebody_waits(check, jvm):
    jvm.pool(FLUSH, active=1, blocked=1)
    check()
    assert check.waited == []
    jvm.pool(FLUSH, active=2, blocked=1)
    check()
    assert check.waited == [1.0]
    check.meanwhile = lambda: [jvm.told.pop(name) for name in list(jvm.told) if "Memtable" in name]
    assert check.state() == 1  # what is gone at the second look does not block any more


def test_without_time_for_a_second_look_nothing_is_critical_and_that_is_said(check, jvm):
    jvm.pool("A", active=2, blocked=1)
    status, text = check("-t", "2s", "--no-state")
    assert status == 1
    assert text.endswith(
        "\n[OK] no time was left for a second look at who waits: only what lasts is critical"
    )
    assert check.waited == []


def test_the_worst_pool_leads_and_each_is_told_once(check, jvm):
    for name, active, blocked in (("A", 1, 9), ("B", 2, 3), ("C", 2, 5)):
        jvm.pool(name, active=active, blocked=blocked)
    found = [one for one in check.findings("--no-state") if "cause" in one]
    assert [(one["state"], one["cause"]["subject"]["id"], one["value"]) for one in found] == [
        ("CRITICAL", "Cassandra/C", 5), ("CRITICAL", "Cassandra/B", 3), ("WARNING", "Cassandra/A", 9),
    ]  # fmt: skip


def test_a_cause_is_of_a_pool_of_one_start_of_the_jvm(check, jvm, clock):
    jvm.pool(FLUSH, active=2, blocked=1)
    cause = check.findings()[0]["cause"]
    assert cause["subject"] | {"started": ""} == {
        "server": "db1:7199", "thing": "pool", "id": f"Cassandra/{FLUSH}", "started": "",
    }  # fmt: skip
    jvm.later(60)
    clock.later(60)
    assert check.findings()[0]["cause"]["subject"] == cause["subject"]
    del jvm.told[RUNTIME]
    assert check.findings()[0]["cause"]["subject"]["started"] is None


def test_pools_of_one_name_are_looked_at_each_for_itself(check, jvm):
    jvm.bean('app1:type=ThreadPool,name="http"', maxThreads=200, currentThreadsBusy=200)
    jvm.bean('app2:type=ThreadPool,name="http"', maxThreads=200, currentThreadsBusy=0)
    for options in ((), ("--pool", "http")):
        assert check.findings(*options)[0]["cause"]["subject"]["id"] == "Tomcat/http app1"
    assert check.state("--pool", "http app2") == 0


# One incident


def test_what_follows_from_a_slow_disk_is_below_it(check, jvm):
    jvm.pool("MutationStage", active=2, pending=900, blocked=2)
    jvm.pool("MemtablePostFlush", active=2, blocked=1)
    jvm.pool(FLUSH, active=2, blocked=1)
    jvm.pool("ReadStage", active=2, pending=5)  # which is slow for itself
    found = [(one["cause"]["kind"], "explained_by" in one) for one in check.findings() if "cause" in one]
    assert found == [
        ("slow_disk", False),
        ("reads_too_fast", False),
        ("writes_too_fast", True),
        ("flushes_behind", True),
    ]
    assert "(+1 more problem)" in check()[1].split("\n")[0]


def test_writes_that_are_too_fast_without_a_blocked_flush_are_for_themselves(check, jvm):
    jvm.pool("MutationStage", active=2, pending=900, blocked=2)
    jvm.pool(FLUSH, active=2, pending=9)
    assert check.worst()[3:] == ("writes_too_fast", "certain")


def test_deadlocked_threads_explain_a_pool_that_stands_still(check, jvm):
    for _ in range(3):
        tomcat(jvm, busy=8, requests=70)
        found = check.findings("--deadlocks")
        jvm.later(16)
    assert found[0]["cause"]["kind"] == "slow_requests"
    jvm.deadlocked = [21, 22]
    first, *others = check.findings("--deadlocks")
    assert (first["state"], first["value"], first["cause"]["kind"]) == ("CRITICAL", 2, "thread_deadlock")
    assert [one["cause"]["kind"] for one in others if "explained_by" in one] == ["slow_requests"]
    tomcat(jvm, busy=8, requests=71)  # requests end: its threads are none of these
    assert not any("explained_by" in one for one in check.findings("--deadlocks"))


def test_a_disk_is_too_slow_for_certain_if_no_flush_ends(check, jvm):
    """Many small flushes block each other on a fast disk, too, but end."""
    for completed, certainty in ((71, "likely"), (71, "certain"), (90, "likely")):
        jvm.pool(FLUSH, active=2, blocked=1, completed=completed)
        assert check.worst()[3:] == ("slow_disk", certainty)
        jvm.later(16)


# Since the last run


def test_tasks_that_were_blocked_since_the_last_run_are_a_warning_once(check, jvm):
    jvm.pool(FLUSH, total=1000)
    assert check.state() == 0
    jvm.later(60)
    jvm.pool(FLUSH, total=1017)
    assert check.worst() == ("WARNING", "blocked_new", 17, "slow_disk", "likely")
    jvm.later(60)
    assert check.state() == 0


def test_a_block_now_and_since_the_last_run_is_one_problem(check, jvm):
    jvm.pool(FLUSH)
    check()
    jvm.later(300)
    jvm.pool(FLUSH, active=2, blocked=3, total=17)
    found = [one for one in check.findings() if one["state"] != "OK"]
    assert [(one["name"], one["value"]) for one in found] == [("blocked", 3)]
    assert "17 in the last 5 min" in found[0]["what"]


def test_how_many_may_be_blocked_between_runs_is_for_the_user_to_say(check, jvm):
    jvm.pool("A", total=17)
    check("--blocked-new-warning", "20", "--blocked-new-critical", "22")
    check("--blocked-new-warning", "20")
    jvm.later(60)
    jvm.pool("A", total=40)
    assert check.state("--blocked-new-warning", "20") == 1
    assert check.state("--blocked-new-warning", "20", "--blocked-new-critical", "22") == 2


@pytest.mark.parametrize(
    "other",
    [["-w", "5"], ["--deadlocks"], ["--pool", ".*"], ["--pool", "A|B"], ["--blocked-new-warning", "9"]],
)
def test_a_run_with_other_options_does_not_take_what_is_new_from_this_one(check, jvm, other):
    jvm.pool("A")
    check()
    check(*other)
    jvm.later(60)
    jvm.pool("A", total=30)
    check(*other)
    jvm.later(60)
    assert "30 tasks blocked in the last 2 min" in check.findings()[0]["what"]


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
    assert check.worst()[:3] == ("WARNING", "blocked_new", 7)
    jvm.later(60)
    jvm.pool("A", total=8)
    assert check.worst()[:3] == ("WARNING", "blocked_new", 1)


@pytest.mark.parametrize(
    ("before", "after", "said"),
    [(None, 900, "it was not there at the last look"), (5, 3, "it was reset, from 5 to 3")],
)
def test_a_counter_that_cannot_be_compared_is_not_new(check, jvm, before, after, said):
    jvm.pool("A", total=before)
    jvm.pool("B", total=5)
    check()
    jvm.later(60)
    jvm.pool("A", total=after)
    status, text = check()
    assert status == 0
    assert text.endswith(f"[OK] blocked tasks of A are counted from now on: {said}")


def test_what_appeared_since_the_last_look_has_counted_since_then(check, jvm):
    jvm.pool("GossipStage")
    check()
    jvm.later(60)
    jvm.pool("A", total=0)
    jvm.pool("B", total=900)
    found = check.findings()
    assert (found[0]["state"], found[0]["name"], found[0]["value"]) == ("WARNING", "blocked_new", 900)
    assert not any("counted from now on" in one["what"] for one in found)


def test_what_appeared_since_a_look_by_another_clock_is_not_counted_from_then_on(check, jvm):
    jvm.pool("A")
    check()
    del jvm.told[RUNTIME]
    jvm.pool("B", total=900)
    assert check.state() == 0


def test_without_a_start_time_our_own_clock_has_to_do(check, jvm, clock):
    del jvm.told[RUNTIME]
    jvm.pool("A")
    assert check.state() == 0
    jvm.pool("A", total=1)
    clock.later(60)
    assert check.worst()[:3] == ("WARNING", "blocked_new", 1)


def test_two_runs_at_once_are_one_look(check, jvm):
    jvm.pool("A")
    check()
    jvm.later(60)
    jvm.pool("A", total=1)
    assert [check.state(), check.state()] == [1, 1]


def test_a_damaged_memory_is_a_first_look(check, jvm, tmp_path):
    jvm.pool("A", total=4)
    check()
    (kept,) = tmp_path.glob("*.json")
    content = json.loads(kept.read_text())
    content["values"]["last"]["numbers"] = {"Cassandra/A blocked": "many"}
    kept.write_text(json.dumps(content))
    jvm.later(60)
    assert check()[1].endswith("counted from now on: this is the first look")


def test_pools_that_were_there_and_are_not_are_unknown_until_they_come_back(check, jvm):
    pools = dict(jvm.told)
    assert check.state() == 3
    jvm.pool("A")
    jvm.pool("B")
    check()
    there, jvm.told = jvm.told, pools
    for _ in range(2):
        jvm.later(60)
        status, text = check()
        assert status == 3
        assert (
            " db1:7199 had 2 pools and has none now - check whether the JVM is starting, or lost them" in text
        )
    jvm.told = there
    assert check.state() == 0


# Nothing is completed


CAMEL = 'org.apache.camel:context=camel-1,type=threadpools,name="stock"'


def camel(jvm, waiting=3, completed=10_000, active=2):
    """A pool that has completed a task of 60 ms at most again and again, until now."""
    numbers = {"CorePoolSize": 2, "MaximumPoolSize": 4, "ActiveCount": active}
    jvm.bean(CAMEL, TaskQueueSize=waiting, CompletedTaskCount=completed, **numbers)


def tomcat(jvm, busy, requests):
    jvm.bean('Tomcat:type=ThreadPool,name="http-nio-8080"', maxThreads=8, currentThreadsBusy=busy)
    jvm.bean('Tomcat:type=GlobalRequestProcessor,name="http-nio-8080"', requestCount=requests)


STALLS = ("WARNING", "stalled", 3, "blocked_tasks", "certain")


def test_a_queue_of_which_nothing_is_completed_from_run_to_run_is_a_warning(check, jvm):
    camel(jvm)
    assert check.state() == 0
    jvm.later(60)
    assert check.state("--no-state") == 0
    assert check.worst() == STALLS
    assert "  a task took at most 144 ms on average until now" in check()[1].split("\n")
    assert check.state("--pending-warning", "5") == 0
    for _ in range(2):
        assert "stalled" not in check.perfdata("--pool", "stock.*")  # which comes and goes
        jvm.later(60)


@pytest.mark.parametrize(
    ("before", "seconds", "after", "worst"),
    [
        ({}, 60, {}, STALLS),
        ({"active": 0}, 60, {"active": 0}, STALLS),
        ({}, 60, {"completed": 10_001}, None),  # it moves
        ({"waiting": 0}, 60, {}, None),  # it has not stood still since
        ({}, 5, {}, None),  # two runs by hand
    ],
)
def test_when_a_queue_stands_still(check, jvm, before, seconds, after, worst):
    camel(jvm, **before)
    check()
    jvm.later(seconds)
    camel(jvm, **after)
    found = check.worst()
    assert (found if worst else found[0]) == (worst or "OK")


def test_a_queue_stands_still_over_several_runs_however_often_the_check_runs(check, jvm, clock):
    camel(jvm)
    for status in (0, 0, 0, 1, 1):
        assert check.state() == status
        jvm.later(6)
        clock.later(6)
    since = check.findings()[0]["cause"]["since"]
    jvm.later(6)
    clock.later(6)
    assert check.findings()[0]["cause"]["since"] == since
    camel(jvm, completed=10_001)
    assert check.state() == 0


def batch(jvm, check, seconds, tasks, looks=15):
    """A batch of tasks that take so long each, two at a time: what is found every so many seconds."""
    found = []
    begun = jvm.told[RUNTIME]["Uptime"] / 1000
    for _ in range(round(seconds * tasks / 2 / looks)):
        done = 2 * int((jvm.told[RUNTIME]["Uptime"] / 1000 - begun) / seconds)
        jvm.bean("jboss.threads:name=batch,type=thread-pool", ActiveCount=2, PoolSize=2, MaximumPoolSize=2, QueueSize=tasks - done - 2, CompletedTaskCount=done)  # fmt: skip
        state, *_, kind, certainty = check.worst()
        found.append((state, kind, certainty))
        jvm.later(looks)
    return found


def test_a_batch_of_tasks_that_take_minutes_is_no_trouble(check, jvm):
    assert {state for state, *_ in batch(jvm, check, seconds=240, tasks=20)} == {"OK"}


def test_tasks_that_take_longer_than_five_minutes_are_a_warning_until_it_is_known_that_they_do(check, jvm):
    found = batch(jvm, check, seconds=1200, tasks=12)
    first, second, *others = [found[at : at + 80] for at in range(0, 480, 80)]
    assert {state for state, *_ in first[:20]} == {"OK"}
    assert set(first[21:]) == {("WARNING", "blocked_tasks", "likely")}
    assert {state for looks in others for state, *_ in looks} == {"OK"}
    assert {state for state, *_ in second} == {"OK", "WARNING"}


def test_tasks_that_never_ended_before_are_told_after_five_minutes(check, jvm):
    camel(jvm, completed=0)
    for minute in range(7):
        assert check.state() == (minute >= 5)
        jvm.later(60)
    assert check.worst()[3:] == ("blocked_tasks", "likely")


def test_short_tasks_that_hang_are_told_soon_though_the_pool_was_idle_for_days(check, jvm):
    jvm.later(10 * 86_400)
    camel(jvm, completed=5000)
    check()
    jvm.later(60)
    camel(jvm, completed=6000)  # while they waited: 0.24 s each at most
    check()
    for status in (1, 1):
        jvm.later(60)
        assert check.state() == status


def test_a_thread_pool_of_weblogic_as_its_documentation_has_it(check, jvm):
    def pool(waiting, completed):
        jvm.bean("com.bea:ServerRuntime=web1,Name=ThreadPoolRuntime,Type=ThreadPoolRuntime", ExecuteThreadTotalCount=9, PendingUserRequestCount=waiting, CompletedRequestCount=completed)  # fmt: skip

    pool(0, 90_000)
    assert check.state() == 0
    for _ in range(2):
        jvm.later(60)
        pool(4, 90_000)
        check()
    assert check.worst() == ("WARNING", "stalled", 4, "blocked_tasks", "certain")


def test_a_tomcat_whose_requests_do_not_end_is_told_for_certain(check, jvm):
    likely = ("WARNING", "busy", 100, "threads_exhausted", "likely")
    for busy, requests, worst in (
        (8, 70, likely),
        (8, 70, ("WARNING", "stalled", 8, "slow_requests", "certain")),
        (8, 71, likely),
    ):
        tomcat(jvm, busy, requests)
        assert check.worst() == worst
        jvm.later(16)
    tomcat(jvm, busy=7, requests=71)
    assert check.state() == 0


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
        status, text = check("--pools", str(tmp_path / "pools.toml"), *options)
        return status, text.split("\n")[0].partition(" | ")[0].removeprefix("JMX_THREAD_POOLS ")

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
    assert own(text, "--pool", "printer", "--pending-warning", "4")[0] == 1


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
    for _ in range(2):
        assert own(text, "-w", "1")[1].startswith("OK - 1 pool")
        assert own(text, "-w", "1", "--pool", "A")[1].startswith("OK - 1 pool")
        jvm.later(60)


def test_a_file_of_pools_that_is_not_there_is_said(check):
    assert check("--pools", "/nowhere.toml") == (
        3, "JMX_THREAD_POOLS UNKNOWN - --pools /nowhere.toml: No such file or directory",
    )  # fmt: skip


# Kafka


HANDLERS = "kafka.server:type=KafkaRequestHandlerPool,name={}AvgIdlePercent"
NETWORK = "kafka.network:type=SocketServer,name=NetworkProcessorAvgIdlePercent"
CONTROLLER = "kafka.controller:type=KafkaController,name=LastAppliedRecordOffset"
REPLICAS = "kafka.server:type=ReplicaManager,name=UnderReplicatedPartitions"


@pytest.fixture
def kafka(jvm):
    """A broker alone; the function sets the idle time of its request handlers."""
    return lambda idle: jvm.bean(HANDLERS.format("RequestHandler"), OneMinuteRate=idle)


@pytest.fixture
def combined(jvm, kafka):
    """A broker that is its own controller, before Kafka 4.2; the function sets the sum of their idle times."""
    jvm.bean(CONTROLLER, Value=7)
    jvm.bean(REPLICAS, Value=0)
    return kafka


def idles(check, jvm, kafka, *several):
    """The states of looks a minute apart that find these idle times."""
    states = []
    for idle in several:
        kafka(idle)
        states.append(check.state())
        jvm.later(60)
    return states


def test_kafka_s_threads_are_to_be_idle_for_a_third_of_the_time(check, jvm, kafka):
    kafka(0.31)
    assert check.perfdata("--no-state") == "pools=1 threads=45 idle=31%"
    kafka(0.25)
    assert check.worst("--no-state") == ("WARNING", "idle", 25, "threads_exhausted", "likely")
    assert idles(check, jvm, kafka, 0.31, 0.29, 0.09) == [0, 1, 2]
    assert check.state("--idle-warning", "5:", "--idle-critical", "2:") == 0


def test_threads_that_are_not_idle_are_critical_only_if_they_were_not_at_the_last_run(check, jvm, kafka):
    assert idles(check, jvm, kafka, 0.0, 0.9, 0.0, 0.0) == [1, 0, 1, 2]
    jvm.later(-59.5)
    assert check.state() == 2  # the same look again
    jvm.restart()
    jvm.later(60)
    assert idles(check, jvm, kafka, 0.0, 0.0) == [1, 2]
    assert check.state("--pool", ".*") == 1  # for the first time


def test_two_runs_at_once_do_not_say_that_threads_were_not_idle_before(check, jvm, kafka):
    kafka(0.0)
    for seconds, status in ((0.5, 1), (60, 1), (0.5, 2), (0, 2)):
        assert check.state() == status
        jvm.later(seconds)


def test_how_idle_threads_were_by_another_clock_does_not_count(check, jvm, clock, kafka):
    kafka(0.0)
    assert check.state() == 1
    del jvm.told[RUNTIME]
    assert check.state() == 1
    clock.later(60)
    assert check.state() == 2


def test_an_average_over_a_minute_is_not_known_before_a_minute_has_passed(check, jvm, kafka, combined):
    kafka(0.0)
    jvm.told[RUNTIME]["Uptime"] = 59_000
    status, text = check()
    assert (status, " | pools=1 threads=45\n" in text) == (0, True)
    assert text.endswith("\n[OK] the idle time of RequestHandler is not known yet: the JVM has just started")
    jvm.later(15)
    assert check.state() == 1
    jvm.later(60)
    assert check.state() == 2


@pytest.mark.parametrize(
    ("total", "least", "most", "states"),
    [
        (0.1, 0, 5, [1, 2]),
        (0.2, 0, 10, [1, 1]),
        (0.8, 0, 40, [1, 1]),
        (1.0, 0, 50, [1, 1]),
        (1.2, 20, 60, [1, 1]),
        (1.31, 31, 65.5, [0, 0]),
        (1.9, 90, 95, [0, 0]),
        (2.04, 100, 100, [0, 0]),  # nobody is idle for more than all of the time
    ],
)
def test_a_sum_of_two_idle_times_is_critical_only_if_one_of_them_is_surely_too_low(
    check, jvm, combined, total, least, most, states
):
    assert idles(check, jvm, combined, total, total) == states
    (row,) = next(one["table"] for one in check.findings("--no-state") if "table" in one)
    assert (row["Idle %"], row["Idle % at most"]) == (least, most)


def test_a_sum_that_was_surely_too_low_only_now_is_not_critical_yet(check, jvm, combined):
    assert idles(check, jvm, combined, 1.0, 0.1, 0.1) == [1, 1, 2]


def test_limits_of_the_user_are_judged_with_both_ends_of_a_sum(check, jvm, combined):
    combined(1.2)  # 20 to 60 %
    for limits, states in ((("50:", "40:"), (1, 1)), (("90:", "70:"), (1, 2)), (("19:", "10:"), (0, 0))):
        for state in states:
            assert check.state("--idle-warning", limits[0], "--idle-critical", limits[1]) == state
            jvm.later(60)


def test_a_combined_kafka_shows_that_the_network_threads_of_the_broker_are_not_watched(check, jvm, combined):
    """Before 4.2, and with it; by the command that the sheet has."""
    sheet = (TESTS.parent / "contrib" / "docs" / "check_jmx_thread_pools.md").read_text()
    combined(1.9)
    jvm.bean(NETWORK, Value=1.0)
    (note,) = [line for line in check("--no-state")[1].split("\n") if "not watched" in line]
    assert note.partition("use check_jmx ")[2] in " ".join(sheet.split())
    jvm.bean(HANDLERS.format("BrokerRequestHandler"), OneMinuteRate=0.97)
    assert note in check("--no-state")[1]
    assert note in check("--no-state", "--pool", "NetworkProcessor")[1]
    assert note not in check("--no-state", "--pool", "RequestHandler")[1]


@pytest.mark.parametrize("role", [CONTROLLER, REPLICAS])
def test_a_broker_or_a_controller_alone_has_no_sum_and_all_of_its_threads_watched(check, jvm, kafka, role):
    jvm.bean(role, Value=0)
    jvm.bean(NETWORK, Value=1.0)
    for idle, perfdata in ((0.9, "idle=90%"), (1.02, "idle=100%")):  # a little too long
        kafka(idle)
        status, text = check("--no-state")
        assert (status, text.count("\n"), text.rpartition(" ")[2]) == (0, 0, perfdata)


def _restarts(jvm):
    jvm.restart()


def _fails_over(jvm):
    """Let another JVM answer, which has run for longer."""
    jvm.told[RUNTIME]["StartTime"] -= 1


def _is_upgraded_unseen(jvm):
    """To Kafka 4.2, where the JVM does not show when it started."""
    jvm.bean(HANDLERS.format("BrokerRequestHandler"), OneMinuteRate=0.7)


def test_a_sum_is_known_once_it_was_too_large_for_one_pool(check, jvm, kafka):
    assert idles(check, jvm, kafka, 1.98, 1.0) == [0, 1]


@pytest.mark.parametrize(
    ("happens", "clocked"), [(_restarts, True), (_fails_over, True), (_is_upgraded_unseen, False)]
)
def test_that_a_number_was_a_sum_does_not_count_for_another_jvm(check, jvm, clock, kafka, happens, clocked):
    if not clocked:
        del jvm.told[RUNTIME]
    kafka(1.9)
    assert check.perfdata().endswith(" idle=90%")
    happens(jvm)
    kafka(0.62)
    for _ in range(2):
        if clocked:
            jvm.later(60)
        clock.later(60)
        assert check.perfdata().endswith(" idle=62%")


@pytest.mark.parametrize("pool", [".*", "RequestHandler"])
def test_from_kafka_4_2_on_nothing_is_a_sum_whichever_pools_are_chosen(check, jvm, combined, pool):
    combined(0.97)
    jvm.bean(HANDLERS.format("BrokerRequestHandler"), OneMinuteRate=0.97)
    jvm.bean(HANDLERS.format("ControllerRequestHandler"), OneMinuteRate=0.98)
    assert " idle=97%" in check.perfdata("--pool", pool)


# Choice and perfdata


def test_a_choice_of_pools_has_perfdata_and_thresholds_of_its_own(check, jvm):
    jvm.pool(FLUSH, active=1, pending=11, completed=60)
    jvm.pool("MemtablePostFlush", pending=12)
    jvm.pool("ReadStage", pending=13)
    options = ["--pool", "Memtable.*", "--pending-warning", "11", "--pending-critical", "50"]
    check(*options)
    jvm.later(60)
    jvm.pool(FLUSH, active=1, pending=11, completed=180)
    assert check.worst(*options) == ("WARNING", "pending", 12, "flushes_behind", "certain")
    assert check.perfdata(*options) == (
        "pools=2 threads=45 active=1 pending=23 blocked=0 blocked_new=0 busy=50%"
        " MemtableFlushWriter.blocked=0;0 MemtableFlushWriter.blocked_new=0;0 MemtableFlushWriter.busy=50%"
        " MemtableFlushWriter.pending=11;11;50 MemtableFlushWriter.active=1 MemtableFlushWriter.completed_per_s=2"
        " MemtablePostFlush.blocked=0;0 MemtablePostFlush.blocked_new=0;0 MemtablePostFlush.busy=0%"
        " MemtablePostFlush.pending=12;11;50 MemtablePostFlush.active=0 MemtablePostFlush.completed_per_s=0"
    )


def test_the_trouble_of_a_chosen_pool_is_told_once_and_its_perfdata_stays_as_it_is(check, jvm):
    jvm.pool("FlushWriter")
    options = ["--pool", "Flush.*", "--busy-warning", "90%"]
    check(*options)
    jvm.later(60)
    before = check.perfdata(*options)
    jvm.later(60)
    jvm.pool("FlushWriter", active=2, pending=9, blocked=3, total=17)
    status, text = check(*options)
    assert status == 2
    assert "more problem" not in text
    limits = [
        [re.sub("=[^;]*", "", one) for one in told.split()] for told in (before, check.perfdata(*options))
    ]
    assert limits[0] == limits[1]


def test_a_label_never_goes_over_to_another_pool(check, jvm):
    beans = [
        *(
            f"{domain}:type=BasicDataSource,name={name},connectionpool=connections"
            for domain, name in (
                ("shop", "orders"),
                ("depot", "orders"),
                ("shop", "or ders"),
                ("shop", "or-ders"),
            )
        ),
        "com.alibaba.druid:type=DruidDataSource,id=orders",
    ]

    def labels():
        return re.findall(r" (or\S+\.active=\d)", check.perfdata("--pool", "or.*"))

    alone = []
    for number, bean in enumerate(beans, 1):
        jvm.bean(bean, NumActive=number, ActiveCount=number, MaxTotal=8)
        alone += labels()
        del jvm.told[bean]
    for number, bean in enumerate(beans, 1):
        jvm.bean(bean, NumActive=number, ActiveCount=number, MaxTotal=8)
    assert len({one.partition("=")[0] for one in alone}) == len(beans)
    assert sorted(alone) == sorted(labels())


def test_the_label_of_a_pool_stays_if_what_it_is_called_by_is_another_one_at_every_start(check, jvm):
    labels = set()
    for owner in ("0x1f2e", "0x3d4c"):
        bean = f"org.apache.camel:type=threadpools,name=work({owner}),context=shop"
        jvm.bean(bean, ActiveCount=1, MaximumPoolSize=2)
        labels |= set(re.findall(r" (work_shop_\w{6})\.active", check.perfdata("--pool", "work.*")))
        del jvm.told[bean]
    assert len(labels) == 1


def test_pools_that_their_software_names_are_called_by_that_name(check, jvm):
    jvm.pool(REQUESTS, active=1)
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


def test_limits_that_cannot_be_judged_are_told(check, jvm):
    jvm.pool("A", active=3, limit=0)
    status, text = check("--busy-warning", "90%")
    assert status == 3
    assert " how busy the pools are cannot be judged: none shows how large it may be" in text
    jvm.pool("B", active=1, limit=2)
    status, text = check("--busy-critical", "90%", "--no-state")
    assert status == 0
    assert text.endswith("[OK] how busy A may be is not judged: without a limit of its own")


# Nothing is watched


def test_carriers_of_virtual_threads_which_every_jvm_has_are_no_pool_that_is_watched(check, jvm):
    carriers = "jdk.management:type=VirtualThreadScheduler"
    numbers = {"MountedVirtualThreadCount": 2, "Parallelism": 2, "QueuedVirtualThreadCount": 9}
    jvm.bean(carriers, **numbers)
    assert check.state() == 3
    assert check.state("--pool", "virtual threads") == 0
    jvm.pool("ReadStage")
    jvm.bean(carriers, **numbers)
    assert check.state("--no-state") == 0


def test_the_threads_of_a_jvm_without_pools_can_be_judged(check):
    assert [check.state(*options) for options in (
        ("--threads-warning", "50"), ("--threads-warning", "50", "--pool", "x"),
        ("--threads-warning", "40"), ("--threads-critical", "40:44"),
    )] == [0, 3, 1, 2]  # fmt: skip


CONNECTOR = "a Tomcat connector with a shared Executor or virtual threads has no numbers"


@pytest.mark.parametrize(
    ("bean", "numbers", "name", "more"),
    [
        (TOMCAT, {"maxThreads": 200, "currentThreadsBusy": -1}, "http-nio-8080", [CONNECTOR]),
        ("com.zaxxer.hikari:type=PoolConfig (db)", {"MaximumPoolSize": 10}, "db", []),
        (JETTY, {"maxThreads": 8, "lowOnThreads": True}, "queuedthreadpool-0", []),
    ],
)
def test_a_pool_of_which_only_the_size_is_known_is_not_watched(check, jvm, bean, numbers, name, more):
    jvm.bean(bean, **numbers)
    one = check.findings()[0]
    assert (one["state"], one["what"]) == ("UNKNOWN", f"the pools of db1:7199 show no numbers: {name}")
    assert [line.partition(":")[0] for line in one.get("more", ())] == more
    assert check.state("--threads-warning", "1000") == 0
    one = check.findings("--pool", name)[0]
    assert (one["state"], one["what"]) == (
        "UNKNOWN",
        f"the pools of db1:7199 that fit {name} show no numbers",
    )


def test_a_connector_whose_threads_are_those_of_an_executor_is_no_pool(check, jvm):
    jvm.bean('Tomcat:type=ThreadPool,name="http"', maxThreads=-1, currentThreadsBusy=-1)
    jvm.bean('Tomcat:type=GlobalRequestProcessor,name="http"', requestCount=5)
    jvm.bean("Tomcat:type=Executor,name=shared", maxThreads=8, activeCount=1)
    assert check.perfdata().startswith("pools=1 ")


def test_a_name_that_no_pool_has_is_unknown_and_says_which_there_are(check, jvm):
    assert check.state("--pool", "x") == 3
    jvm.pool("FlushWriter")
    jvm.pool("ReadStage")
    one = check.findings("--pool", "Flush", "--pool", "Read")[0]
    assert (one["state"], one["what"]) == (
        "UNKNOWN", "no pool of db1:7199 fits Flush or Read: there are FlushWriter and ReadStage",
    )  # fmt: skip
    assert check.state("--pool", "Flush.*") == 0


def test_what_is_no_regular_expression_is_refused(check):
    status, text = check("--pool", "Flush[")
    assert status == 3
    assert 'argument --pool: "Flush[" is not a regular expression: unterminated character' in text


# Deadlocks


def test_deadlocks_are_looked_for_only_if_asked(check, jvm):
    jvm.deadlocked = [21, 22]
    jvm.pool("A")
    assert check.state() == 0
    one = check.findings("--deadlocks")[0]
    assert (one["state"], one["value"], one["why"]) == ("CRITICAL", 2, "#21 and #22")
    assert (one["cause"]["kind"], one["cause"]["certainty"]) == ("thread_deadlock", "certain")
    assert one["cause"]["subject"]["thing"] == "server"
    jvm.deadlocked = []
    assert check.perfdata("--deadlocks").endswith(" deadlocked=0;;0")


READ_ONLY = "Access denied! Invalid access level for requested MBeanServer operation."


@pytest.mark.parametrize(
    ("answer", "what", "advice"),
    [
        (UnreadableError("it cannot be invoked", "use --via rmi"), "it cannot be invoked", "use --via rmi"),
        (UnreadableError(f"it cannot be read: {READ_ONLY}"), "the role of this user is read-only",
         "leave out --deadlocks, or use another role"),
        (UnreadableError("this user may not"), "this user may not",
         "a read-only JMX role may not do that: log in as another one, or leave out --deadlocks"),
    ],
)  # fmt: skip
def test_what_to_do_where_deadlocks_cannot_be_looked_for(check, jvm, answer, what, advice):
    jvm.deadlocked = answer
    one = check.findings("--deadlocks", "--threads-warning", "99")[0]
    told = (one["state"], one["what"], one["advice"])
    assert told == ("UNKNOWN", f"deadlocks cannot be looked for: {what}", advice)
    jvm.pool("A", active=1, blocked=1)
    assert check.state("--deadlocks") == 1  # it hides nothing


# What cannot be known


def test_a_server_that_is_lost_meanwhile_is_unreachable(check, jvm):
    jvm.deadlocked = UnreachableError("db1:7199 closed the connection")
    assert check.state("--deadlocks", "--unreachable", "critical") == 2
    jvm.pool("A", active=2, blocked=1)

    def lost(_):
        raise UnreachableError("db1:7199 closed the connection")

    check.meanwhile = lambda: setattr(jvm, "read", lost)
    status, text = check()
    assert (status, "[UNKNOWN] db1:7199 closed the connection" in text.splitlines()) == (1, True)
    del jvm.read
    assert check.state("--unreachable", "critical") == 2


def test_a_number_that_cannot_be_read_is_unknown_and_hides_nothing(check, jvm):
    jvm.pool("A", active=None, pending=None)
    one = check.findings()[0]
    assert (one["state"], one["what"]) == (
        "UNKNOWN", f"Value of {METRICS.format('A', 'ActiveTasks')} is null, which is not a number (and 1 more)",
    )  # fmt: skip
    jvm.pool("B", active=2, blocked=1)
    assert check.state() == 2


def test_pools_that_a_policy_forbids_are_named(check, jvm):
    no = ForbiddenError("Jolokia's policy forbids x")
    jvm.bean("com.zaxxer.hikari:type=Pool (orders)", ActiveConnections=no, ThreadsAwaitingConnection=no)
    jvm.bean("com.zaxxer.hikari:type=PoolConfig (orders)", MaximumPoolSize=2)
    for options in ([], ["--pool", "orders"]):
        one, *others = check.findings(*options)
        assert (one["state"], one["what"]) == ("UNKNOWN", "Jolokia's policy forbids numbers of orders")
        assert {other["state"] for other in others} == {"OK"}


def test_how_much_is_in_use_is_not_told_where_it_is_not_known(check, jvm):
    jvm.pool("A", active=0, pending=5)
    del jvm.told[METRICS.format("A", "ActiveTasks")]
    assert check.findings()[0]["what"] == "1 pool, none blocked, busiest A: 5 pending"


def test_a_pool_without_a_free_connection_is_not_called_idle_while_threads_wait(check, jvm):
    jvm.hikari(0, 4)
    assert next(one["what"] for one in check.findings() if one["name"] == "pools") == "1 pool, 1 blocked"


def test_threads_that_cannot_be_counted_are_unknown(check, jvm):
    del jvm.told[THREADING]
    jvm.pool("A")
    assert check.worst()[:3] == ("UNKNOWN", "threads", None)


# Output


def test_the_output_stays_short_however_many_pools_there_are(check, jvm):
    for number in range(60):
        jvm.pool(f"pool-{number}-of-a-long-name", active=1, blocked=1, total=5)
    status, text = check()
    assert status == 1
    assert len(text.split("\n")[0].encode()) < 1023
    assert text.splitlines()[-1].startswith("... and ")


USED, IDLE = {"active": 200, "maximum": 200}, {"active": 0, "maximum": 200}
TROUBLES = {  # the number that alerts, all others, and what is known from other looks
    "blocked": (25, {**USED, "blocked": 25, "pending": 1200}, {"blocked_new": 1700}),
    "busy": (100, USED, {}),
    "stalled": (500, {**USED, "pending": 500}, {"stalled": 500, "still": 750, "usual": 0.1}),
    "stalled for ever": (500, {**USED, "pending": 500}, {"stalled": 500, "still": 750}),
    "stalled at rest": (500, {**IDLE, "pending": 500}, {"stalled": 500, "still": 750}),
    "blocked at rest": (25, {**IDLE, "blocked": 25}, {}),
    "blocked, not all": (25, {"active": 2, "maximum": 200, "blocked": 25}, {}),
    "idle": (1, {"idle": 0.01, "idle_at_most": 0.5}, {}),
}


@pytest.mark.parametrize("family", FAMILIES, ids=lambda family: family.name)
@pytest.mark.parametrize("trouble", TROUBLES)
def test_the_cause_and_the_next_step_of_every_pool_fit_into_a_text_message(family, trouble):
    value, numbers, looks = TROUBLES[trouble]
    number = trouble.split()[0].rstrip(",")
    for row in family.meanings:
        if ("stalled" in trouble and not (family.drains or row.serves)) or (
            number == "idle" and family.name != "Kafka"
        ):
            continue
        name = max(("jdbc/dbcp /orders", *(form.replace("*", "") for form in row.pools.split())), key=len)
        seen = Observation(Pool(family, name, **numbers), None, None, 300)._replace(**looks)
        cause = judged(RULES, seen, Subject("db1"))[0]
        found = Trouble(seen, Reading(number, value, "%" * (number == "idle"), state=State.WARNING), cause)
        snapshot = Snapshot([seen], 0, [45, 49, 38], [], {})
        told = messages.all_of_it(snapshot, [found, found], one_by_one=False, limits_busy=False)
        line = written(Report("jmx_thread_pools", judge(told, {"idle": {"warning": Range("30:", "%")}})))
        line = line.partition("\n")[0].partition(" | ")[0]
        assert len(line) <= 160, line
        what, _, advice = line.partition(" - ")[2].removesuffix(" (+1 more problem)").partition(" - ")
        assert what.startswith(f"{name}: ")
        assert advice
        assert ("probably" in what) == (cause.certainty is Certainty.LIKELY)


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
    jvm.bean('evil:type=ThreadPool,name=""', currentThreadsBusy=1, maxThreads=2)
    status, text = check("--pool", "(?s).*", "-v")
    assert status == 0
    assert text.count("|") == 1
    assert " a_b__1_2_b6ecec.busy=50% " in text
    assert any(line.startswith("a/b =1;2 ") for line in text.splitlines())


def test_help_says_that_a_read_only_role_may_not_look_for_deadlocks(check):
    status, text = check("-h")
    assert status == 3
    assert max(len(line) for line in text.splitlines()) <= 80
    assert "which a read-only JMX role may not" in " ".join(text.split())


def test_the_plugin_may_be_executed():
    assert os.access(TESTS.parent / "plugins" / "check_jmx_thread_pools", os.X_OK)
