# ruff: noqa: E501 - a case is a row
"""Why a pool is in trouble: which rule decides by which numbers, and what follows from what."""

import pytest
from stallwatch.causes import Cause, Certainty, Kind, Scope, Subject, judged, roots
from stallwatch.probes.jmx_thread_pools.diagnosis import RULES
from stallwatch.probes.jmx_thread_pools.families import FAMILIES
from stallwatch.probes.jmx_thread_pools.model import Observation, Pool

FAMILY = {family.name: family for family in FAMILIES}
CERTAIN, LIKELY, POSSIBLE = Certainty
JVM = Subject("db1:7199", started=1000.0)
FLUSH, HIKARI, TOMCAT, CAMEL = (
    ("Cassandra", "MemtableFlushWriter"), ("HikariCP", "orders"), ("Tomcat", "http-8080"), ("Camel", "stock"),
)  # fmt: skip


def pool(family="Cassandra", name="MemtableFlushWriter", **numbers):
    return Pool(FAMILY[family], name, **numbers)


def causes(kind, number, usual=None, blocked_new=None, still=0, **numbers):
    """All causes of a pool of this kind, of which this number alerts: what stalls is known to."""
    stalled = 3 if number == "stalled" else None
    seen = Observation(
        pool(*kind, **numbers), blocked_new, None, 60, stalled=stalled, still=still, usual=usual
    )
    return judged(RULES, seen, JVM._replace(thing=Scope.POOL, id="/".join(kind)))


@pytest.mark.parametrize(
    ("of", "number", "numbers", "kind", "certainty", "evidence"),
    [
        # Somebody waits for connections, of which more may be opened
        (HIKARI, "blocked", {"active": 0, "maximum": 9, "blocked": 5}, "no_new_connections", CERTAIN, "none_in_use"),
        (HIKARI, "blocked", {"active": 8, "maximum": 9, "blocked": 5}, "no_new_connections", LIKELY, "not_all_in_use"),
        (HIKARI, "blocked", {"active": 9, "maximum": 9, "blocked": 5}, "connections_held", LIKELY, "waits_likely"),
        (HIKARI, "blocked", {"active": 9, "blocked": 5}, "connections_held", LIKELY, "waits_likely"),  # no maximum
        (HIKARI, "busy", {"active": 8, "maximum": 9, "blocked": 0}, "connections_held", LIKELY, "waits_likely"),
        (FLUSH, "blocked", {"active": 0, "maximum": 2, "blocked": 5}, "slow_disk", LIKELY, "waits_likely"),  # of tasks
        # Nothing is completed
        (TOMCAT, "stalled", {"active": 8, "maximum": 8}, "slow_requests", CERTAIN, "no_request_completed"),
        (TOMCAT, "busy", {"active": 8, "maximum": 8}, "threads_exhausted", LIKELY, "waits_likely"),
        (CAMEL, "stalled", {"active": 0, "pending": 3, "usual": 0.1}, "blocked_tasks", CERTAIN, "no_thread_at_work"),
        (CAMEL, "stalled", {"active": 2, "pending": 3, "usual": 0.1}, "blocked_tasks", CERTAIN, "no_task_completed"),
        (CAMEL, "stalled", {"active": 2, "pending": 3}, "blocked_tasks", LIKELY, "no_task_ever_completed"),
        (CAMEL, "pending", {"active": 2, "pending": 3}, "blocked_tasks", CERTAIN, "waits_seen"),
        # Somebody is seen to wait, or little is free
        (FLUSH, "blocked_new", {"active": 0, "maximum": 2, "blocked_new": 7}, "slow_disk", LIKELY, "waits_likely"),
        (FLUSH, "stalled", {"active": 2, "maximum": 2, "blocked": 1}, "slow_disk", CERTAIN, "no_flush_completed"),
        (("Cassandra", "CompactionExecutor"), "stalled", {"active": 2, "maximum": 2, "blocked": 1}, "slow_compaction", CERTAIN, "waits_seen"),
        (FLUSH, "busy", {"active": 1, "maximum": 2}, "slow_disk", LIKELY, "waits_likely"),
        (("Cassandra", "ReadStage"), "busy", {"active": 32, "maximum": 32, "pending": 9},
         "reads_too_fast", CERTAIN, "waits_seen"),
        (("Cassandra", "ReadStage"), "busy", {"active": 30, "maximum": 32, "pending": 0},
         "reads_too_fast", LIKELY, "waits_likely"),
        (("Kafka", "RequestHandler"), "idle", {"idle": 0.1}, "threads_exhausted", LIKELY, "waits_likely"),
        (("Vibur", "bills"), "busy", {"active": 2, "maximum": 2}, "connections_held", LIKELY, "waits_likely"),
    ],
)  # fmt: skip
def test_which_rule_decides(of, number, numbers, kind, certainty, evidence):
    cause = causes(of, number, **numbers)[0]
    assert (cause.kind.value, cause.certainty, cause.evidence) == (kind, certainty, evidence)
    assert (cause.subject.thing, cause.subject.id) == (Scope.POOL, "/".join(of))


