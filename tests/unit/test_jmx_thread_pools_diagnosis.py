import pytest
from stallwatch.probes.jmx_thread_pools.diagnosis import MEANINGS, meaning, waits
from stallwatch.probes.jmx_thread_pools.families import FAMILIES
from stallwatch.probes.jmx_thread_pools.model import Pool

FAMILY = {family.name: family for family in FAMILIES}


def pool(family="Cassandra", name="MemtableFlushWriter", **numbers):
    return Pool(FAMILY[family], name, **numbers)


@pytest.mark.parametrize("maximum", [None, -1, 0, 2**31 - 1, 2**63 - 1])
def test_without_a_limit_there_is_no_share(maximum):
    assert pool(active=5, maximum=maximum).busy is None
    assert not pool(active=5, maximum=maximum).full


def test_the_share_of_a_limit():
    assert pool(active=3, maximum=128).busy == 100 * 3 / 128
    assert pool(active=None, maximum=128).busy is None


def test_a_pool_is_full_when_all_of_it_is_in_use():
    assert pool(active=2, maximum=2).full
    assert pool(active=3, maximum=2).full  # made smaller while it was at work
    assert not pool(active=1, maximum=2, blocked=1).full


def test_a_cassandra_that_tells_no_limit_blocks_only_when_it_is_full():
    assert pool(active=1, blocked=1).full
    assert not pool(active=1, blocked=0).full
    assert not pool("HikariCP", active=1, blocked=1).full


def test_jetty_says_itself_that_it_has_no_thread_left():
    assert pool("Jetty", active=3, maximum=4, pending=1, low=1).full
    assert not pool("Jetty", active=3, maximum=4, pending=0, low=1).full
    assert not pool("Jetty", active=4, maximum=4, pending=1, low=0).full


def test_a_jetty_that_calls_many_threads_few_is_full_when_all_are_in_use():
    assert not pool("Jetty", active=150, maximum=200, pending=1, low=1, spare=50).full
    assert pool("Jetty", active=200, maximum=200, pending=1, low=1, spare=50).full
    assert pool("Jetty", active=3, maximum=4, pending=1, low=1, spare=1).full


def test_somebody_waits_for_a_connection_however_many_are_in_use():
    assert waits(pool("HikariCP", "orders", active=0, maximum=10, blocked=1))
    assert waits(pool("Commons Pool", "jedis", active=8, blocked=1))  # a limit for each key
    assert not waits(pool("HikariCP", "orders", active=10, maximum=10, blocked=0))


def test_somebody_waits_for_a_pool_that_is_full():
    assert waits(pool(active=2, maximum=2, blocked=1))
    assert waits(pool("HikariCP", "orders", active=10, maximum=10, blocked=1))
    assert not waits(pool(active=1, maximum=2, blocked=1))
    assert not waits(pool(active=2, maximum=2, blocked=0))


def test_what_is_pending_in_a_full_pool_waits_if_the_pool_serves_requests():
    assert waits(pool(name="ReadStage", active=32, maximum=32, pending=1))
    assert not waits(pool(name="ReadStage", active=32, maximum=32, pending=0))
    assert not waits(pool(name="CompactionExecutor", active=2, maximum=2, pending=70))
    assert waits(pool("Tomcat", "http-nio-8080", active=200, maximum=200))  # it does not tell what is pending
    assert not waits(pool("Tomcat", "shared", active=25, maximum=25, pending=0))


@pytest.mark.parametrize(
    ("family", "name", "why"),
    [
        ("Cassandra before 1.2", "FlushWriter", "the disks cannot take the flushes, writes will wait"),
        ("Cassandra", "PerDiskMemtableFlushWriter_0", "the disks cannot take the flushes, writes will wait"),
        (
            "Cassandra",
            "Native-Transport-Requests",
            "clients send more requests at once than native_transport_max",
        ),
        ("Cassandra", "CompactionExecutor", "compaction cannot keep up with the writes"),
        ("Cassandra", "TracingStage", "more requests are traced than can be written down"),
        ("Cassandra", "SomethingNew", "its threads cannot keep up"),
        ("Tomcat", "http-nio-8080", "new requests wait for a thread"),
        ("HikariCP", "orders", "statements are slow, or connections are not given back"),
        ("Commons Pool", "jedis", "all are in use for long, or are not given back"),
        ("Kafka", "RequestHandler", "its threads (num.io.threads) are at work nearly all the time"),
        ("Kafka", "BrokerRequestHandler", "its threads (num.io.threads) are at work nearly all the time"),
        ("Kafka", "NetworkProcessor", "its threads (num.network.threads) are at work nearly all the time"),
    ],
)
def test_what_it_means(family, name, why):
    assert meaning(pool(family, name)).why.startswith(why)


def test_every_meaning_is_of_a_family_and_has_a_next_step():
    assert {row.family.rstrip("*") for row in MEANINGS} <= FAMILY.keys()
    assert all(row.why and row.advice for row in MEANINGS)


def test_every_family_has_a_meaning():
    assert all(meaning(pool(name, "x RequestHandler")).why for name in FAMILY)
