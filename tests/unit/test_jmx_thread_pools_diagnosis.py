import pytest
from stallwatch.probes.jmx_thread_pools.diagnosis import meaning, waits
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


def test_a_pool_whose_tasks_go_to_the_queue_before_it_grows_is_full_once_they_do():
    assert pool("Camel", active=2, core=2, maximum=4, pending=1).full
    assert pool("Camel", active=1, core=0, maximum=4, pending=1).full
    assert not pool("Camel", active=2, core=2, maximum=4, pending=0).full
    assert not pool("Camel", active=1, core=2, maximum=4, pending=1).full


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
        ("Cassandra before 1.2", "FlushWriter", "the disks are too slow for the flushes"),
        ("Cassandra", "PerDiskMemtableFlushWriter_0", "the disks are too slow for the flushes"),
        ("Cassandra", "Native-Transport-Requests", "many or slow requests"),
        ("Cassandra", "CompactionExecutor", "compaction is slower than the writes"),
        ("Cassandra", "TracingStage", "too many requests are traced"),
        ("Cassandra", "SomethingNew", "its threads cannot keep up"),
        ("Tomcat", "http-nio-8080", "new requests wait for a thread"),
        ("HikariCP", "orders", "probably slow SQL or leaks"),
        ("Commons Pool", "jedis", "probably objects are used for long or never returned"),
        ("Kafka", "RequestHandler", "requests probably queue up"),
        ("Kafka", "BrokerRequestHandler", "requests probably queue up"),
        ("Kafka", "NetworkProcessor", "requests and responses probably queue up"),
    ],
)
def test_what_it_means(family, name, why):
    assert meaning(pool(family, name)).why.startswith(why)


@pytest.mark.parametrize("family", FAMILIES, ids=lambda family: family.name)
def test_every_family_says_what_a_block_means_and_the_next_step(family):
    assert family.seen
    assert all(row.why and row.advice for row in family.meanings)
    assert meaning(Pool(family, "x RequestHandler")).why