@pytest.mark.parametrize(
    ("of", "kind"),
    [
        (("Cassandra before 1.2", "FlushWriter"), "slow_disk"),
        (("Cassandra", "PerDiskMemtableFlushWriter_0"), "slow_disk"),
        (("Cassandra", "MemtablePostFlush"), "flushes_behind"),
        (("Cassandra", "Native-Transport-Requests"), "threads_exhausted"),
        (("Cassandra", "MutationStage"), "writes_too_fast"),
        (("Cassandra", "CompactionExecutor"), "slow_compaction"),
        (("Cassandra", "RepairJobTask"), "slow_repair"),
        (("Cassandra", "GossipStage"), "cluster_view_late"),
        (("Cassandra", "HintsDispatcher"), "hints_undelivered"),
        (("Cassandra", "TracingStage"), "requests_traced"),
        (("Cassandra", "SomethingNew"), "threads_exhausted"),
        (("Commons Pool", "jedis"), "connections_held"),
        (("Kafka", "BrokerRequestHandler"), "threads_exhausted"),
        (("Kafka", "NetworkProcessor"), "threads_exhausted"),
        (("Infinispan", "non-blocking"), "threads_exhausted"),
        (("Infinispan", "blocking"), "blocked_tasks"),
    ],
)
def test_which_kind_a_pool_has(of, kind):
    assert causes(of, "pending", pending=3)[0].kind.value == kind


@pytest.mark.parametrize("family", FAMILIES, ids=lambda family: family.name)
def test_every_pool_of_every_family_has_a_cause_with_words(family):
    assert family.seen
    for row in family.meanings:
        cause = causes((family.name, row.pools.split()[0].replace("*", "x")), "active", active=1)[0]
        assert (cause.kind, cause.certainty) == (row.kind, LIKELY)
        assert row.why
        assert row.advice


DISK, DEADLOCK = Kind.SLOW_DISK, Kind.THREAD_DEADLOCK


@pytest.mark.parametrize(
    ("cause", "consequence", "follows"),
    [
        (DISK, (("Cassandra", "MutationStage"), "busy"), True),
        (DISK, (("Cassandra", "MemtablePostFlush"), "pending"), True),
        (DISK, (("Cassandra", "ReadStage"), "busy"), False),  # reads need not wait for a flush
        (DISK, (("Cassandra", "CompactionExecutor"), "pending"), False),
        (DISK, (HIKARI, "pending"), False),
        (DEADLOCK, (TOMCAT, "stalled"), True),
        (DEADLOCK, (CAMEL, "stalled"), True),
        (DEADLOCK, (TOMCAT, "busy"), False),  # these requests may be completed
        (DEADLOCK, (FLUSH, "pending"), False),
        (DEADLOCK, (HIKARI, "pending"), False),
    ],
)
def test_what_follows_from_what_in_one_jvm(cause, consequence, follows):
    of, number = consequence
    other = causes(of, number, active=8, pending=8)[0]
    assert roots([other, Cause(cause, JVM)]) == [1 if follows else None, None]
    assert roots([other, Cause(cause, JVM, POSSIBLE)]) == [None, None]
    assert roots([other, Cause(cause, JVM._replace(server="db2:7199"))]) == [None, None]
    assert roots([other, Cause(cause, JVM._replace(started=9000.0))]) == [None, None]


