"""check_innodb_buffer_pool on real servers that read more than the pool holds, dump it and load it."""

import contextlib
import threading

import pytest
from innodb_check import Check

PAGES = 3000  # of a table that does not fit
LOADED = 4000  # pages that take 40 s
POOL = 32 << 20  # octets of any server here
SAMPLE = ("--sample", "1s")
PATIENT = ("--innodb-status-warning", "20s", "--innodb-status-critical", "25s")


@pytest.fixture
def check(tmp_path):
    return Check("check_innodb_buffer_pool", tmp_path, *PATIENT)


@pytest.fixture
def small(server):
    """A server with a pool that a table does not fit into."""
    try:
        filled(server, PAGES)
        yield server
    finally:
        server.sql("DROP DATABASE IF EXISTS lab")


def filled(server, pages):
    """Make a table of so many pages, nearly: five rows fill one."""
    server.sql("CREATE DATABASE lab")
    server.sql("CREATE TABLE lab.t (id INT PRIMARY KEY AUTO_INCREMENT, a INT, pad VARCHAR(3000))")
    with server.session() as sql:
        sql("SET sql_log_bin = 0")
        sql("INSERT INTO lab.t (a, pad) VALUES " + ", ".join("(1, REPEAT('x', 3000))" for _ in range(500)))
        for _ in range(pages // 125 - 1):
            sql("INSERT INTO lab.t (a, pad) SELECT a, pad FROM lab.t LIMIT 500")


@contextlib.contextmanager
def busy(server, statement):
    """Let a client ask this again and again."""
    enough = threading.Event()

    def ask():
        with server.session(seconds=120) as sql:
            sql("SET sql_log_bin = 0")
            while not enough.is_set():
                sql(statement)

    client = threading.Thread(target=ask)
    client.start()
    try:
        yield
    finally:
        enough.set()
        client.join()


def fits(said):
    """Whether next to no page is missing in the pool."""
    return "miss_ratio" in said.perfdata and said.number("miss_ratio") < 0.1


def is_over(said):
    """Whether neither a dump nor a load is told."""
    return "under way" not in said.output


def test_an_idle_server_is_ok(server, check):
    said = check(server)
    assert said.status == 0, said.output
    assert said.text.startswith("INNODB_BUFFER_POOL OK - ")
    assert {"pages_free", "dirty", "pool_size", "innodb_status"} <= set(said.perfdata)
    assert 0 <= said.number("innodb_status") < 20
    assert said.number("pool_size") == POOL


def misses(said):
    """Whether pages were missing in the pool."""
    return "miss_ratio" in said.perfdata and said.number("miss_ratio") > 0.1


def test_reading_more_than_the_pool_holds_has_a_miss_ratio_and_less_has_none(small, check):
    assert small.sql("SELECT @@innodb_buffer_pool_size AS size") == [{"size": POOL}]
    options = (*SAMPLE, "--wait-free-warning", "~:", "--min-requests", "10", "-v")
    with busy(small, "SELECT SUM(LENGTH(pad)) FROM lab.t"):
        said = check.until(misses, small, *options)
        assert said.status == 0, said.output  # evidence, and no alarm
        assert said.number("reads_per_s") > 0
        assert "of page requests missed the pool in " in said.text
        limited = check.until(misses, small, *options, "-c", "0.01%")
        assert limited.status == 1, limited.output  # one sample confirms nothing
        assert "a hypothesis to test, not a remedy" in limited.output
    with busy(small, "SELECT SUM(LENGTH(pad)) FROM lab.t WHERE id < 500"):
        said = check.until(fits, small, *options)
    assert said.status == 0, said.output


def test_a_dump_that_is_over_is_not_under_way(server, check):
    server.sql("SET GLOBAL innodb_buffer_pool_dump_now = ON")
    said = check.until(is_over, server, *SAMPLE)
    assert said.status == 0, said.output
    server.sql("SET GLOBAL innodb_buffer_pool_load_now = ON")
    said = check.until(is_over, server, *SAMPLE)
    assert said.status == 0, said.output


@pytest.mark.own_server("has a larger pool, and starts again with an empty one")
@pytest.mark.slow("a server of its own restarts")
def test_a_load_is_told_while_it_lasts(own_server, check):
    """MySQL loads no more than innodb_io_capacity pages a second while clients are at work."""
    server = own_server(
        "mysql", innodb_buffer_pool_size="128M", innodb_io_capacity=100, innodb_buffer_pool_dump_pct=100,
        innodb_buffer_pool_load_at_startup="OFF",
    )  # fmt: skip
    filled(server, LOADED)
    server.sql("SET GLOBAL innodb_buffer_pool_dump_now = ON")
    check.until(is_over, server, *SAMPLE)
    server.stop(60)
    server.start()

    def is_told(said):
        if is_over(said):  # the run came too late for it, or began too early
            server.sql("SET GLOBAL innodb_buffer_pool_load_now = ON")
        return not is_over(said)

    with busy(server, "UPDATE lab.t SET a = a + 1 WHERE id = 7"):
        server.sql("SET GLOBAL innodb_buffer_pool_load_now = ON")
        said = check.until(is_told, server, *SAMPLE)
        server.sql("SET GLOBAL innodb_buffer_pool_load_abort = ON")
    assert said.status == 0, said.output
    assert "buffer pool load " in said.output
    assert "SET GLOBAL innodb_buffer_pool_load_abort = ON ends it" in said.output


def test_without_process_all_is_told_but_the_status(server, check):
    said = check(server, grants=())
    assert said.status == 0, said.output
    assert "how long SHOW ENGINE INNODB STATUS takes is not known: it needs PROCESS" in said.output
    assert "pages_free" in said.perfdata
    assert "innodb_status" not in said.perfdata