@pytest.mark.parametrize("maximum", [None, -1, 0, 2**31 - 1, 2**63 - 1])
def test_without_a_limit_there_is_no_share(maximum):
    assert pool(active=5, maximum=maximum).busy is None
    assert not pool(active=5, maximum=maximum).full


def test_the_share_of_a_limit():
    assert pool(active=3, maximum=128).busy == 100 * 3 / 128
    assert pool(active=None, maximum=128).busy is None


@pytest.mark.parametrize(
    ("family", "numbers", "full"),
    [
        ("Cassandra", {"active": 2, "maximum": 2}, True),
        ("Cassandra", {"active": 3, "maximum": 2}, True),  # made smaller while it was at work
        ("Cassandra", {"active": 1, "maximum": 2, "blocked": 1}, False),
        ("Cassandra", {"active": 1, "blocked": 1}, True),  # shows no limit, and blocks only when it is full
        ("Cassandra", {"active": 1, "blocked": 0}, False),
        ("HikariCP", {"active": 1, "blocked": 1}, False),
        # Tasks go to the queue before it grows.
        ("Camel", {"active": 2, "core": 2, "maximum": 4, "pending": 1}, True),
        ("Camel", {"active": 1, "core": 0, "maximum": 4, "pending": 1}, True),
        ("Camel", {"active": 2, "core": 2, "maximum": 4, "pending": 0}, False),
        ("Camel", {"active": 1, "core": 2, "maximum": 4, "pending": 1}, False),
        # It shows itself whether a thread is left, if it does not call many threads few.
        ("Jetty", {"active": 3, "maximum": 4, "pending": 1, "low": 1}, True),
        ("Jetty", {"active": 3, "maximum": 4, "pending": 1, "low": 1, "spare": 1}, True),
        ("Jetty", {"active": 3, "maximum": 4, "pending": 0, "low": 1}, False),
        ("Jetty", {"active": 4, "maximum": 4, "pending": 1, "low": 0}, False),
        ("Jetty", {"active": 150, "maximum": 200, "pending": 1, "low": 1, "spare": 50}, False),
        ("Jetty", {"active": 200, "maximum": 200, "pending": 1, "low": 1, "spare": 50}, True),
    ],
)
def test_when_a_pool_is_full(family, numbers, full):
    assert pool(family, "p", **numbers).full == full


@pytest.mark.parametrize(
    ("of", "numbers", "waits"),
    [
        (HIKARI, {"active": 0, "maximum": 10, "blocked": 1}, True),
        (("Commons Pool", "jedis"), {"active": 8, "blocked": 1}, True),  # a limit for each key
        (HIKARI, {"active": 10, "maximum": 10, "blocked": 0}, False),
        (FLUSH, {"active": 2, "maximum": 2, "blocked": 1}, True),
        (FLUSH, {"active": 1, "maximum": 2, "blocked": 1}, False),
        (FLUSH, {"active": 2, "maximum": 2, "blocked": 0}, False),
        (("Cassandra", "ReadStage"), {"active": 32, "maximum": 32, "pending": 1}, True),
        (("Cassandra", "ReadStage"), {"active": 32, "maximum": 32, "pending": 0}, False),
        (("Cassandra", "CompactionExecutor"), {"active": 2, "maximum": 2, "pending": 70}, False),
        (TOMCAT, {"active": 200, "maximum": 200}, True),  # it does not show what is pending
        (("Tomcat executors", "shared"), {"active": 25, "maximum": 25, "pending": 0}, False),
    ],
)
def test_when_somebody_waits_for_a_pool(of, numbers, waits):
    assert pool(*of, **numbers).waits == waits
